# What every policy does on the evaluation set.
# Needs: policies/, problems/. Makes: rollouts/ (raw text, stored once) and scores/ (judged text, as often as wanted).


DECODING = settings.sampling.model_dump(include={"engine", "temperature", "top_p", "max_new_tokens"})


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
        environment_of(settings.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=code_of_engine(settings.sampling.engine, "stages/rollouts.py", "sampling"),
        wording=WORDING,
        study_seed=settings.seed,
        samples=lambda wildcards: samples_of(wildcards.policy),
        settings=DECODING,
    script:
        "../workflow_scripts/stages/rollouts.py"


rule survivors:
    """Which problems the early and the late policy of a line solve."""
    input:
        early=lambda wildcards: end_of_line(wildcards, "early", "<results>/measures/problems/{policy}.parquet"),
        late=lambda wildcards: end_of_line(wildcards, "late", "<results>/measures/problems/{policy}.parquet"),
    output:
        csv="<results>/measures/survivors/{line}-s{seed}.csv",
        manifest="<results>/measures/survivors/{line}-s{seed}.manifest.json",
    log:
        "<results>/logs/survivors/{line}-s{seed}.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/survivors.py"),
        early=lambda wildcards: end_of_line(wildcards, "early", "{policy}"),
        late=lambda wildcards: end_of_line(wildcards, "late", "{policy}"),
    script:
        "../workflow_scripts/stages/survivors.py"


rule more_rollouts:
    """Further samples of a late policy: of the problems that it lost, or two independent sets of all problems."""
    input:
        policy="<results>/policies/{policy}",
        problems=rules.problem_sets.output.evaluation,
        survivors=survivors_of_policy,
    output:
        rollouts="<results>/rollouts/{policy}.{further}.parquet",
        manifest="<results>/rollouts/{policy}.{further}.manifest.json",
    log:
        "<results>/logs/rollouts/{policy}.{further}.log",
    benchmark:
        "<results>/benchmarks/rollouts/{policy}.{further}.tsv"
    conda:
        environment_of(settings.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=code_of_engine(settings.sampling.engine, "stages/rollouts.py", "sampling"),
        wording=WORDING,
        study_seed=settings.seed,
        samples=lambda wildcards: further_samples(settings.sampling)[wildcards.further],
        group=lambda wildcards: "lost" if wildcards.further == "lost" else "",
        settings=DECODING,
    script:
        "../workflow_scripts/stages/rollouts.py"


rule scores:
    """Verdict, canonical forms and openings of every sample."""
    input:
        rollouts="<results>/rollouts/{sampled}.parquet",
        problems=problems_sampled,
    output:
        scores="<results>/scores/{sampled}.parquet",
        manifest="<results>/scores/{sampled}.manifest.json",
    log:
        "<results>/logs/scores/{sampled}.log",
    benchmark:
        "<results>/benchmarks/scores/{sampled}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/scores.py"),
        wording=WORDING,
        contract=settings.measures.contract,
    script:
        "../workflow_scripts/stages/scores.py"
