# The base policy and the training lines.
# Needs: problems/. Makes: policies/ (Hugging Face folders), training/ (full states and metrics, one per segment).


if settings.policy.source is None:

    rule base_policy:
        """The small policy, pre-trained from scratch: knows the text, arithmetic and many openings, seldom hits the target."""
        input:
            problems=rules.problem_sets.output.evaluation,
        output:
            policy=directory("<results>/policies/base"),
            metrics="<results>/training/base.parquet",
            metrics_manifest="<results>/training/base.manifest.json",
            benchmark="<results>/benchmarks/base_policy.tsv",
        log:
            "<results>/logs/base_policy.log",
        cache: shared_cache()
        conda:
            "../envs/laptop.yaml"
        threads: 2
        resources:
            mem_mb=3000,
            runtime=30,
        params:
            code=of_code("stages/base_policy.py"),
            workers=2,
            seed=settings.seed,
            architecture=settings.policy.model_dump(),
            settings=settings.base.model_dump(),
            operands=settings.problems.operands,
            values=settings.problems.values,
            targets=settings.problems.targets,
        script:
            "../workflow_scripts/stages/base_policy.py"

else:

    rule base_policy:
        """The base policy of the config: a Hugging Face folder, or a hub id at its pinned revision."""
        output:
            policy=directory("<results>/policies/base"),
        log:
            "<results>/logs/base_policy.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=4000,
            runtime=120,
        params:
            code=of_code("stages/fetch_policy.py"),
            source=settings.policy.source,
            revision=settings.policy.revision,
            sha256=settings.policy.sha256,
            found=state_of(settings.policy.source),
        script:
            "../workflow_scripts/stages/fetch_policy.py"


rule train_segment:
    """One stretch of a training line, from the full state kept before it to the full state after it."""
    input:
        base=rules.base_policy.output.policy,
        problems=rules.problem_sets.output.training,
        state=state_before,
    output:
        policy=directory("<results>/policies/{line}-s{seed}-step{step}"),
        state=directory("<results>/training/{line}-s{seed}-step{step}"),
        metrics="<results>/training/{line}-s{seed}-step{step}.parquet",
        metrics_manifest="<results>/training/{line}-s{seed}-step{step}.manifest.json",
    log:
        "<results>/logs/train_segment/{line}-s{seed}-step{step}.log",
    benchmark:
        "<results>/benchmarks/train_segment/{line}-s{seed}-step{step}.tsv"
    wildcard_constraints:
        line=either(lines_made_by(settings, "built_in")),
    priority: 10  # the chain is the longest path: its segments go before anything that is only read later
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpus=lambda wildcards: settings.lines[wildcards.line].gpus,
    params:
        code=lambda wildcards: code_of_training(settings.lines[wildcards.line]),
        study_seed=settings.seed,
        line=lambda wildcards: wildcards.line,
        first_step=previous_step,
        last_step=lambda wildcards: int(wildcards.step),
        settings=line_settings,
    script:
        "../workflow_scripts/stages/train_segment.py"
