# What brings breadth back without training: settings tried on calibration problems, the chosen ones compared on the others.
# Needs: policies/, problems/, solutions/, scores/. Makes: interventions/, measures/interventions/, tables/table4.*,
# figures/partner_curve.*, measures/loss_cost/, figures/loss_cost.*.


INTERVENTIONS = settings.interventions.model_dump(exclude={"partner_alpha", "tolerance"})
HOT_DRAWING = {"temperature": 1.3, "top_p": 1.0, "min_p": 0.0}  # of the samples that propose entrances


rule calibration_outcomes:
    """Every setting of every intervention on the calibration problems."""
    input:
        early=lambda wildcards: end_of_line(wildcards, "early", "<results>/policies/{policy}"),
        late=lambda wildcards: end_of_line(wildcards, "late", "<results>/policies/{policy}"),
        early_scores=lambda wildcards: end_of_line(wildcards, "early", "<results>/scores/{policy}.parquet"),
        late_scores=lambda wildcards: end_of_line(wildcards, "late", "<results>/scores/{policy}.parquet"),
        problems=rules.problem_sets.output.evaluation,
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        outcomes="<results>/interventions/{line}-s{seed}.calibration.csv",
        outcomes_manifest="<results>/interventions/{line}-s{seed}.calibration.manifest.json",
        spending="<results>/interventions/{line}-s{seed}.calibration_budget.csv",
        spending_manifest="<results>/interventions/{line}-s{seed}.calibration_budget.manifest.json",
    log:
        "<results>/logs/interventions/{line}-s{seed}.calibration.log",
    benchmark:
        "<results>/benchmarks/calibration_outcomes/{line}-s{seed}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=of_code("stages/setting_outcomes.py"),
        wording=WORDING,
        split="calibration",
        study_seed=settings.seed,
        contract=settings.measures.contract,
        solution_set=settings.measures.solution_set,
        decoding=DECODING,
        hot=HOT_DRAWING,
        settings=INTERVENTIONS,
    script:
        "../workflow_scripts/stages/setting_outcomes.py"


rule intervention_choice:
    """One setting of each intervention, chosen on the calibration problems and stored before anything is compared."""
    input:
        outcomes=lambda wildcards: of_seeds(wildcards, "<results>/interventions/{line}-s{seed}.calibration.csv"),
        problems=rules.problem_sets.output.evaluation,
    output:
        choice="<results>/interventions/{line}.choice.json",
        manifest="<results>/interventions/{line}.choice.manifest.json",
    log:
        "<results>/logs/interventions/{line}.choice.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/intervention_choice.py"),
        tolerance=settings.interventions.tolerance,
        settings=INTERVENTIONS,
    script:
        "../workflow_scripts/stages/intervention_choice.py"


rule held_out_outcomes:
    """The chosen settings, and the plain policies, on the held-out problems."""
    input:
        early=lambda wildcards: end_of_line(wildcards, "early", "<results>/policies/{policy}"),
        late=lambda wildcards: end_of_line(wildcards, "late", "<results>/policies/{policy}"),
        early_scores=lambda wildcards: end_of_line(wildcards, "early", "<results>/scores/{policy}.parquet"),
        late_scores=lambda wildcards: end_of_line(wildcards, "late", "<results>/scores/{policy}.parquet"),
        problems=rules.problem_sets.output.evaluation,
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
        choice=rules.intervention_choice.output.choice,
    output:
        outcomes="<results>/interventions/{line}-s{seed}.held_out.csv",
        outcomes_manifest="<results>/interventions/{line}-s{seed}.held_out.manifest.json",
        spending="<results>/interventions/{line}-s{seed}.held_out_budget.csv",
        spending_manifest="<results>/interventions/{line}-s{seed}.held_out_budget.manifest.json",
    log:
        "<results>/logs/interventions/{line}-s{seed}.held_out.log",
    benchmark:
        "<results>/benchmarks/held_out_outcomes/{line}-s{seed}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=of_code("stages/setting_outcomes.py"),
        wording=WORDING,
        split="held_out",
        study_seed=settings.seed,
        contract=settings.measures.contract,
        solution_set=settings.measures.solution_set,
        decoding=DECODING,
        hot=HOT_DRAWING,
        settings=INTERVENTIONS,
    script:
        "../workflow_scripts/stages/setting_outcomes.py"


rule interventions:
    """Each chosen intervention against the plain policy, paired by held-out problem."""
    input:
        choice=rules.intervention_choice.output.choice,
        calibration=lambda wildcards: of_seeds(wildcards, "<results>/interventions/{line}-s{seed}.calibration.csv"),
        held_out=lambda wildcards: of_seeds(wildcards, "<results>/interventions/{line}-s{seed}.held_out.csv"),
        problems=rules.problem_sets.output.evaluation,
    output:
        differences="<results>/measures/interventions/{line}.differences.csv",
        differences_manifest="<results>/measures/interventions/{line}.differences.manifest.json",
        changes="<results>/measures/interventions/{line}.csv",
        changes_manifest="<results>/measures/interventions/{line}.manifest.json",
    log:
        "<results>/logs/interventions/{line}.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/interventions.py"),
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/interventions.py"


