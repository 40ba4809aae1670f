"""Where RLVR narrows what a language model can do: every table, figure and claim, from an empty folder.

snakemake                       everything of the paper, at the scale of config/config.yaml
snakemake everything            and the companion studies and the report
snakemake table1                one table or figure by its rule's name
snakemake --configfile FILE     another study: FILE is laid over config/config.yaml
"""


include: "rules/common.smk"
include: "rules/lines.smk"
include: "rules/sets.smk"
include: "rules/maths_sets.smk"
include: "rules/scicode_sets.smk"


configfile: str(ROOT / "config/config.yaml")


settings = checked_settings(config)
WORDING = checked_wording(settings)
checked_code(settings)
if settings.offline:
    fetch_nothing()
config.update(settings.model_dump(mode="json"))  # captions and the report read every key, defaults included


pathvars:
    results=f"results/{settings.study}",


wildcard_constraints:
    policy=either([*policy_ids(settings), *road_policies(settings)]),
    set="evaluation|depth|tail",
    further="lost|halves",
    clamped="entrances|ladder|depth",
    sampled=rf"({either([*policy_ids(settings), *road_policies(settings)])})(\.(lost|halves|entrances|ladder|depth))?",
    line=either(settings.lines),
    seed=r"\d+",
    step=r"\d+",
    road=either(settings.roads) or "-",


include: "rules/problems.smk"
include: "rules/training.smk"
include: "rules/checkpoints.smk"
include: "rules/sampling.smk"
include: "rules/measures.smk"
include: "rules/clamps.smk"
include: "rules/location.smk"
include: "rules/location_figures.smk"
include: "rules/interventions.smk"
include: "rules/roads.smk"
include: "rules/maths_problems.smk"
include: "rules/maths_training.smk"
include: "rules/maths_sampling.smk"
include: "rules/maths_measures.smk"
include: "rules/maths_figures.smk"
include: "rules/controlled.smk"
include: "rules/scicode_problems.smk"
include: "rules/scicode_training.smk"
include: "rules/scicode_sampling.smk"
include: "rules/scicode_measures.smk"
include: "rules/scicode_benchmark.smk"
include: "rules/scorecard.smk"
include: "rules/figures.smk"


checked_place(".")


onstart:
    checked_place(f"results/{settings.study}")
    start_when_a_core_is_free(workflow)


onerror:
    keep_to_be_done(workflow.dag, workflow.persistence)


localrules:
    all,
    companions,
    everything,
    survivors,
    menu_clamps,
    depth_clamps,
    intervention_choice,
    table1,
    breadth,
    trajectories,
    coverage_curve,
    table2,
    token_costs,
    calibration,
    table3,
    clamp_ladder,
    figure2,
    recoverability_curve,
    theory_test,
    depth_curve,
    table4,
    partner_curve,
    cost_of_loss,
    plane,
    roads_table,
    dose_response,
    continuation,
    training_curves,
    scorecard,
    figure3,
    table5,
    table6,
    lab_curves,
    controlled_table,
    controlled_figure,


rule all:
    """The paper: every table, figure and claim of the study."""
    default_target: True
    input:
        [rule.output for rule in paper_rules(rules)],


rule companions:
    """The companion studies: the maths lab, its controlled experiment, rewards for programs, the audit of verifiers."""
    input:
        [rule.output for rule in companion_rules(rules)],


include: "rules/report.smk"


rule everything:
    """The paper, the companion studies, and the report that holds both."""
    input:
        [rule.output for rule in shown_rules(rules)],
        rules.report.output,
