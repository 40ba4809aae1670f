# What every policy does on the evaluation set.
# Needs: policies/, problems/. Makes: rollouts/ (raw text, stored once) and scores/ (judged text, as often as wanted).


rule rollouts:
    """Free samples of one policy on every evaluation problem."""
    input:
        policy="<results>/policies/{policy}",
        problems=rules.problem_sets.output.evaluation,
    output:
        rollouts="<results>/rollouts/{policy}.parquet",
        manifest="<results>/rollouts/{policy}.manifest.json",
    log:
        "<results>/logs/rollouts/{policy}.log",
    benchmark:
        "<results>/benchmarks/rollouts/{policy}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=of_code("stages/rollouts.py"),
        study_seed=settings.seed,
        settings=settings.sampling.model_dump(),
    script:
        "../workflow_scripts/stages/rollouts.py"


rule scores:
    """Verdict, canonical forms and openings of every sample."""
    input:
        rollouts=rules.rollouts.output.rollouts,
        problems=rules.problem_sets.output.evaluation,
    output:
        scores="<results>/scores/{policy}.parquet",
        manifest="<results>/scores/{policy}.manifest.json",
    log:
        "<results>/logs/scores/{policy}.log",
    benchmark:
        "<results>/benchmarks/scores/{policy}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/scores.py"),
        contract=settings.measures.contract,
    script:
        "../workflow_scripts/stages/scores.py"