rule table4:
    """Table 4: what each intervention gives back on held-out problems, and what it costs."""
    input:
        differences=expand("<results>/measures/interventions/{line}.differences.csv", line=settings.lines),
        choices=expand("<results>/interventions/{line}.choice.json", line=settings.lines),
    output:
        **table_files("table4", "Table 4: interventions"),
    log:
        "<results>/logs/table4.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/table4.py"),
        lines=line_ends(settings),
        samples=settings.interventions.samples,
        calibration=settings.problems.calibration,
        tolerance=settings.interventions.tolerance,
        settings=INTERVENTIONS,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/table4.py"


rule partner_outcomes:
    """Every kept policy as the partner of the late one, on the held-out problems."""
    input:
        partners=lambda wildcards: [
            f"<results>/policies/{checkpoint_id(wildcards.line, wildcards.seed, step)}"
            for step in partner_steps(wildcards.line)
        ],
        late=lambda wildcards: end_of_line(wildcards, "late", "<results>/policies/{policy}"),
        problems=rules.problem_sets.output.evaluation,
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        outcomes="<results>/interventions/{line}-s{seed}.partners.csv",
        manifest="<results>/interventions/{line}-s{seed}.partners.manifest.json",
    log:
        "<results>/logs/interventions/{line}-s{seed}.partners.log",
    benchmark:
        "<results>/benchmarks/partner_outcomes/{line}-s{seed}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=of_code("stages/partner_outcomes.py"),
        wording=WORDING,
        steps=lambda wildcards: {str(step): step for step in partner_steps(wildcards.line)},
        samples=settings.interventions.samples,
        alpha=settings.interventions.partner_alpha,
        study_seed=settings.seed,
        contract=settings.measures.contract,
        solution_set=settings.measures.solution_set,
        decoding=DECODING,
    script:
        "../workflow_scripts/stages/partner_outcomes.py"


rule partner_curve:
    """Figure: at which step must a checkpoint have been kept for interpolation and for sampling from both to help."""
    input:
        outcomes=[f"<results>/interventions/{name}.partners.csv" for name in line_seeds(settings)],
        problems=rules.problem_sets.output.evaluation,
    output:
        **figure_files("partner_curve", "partner curve: which checkpoint must have been kept"),
    log:
        "<results>/logs/partner_curve.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/partner_curve.py"),
        lines=[{"name": name, "partners": partner_steps(name)} for name in settings.lines],
        alpha=settings.interventions.partner_alpha,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/partner_curve.py"


rule loss_cost:
    """What the loss costs: best of n with the verifier, majority vote, and samples spread over entrances, by n."""
    input:
        scores=lambda wildcards: ends_of_line(wildcards, "<results>/scores/{policy}.parquet"),
        entrances=lambda wildcards: ends_of_line(wildcards, "<results>/scores/{policy}.entrances.parquet"),
        breadth=lambda wildcards: ends_of_line(wildcards, "<results>/measures/problems/{policy}.parquet"),
        clamps=rules.menu_clamps.output.clamps,
        problems=rules.problem_sets.output.evaluation,
    output:
        curves="<results>/measures/loss_cost/{line}.csv",
        curves_manifest="<results>/measures/loss_cost/{line}.manifest.json",
        changes="<results>/measures/loss_cost/{line}.changes.csv",
        changes_manifest="<results>/measures/loss_cost/{line}.changes.manifest.json",
        crossings="<results>/measures/loss_cost/{line}.crossings.csv",
        crossings_manifest="<results>/measures/loss_cost/{line}.crossings.manifest.json",
    log:
        "<results>/logs/loss_cost/{line}.log",
    benchmark:
        "<results>/benchmarks/loss_cost/{line}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/loss_cost.py"),
        line=lambda wildcards: ends_row(wildcards.line),
        samples=settings.sampling.samples,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/loss_cost.py"


rule cost_of_loss:
    """Figure: best of n, majority vote and samples spread over entrances, for base, early and late of each line."""
    input:
        curves=expand("<results>/measures/loss_cost/{line}.csv", line=settings.lines),
        crossings=expand("<results>/measures/loss_cost/{line}.crossings.csv", line=settings.lines),
    output:
        **figure_files("loss_cost", "cost of the loss: best of n before and after"),
    log:
        "<results>/logs/cost_of_loss.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/cost_of_loss.py"),
        lines=line_ends(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/cost_of_loss.py"
