# The small maths policy and how it is trained, or maths policies that exist.
# Needs: maths/problems/. Makes: maths/policies/ (Hugging Face folders), maths/training/ (metrics).


if settings.maths.policies:

    rule maths_given:
        """A maths policy that exists: a Hugging Face folder, or a hub id at its pinned revision."""
        output:
            policy=directory("<results>/maths/policies/{policy}"),
        log:
            "<results>/logs/maths_given/{policy}.log",
        wildcard_constraints:
            policy=either(maths_policies(settings)),
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=4000,
            runtime=120,
        params:
            code=of_code("stages/fetch_policy.py"),
            source=lambda wildcards: settings.maths.policies[wildcards.policy].source,
            revision=lambda wildcards: settings.maths.policies[wildcards.policy].revision,
            folder=lambda wildcards: settings.maths.policies[wildcards.policy].folder,
            sha256=lambda wildcards: settings.maths.policies[wildcards.policy].sha256,
            found=lambda wildcards: state_of(
                settings.maths.policies[wildcards.policy].source, settings.maths.policies[wildcards.policy].folder
            ),
        script:
            "../workflow_scripts/stages/fetch_policy.py"

else:

    rule maths_base:
        """The small maths policy, pre-trained from scratch: right in its arithmetic, often wrong in what it takes."""
        input:
            problems=maths_problems_of(settings),
        output:
            policy=directory("<results>/maths/policies/base"),
            metrics="<results>/maths/training/base.parquet",
            metrics_manifest="<results>/maths/training/base.manifest.json",
        log:
            "<results>/logs/maths_base.log",
        benchmark:
            "<results>/benchmarks/maths_base.tsv"
        priority: 10
        conda:
            "../envs/laptop.yaml"
        threads: 2
        resources:
            mem_mb=3000,
            runtime=60,
        params:
            code=of_code("stages/maths_base.py"),
            workers=2,
            seed=settings.seed,
            architecture=settings.maths.base.model_dump(exclude={"steps", "batch", "learning_rate"}),
            settings=settings.maths.base.model_dump(include={"steps", "batch", "learning_rate"}),
        script:
            "../workflow_scripts/stages/maths_base.py"


rule maths_sft:
    """A maths policy fine-tuned on worked-out answers, several routes a problem."""
    input:
        start=maths_start,
        problems="<results>/maths/problems/training.parquet",
    output:
        policy=directory("<results>/maths/policies/{road}-s{seed}"),
        metrics="<results>/maths/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/maths/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/maths_sft/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/maths_sft/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(maths_roads(settings, "sft")),
    priority: 9
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_code("stages/maths_sft.py"),
        study_seed=settings.seed,
        road=lambda wildcards: wildcards.road,
        settings=lambda wildcards: settings.maths.roads[wildcards.road].model_dump(
            exclude={"seeds", "role", "start", "kind", "engine", "gpus"}
        ),
    script:
        "../workflow_scripts/stages/maths_sft.py"


rule maths_dpo:
    """A maths policy trained on preferences among its start's own samples, judged by the verifier."""
    input:
        start=maths_start,
        problems="<results>/maths/problems/training.parquet",
    output:
        policy=directory("<results>/maths/policies/{road}-s{seed}"),
        metrics="<results>/maths/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/maths/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/maths_dpo/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/maths_dpo/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(maths_roads(settings, "dpo")),
    priority: 8
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_code("stages/maths_dpo.py"),
        study_seed=settings.seed,
        road=lambda wildcards: wildcards.road,
        max_new_tokens=settings.maths.sampling.max_new_tokens,
        settings=lambda wildcards: settings.maths.roads[wildcards.road].model_dump(
            exclude={"seeds", "role", "start", "kind", "engine", "gpus"}
        ),
    script:
        "../workflow_scripts/stages/maths_dpo.py"


rule maths_grpo:
    """A maths policy trained with the lab's verifiable reward: correctness, format, a penalty where nothing is found."""
    input:
        start=maths_start,
        problems="<results>/maths/problems/training.parquet",
    output:
        policy=directory("<results>/maths/policies/{road}-s{seed}"),
        metrics="<results>/maths/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/maths/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/maths_grpo/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/maths_grpo/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(maths_roads(settings, "grpo")),
    priority: 7
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpus=lambda wildcards: settings.maths.roads[wildcards.road].gpus,
    params:
        code=of_code("stages/maths_grpo.py"),
        study_seed=settings.seed,
        road=lambda wildcards: wildcards.road,
        rewards=settings.maths.rewards.model_dump(),
        settings=lambda wildcards: training_settings(settings.maths.roads[wildcards.road])
        | {"steps": settings.maths.roads[wildcards.road].steps},
    script:
        "../workflow_scripts/stages/maths_grpo.py"
