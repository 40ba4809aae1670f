"""Where RLVR narrows what a language model can do: every table, figure and claim, from an empty folder.

snakemake                       everything of the paper, at the scale of config/config.yaml
snakemake table1                one table or figure by its rule's name
snakemake --configfile FILE     another study: FILE is laid over config/config.yaml
"""


include: "rules/common.smk"


configfile: str(ROOT / "config/config.yaml")


settings = checked_settings(config)
config.update(settings.model_dump(mode="json"))  # captions and the report read every key, defaults included


pathvars:
    results=f"results/{settings.study}",


wildcard_constraints:
    policy=either(policy_ids(settings)),
    set="evaluation|depth|tail",
    further="lost|halves",
    sampled=rf"({either(policy_ids(settings))})(\.(lost|halves))?",
    line=either(settings.lines),
    seed=r"\d+",
    step=r"\d+",


include: "rules/problems.smk"
include: "rules/training.smk"
include: "rules/sampling.smk"
include: "rules/measures.smk"
include: "rules/figures.smk"


checked_place(".")


onstart:
    checked_place(f"results/{settings.study}")


onerror:
    keep_to_be_done(workflow.dag, workflow.persistence)


localrules:
    all,


rule all:
    """The paper: every table, figure and claim of the study."""
    default_target: True
    input:
        rules.table1.output,
        rules.breadth.output,
        rules.scorecard.output,
        rules.training_curves.output,
        rules.trajectories.output,
        rules.coverage_curve.output,
        expand(rules.solutions.output.solutions, set=["depth", "tail"]),


include: "rules/report.smk"
