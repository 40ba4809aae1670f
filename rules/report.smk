# What a study cost, and the report that holds everything.
# Needs: tables/, figures/, benchmarks/. Makes: tables/cost.*, report/ (pages), report.html.


report: "../resources/captions/workflow.rst"


localrules:
    pages,
    rule_graph,
    report,


rule cost:
    """What each rule took: wall and CPU seconds, peak memory."""
    input:
        rules.all.input,  # read are the benchmark files of all that led to these
    output:
        csv=report(
            "<results>/tables/cost.csv",
            caption="../resources/captions/cost.rst",
            category="Study",
            labels={"result": "cost by rule (csv)"},
        ),
        md="<results>/tables/cost.md",
        manifest="<results>/tables/cost.manifest.json",
    log:
        "<results>/logs/cost.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/cost.py"),
        unmeasured=[
            rule.name
            for rule in workflow.rules
            if rule.output and not rule.benchmark and "benchmark" not in rule.output.keys()
        ],
    script:
        "../workflow_scripts/stages/cost.py"


rule rule_graph:
    """Which rule needs what of which."""
    input:
        rules.all.input,
    output:
        svg=report(
            "<results>/report/rule_graph.svg",
            caption="../resources/captions/rule_graph.rst",
            category="Study",
            labels={"result": "rule graph"},
        ),
        manifest="<results>/report/rule_graph.manifest.json",
    log:
        "<results>/logs/rule_graph.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/rule_graph.py"),
        config=settings.model_dump(),
        targets=["all"],
    script:
        "../workflow_scripts/stages/rule_graph.py"


rule pages:
    """Tables, settings and versions as pages to read in the report."""
    input:
        table1=rules.table1.output.md,
        table2=rules.table2.output.md,
        table3=rules.table3.output.md,
        table4=rules.table4.output.md,
        scorecard=rules.scorecard.output.page,
        cost=rules.cost.output.md,
        origins=[
            output
            for rule in [*shown_rules(rules), rules.cost]
            for output in rule.output
            if str(output).endswith("manifest.json")
        ],
    output:
        table1=report(
            "<results>/report/table1.html",
            caption="../resources/captions/table1.rst",
            category="Tables",
            labels={"result": "Table 1: precision and breadth"},
        ),
        table2=report(
            "<results>/report/table2.html",
            caption="../resources/captions/table2.rst",
            category="Tables",
            labels={"result": "Table 2: cost of entrance and execution"},
        ),
        table3=report(
            "<results>/report/table3.html",
            caption="../resources/captions/table3.rst",
            category="Tables",
            labels={"result": "Table 3: the clamp ladder"},
        ),
        table4=report(
            "<results>/report/table4.html",
            caption="../resources/captions/table4.rst",
            category="Tables",
            labels={"result": "Table 4: interventions"},
        ),
        scorecard=report(
            "<results>/report/scorecard.html",
            caption="../resources/captions/scorecard.rst",
            category="Claims",
            labels={"result": "scorecard"},
        ),
        cost=report(
            "<results>/report/cost.html",
            caption="../resources/captions/cost.rst",
            category="Study",
            labels={"result": "cost by rule"},
        ),
        study=report(
            "<results>/report/study.html",
            caption="../resources/captions/study.rst",
            category="Study",
            labels={"result": "settings and versions"},
        ),
        table1_manifest="<results>/report/table1.manifest.json",
        table2_manifest="<results>/report/table2.manifest.json",
        table3_manifest="<results>/report/table3.manifest.json",
        table4_manifest="<results>/report/table4.manifest.json",
        scorecard_manifest="<results>/report/scorecard.manifest.json",
        cost_manifest="<results>/report/cost.manifest.json",
        study_manifest="<results>/report/study.manifest.json",
    log:
        "<results>/logs/pages.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/pages.py"),
        config=settings.model_dump(),
        tables={
            "table1": "Table 1",
            "table2": "Table 2",
            "table3": "Table 3",
            "table4": "Table 4",
            "scorecard": "Scorecard",
            "cost": "Cost",
        },
    script:
        "../workflow_scripts/stages/pages.py"


rule report:
    """One HTML file with every table, figure and claim, their captions, settings, versions, cost and rule graph."""
    input:
        rules.all.input,
        rules.pages.output,
        rules.rule_graph.output,
    output:
        report="<results>/report.html",
        manifest="<results>/report.manifest.json",
    log:
        "<results>/logs/report.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/report.py"),
        config=settings.model_dump(),
        targets=["all", "pages", "rule_graph"],
    script:
        "../workflow_scripts/stages/report.py"
