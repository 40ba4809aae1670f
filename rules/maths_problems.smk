# What is asked in maths: word problems written here, or published benchmarks.
# Makes: maths/problems/, tables/contamination.csv.


if settings.maths.benchmarks:

    rule maths_problems:
        """The problems of a published benchmark as one table, from its file or from its hub data set."""
        input:
            file=lambda wildcards: maths_source(wildcards.benchmark),
        output:
            problems="<results>/maths/problems/{benchmark}.parquet",
            problems_manifest="<results>/maths/problems/{benchmark}.manifest.json",
            summary="<results>/maths/problems/{benchmark}.summary.csv",
            summary_manifest="<results>/maths/problems/{benchmark}.summary.manifest.json",
        log:
            "<results>/logs/maths_problems/{benchmark}.log",
        wildcard_constraints:
            benchmark=either(settings.maths.asked),
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            code=of_code("stages/maths_problems.py"),
            settings=lambda wildcards: settings.maths.benchmarks[wildcards.benchmark].model_dump(),
        script:
            "../workflow_scripts/stages/maths_problems.py"

else:

    rule maths_problem_sets:
        """Word problems of evaluation, of the shifted test, and of training, disjoint in their content."""
        output:
            words="<results>/maths/problems/words.parquet",
            words_manifest="<results>/maths/problems/words.manifest.json",
            shifted="<results>/maths/problems/shifted.parquet",
            shifted_manifest="<results>/maths/problems/shifted.manifest.json",
            training="<results>/maths/problems/training.parquet",
            training_manifest="<results>/maths/problems/training.manifest.json",
        log:
            "<results>/logs/maths_problem_sets.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=of_code("stages/maths_problem_sets.py"),
            seed=settings.seed,
            sizes=settings.maths.sets.model_dump(),
        script:
            "../workflow_scripts/stages/maths_problem_sets.py"


rule contamination:
    """Problems that stand in two places: within a benchmark, in two of them, or among the texts of training."""
    input:
        problems=lambda wildcards: maths_problems_of(settings)
        + ([] if settings.maths.benchmarks else ["<results>/maths/problems/training.parquet"]),
    output:
        pairs="<results>/measures/maths/contamination.csv",
        pairs_manifest="<results>/measures/maths/contamination.manifest.json",
        counts=report(
            "<results>/tables/contamination.csv",
            caption=caption_of("contamination"),
            category="Tables",
            labels={"result": "problems that stand in two places (csv)"},
        ),
        counts_manifest="<results>/tables/contamination.manifest.json",
    log:
        "<results>/logs/contamination.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/contamination.py"),
        threshold=0.5,
    script:
        "../workflow_scripts/stages/contamination.py"
