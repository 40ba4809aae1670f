"""Table 4: what each intervention gives back on held-out problems, and what it costs; csv, Markdown, LaTeX."""

import json
import math
from pathlib import Path

from workflow_scripts.figures import tables
from workflow_scripts.figures.table4 import Block, table4
from workflow_scripts.measures.interventions import share_kept
from workflow_scripts.policies.intervention_grid import grid
from workflow_scripts.records import manifests
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv

WORDS = {
    "interpolation": "weights interpolated with early",
    "mixing_global": "logits mixed with early, everywhere",
    "mixing_reasoning": "logits mixed with early, reasoning",
    "mixing_answer": "logits mixed with early, answer",
    "mixing_entropy_adaptive": "logits mixed with early, by entropy",
    "temperature": "hotter decoding",
    "min_p": "hotter decoding with min-p",
    "reordered": "numbers in other orders",
    "forced_operator": "another first operator forced",
    "checkpoints": "samples from both checkpoints",
    "allocation": "budget spread over entrances",
    "proposed": "budget spread over proposed entrances, no solver",
}


def main(input, output, params, wildcards):
    words = {row["setting"]: row["setting"].partition(": ")[2] for row in grid(params.settings)}
    blocks, notes = [], []
    for line, path, choice in zip(params.lines, input.differences, input.choices, strict=True):
        manifests.check(choice)
        rows = json.loads(Path(choice).read_text(encoding="utf-8"))["rows"]
        chosen = {row["intervention"]: row["setting"] for row in rows}
        costly = [row["intervention"] for row in rows if not row["within_tolerance"]]
        differences = read_csv(path)
        late, early = (differences[differences["before"] == end] for end in ("late", "early"))
        blocks.append(Block(f"{line['name']} late", late, chosen, words, costly))
        spread = {"early_allocation": words[chosen["allocation"]]}
        blocks.append(Block(f"{line['name']} early", early, {"allocation": "early_allocation"}, spread))
        kept = share_kept(late, chosen["proposed"], chosen["allocation"])
        told = "keeps nothing to be compared with" if math.isnan(kept) else f"keeps {kept:.0%} of the coverage gained"
        notes.append(
            f"Line {line['name']}: the solver-free proposer ({words[chosen['proposed']]}, whose own samples are paid "
            f"from the same budget and are no answers) {told} with the solver's menu."
        )
    table = table4(
        blocks,
        labels=WORDS,
        samples=params.samples,
        calibration=params.calibration,
        tolerance=params.tolerance,
        confidence=params.confidence,
        notes=notes,
    )
    tables.write(table, [output.csv, output.md, output.tex])


run(main, snakemake)
