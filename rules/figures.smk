# Tables and figures, each under its own rule's name.
# Needs: measures/. Makes: tables/, figures/.


rule table1:
    """Table 1: precision and breadth along the training lines."""
    input:
        summary=rules.summary.output.summary,
    output:
        csv=report(
            "<results>/tables/table1.csv",
            caption="../resources/captions/table1.rst",
            category="Tables",
            labels={"result": "Table 1: precision and breadth, every step (csv)"},
        ),
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
        svg=report(
            "<results>/figures/breadth.svg",
            caption="../resources/captions/breadth.rst",
            category="Figures",
            labels={"result": "breadth: pass@1 against coverage"},
        ),
        csv=report(
            "<results>/figures/breadth.csv",
            caption="../resources/captions/breadth.rst",
            category="Figures",
            labels={"result": "breadth: pass@1 against coverage (csv)"},
        ),
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


rule trajectories:
    """Figure: entropy, coverage, precision and entrance mass at every kept step of the training lines."""
    input:
        summary=rules.summary.output.summary,
        problems=expand("<results>/measures/problems/{policy}.parquet", policy=policy_ids(settings)),
        forms=expand("<results>/measures/forms/{policy}.parquet", policy=policy_ids(settings)),
    output:
        pdf="<results>/figures/trajectories.pdf",
        png="<results>/figures/trajectories.png",
        svg=report(
            "<results>/figures/trajectories.svg",
            caption="../resources/captions/trajectories.rst",
            category="Figures",
            labels={"result": "trajectories: step by step"},
        ),
        csv=report(
            "<results>/figures/trajectories.csv",
            caption="../resources/captions/trajectories.rst",
            category="Figures",
            labels={"result": "trajectories: step by step (csv)"},
        ),
        manifest="<results>/figures/trajectories.manifest.json",
    log:
        "<results>/logs/trajectories.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/trajectories.py"),
        seed=settings.seed,
        lines=line_rows(settings),
        samples=settings.sampling.samples,
        solution_set=settings.measures.solution_set,
        draws=settings.measures.bootstrap,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/trajectories.py"


rule coverage_curve:
    """Figure: coverage and pass@k against the number of samples, for base, early and late of each line."""
    input:
        problems=expand("<results>/measures/problems/{policy}.parquet", policy=end_policies(settings)),
        forms=expand("<results>/measures/forms/{policy}.parquet", policy=end_policies(settings)),
    output:
        pdf="<results>/figures/coverage_curve.pdf",
        png="<results>/figures/coverage_curve.png",
        svg=report(
            "<results>/figures/coverage_curve.svg",
            caption="../resources/captions/coverage_curve.rst",
            category="Figures",
            labels={"result": "coverage curve: by number of samples"},
        ),
        csv=report(
            "<results>/figures/coverage_curve.csv",
            caption="../resources/captions/coverage_curve.rst",
            category="Figures",
            labels={"result": "coverage curve: by number of samples (csv)"},
        ),
        manifest="<results>/figures/coverage_curve.manifest.json",
    log:
        "<results>/logs/coverage_curve.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/coverage_curve.py"),
        seed=settings.seed,
        lines=line_ends(settings),
        samples=settings.sampling.samples,
        solution_set=settings.measures.solution_set,
        draws=settings.measures.bootstrap,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/coverage_curve.py"
