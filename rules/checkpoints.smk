# Lines that verl trains, and lines of checkpoints that exist.
# Needs: policies/base, problems/training. Makes: training/ (verl's states and metrics), policies/ (Hugging Face folders).


rule verl_segment:
    """One stretch of a training line by verl, from the state kept before it to the state after it."""
    input:
        base=rules.base_policy.output.policy,
        problems=rules.problem_sets.output.training,
        state=state_before,
    output:
        state=directory("<results>/training/{line}-s{seed}-step{step}"),
        metrics="<results>/training/{line}-s{seed}-step{step}.parquet",
        metrics_manifest="<results>/training/{line}-s{seed}-step{step}.manifest.json",
    log:
        "<results>/logs/verl_segment/{line}-s{seed}-step{step}.log",
    benchmark:
        "<results>/benchmarks/verl_segment/{line}-s{seed}-step{step}.tsv"
    wildcard_constraints:
        line=either(lines_made_by(settings, "verl")),
    priority: 10  # the chain is the longest path: its segments go before anything that is only read later
    conda:
        "../envs/cluster.yaml"
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 720 * attempt,
        gpus=lambda wildcards: settings.lines[wildcards.line].gpus,
    params:
        code=of_code("stages/verl_segment.py"),
        wording=WORDING,
        study_seed=settings.seed,
        contract=settings.measures.contract,
        line=lambda wildcards: wildcards.line,
        first_step=previous_step,
        last_step=lambda wildcards: int(wildcards.step),
        settings=line_settings,
        hardware=settings.verl.model_dump(),
    script:
        "../workflow_scripts/stages/verl_segment.py"


rule merged_policy:
    """The policy of a verl state as a Hugging Face folder: shards merged, compared with what was trained."""
    input:
        base=rules.base_policy.output.policy,
        state="<results>/training/{line}-s{seed}-step{step}",
    output:
        policy=directory("<results>/policies/{line}-s{seed}-step{step}"),
    log:
        "<results>/logs/merged_policy/{line}-s{seed}-step{step}.log",
    benchmark:
        "<results>/benchmarks/merged_policy/{line}-s{seed}-step{step}.tsv"
    wildcard_constraints:
        line=either(lines_made_by(settings, "verl")),
    conda:
        "../envs/cluster.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_code("stages/merged_policy.py"),
    script:
        "../workflow_scripts/stages/merged_policy.py"


rule policy_card:
    """What every policy is and how it is asked: template, special tokens, defaults that are not used, prompt lengths."""
    input:
        policies=expand("<results>/policies/{policy}", policy=policy_ids(settings)),
        problems=rules.problem_sets.output.evaluation,
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        csv=report(
            "<results>/tables/policy_card.csv",
            caption="../resources/captions/policy_card.rst",
            category="Study",
            labels={"result": "policies and how they are asked (csv)"},
        ),
        md="<results>/tables/policy_card.md",
        manifest="<results>/tables/policy_card.manifest.json",
    log:
        "<results>/logs/policy_card.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=of_code("stages/policy_card.py"),
        wording=WORDING,
        policies=policy_ids(settings),
        solution_set=menu_set(settings),
        settings=settings.sampling.model_dump(include={"engine", "temperature", "top_p", "max_new_tokens", "samples"}),
    script:
        "../workflow_scripts/stages/policy_card.py"


rule given_checkpoint:
    """One checkpoint that exists: a Hugging Face folder, or a hub id at its pinned revision."""
    output:
        policy=directory("<results>/policies/{line}-s{seed}-step{step}"),
    log:
        "<results>/logs/given_checkpoint/{line}-s{seed}-step{step}.log",
    wildcard_constraints:
        line=either(lines_made_by(settings, "given")),
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        code=of_code("stages/fetch_policy.py"),
        source=lambda wildcards: given_checkpoint(wildcards, "source"),
        revision=lambda wildcards: given_checkpoint(wildcards, "revision"),
        folder=lambda wildcards: given_checkpoint(wildcards, "folder"),
        sha256=lambda wildcards: given_checkpoint(wildcards, "sha256"),
        found=lambda wildcards: state_of(given_checkpoint(wildcards, "source"), given_checkpoint(wildcards, "folder")),
    script:
        "../workflow_scripts/stages/fetch_policy.py"
