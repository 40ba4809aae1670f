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
        rules.all.input,
        rules.companions.input,  # read are the benchmark files of all that led to these
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
        rules.companions.input,
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
        targets=["all", "companions"],
    script:
        "../workflow_scripts/stages/rule_graph.py"


PAGES = page_rows(rules)


rule pages:
    """Tables, settings and versions as pages to read in the report."""
    input:
        **{name: row["table"] for name, row in PAGES.items()},
        origins=[
            output
            for rule in [*shown_rules(rules), rules.cost]
            for output in rule.output
            if str(output).endswith("manifest.json")
        ],
    output:
        **{
            name: report(
                f"<results>/report/{name}.html",
                caption=caption_of(name),
                category=row["category"],
                labels={"result": row["label"]},
            )
            for name, row in PAGES.items()
        },
        **{f"{name}_manifest": f"<results>/report/{name}.manifest.json" for name in PAGES},
        study=report(
            "<results>/report/study.html",
            caption=caption_of("study"),
            category="Study",
            labels={"result": "settings and versions"},
        ),
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
        tables={name: row["title"] for name, row in PAGES.items()},
    script:
        "../workflow_scripts/stages/pages.py"


rule report:
    """One HTML file with every table, figure and claim, their captions, settings, versions, cost and rule graph."""
    input:
        rules.all.input,
        rules.companions.input,
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
        targets=["all", "companions", "pages", "rule_graph"],
    script:
        "../workflow_scripts/stages/report.py"
