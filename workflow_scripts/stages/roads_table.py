"""Table: every road and arm, its precision and breadth, whether it is broader at equal precision, and its cost."""

import pandas as pd

from workflow_scripts.figures import tables
from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv

COLUMNS = (
    Column("pass@1", "pass@1"),
    Column("coverage_paper", "coverage (paper)"),
    Column("opening_coverage", "openings"),
    Column("entropy_think", "entrance entropy, nats", 2),
    Column("broader", "coverage − line's at equal pass@1"),
    Column("gain", "coverage − control's"),
    Column("precision", "pass@1 − control's"),
    Column("tokens_ratio", "training tokens / control's", 2),
)
BLANK = {"estimate": float("nan"), "low": float("nan"), "high": float("nan")}


def main(input, output, params, wildcards):
    plane, broader, worth = (read_csv(path) for path in (input.plane, input.broader, input.worth))
    rows, cells = [], []
    for road in params.roads:
        name = road["name"]
        level = broader[(broader["after"] == name) & (broader["measure"] == "coverage_paper")].iloc[0]
        verdict = worth[worth["arm"] == name].iloc[0] if "arm" in worth and name in set(worth["arm"]) else None
        told = "" if verdict is None else f": {verdict['verdict']}"
        outside = " (beyond the line's precision)" if bool(level["outside"]) else ""
        rows.append((f"{name} ({road['role']}, {road['start']} → {road['kind']}){told}{outside}", name))
        found = plane[plane["entry"] == name].set_index("measure")
        for column in COLUMNS:
            cell = dict(BLANK)
            if column.name in found.index:
                cell = found.loc[column.name, list(BLANK)].to_dict()
            elif column.name == "broader":
                cell = level[list(BLANK)].to_dict()
            elif verdict is not None and column.name == "tokens_ratio":
                cell["estimate"] = verdict["tokens_ratio"]
            elif verdict is not None:
                ends = {"estimate": column.name, "low": f"{column.name}_low", "high": f"{column.name}_high"}
                cell = {end: verdict[source] for end, source in ends.items()}
            cells.append({"entry": name, "measure": column.name} | cell)
    notes = (
        f"{params.samples} samples a problem; in brackets the {100 * params.confidence:g} % interval of a bootstrap "
        "over problems (and training seeds where there are several).",
        "coverage − line's at equal pass@1: the checkpoints of the GRPO line, joined by a curve that never rises.",
        "An arm is worth its cost where the interval of its breadth gain lies above 0, the lower end of its pass@1 "
        "interval is at least −.03, and it trains on at most 1.25 times the control's tokens; precision open: the gain "
        "is there, and the pass@1 interval reaches below −.03 and above 0.",
        *([] if "arm" in worth else ["No arm is called control: arms are compared with nothing."]),
    )
    table = Table(
        "Roads. Precision, breadth and cost of other ways to train", rows, COLUMNS, pd.DataFrame(cells), notes
    )
    tables.write(table, [output.csv, output.md, output.tex])


run(main, snakemake)
