"""Copies what the workflow measured into README.md: tables, claims, cost, figures. `make readme` runs it.

The scenarios `full` and `qwen3` are copied where they were run; else the README keeps what it has of them.
"""

import csv
import re
import shutil
import sys
from pathlib import Path

from workflow_scripts.figures.cost import benchmark_files, costs

ROOT = Path(__file__).resolve().parents[2]
PARTS = {
    "table1": "tables/table1.md",
    "table2": "tables/table2.md",
    "table4": "tables/table4.md",
    "roads": "tables/roads.md",
    "table5": "tables/table5.md",
    "lab": "tables/lab_table.md",
    "controlled": "tables/controlled.md",
    "rewards": "tables/reward_gap.md",
    "claims": "tables/scorecard.md",
    "cost": "tables/cost.md",
}
FULL = (("full", "tables/roads.md", "road_"), ("full-rewards", "tables/reward_gap.md", "scicode_"))
"""Marker, table and beginning of the rules' names of each table of the scenario `full`."""
FIGURES = (
    "breadth", "trajectories", "figure2", "clamp_ladder", "recoverability", "plane", "loss_cost", "figure3",
    "lab_curves", "controlled", "reward_truth", "reward_audit",
)  # fmt: skip


def filled(text: str, name: str, body: str) -> str:
    """The README with `body` between the markers called `name`."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    text, count = re.subn(pattern, lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text, flags=re.S)
    if count != 1:
        sys.exit(f"README.md needs the markers <!-- {name} --> and <!-- /{name} --> once, they stand {count} times")
    return text


def with_cost(results: Path, table: str, rules: str) -> str:
    """A table of the scenario `full`, and what the rules of that name took."""
    text = (results / table).read_text(encoding="utf-8").strip()
    took = costs(benchmark_files(results / "benchmarks")).set_index("rule").filter(like=rules, axis=0)
    jobs, seconds = int(took["jobs"].sum()), took["cpu_seconds"].sum()
    return f"{text}\n* These took {jobs} jobs and {seconds / 60:.0f} CPU minutes."


def second_family(results: Path, other: Path) -> str:
    """Claims of two studies side by side: verdict and measured number under each; claims that one of them left out."""
    claims = [
        list(csv.DictReader((of / "tables/claims.csv").read_text(encoding="utf-8").splitlines()))
        for of in (results, other)
    ]
    beside = {row["id"]: row for row in claims[1] if row["measured"]}
    lines = ["| claim | | llama | qwen3 |", "|---|---|---|---|"]
    for row in claims[0]:
        if row["id"] in beside and row["measured"]:
            told = [f"{one['verdict']} ({float(one['measured']):.3f})" for one in (row, beside[row["id"]])]
            lines.append(f"| {row['id']} | {row['statement']} | {' | '.join(told)} |")
    same = sum(row["verdict"] == beside[row["id"]]["verdict"] for row in claims[0] if row["id"] in beside)
    seconds = costs(benchmark_files(other / "benchmarks"))["cpu_seconds"].sum()
    lines += ["", f"* {same} of {len(lines) - 2} verdicts agree. In brackets the first quantity of the claim's rule."]
    lines.append(f"* The study with the second family took {seconds / 60:.0f} CPU minutes.")
    return "\n".join(lines)


def main(results: Path) -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, file in PARTS.items():
        body = (results / file).read_text(encoding="utf-8")
        text = filled(text, name, body.split("**How each verdict came about**")[0].strip())
    full = results.with_name("full")
    for name, table, rules in FULL:
        if (full / table).exists():
            text = filled(text, name, with_cost(full, table, rules))
    other = results.with_name("qwen3")
    if (other / "tables/claims.csv").exists():
        text = filled(text, "second-family", second_family(results, other))
    readme.write_text(text, encoding="utf-8")
    for name in FIGURES:
        shutil.copyfile(results / f"figures/{name}.png", Path(__file__).with_name(f"{name}.png"))
    shutil.copyfile(results / "report/rule_graph.svg", Path(__file__).with_name("rule_graph.svg"))


main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results" / "laptop")
