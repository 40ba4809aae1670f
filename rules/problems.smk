# Problem sets and their solutions.
# Needs: nothing (generated), or the problem files that the config names.
# Makes: problems/ (evaluation, training, overlaps removed) and solutions/ (every solution of every evaluation problem).


rule problem_sets:
    """Evaluation set with its calibration/held-out split, and training rows that share no problem with it."""
    output:
        evaluation="<results>/problems/evaluation.parquet",
        evaluation_manifest="<results>/problems/evaluation.manifest.json",
        training="<results>/problems/training.parquet",
        training_manifest="<results>/problems/training.manifest.json",
        overlaps="<results>/problems/overlaps.csv",
        overlaps_manifest="<results>/problems/overlaps.manifest.json",
    log:
        "<results>/logs/problem_sets.log",
    benchmark:
        "<results>/benchmarks/problem_sets.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/problem_sets.py"),
        seed=settings.seed,
        settings=settings.problems.model_dump(),
    script:
        "../workflow_scripts/stages/problem_sets.py"


rule solutions:
    """All solutions of every evaluation problem, under both equivalences, and its menu of openings."""
    input:
        problems=rules.problem_sets.output.evaluation,
    output:
        solutions="<results>/solutions/evaluation.parquet",
        solutions_manifest="<results>/solutions/evaluation.manifest.json",
        openings="<results>/solutions/evaluation_openings.parquet",
        openings_manifest="<results>/solutions/evaluation_openings.manifest.json",
    log:
        "<results>/logs/solutions.log",
    benchmark:
        "<results>/benchmarks/solutions.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/solutions.py"),
    script:
        "../workflow_scripts/stages/solutions.py"
