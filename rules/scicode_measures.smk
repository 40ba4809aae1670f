# Rewards against the truth: tables, figures, the audit of rewards, diagnostics of the runs.
# Needs: scicode/. Makes: tables/, figures/, measures/scicode/.


rule reward_audit:
    """What answers without any science earn under every reward, and where a reward pays the worse answer."""
    input:
        problems=rules.scicode_audited.output.problems,
    output:
        csv=report(
            "<results>/tables/reward_audit.csv",
            caption=caption_of("reward_audit"),
            category="Tables",
            labels={"result": "reward audit (csv)"},
        ),
        md="<results>/tables/reward_audit.md",
        tex="<results>/tables/reward_audit.tex",
        violations="<results>/tables/reward_violations.csv",
        manifest="<results>/tables/reward_audit.manifest.json",
        violations_manifest="<results>/tables/reward_violations.manifest.json",
        figure_manifest="<results>/figures/reward_audit.manifest.json",
        pdf="<results>/figures/reward_audit.pdf",
        png="<results>/figures/reward_audit.png",
        svg=report(
            "<results>/figures/reward_audit.svg",
            caption=caption_of("reward_audit"),
            category="Figures",
            labels={"result": "reward audit"},
        ),
        data="<results>/figures/reward_audit.csv",
    log:
        "<results>/logs/reward_audit.log",
    benchmark:
        "<results>/benchmarks/reward_audit.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=of_code("stages/reward_audit.py", "tasks/scicode/sandbox/runner.py"),
        rewards=code_audited(settings),
        endpoint=code_judge(settings),
        limits=settings.scicode.limits.model_dump(),
    script:
        "../workflow_scripts/stages/reward_audit.py"


rule reward_truth:
    """Reward against truth along every line: means with intervals, changes from the base, a verdict a reward."""
    input:
        scores=code_files(settings, "scores"),
        rewards=code_rewarded(settings),
    output:
        checkpoints="<results>/measures/scicode/checkpoints.csv",
        changes="<results>/measures/scicode/changes.csv",
        verdicts="<results>/measures/scicode/verdicts.csv",
        checkpoints_manifest="<results>/measures/scicode/checkpoints.manifest.json",
        changes_manifest="<results>/measures/scicode/changes.manifest.json",
        verdicts_manifest="<results>/measures/scicode/verdicts.manifest.json",
    log:
        "<results>/logs/reward_truth.log",
    benchmark:
        "<results>/benchmarks/reward_truth.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        code=of_code("stages/reward_truth.py"),
        lines=code_line_rows(settings),
        pass_at=settings.scicode.pass_at,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/reward_truth.py"


rule reward_gap:
    """Table and figure: what each reward pays beside the truth, before, during and after training."""
    input:
        checkpoints=rules.reward_truth.output.checkpoints,
        changes=rules.reward_truth.output.changes,
        verdicts=rules.reward_truth.output.verdicts,
        truth=[path.replace(".parquet", ".truth.parquet") for row in code_metrics(settings) for path in row["files"]],
    output:
        csv=report(
            "<results>/tables/reward_gap.csv",
            caption=caption_of("reward_gap"),
            category="Tables",
            labels={"result": "reward and truth (csv)"},
        ),
        md="<results>/tables/reward_gap.md",
        tex="<results>/tables/reward_gap.tex",
        manifest="<results>/tables/reward_gap.manifest.json",
        figure_manifest="<results>/figures/reward_truth.manifest.json",
        pdf="<results>/figures/reward_truth.pdf",
        png="<results>/figures/reward_truth.png",
        svg=report(
            "<results>/figures/reward_truth.svg",
            caption=caption_of("reward_truth"),
            category="Figures",
            labels={"result": "reward and truth by checkpoint"},
        ),
        data="<results>/figures/reward_truth.csv",
    log:
        "<results>/logs/reward_gap.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/reward_gap.py"),
        lines=code_line_rows(settings),
        runs=code_metrics(settings),
        rewards=settings.scicode.rewards,
        samples=settings.scicode.sampling.samples,
    script:
        "../workflow_scripts/stages/reward_gap.py"


