# Programs that the policies write, and what they are worth.
# Needs: scicode/policies/, scicode/problems/. Makes: scicode/rollouts/, scicode/scores/.


rule scicode_rollouts:
    """Free samples of one policy on the problems of both sets, or on what it answers besides."""
    input:
        policy=lambda wildcards: f"results/{settings.study}/scicode/policies/{wildcards.sampled.partition('.')[0]}",
        problems=code_answered,
    output:
        rollouts="<results>/scicode/rollouts/{sampled}.parquet",
        manifest="<results>/scicode/rollouts/{sampled}.manifest.json",
    log:
        "<results>/logs/scicode_rollouts/{sampled}.log",
    benchmark:
        "<results>/benchmarks/scicode_rollouts/{sampled}.tsv"
    wildcard_constraints:
        sampled=code_sampled(settings),
    conda:
        environment_of(settings.scicode.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.scicode.sampling.gpus,
    params:
        code=code_of_engine(settings.scicode.sampling.engine, "stages/scicode_rollouts.py", "sampling"),
        study_seed=settings.seed,
        samples=code_samples,
        settings=code_sampling,
    script:
        "../workflow_scripts/stages/scicode_rollouts.py"


rule scicode_scores:
    """The layers of every program: extracted, parses, defines answer, runs, right type, right value."""
    input:
        rollouts=rules.scicode_rollouts.output.rollouts,
        problems=code_answered,
    output:
        scores="<results>/scicode/scores/{sampled}.parquet",
        manifest="<results>/scicode/scores/{sampled}.manifest.json",
        rewards="<results>/scicode/rewards/{sampled}.parquet",
        rewards_manifest="<results>/scicode/rewards/{sampled}.manifest.json",
    log:
        "<results>/logs/scicode_scores/{sampled}.log",
    benchmark:
        "<results>/benchmarks/scicode_scores/{sampled}.tsv"
    wildcard_constraints:
        sampled=code_sampled(settings),
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


if settings.scicode.judge and code_judged(settings):

    rule scicode_judged:
        """What rewards that ask a judge would have paid for the first samples of every problem."""
        input:
            rollouts="<results>/scicode/rollouts/{policy}.parquet",
            problems=code_problems(settings),
        output:
            rewards="<results>/scicode/judged/{policy}.parquet",
            manifest="<results>/scicode/judged/{policy}.manifest.json",
        log:
            "<results>/logs/scicode_judged/{policy}.log",
        wildcard_constraints:
            policy=either(code_policies(settings)),
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=4000,
            runtime=240,
        params:
            code=of_code("stages/scicode_judged.py", "tasks/scicode/sandbox/runner.py"),
            rewards={name: settings.scicode.rewards[name] for name in code_judged(settings)},
            endpoint=code_judge(settings),
            asked_of=settings.scicode.judge.items,
            limits=settings.scicode.limits.model_dump(),
        script:
            "../workflow_scripts/stages/scicode_judged.py"
