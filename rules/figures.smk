# Tables and figures, each under its own rule's name.
# Needs: measures/. Makes: tables/, figures/.


rule table1:
    """Table 1: precision and breadth along the training lines."""
    input:
        summary=rules.summary.output.summary,
    output:
        csv="<results>/tables/table1.csv",
        md="<results>/tables/table1.md",
        tex="<results>/tables/table1.tex",
        manifest="<results>/tables/table1.manifest.json",
    log:
        "<results>/logs/table1.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/table1.py"),
        lines=line_rows(settings),
        pass_at=settings.measures.pass_at,
        sampling=settings.sampling.model_dump(),
        contract=settings.measures.contract,
        solution_set=settings.measures.solution_set,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/table1.py"


rule breadth:
    """Figure: pass@1 against coverage along the training lines."""
    input:
        summary=rules.summary.output.summary,
    output:
        pdf="<results>/figures/breadth.pdf",
        png="<results>/figures/breadth.png",
        svg="<results>/figures/breadth.svg",
        csv="<results>/figures/breadth.csv",
        manifest="<results>/figures/breadth.manifest.json",
    log:
        "<results>/logs/breadth.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/breadth.py"),
        lines=line_rows(settings),
        samples=settings.sampling.samples,
        solution_set=settings.measures.solution_set,
    script:
        "../workflow_scripts/stages/breadth.py"
