# The small policy that writes programs, and its training under one reward a line.
# Needs: scicode/problems/. Makes: scicode/policies/ (Hugging Face folders), scicode/training/ (states and metrics).


if settings.scicode.policy is None:

    rule scicode_base:
        """The small policy that writes programs, pre-trained from scratch: they often run and are seldom right."""
        input:
            problems=code_problems(settings),
        output:
            policy=directory("<results>/scicode/policies/base"),
            metrics="<results>/scicode/training/base.parquet",
            metrics_manifest="<results>/scicode/training/base.manifest.json",
        log:
            "<results>/logs/scicode_base.log",
        benchmark:
            "<results>/benchmarks/scicode_base.tsv"
        priority: 10
        conda:
            "../envs/laptop.yaml"
        threads: 2
        resources:
            mem_mb=3000,
            runtime=60,
        params:
            code=of_code("stages/scicode_base.py"),
            workers=2,
            seed=settings.seed,
            architecture=settings.scicode.base.model_dump(exclude={"steps", "batch", "learning_rate"}),
            settings=settings.scicode.base.model_dump(include={"steps", "batch", "learning_rate"}),
        script:
            "../workflow_scripts/stages/scicode_base.py"

else:

    rule scicode_given:
        """The policy that training starts from: a Hugging Face folder, or a hub id at its pinned revision."""
        output:
            policy=directory("<results>/scicode/policies/base"),
        log:
            "<results>/logs/scicode_given.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=4000,
            runtime=120,
        params:
            code=of_code("stages/fetch_policy.py"),
            source=settings.scicode.policy.source,
            revision=settings.scicode.policy.revision,
            folder=settings.scicode.policy.folder,
            sha256=settings.scicode.policy.sha256,
            found=state_of(settings.scicode.policy.source, settings.scicode.policy.folder),
        script:
            "../workflow_scripts/stages/fetch_policy.py"


rule scicode_segment:
    """One stretch of training under one reward; truth is judged beside it and trains nothing."""
    input:
        base="<results>/scicode/policies/base",
        problems=code_trained_on,
        state=code_state_before,
    output:
        policy=directory("<results>/scicode/policies/{line}-s{seed}-step{step}"),
        state=directory("<results>/scicode/training/{line}-s{seed}-step{step}"),
        metrics="<results>/scicode/training/{line}-s{seed}-step{step}.parquet",
        metrics_manifest="<results>/scicode/training/{line}-s{seed}-step{step}.manifest.json",
        truth="<results>/scicode/training/{line}-s{seed}-step{step}.truth.parquet",
        truth_manifest="<results>/scicode/training/{line}-s{seed}-step{step}.truth.manifest.json",
    log:
        "<results>/logs/scicode_segment/{line}-s{seed}-step{step}.log",
    benchmark:
        "<results>/benchmarks/scicode_segment/{line}-s{seed}-step{step}.tsv"
    wildcard_constraints:
        line=either(code_lines(settings, "built_in")),
    priority: 9
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpus=lambda wildcards: settings.scicode.lines[wildcards.line].gpus,
    params:
        code=of_code("stages/scicode_segment.py", "tasks/scicode/sandbox/runner.py"),
        study_seed=settings.seed,
        line=lambda wildcards: wildcards.line,
        first_step=code_step_before,
        last_step=lambda wildcards: int(wildcards.step),
        settings=code_training,
        reward=code_reward,
        limits=settings.scicode.limits.model_dump(),
    script:
        "../workflow_scripts/stages/scicode_segment.py"


rule scicode_verl_segment:
    """One stretch of training under one reward by verl; truth is judged beside it and trains nothing."""
    input:
        base="<results>/scicode/policies/base",
        problems=code_trained_on,
        state=code_state_before,
    output:
        state=directory("<results>/scicode/training/{line}-s{seed}-step{step}"),
        metrics="<results>/scicode/training/{line}-s{seed}-step{step}.parquet",
        metrics_manifest="<results>/scicode/training/{line}-s{seed}-step{step}.manifest.json",
        truth="<results>/scicode/training/{line}-s{seed}-step{step}.truth.parquet",
        truth_manifest="<results>/scicode/training/{line}-s{seed}-step{step}.truth.manifest.json",
    log:
        "<results>/logs/scicode_verl_segment/{line}-s{seed}-step{step}.log",
    benchmark:
        "<results>/benchmarks/scicode_verl_segment/{line}-s{seed}-step{step}.tsv"
    wildcard_constraints:
        line=either(code_lines(settings, "verl")),
    priority: 9
    conda:
        "../envs/cluster.yaml"
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 720 * attempt,
        gpus=lambda wildcards: settings.scicode.lines[wildcards.line].gpus,
    params:
        code=of_code(
            "stages/scicode_verl_segment.py",
            "tasks/scicode/verl_reward.py",
            "policies/verl_engine/judged_reward.py",
            "policies/verl_engine/reward_manager.py",
            "tasks/scicode/sandbox/runner.py",
        ),
        study_seed=settings.seed,
        line=lambda wildcards: wildcards.line,
        first_step=code_step_before,
        last_step=lambda wildcards: int(wildcards.step),
        settings=code_training,
        reward=code_reward,
        limits=settings.scicode.limits.model_dump(),
        endpoint=lambda wildcards: (
            code_judge(settings) if settings.scicode.lines[wildcards.line].reward in code_judged(settings) else None
        ),
        workers=2,
        hardware=settings.verl.model_dump(),
    script:
        "../workflow_scripts/stages/scicode_verl_segment.py"


rule scicode_merged:
    """The policy of a verl state as a Hugging Face folder: shards merged, compared with what was trained."""
    input:
        base="<results>/scicode/policies/base",
        state="<results>/scicode/training/{line}-s{seed}-step{step}",
    output:
        policy=directory("<results>/scicode/policies/{line}-s{seed}-step{step}"),
    log:
        "<results>/logs/scicode_merged/{line}-s{seed}-step{step}.log",
    wildcard_constraints:
        line=either(code_lines(settings, "verl")),
    conda:
        "../envs/cluster.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_code("stages/merged_policy.py"),
    script:
        "../workflow_scripts/stages/merged_policy.py"
