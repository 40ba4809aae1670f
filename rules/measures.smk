# Numbers from scores.
# Needs: scores/, solutions/, training/. Makes: measures/ (per policy and over all), tables/claims.*, tables/training_curves.csv.


rule problem_breadth:
    """What one policy found of each problem's solutions, families and openings."""
    input:
        scores=rules.scores.output.scores,
        solutions=rules.solutions.output.solutions,
        openings=rules.solutions.output.openings,
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


rule scorecard:
    """The paper's claims with computed verdicts."""
    input:
        contrasts=rules.summary.output.contrasts,
    output:
        claims=report(
            "<results>/tables/claims.csv",
            caption="../resources/captions/scorecard.rst",
            category="Claims",
            labels={"result": "scorecard (csv)"},
        ),
        page="<results>/tables/scorecard.md",
        manifest="<results>/tables/claims.manifest.json",
        page_manifest="<results>/tables/scorecard.manifest.json",
    log:
        "<results>/logs/scorecard.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/scorecard.py"),
        lines=line_rows(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/scorecard.py"


rule training_curves:
    """Reward, KL, entropies, distinct formulas, zero-variance groups and lengths at every training step."""
    input:
        metrics=[f"<results>/training/{row['policy']}.parquet" for row in policy_rows(settings) if row["step"]],
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
        segments=[{"line": row["line"], "seed": row["seed"]} for row in policy_rows(settings) if row["step"]],
    script:
        "../workflow_scripts/stages/training_curves.py"
