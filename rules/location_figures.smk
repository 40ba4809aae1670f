# Tables 2 and 3, Figures 1 and 2, and the figures beside them, each under its own rule's name.
# Needs: measures/, masses/. Makes: tables/, figures/.


rule table2:
    """Table 2: what entrance and execution cost in nats, early against late."""
    input:
        changes=expand("<results>/measures/likelihood/{line}.csv", line=settings.lines),
        tokens=expand("<results>/measures/likelihood/{line}.tokens.csv", line=settings.lines),
    output:
        **table_files("table2", "Table 2: cost of entrance and execution"),
    log:
        "<results>/logs/table2.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/table2.py"),
        solution_set=menu_set(settings),
        lines=line_ends(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/table2.py"


rule table3:
    """Table 3: how often a designated entrance is completed, by what the policy is given of it."""
    input:
        rungs=expand("<results>/measures/ladder/{line}.rungs.csv", line=settings.lines),
        recoverability=expand("<results>/measures/recoverability/{line}.steps.csv", line=settings.lines),
        screening=expand("<results>/measures/screening/{line}.csv", line=settings.lines),
    output:
        **table_files("table3", "Table 3: the clamp ladder"),
    log:
        "<results>/logs/table3.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/table3.py"),
        lines=line_ends(settings),
        continuations=settings.clamps.continuations,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/table3.py"


rule figure1:
    """Figure 1: one instance from its numbers through its entrances to its solutions, with the first line's mass on each."""
    input:
        policies=[f"<results>/policies/{policy}" for policy in ends_in_order(line_ends(settings)[0])],
    output:
        **figure_files("figure1", "Figure 1: entrances of one instance"),
    log:
        "<results>/logs/figure1.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
        gpus=settings.sampling.gpus,
    params:
        code=of_code("stages/figure1.py"),
        wording=WORDING,
        line=line_ends(settings)[0],
        instance=settings.instance.model_dump(),
        seed=settings.seed,
        samples=settings.sampling.samples,
        contract=settings.measures.contract,
        settings=DECODING,
    script:
        "../workflow_scripts/stages/figure1.py"


rule figure2:
    """Figure 2: access and execution along training, and how each entrance's pair of them moved."""
    input:
        steps=expand("<results>/measures/access/{line}.steps.csv", line=settings.lines),
        changes=expand("<results>/measures/access/{line}.csv", line=settings.lines),
        families=expand("<results>/measures/access/{line}.families.parquet", line=settings.lines),
    output:
        **figure_files("figure2", "Figure 2: access and execution"),
    log:
        "<results>/logs/figure2.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/figure2.py"),
        lines=line_rows(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/figure2.py"


rule token_costs:
    """Figure: what each token costs late against early, by its place relative to the entrance."""
    input:
        tokens=expand("<results>/measures/likelihood/{line}.tokens.csv", line=settings.lines),
    output:
        **figure_files("token_costs", "token costs: by place relative to the entrance"),
    log:
        "<results>/logs/token_costs.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/token_costs.py"),
        lines=line_ends(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/token_costs.py"


rule calibration:
    """Figure: exact opening probability against the sampled share of every entrance."""
    input:
        masses=expand("<results>/masses/evaluation/{policy}.parquet", policy=end_policies(settings)),
        forms=expand("<results>/measures/forms/{policy}.parquet", policy=end_policies(settings)),
    output:
        **figure_files("calibration", "calibration: exact against sampled entrances"),
        summary="<results>/measures/calibration.csv",
        summary_manifest="<results>/measures/calibration.manifest.json",
    log:
        "<results>/logs/calibration.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        code=of_code("stages/calibration.py"),
        lines=line_ends(settings),
        samples=settings.sampling.samples,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/calibration.py"


rule clamp_ladder:
    """Figure: completion by rung, early against late, by itself and inside the policy's own failed attempts."""
    input:
        rungs=expand("<results>/measures/ladder/{line}.rungs.csv", line=settings.lines),
    output:
        **figure_files("clamp_ladder", "clamp ladder: completion by rung"),
    log:
        "<results>/logs/clamp_ladder.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/clamp_ladder.py"),
        lines=line_ends(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/clamp_ladder.py"


rule recoverability_curve:
    """Figure: completion of extinct and never open entrances when they are opened, at every kept step."""
    input:
        steps=expand("<results>/measures/recoverability/{line}.steps.csv", line=settings.lines),
    output:
        **figure_files("recoverability", "recoverability: extinct entrances, step by step"),
    log:
        "<results>/logs/recoverability_curve.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/recoverability_curve.py"),
        lines=line_rows(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/recoverability_curve.py"


rule theory_test:
    """Figure: the gradient on an entrance against how its probability then changed."""
    input:
        segments=expand("<results>/measures/theory/{line}.csv", line=settings.lines),
        bins=expand("<results>/measures/theory/{line}.bins.csv", line=settings.lines),
    output:
        **figure_files("theory", "theory: predicted against observed change of access"),
    log:
        "<results>/logs/theory_test.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        code=of_code("stages/theory_test.py"),
        lines=line_rows(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/theory_test.py"


rule depth_curve:
    """Figure: completion by the operations given, and access at each operation, early against late."""
    input:
        operations=expand("<results>/measures/depth/{line}.operations.csv", line=settings.lines),
    output:
        **figure_files("depth", "depth: completion and access by operation"),
    log:
        "<results>/logs/depth_curve.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/depth_curve.py"),
        lines=line_ends(settings),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/depth_curve.py"
