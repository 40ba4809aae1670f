# Where breadth is lost: numbers per line, from masses, likelihoods and clamped samples.
# Needs: masses/, likelihoods/, clamps/, scores/. Makes: measures/{likelihood,screening,ladder,access,theory,recoverability,depth}/.


rule likelihood_changes:
    """What entrance and execution cost in nats, early against late, and each token by its place."""
    input:
        likelihoods=lambda wildcards: trained_ends(wildcards, "<results>/likelihoods/{policy}.parquet"),
        policies=lambda wildcards: trained_ends(wildcards, "<results>/policies/{policy}"),
        problems=rules.problem_sets.output.evaluation,
    output:
        changes="<results>/measures/likelihood/{line}.csv",
        changes_manifest="<results>/measures/likelihood/{line}.manifest.json",
        tokens="<results>/measures/likelihood/{line}.tokens.csv",
        tokens_manifest="<results>/measures/likelihood/{line}.tokens.manifest.json",
    log:
        "<results>/logs/likelihood_changes/{line}.log",
    benchmark:
        "<results>/benchmarks/likelihood_changes/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        statistics=statistics(settings),
        code=of_code("stages/likelihood_changes.py"),
        line=lambda wildcards: ends_row(wildcards.line),
    script:
        "../workflow_scripts/stages/likelihood_changes.py"


rule screening:
    """Which kinds of scaffold tell what follows beyond problem and family: the leak screen."""
    input:
        clamps=lambda wildcards: clamps_of_line(wildcards, "ladder"),
        rollouts=lambda wildcards: trained_ends(wildcards, "<results>/rollouts/{policy}.ladder.parquet"),
        problems=rules.problem_sets.output.evaluation,
    output:
        csv="<results>/measures/screening/{line}.csv",
        manifest="<results>/measures/screening/{line}.manifest.json",
        changes="<results>/measures/screening/{line}.changes.csv",
        changes_manifest="<results>/measures/screening/{line}.changes.manifest.json",
    log:
        "<results>/logs/screening/{line}.log",
    benchmark:
        "<results>/benchmarks/screening/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/screening.py"),
        wording=WORDING,
        line=lambda wildcards: ends_row(wildcards.line),
        permutations=settings.clamps.permutations,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/screening.py"


rule ladder:
    """Completion of designated entrances by what is given of them."""
    input:
        clamps=lambda wildcards: clamps_of_line(wildcards, "ladder"),
        scores=lambda wildcards: trained_ends(wildcards, "<results>/scores/{policy}.ladder.parquet"),
        screening=rules.screening.output.csv,
        problems=rules.problem_sets.output.evaluation,
    output:
        changes="<results>/measures/ladder/{line}.csv",
        changes_manifest="<results>/measures/ladder/{line}.manifest.json",
        rungs="<results>/measures/ladder/{line}.rungs.csv",
        rungs_manifest="<results>/measures/ladder/{line}.rungs.manifest.json",
    log:
        "<results>/logs/ladder/{line}.log",
    benchmark:
        "<results>/benchmarks/ladder/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        statistics=statistics(settings),
        code=of_code("stages/ladder.py"),
        line=lambda wildcards: ends_row(wildcards.line),
    script:
        "../workflow_scripts/stages/ladder.py"


rule access:
    """Access and execution at every kept step: exact opening masses, completion given each opening, Shapley split."""
    input:
        masses=lambda wildcards: policies_of(wildcards, "<results>/masses/evaluation/{policy}.parquet"),
        clamps=rules.menu_clamps.output.clamps,
        entrances=lambda wildcards: policies_of(wildcards, "<results>/scores/{policy}.entrances.parquet"),
        scores=lambda wildcards: policies_of(wildcards, "<results>/scores/{policy}.parquet"),
        problems=rules.problem_sets.output.evaluation,
    output:
        changes="<results>/measures/access/{line}.csv",
        changes_manifest="<results>/measures/access/{line}.manifest.json",
        steps="<results>/measures/access/{line}.steps.csv",
        steps_manifest="<results>/measures/access/{line}.steps.manifest.json",
        families="<results>/measures/access/{line}.families.parquet",
        families_manifest="<results>/measures/access/{line}.families.manifest.json",
    log:
        "<results>/logs/access/{line}.log",
    benchmark:
        "<results>/benchmarks/access/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        statistics=statistics(settings),
        code=of_code("stages/access.py"),
        line=lambda wildcards: line_row(wildcards.line),
    script:
        "../workflow_scripts/stages/access.py"


