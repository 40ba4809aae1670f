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

else:

    rule scicode_generated:
        """Problems of the generated families for a given policy; the shifted set's families are not in training."""
        output:
            training="<results>/scicode/problems/training.parquet",
            training_manifest="<results>/scicode/problems/training.manifest.json",
            evaluation="<results>/scicode/problems/evaluation.parquet",
            evaluation_manifest="<results>/scicode/problems/evaluation.manifest.json",
            shifted="<results>/scicode/problems/shifted.parquet",
            shifted_manifest="<results>/scicode/problems/shifted.manifest.json",
        log:
            "<results>/logs/scicode_generated.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=2000,
            runtime=20,
        params:
            code=of_code("stages/scicode_generated.py", "tasks/scicode/sandbox/runner.py"),
            seed=settings.seed,
            sizes=settings.scicode.sets.model_dump(include={"training", "evaluation", "shifted"}),
            wrapped=settings.scicode.sets.wrapped,
            held_out=settings.scicode.sets.held_out,
            limits=settings.scicode.limits.model_dump(),
        script:
            "../workflow_scripts/stages/scicode_generated.py"


if settings.scicode.mining:

    rule scicode_mining:
        """What the first policy fails at, and a training set that dwells on it; nothing of the evaluation sets."""
        input:
            rollouts="<results>/scicode/rollouts/base.training.parquet",
            scores="<results>/scicode/scores/base.training.parquet",
            problems=["<results>/scicode/problems/training.parquet"],
            evaluation=code_problems(settings),
        output:
            mined="<results>/scicode/problems/mined.parquet",
            manifest="<results>/scicode/problems/mined.manifest.json",
            candidates="<results>/measures/scicode/mining.csv",
            candidates_manifest="<results>/measures/scicode/mining.manifest.json",
        log:
            "<results>/logs/scicode_mining.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=4000,
            runtime=30,
        params:
            code=of_code("stages/scicode_mining.py", "tasks/scicode/sandbox/runner.py"),
            size=settings.scicode.mining.problems,
            share=settings.scicode.mining.share,
            seed=settings.seed,
            wrapped=settings.scicode.sets.wrapped,
            limits=settings.scicode.limits.model_dump(),
        script:
            "../workflow_scripts/stages/scicode_mining.py"


if settings.scicode.teacher:

    rule scicode_teacher:
        """Problems that a language model specified and that running its solvers bears out; why the others do not."""
        input:
            others=code_problems(settings),
        output:
            problems="<results>/scicode/problems/teacher.parquet",
            manifest="<results>/scicode/problems/teacher.manifest.json",
            table="<results>/measures/scicode/teacher.csv",
            table_manifest="<results>/measures/scicode/teacher.manifest.json",
        log:
            "<results>/logs/scicode_teacher.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=2000,
            runtime=240,
        params:
            code=of_code("stages/scicode_teacher.py", "tasks/scicode/sandbox/runner.py"),
            endpoint=code_endpoint(settings, settings.scicode.teacher),
            specifications=settings.scicode.teacher.specifications,
            seed=settings.seed,
            limits=settings.scicode.limits.model_dump(),
        script:
            "../workflow_scripts/stages/scicode_teacher.py"


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
