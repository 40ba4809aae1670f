# The paper's claims with computed verdicts.
# Needs: measures/. Makes: tables/claims.csv, tables/scorecard.md.


CLAIMED = ["retention", "likelihood", "ladder", "recoverability", "access", "depth", "interventions"]


rule scorecard:
    """The paper's claims with computed verdicts."""
    input:
        contrasts=rules.summary.output.contrasts,
        measured=expand("<results>/measures/{measure}/{line}.csv", measure=CLAIMED, line=settings.lines),
        roads=[rules.roads.output.changes] if settings.roads else [],
        screening=expand("<results>/measures/screening/{line}.changes.csv", line=settings.lines),
        maths=maths_claimed(settings, rules),
    output:
        claims=report(
            "<results>/tables/claims.csv",
            caption="../resources/captions/scorecard.rst",
            category="Claims",
            labels={"result": "scorecard (csv)"},
        ),
        page="<results>/tables/scorecard.md",
        manifest="<results>/tables/claims.manifest.json",
        page_manifest="<results>/tables/scorecard.manifest.json",
    log:
        "<results>/logs/scorecard.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/scorecard.py"),
        lines=line_ends(settings),
        given=[name for name, line in settings.lines.items() if line.source],  # checkpoints that exist
        maths=maths_claim_settings(settings),
        margins=settings.measures.margins,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/scorecard.py"