rule theory:
    """Whether the gradient on an entrance, q (μ − μ̄), tells how its probability changes over the next segment."""
    input:
        families=rules.access.output.families,
        problems=rules.problem_sets.output.evaluation,
    output:
        segments="<results>/measures/theory/{line}.csv",
        segments_manifest="<results>/measures/theory/{line}.manifest.json",
        bins="<results>/measures/theory/{line}.bins.csv",
        bins_manifest="<results>/measures/theory/{line}.bins.manifest.json",
    log:
        "<results>/logs/theory/{line}.log",
    benchmark:
        "<results>/benchmarks/theory/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        statistics=statistics(settings),
        code=of_code("stages/theory.py"),
        line=lambda wildcards: line_row(wildcards.line),
        group=lambda wildcards: settings.lines[wildcards.line].samples,
    script:
        "../workflow_scripts/stages/theory.py"


rule recoverability:
    """Whether families that training made extinct are still carried through when they are opened, step by step."""
    input:
        clamps=rules.menu_clamps.output.clamps,
        tail=lambda wildcards: clamps_of_line(wildcards, "tail"),
        cells=lambda wildcards: [
            f"<results>/clamps/{wildcards.line}-s{seed}.cells.csv" for seed in settings.lines[wildcards.line].seeds
        ],
        entrances=lambda wildcards: policies_of(wildcards, "<results>/scores/{policy}.entrances.parquet"),
        scores=lambda wildcards: trained_ends(wildcards, "<results>/scores/{policy}.parquet"),
        halves=lambda wildcards: late_policies(wildcards, "<results>/scores/{policy}.halves.parquet"),
        problems=rules.problem_sets.output.evaluation,
        tail_problems=rules.problem_sets.output.tail,
    output:
        changes="<results>/measures/recoverability/{line}.csv",
        changes_manifest="<results>/measures/recoverability/{line}.manifest.json",
        steps="<results>/measures/recoverability/{line}.steps.csv",
        steps_manifest="<results>/measures/recoverability/{line}.steps.manifest.json",
    log:
        "<results>/logs/recoverability/{line}.log",
    benchmark:
        "<results>/benchmarks/recoverability/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        statistics=statistics(settings),
        code=of_code("stages/recoverability.py"),
        line=lambda wildcards: line_row(wildcards.line),
    script:
        "../workflow_scripts/stages/recoverability.py"


rule depth:
    """Completion by the number of operations given, the depth × late interaction, and access at each operation."""
    input:
        clamps=rules.depth_clamps.output.clamps,
        masses=lambda wildcards: trained_ends(wildcards, "<results>/masses/depth/{policy}.parquet"),
        scores=lambda wildcards: trained_ends(wildcards, "<results>/scores/{policy}.depth.parquet"),
        problems="<results>/problems/depth.parquet",
    output:
        changes="<results>/measures/depth/{line}.csv",
        changes_manifest="<results>/measures/depth/{line}.manifest.json",
        operations="<results>/measures/depth/{line}.operations.csv",
        operations_manifest="<results>/measures/depth/{line}.operations.manifest.json",
    log:
        "<results>/logs/depth/{line}.log",
    benchmark:
        "<results>/benchmarks/depth/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        statistics=statistics(settings),
        code=of_code("stages/depth.py"),
        line=lambda wildcards: ends_row(wildcards.line),
    script:
        "../workflow_scripts/stages/depth.py"
