# The public CritPt problems: what policies answer, as the file that the benchmark's server takes.
# Needs: scicode/rollouts/. Makes: scicode/problems/, scicode/submissions/, tables/.


if settings.scicode.benchmark:

    rule critpt_problems:
        """The public CritPt problems under one wrapping; their answers are not public, so that they have no checks."""
        output:
            problems="<results>/scicode/problems/critpt-{wrapping}.parquet",
            manifest="<results>/scicode/problems/critpt-{wrapping}.manifest.json",
        log:
            "<results>/logs/critpt_problems/{wrapping}.log",
        wildcard_constraints:
            wrapping=either(settings.scicode.benchmark.wrappings),
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=of_code("stages/critpt_problems.py"),
            source=settings.scicode.benchmark.source,
            found=state_of(settings.scicode.benchmark.source),
        script:
            "../workflow_scripts/stages/critpt_problems.py"

    rule scicode_submission:
        """A policy's answers to the public CritPt problems as the file that its grading server takes."""
        input:
            problems="<results>/scicode/problems/critpt-{wrapping}.parquet",
            rollouts="<results>/scicode/rollouts/{policy}.critpt-{wrapping}.parquet",
        output:
            submission="<results>/scicode/submissions/{policy}.{wrapping}.json",
            manifest="<results>/scicode/submissions/{policy}.{wrapping}.manifest.json",
        log:
            "<results>/logs/scicode_submission/{policy}.{wrapping}.log",
        wildcard_constraints:
            policy=either(code_policies(settings)),
            wrapping=either(settings.scicode.benchmark.wrappings),
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=of_code("stages/scicode_submission.py"),
            model=lambda wildcards: f"{settings.scicode.policy.label or settings.scicode.policy.source} {wildcards.policy}",
            timestamp=settings.scicode.benchmark.timestamp,
            generation=settings.scicode.benchmark.model_dump(include={"temperature", "max_new_tokens"}) | {"top_p": 1.0},
        script:
            "../workflow_scripts/stages/scicode_submission.py"

    rule critpt_outputs:
        """Table: what the answers to the CritPt problems look like; with the submissions of every line's end."""
        input:
            rollouts=[
                f"<results>/scicode/rollouts/{policy}.critpt-{wrapping}.parquet"
                for policy in code_ends(settings)
                for wrapping in settings.scicode.benchmark.wrappings
            ],
            submissions=[
                f"<results>/scicode/submissions/{policy}.{wrapping}.json"
                for policy in code_ends(settings)
                for wrapping in settings.scicode.benchmark.wrappings
            ],
        output:
            **table_files("critpt_outputs", "what answers to CritPt problems look like"),
        log:
            "<results>/logs/critpt_outputs.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=of_code("stages/critpt_outputs.py"),
            wrappings=[wrapping for _ in code_ends(settings) for wrapping in settings.scicode.benchmark.wrappings],
        script:
            "../workflow_scripts/stages/critpt_outputs.py"
