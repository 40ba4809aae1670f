"""Table 4: what each intervention gives back on held-out problems, and what it costs; csv, Markdown, LaTeX."""

import json
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


def told_of(line, late, proposed, solver, words):
    """What the solver-free proposer keeps of the solver's gain; no share of a gain that cannot be told from none."""
    gains = late[late["measure"] == "coverage_paper"].set_index("after")
    kept = share_kept(late, proposed, solver)
    if not gains.loc[solver, "low"] > 0:
        told = "has no gain to keep a share of: the interval of the solver's menu reaches 0"
    elif kept <= 0:
        told = "keeps nothing of the coverage that the solver's menu gains"
    else:
        told = f"keeps {kept:.0%} of the coverage that the solver's menu gains"
    own = "whose own samples are paid from the same budget and are no answers"
    return f"Line {line}: the solver-free proposer ({words[proposed]}, {own}) {told}."


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
        notes.append(told_of(line["name"], late, chosen["proposed"], chosen["allocation"], words))
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
