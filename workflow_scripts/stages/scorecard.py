"""The paper's claims: its value, the value measured here with its interval, and the verdict of the decision rule."""

import pandas as pd

from workflow_scripts.figures import scorecard
from workflow_scripts.measures import maths_claims
from workflow_scripts.measures.paper_claims import CLAIMS
from workflow_scripts.measures.verdicts import evaluate
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_csv


def main(input, output, params, wildcards):
    # A claim is read on a kind of training; the first line of that kind stands for it.
    paths = (input.contrasts, *input.measured, *input.screening, *input.roads)
    contrasts = pd.concat([read_csv(path) for path in paths], ignore_index=True)
    points, frames = {}, []
    kinds = [(line["algorithm"], line) for line in params.lines]
    if len(params.lines) == 1 and params.given:
        # Checkpoints whose training nobody told: all that the paper says of a kind is asked of them.
        kinds = [(kind, params.lines[0]) for kind in ("ppo", "grpo")]
    for kind, line in kinds:
        if kind not in points:
            points[kind] = f"line {line['name']}, step {line['early']} → step {line['late']}"
            frames.append(contrasts[contrasts["line"] == line["name"]].assign(line=kind))
    claims = CLAIMS
    if params.maths:
        asked = maths_claims.claims(**params.maths["claims"])
        claims = tuple(sorted((*CLAIMS, *asked), key=lambda claim: claim.id))
        frames += [read_csv(path) for path in input.maths]
        points[maths_claims.LINE] = params.maths["points"]
    claims = evaluate(
        pd.concat(frames), claims=claims, margins=params.margins, confidence=params.confidence, points=points
    )
    write_text(output.claims, csv_text(claims))
    scorecard.write(claims, output.page, confidence=params.confidence)


run(main, snakemake)
