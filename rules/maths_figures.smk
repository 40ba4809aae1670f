# Tables and figures about maths, and the audit of all verifiers.
# Needs: measures/maths/, maths/scores/. Makes: tables/, figures/.


rule figure3:
    """Figure 3: first-calculation entropy against pass@1, and the same-trace difference beside its placebos."""
    input:
        summary=rules.maths_measures.output.summary,
        differences=rules.trace_differences.output.differences,
    output:
        **figure_files("figure3", "figure 3: first calculations and same-trace differences"),
    log:
        "<results>/logs/figure3.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/figure3.py"),
        policies=maths_rows(settings),
        pairs=maths_pairs(settings),
        benchmarks=settings.maths.asked,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/figure3.py"


rule table5:
    """Table 5: precision, first-calculation entropy and distinct traces of every maths policy."""
    input:
        summary=rules.maths_measures.output.summary,
    output:
        **table_files("table5", "table 5: precision and breadth of maths policies"),
    log:
        "<results>/logs/table5.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/table5.py"),
        policies=maths_rows(settings),
        benchmarks=settings.maths.asked,
        pass_at=settings.maths.pass_at,
        depth=settings.maths.depth,
        samples=settings.maths.sampling.samples,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/table5.py"


rule table6:
    """Table 6: the first calculations of one problem, by policy."""
    input:
        example=rules.maths_measures.output.example,
        problems=maths_problems_of(settings),
    output:
        **table_files("table6", "table 6: worked example"),
    log:
        "<results>/logs/table6.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/table6.py"),
        policies=maths_rows(settings),
    script:
        "../workflow_scripts/stages/table6.py"


if settings.maths.roads:  # the small policies' own

    rule lab_table:
        """Lab table: accuracy, format, reward, length, drift and entropies of every small policy, on both test sets."""
        input:
            scores=maths_files(settings, "scores"),
            drift=expand("<results>/maths/drift/{policy}.parquet", policy=maths_policies(settings)),
            training=[
                f"<results>/maths/training/{policy}.parquet"
                for row in maths_rows(settings)
                for policy in row["policies"]
            ],
        output:
            **table_files("lab_table", "lab table: base, SFT, DPO and GRPO"),
            speed="<results>/tables/lab_speed.csv",
            speed_manifest="<results>/tables/lab_speed.manifest.json",
        log:
            "<results>/logs/lab_table.log",
        benchmark:
            "<results>/benchmarks/lab_table.tsv"
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=3000,
            runtime=10,
        params:
            code=of_code("stages/lab_table.py"),
            policies=maths_rows(settings),
            benchmarks=settings.maths.asked,
            pass_at=settings.maths.pass_at,
            draws=[min(8, settings.maths.sampling.samples)],
            rewards=settings.maths.rewards.model_dump(),
            statistics=statistics(settings),
        script:
            "../workflow_scripts/stages/lab_table.py"

    rule lab_curves:
        """Figure: reward, format, first-calculation entropy and drift by step of every reinforcement stage of the lab."""
        input:
            metrics=[
                f"<results>/maths/training/{policy}.parquet"
                for row in maths_trained(settings)
                for policy in row["policies"]
            ],
        output:
            **figure_files("lab_curves", "lab curves: reinforcement step by step"),
        log:
            "<results>/logs/lab_curves.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=1000,
            runtime=5,
        params:
            code=of_code("stages/lab_curves.py"),
            policies=maths_trained(settings),
        script:
            "../workflow_scripts/stages/lab_curves.py"


rule maths_failures:
    """Wrong answers kept to be read: a few of every policy, benchmark and reason."""
    input:
        scores=maths_files(settings, "scores"),
        rollouts=maths_files(settings, "rollouts"),
        problems=maths_problems_of(settings),
    output:
        csv=report(
            "<results>/tables/maths_failures.csv",
            caption=caption_of("maths_failures"),
            category="Tables",
            labels={"result": "wrong answers to maths problems (csv)"},
        ),
        md="<results>/tables/maths_failures.md",
        manifest="<results>/tables/maths_failures.manifest.json",
    log:
        "<results>/logs/maths_failures.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        code=of_code("stages/maths_failures.py"),
        policies=maths_rows(settings),
        words=not settings.maths.benchmarks,
        seed=settings.seed,
        each=2,
    script:
        "../workflow_scripts/stages/maths_failures.py"


AUDITED = ["base", *(policy for policy in end_policies(settings) if policy != "base")]  # Countdown's


rule verifier_audit:
    """The same answers under every checker: how often they agree, and where they differ."""
    input:
        countdown_rollouts=expand("<results>/rollouts/{policy}.parquet", policy=AUDITED),
        countdown_problems=rules.problem_sets.output.evaluation,
        maths_rollouts=maths_files(settings, "rollouts", maths_judged(settings)),
        maths_problems=maths_problems_of(settings) if settings.maths.pairs else [],
    output:
        **table_files("verifier_audit", "verifier audit: agreement of checkers"),
        disagreements="<results>/tables/verifier_disagreements.csv",
        disagreements_manifest="<results>/tables/verifier_disagreements.manifest.json",
    log:
        "<results>/logs/verifier_audit.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=of_code("stages/verifier_audit.py"),
        listed=20,
        samples=16,  # the first of each problem
        policies=[*AUDITED, *(f"maths {policy}" for policy in maths_judged(settings))],
    script:
        "../workflow_scripts/stages/verifier_audit.py"
