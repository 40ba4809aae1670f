# The lab's controlled experiment: four candidates per problem through SFT, DPO and GRPO; no policy of the study is needed.
# Needs: resources/controlled/problems.jsonl. Makes: measures/controlled/, figures/controlled.*, tables/controlled.*.

CONTROLLED = {
    "start": [0.0, 1.0, 0.2, -0.2],  # logits: right boxed, wrong boxed, right unmarked, refusal
    "reward": {"format_bonus": 0.1, "invalid_penalty": 0.1},
    "sft": {"updates": 60, "rate": 0.35},
    "dpo": {"updates": 200, "rate": 0.5, "beta": 1.0},
    "grpo": {"updates": 500, "rate": 1.0},
    "sampled": {"updates": [1, 5, 20], "samples": 8, "seeds": 10, "clip": 0.2},  # updates: on one batch
    "sweep": {
        "format_bonus": [0.0, 0.02, 0.1, 0.3, 1.0, 1.5],
        "invalid_penalty": [0.0, 0.02, 0.1, 0.3, 1.0],
        "correct": [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4],  # of a start: probability of a right answer
        "wrong_share": [0.05, 0.25, 0.5, 0.75, 0.95],  # of what is left: the wrong boxed answer
    },
}
CONTROLLED_PROBLEMS = (ROOT / "resources/controlled/problems.jsonl").read_text(encoding="utf-8").splitlines()


rule controlled_experiment:
    """Four candidates per problem through SFT, DPO and GRPO, and what the reward's constants pay for."""
    output:
        policies="<results>/measures/controlled/policies.csv",
        policies_manifest="<results>/measures/controlled/policies.manifest.json",
        steps="<results>/measures/controlled/steps.csv",
        steps_manifest="<results>/measures/controlled/steps.manifest.json",
        sweep="<results>/measures/controlled/sweep.csv",
        sweep_manifest="<results>/measures/controlled/sweep.manifest.json",
        starts="<results>/measures/controlled/starts.csv",
        starts_manifest="<results>/measures/controlled/starts.manifest.json",
        incentive="<results>/measures/controlled/incentive.csv",
        incentive_manifest="<results>/measures/controlled/incentive.manifest.json",
    log:
        "<results>/logs/controlled_experiment.log",
    benchmark:
        "<results>/benchmarks/controlled_experiment.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **CONTROLLED,
        code=of_code("stages/controlled_experiment.py"),
        seed=settings.seed,
        problems=CONTROLLED_PROBLEMS,
    script:
        "../workflow_scripts/stages/controlled_experiment.py"


rule controlled_table:
    """Table: the controlled experiment, every policy by its likeliest candidate and by a sample."""
    input:
        policies=rules.controlled_experiment.output.policies,
        incentive=rules.controlled_experiment.output.incentive,
    output:
        **table_files("controlled", "controlled experiment: every policy, likeliest candidate and sample"),
    log:
        "<results>/logs/controlled_table.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/controlled_table.py"),
        problems=len(CONTROLLED_PROBLEMS),
        sampled=CONTROLLED["sampled"],
        reward=CONTROLLED["reward"],
    script:
        "../workflow_scripts/stages/controlled_table.py"


rule controlled_figure:
    """Figure: four candidates per problem along SFT, DPO and GRPO, and where the reward pays for a wrong box."""
    input:
        steps=rules.controlled_experiment.output.steps,
        incentive=rules.controlled_experiment.output.incentive,
    output:
        **figure_files("controlled", "controlled experiment: probabilities, metrics and the format incentive"),
    log:
        "<results>/logs/controlled_figure.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/controlled_figure.py"),
        sampled=CONTROLLED["sampled"],
    script:
        "../workflow_scripts/stages/controlled_figure.py"
