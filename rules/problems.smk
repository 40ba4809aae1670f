# Problem sets and their solutions.
# Needs: nothing (generated), or the problem files that the config names.
# Makes: problems/ (evaluation, depth, tail, training, overlaps removed) and solutions/ (every solution of a set).


rule problem_sets:
    """Evaluation set with its calibration/held-out split, depth set and tail pool, and training rows disjoint from all."""
    output:
        evaluation="<results>/problems/evaluation.parquet",
        evaluation_manifest="<results>/problems/evaluation.manifest.json",
        training="<results>/problems/training.parquet",
        training_manifest="<results>/problems/training.manifest.json",
        depth="<results>/problems/depth.parquet",
        depth_manifest="<results>/problems/depth.manifest.json",
        tail="<results>/problems/tail.parquet",
        tail_manifest="<results>/problems/tail.manifest.json",
        overlaps="<results>/problems/overlaps.csv",
        overlaps_manifest="<results>/problems/overlaps.manifest.json",
        benchmark="<results>/benchmarks/problem_sets.tsv",
    log:
        "<results>/logs/problem_sets.log",
    cache: shared_cache()
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/problem_sets.py"),
        seed=settings.seed,
        largest=100 if WORDING == "laptop" else None,
        found=[state_of(source) for source in (settings.problems.source, settings.problems.training_source)],
        settings=settings.problems.model_dump(),
    script:
        "../workflow_scripts/stages/problem_sets.py"


rule solutions:
    """All solutions of every problem of a set, under both equivalences, and its menu of openings."""
    input:
        problems="<results>/problems/{set}.parquet",
    output:
        solutions="<results>/solutions/{set}.parquet",
        solutions_manifest="<results>/solutions/{set}.manifest.json",
        openings="<results>/solutions/{set}_openings.parquet",
        openings_manifest="<results>/solutions/{set}_openings.manifest.json",
        benchmark="<results>/benchmarks/solutions/{set}.tsv",
    log:
        "<results>/logs/solutions/{set}.log",
    cache: shared_cache()
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/solutions.py"),
        set="{set}",  # a cache knows a job by its params, not by its wildcards
    script:
        "../workflow_scripts/stages/solutions.py"
