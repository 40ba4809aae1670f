# Programs that the policies write, and what they are worth.
# Needs: scicode/policies/, scicode/problems/. Makes: scicode/rollouts/, scicode/scores/.


rule scicode_rollouts:
    """Free samples of one policy on the problems of both sets."""
    input:
        policy="<results>/scicode/policies/{policy}",
        problems=code_problems(settings),
    output:
        rollouts="<results>/scicode/rollouts/{policy}.parquet",
        manifest="<results>/scicode/rollouts/{policy}.manifest.json",
    log:
        "<results>/logs/scicode_rollouts/{policy}.log",
    benchmark:
        "<results>/benchmarks/scicode_rollouts/{policy}.tsv"
    wildcard_constraints:
        policy=either(code_policies(settings)),
    conda:
        environment_of(settings.scicode.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.scicode.sampling.gpus,
    params:
        code=code_of_engine(settings.scicode.sampling.engine, "stages/scicode_rollouts.py", "sampling"),
        study_seed=settings.seed,
        samples=settings.scicode.sampling.samples,
        settings=settings.scicode.sampling.model_dump(include={"engine", "temperature", "top_p", "max_new_tokens"}),
    script:
        "../workflow_scripts/stages/scicode_rollouts.py"


rule scicode_scores:
    """The layers of every program: extracted, parses, defines answer, runs, right type, right value."""
    input:
        rollouts=rules.scicode_rollouts.output.rollouts,
        problems=code_problems(settings),
    output:
        scores="<results>/scicode/scores/{policy}.parquet",
        manifest="<results>/scicode/scores/{policy}.manifest.json",
        rewards="<results>/scicode/rewards/{policy}.parquet",
        rewards_manifest="<results>/scicode/rewards/{policy}.manifest.json",
    log:
        "<results>/logs/scicode_scores/{policy}.log",
    benchmark:
        "<results>/benchmarks/scicode_scores/{policy}.tsv"
    wildcard_constraints:
        policy=either(code_policies(settings)),
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=of_code("stages/scicode_scores.py", "tasks/scicode/sandbox/runner.py"),
        rewards=settings.scicode.rewards,
        limits=settings.scicode.limits.model_dump(),
    script:
        "../workflow_scripts/stages/scicode_scores.py"
