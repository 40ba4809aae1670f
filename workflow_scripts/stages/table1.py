"""Table 1: precision and breadth along the training lines. The csv has every kept step, md and tex a choice."""

from dataclasses import replace
from pathlib import Path

from workflow_scripts.figures import tables
from workflow_scripts.measures.points import entry, shown_in_print
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def printed_notes(notes, every, shown):
    """Of the printed table: it says that steps are left out where they are."""
    left_out = ["Some of the kept steps; all are in table1.csv."] if set(shown) != set(every) else []
    return (*notes, *left_out)


def main(input, output, params, wildcards):
    summary = read_csv(input.summary)
    every, shown = [("base", "base")], [("base", "base")]
    for line in params.lines:
        every += [(f"{line['name']} {step}", entry(line, step)) for step in line["steps"]]
        shown += [(f"{line['name']} {step}", entry(line, step)) for step in shown_in_print(line) if step]
    notes = [
        f"Sampling: temperature {params.sampling['temperature']}, top-p {params.sampling['top_p']}, "
        f"{params.sampling['max_new_tokens']} new tokens at most; contract {params.contract}.",
        *(
            f"Line {line['name']}: early is step {line['early']}, late is step {line['late']}; "
            f"training seed(s) {', '.join(map(str, line['seeds']))}."
            for line in params.lines
        ),
    ]
    table = tables.table1(
        summary,
        every,
        title="Table 1. Precision and breadth along training",
        pass_at=params.pass_at,
        samples=params.sampling["samples"],
        solution_set=params.solution_set,
        confidence=params.confidence,
        notes=notes,
    )
    printed = replace(table, rows=shown, notes=printed_notes(table.notes, every, shown))
    for path in (output.csv, output.md, output.tex):
        tables.write(table if Path(path).suffix == ".csv" else printed, [path])


run(main, snakemake)
