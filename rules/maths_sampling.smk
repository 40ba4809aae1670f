# What maths policies say, and how it is judged.
# Needs: maths/policies/, maths/problems/. Makes: maths/rollouts/, maths/scores/, maths/drift/.


MATHS_DECODING = settings.maths.sampling.model_dump(include={"engine", "temperature", "top_p", "max_new_tokens"})


rule maths_rollouts:
    """Free samples of one maths policy on every problem of a part of the benchmarks."""
    input:
        policy="<results>/maths/policies/{policy}",
        problems=lambda wildcards: maths_problems_of(settings, wildcards.part),
    output:
        rollouts="<results>/maths/rollouts/{policy}.{part}.parquet",
        manifest="<results>/maths/rollouts/{policy}.{part}.manifest.json",
    log:
        "<results>/logs/maths_rollouts/{policy}.{part}.log",
    benchmark:
        "<results>/benchmarks/maths_rollouts/{policy}.{part}.tsv"
    wildcard_constraints:
        policy=either(maths_policies(settings)) or "-",
        part=either(maths_parts(settings)),
    conda:
        environment_of(settings.maths.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.maths.sampling.gpus,
    params:
        code=code_of_engine(settings.maths.sampling.engine, "stages/maths_rollouts.py", "sampling"),
        prompt=settings.maths.prompt,
        study_seed=settings.seed,
        samples=settings.maths.sampling.samples,
        settings=MATHS_DECODING,
    script:
        "../workflow_scripts/stages/maths_rollouts.py"


rule maths_scores:
    """The verdict, first calculation and numeric trace of every sample of one maths policy."""
    input:
        rollouts=rules.maths_rollouts.output.rollouts,
        problems=lambda wildcards: maths_problems_of(settings, wildcards.part),
    output:
        scores="<results>/maths/scores/{policy}.{part}.parquet",
        manifest="<results>/maths/scores/{policy}.{part}.manifest.json",
    log:
        "<results>/logs/maths_scores/{policy}.{part}.log",
    wildcard_constraints:
        policy=either(maths_policies(settings)) or "-",
        part=either(maths_parts(settings)),
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=of_code("stages/maths_scores.py"),
        symbolic=bool(settings.maths.benchmarks),
    script:
        "../workflow_scripts/stages/maths_scores.py"


rule maths_drift:
    """How far a maths policy moved from the base, and its entropy a token, over its own samples."""
    input:
        policy="<results>/maths/policies/{policy}",
        reference="<results>/maths/policies/base",
        problems=maths_problems_of(settings),
        rollouts=lambda wildcards: maths_files(settings, "rollouts", [wildcards.policy]),
    output:
        drift="<results>/maths/drift/{policy}.parquet",
        manifest="<results>/maths/drift/{policy}.manifest.json",
    log:
        "<results>/logs/maths_drift/{policy}.log",
    wildcard_constraints:
        policy=either(maths_policies(settings)) or "-",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=of_code("stages/maths_drift.py"),
        reference="base",
        samples=min(16, settings.maths.sampling.samples),
    script:
        "../workflow_scripts/stages/maths_drift.py"