rule run_diagnostics:
    """Are the runs healthy: reward, signal in the groups, entropy, clipping, length by step; warnings; failures."""
    input:
        metrics=[path for row in code_metrics(settings) for path in row["files"]],
        truth=[path.replace(".parquet", ".truth.parquet") for row in code_metrics(settings) for path in row["files"]],
        scores=code_files(settings, "scores"),
    output:
        pdf="<results>/figures/run_diagnostics.pdf",
        png="<results>/figures/run_diagnostics.png",
        svg=report(
            "<results>/figures/run_diagnostics.svg",
            caption=caption_of("run_diagnostics"),
            category="Figures",
            labels={"result": "diagnostics of the runs"},
        ),
        curves="<results>/figures/run_diagnostics.csv",
        steps="<results>/measures/scicode/run_steps.csv",
        summary="<results>/tables/run_summary.csv",
        warnings=report(
            "<results>/tables/run_warnings.csv",
            caption=caption_of("run_diagnostics"),
            category="Tables",
            labels={"result": "warnings about the runs (csv)"},
        ),
        bars_pdf="<results>/figures/failure_buckets.pdf",
        bars_png="<results>/figures/failure_buckets.png",
        bars_svg="<results>/figures/failure_buckets.svg",
        buckets="<results>/figures/failure_buckets.csv",
        manifest="<results>/figures/run_diagnostics.manifest.json",
        steps_manifest="<results>/measures/scicode/run_steps.manifest.json",
        summary_manifest="<results>/tables/run_summary.manifest.json",
        warnings_manifest="<results>/tables/run_warnings.manifest.json",
        buckets_manifest="<results>/figures/failure_buckets.manifest.json",
    log:
        "<results>/logs/run_diagnostics.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/run_diagnostics.py"),
        runs=code_metrics(settings),
        shown=code_shown(settings),
    script:
        "../workflow_scripts/stages/run_diagnostics.py"


rule code_layers:
    """Every layer that programs pass, by policy and set, with intervals; families too."""
    input:
        scores=code_files(settings, "scores"),
    output:
        **table_files("code_layers", "layers that programs pass"),
        rates="<results>/measures/scicode/code_layers.csv",
        rates_manifest="<results>/measures/scicode/code_layers.manifest.json",
    log:
        "<results>/logs/code_layers.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/code_layers.py"),
        policies=[
            {"name": "base", "label": "base", "policies": ["base"]},
            *(
                {"name": row["name"], "label": row["name"], "policies": list(row["policies"].values())[-1]}
                for row in code_line_rows(settings)
            ),
        ],
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/code_layers.py"


if settings.scicode.judge and code_judged(settings):

    rule judge_calibration:
        """Table: how the judge's scores agree with execution, by reward, policy and set."""
        input:
            scores=code_files(settings, "scores"),
            rewards=code_files(settings, "judged"),
        output:
            **table_files("judge_calibration", "a judge's scores against execution"),
        log:
            "<results>/logs/judge_calibration.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            code=of_code("stages/judge_calibration.py"),
            judged=code_judged(settings),
        script:
            "../workflow_scripts/stages/judge_calibration.py"


rule scicode_leakage:
    """What can be had without solving: shared problems, commonest answers, policies that never read the question."""
    input:
        training="<results>/scicode/problems/training.parquet",
        others=code_problems(settings),
    output:
        csv=report(
            "<results>/tables/scicode_leakage.csv",
            caption=caption_of("scicode_leakage"),
            category="Tables",
            labels={"result": "leakage and shortcuts (csv)"},
        ),
        md="<results>/tables/scicode_leakage.md",
        manifest="<results>/tables/scicode_leakage.manifest.json",
    log:
        "<results>/logs/scicode_leakage.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=of_code("stages/scicode_leakage.py", "tasks/scicode/sandbox/runner.py"),
        limits=settings.scicode.limits.model_dump(),
    script:
        "../workflow_scripts/stages/scicode_leakage.py"
