# Numbers from scores.
# Needs: scores/, solutions/, training/. Makes: measures/ (per policy and over all), tables/training_curves.csv.


rule problem_breadth:
    """What one policy found of each problem's solutions, families and openings."""
    input:
        scores="<results>/scores/{policy}.parquet",
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        problems="<results>/measures/problems/{policy}.parquet",
        problems_manifest="<results>/measures/problems/{policy}.manifest.json",
        forms="<results>/measures/forms/{policy}.parquet",
        forms_manifest="<results>/measures/forms/{policy}.manifest.json",
        statuses="<results>/measures/statuses/{policy}.csv",
        statuses_manifest="<results>/measures/statuses/{policy}.manifest.json",
    log:
        "<results>/logs/problem_breadth/{policy}.log",
    benchmark:
        "<results>/benchmarks/problem_breadth/{policy}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/problem_breadth.py"),
    script:
        "../workflow_scripts/stages/problem_breadth.py"


rule summary:
    """Every measure of every kept policy with its interval, and paired differences between the ends of each line."""
    input:
        problems=expand("<results>/measures/problems/{policy}.parquet", policy=policy_ids(settings)),
    output:
        summary="<results>/measures/summary.csv",
        summary_manifest="<results>/measures/summary.manifest.json",
        contrasts="<results>/measures/contrasts.csv",
        contrasts_manifest="<results>/measures/contrasts.manifest.json",
    log:
        "<results>/logs/summary.log",
    benchmark:
        "<results>/benchmarks/summary.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/summary.py"),
        seed=settings.seed,
        lines=line_rows(settings),
        pass_at=settings.measures.pass_at,
        solution_set=settings.measures.solution_set,
        draws=settings.measures.bootstrap,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/summary.py"


rule retention:
    """What a line kept and lost between its early and its late policy."""
    input:
        problems=lambda wildcards: ends_of_line(wildcards, "<results>/measures/problems/{policy}.parquet"),
        forms=lambda wildcards: ends_of_line(wildcards, "<results>/measures/forms/{policy}.parquet"),
        lost=lambda wildcards: late_policies(wildcards, "<results>/scores/{policy}.lost.parquet"),
        halves=lambda wildcards: late_policies(wildcards, "<results>/scores/{policy}.halves.parquet"),
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        csv="<results>/measures/retention/{line}.csv",
        manifest="<results>/measures/retention/{line}.manifest.json",
    log:
        "<results>/logs/retention/{line}.log",
    benchmark:
        "<results>/benchmarks/retention/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/retention.py"),
        seed=settings.seed,
        line=lambda wildcards: next(row for row in line_ends(settings) if row["name"] == wildcards.line),
        middle=sum(further_samples(settings.sampling)["halves"]) // 2,
        solution_set=settings.measures.solution_set,
        draws=settings.measures.bootstrap,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/retention.py"


rule training_curves:
    """Reward, KL, entropies, distinct formulas, zero-variance groups and lengths at every training step."""
    input:
        metrics=[f"<results>/training/{policy}.parquet" for policy in trained_ids(settings)],
    output:
        csv=report(
            "<results>/tables/training_curves.csv",
            caption="../resources/captions/training_curves.rst",
            category="Tables",
            labels={"result": "training curves, step by step (csv)"},
        ),
        manifest="<results>/tables/training_curves.manifest.json",
    log:
        "<results>/logs/training_curves.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/training_curves.py"),
        segments=[
            {"line": row["line"], "seed": row["seed"]}
            for row in policy_rows(settings)
            if row["policy"] in trained_ids(settings)
        ],
    script:
        "../workflow_scripts/stages/training_curves.py"
