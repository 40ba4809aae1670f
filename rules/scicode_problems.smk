# What is asked in scientific coding.
# Makes: scicode/problems/.


if settings.scicode.policy is None:

    rule scicode_problems:
        """Short problems of training, of evaluation and of the shifted, official-style set; no parameters in two of them."""
        output:
            training="<results>/scicode/problems/training.parquet",
            training_manifest="<results>/scicode/problems/training.manifest.json",
            evaluation="<results>/scicode/problems/evaluation.parquet",
            evaluation_manifest="<results>/scicode/problems/evaluation.manifest.json",
            shifted="<results>/scicode/problems/shifted.parquet",
            shifted_manifest="<results>/scicode/problems/shifted.manifest.json",
        log:
            "<results>/logs/scicode_problems.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            code=of_code("stages/scicode_problems.py"),
            seed=settings.seed,
            sizes=settings.scicode.sets.model_dump(include={"training", "evaluation", "shifted"}),
        script:
            "../workflow_scripts/stages/scicode_problems.py"


rule scicode_audited:
    """A few problems of every generated family, for trivial policies to answer."""
    output:
        problems="<results>/scicode/problems/audited.parquet",
        manifest="<results>/scicode/problems/audited.manifest.json",
    log:
        "<results>/logs/scicode_audited.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/scicode_audited.py", "tasks/scicode/sandbox/runner.py"),
        seed=settings.seed,
        a_family=settings.scicode.sets.audited,
        limits=settings.scicode.limits.model_dump(),
    script:
        "../workflow_scripts/stages/scicode_audited.py"
