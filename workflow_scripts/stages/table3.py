"""Table 3: how often a designated entrance is completed, by what the policy is given of it; csv, Markdown, LaTeX."""

from workflow_scripts.figures import tables
from workflow_scripts.figures.ladder import table3
from workflow_scripts.measures.points import entry
from workflow_scripts.measures.screening import failing
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv

EXTRA = {
    ("evaluation", "extinct"): "extinct entrances: entrance",
    ("tail", "extinct"): "tail pool, closed late: entrance",
    ("tail", "deep"): "tail pool, closed at both ends: entrance",
}


def _extra(curves, line):
    """Rows of the table for entrances that training closed, from their completion at early and late."""
    ends = {entry(line, line[end]): end for end in ("early", "late")}
    shown = curves[curves["entry"].isin(ends)].assign(entry=lambda frame: frame["entry"].map(ends))
    groups = dict(list(shown.groupby(["pool", "group"])))
    return {label: groups[key] for key, label in EXTRA.items() if key in groups}


def _screened(line, table):
    """What the leak screen found of each kind of scaffold that differs within a (problem, family)."""
    told = [
        f"{row.scaffold.replace('_', ' ')} {row.nats:.4f} nats, p = {row.p:.4f} ({row.verdict})"
        for row in table[table["verdict"].isin(["pass", "fail"])].itertuples()
    ]
    found = "; ".join(told) if told else "nothing to screen"
    kinds = set(table["scaffold"])
    notes = [f"Leak screen, {line}: {found}."]
    if not kinds & {"retry", "retry_closed"}:
        notes.append("No sample gave an attempt up, so there is none to splice an entrance into.")
    if "retry_closed" in kinds:
        notes.append("retry closed is the own failed attempt, closed for the policy with `no .`.")
    return " ".join(notes)


def main(input, output, params, wildcards):
    parts = []
    for line, rungs, curves, screened in zip(
        params.lines, input.rungs, input.recoverability, input.screening, strict=True
    ):
        found = table3(
            read_csv(rungs),
            line=line["name"],
            early=f"step {line['early']}",
            late=f"step {line['late']}",
            continuations=params.continuations,
            excluded=failing(read_csv(screened)),
            extra=_extra(read_csv(curves), line),
            confidence=params.confidence,
            notes=[_screened(line["name"], read_csv(screened))],
        )
        parts.append((line["name"], found))
    title = "Table 3. Clamp ladder: completion by what is given"
    tables.write(tables.stacked(title, parts), [output.csv, output.md, output.tex])


run(main, snakemake)
