"""Copies what the workflow measured into README.md: tables, claims, cost, figures. `make readme` runs it.

The scenario `full` is copied where it was run; else the README keeps what it has of it.
"""

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
    "claims": "tables/scorecard.md",
    "cost": "tables/cost.md",
}
FIGURES = (
    "breadth", "trajectories", "figure2", "clamp_ladder", "recoverability", "plane", "loss_cost", "figure3",
    "lab_curves", "controlled",
)  # fmt: skip


def filled(text: str, name: str, body: str) -> str:
    """The README with `body` between the markers called `name`."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    text, count = re.subn(pattern, lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text, flags=re.S)
    if count != 1:
        sys.exit(f"README.md needs the markers <!-- {name} --> and <!-- /{name} --> once, they stand {count} times")
    return text


def full_scenario(results: Path) -> str:
    """The table of all roads, and what training them took."""
    table = (results / "tables/roads.md").read_text(encoding="utf-8").strip()
    trained = costs(benchmark_files(results / "benchmarks")).set_index("rule").filter(like="road_", axis=0)
    jobs, seconds = int(trained["jobs"].sum()), trained["cpu_seconds"].sum()
    return f"{table}\n* Training these took {jobs} jobs and {seconds / 60:.0f} CPU minutes."


def main(results: Path) -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, file in PARTS.items():
        body = (results / file).read_text(encoding="utf-8")
        text = filled(text, name, body.split("**How each verdict came about**")[0].strip())
    full = results.with_name("full")
    if (full / "tables/roads.md").exists():
        text = filled(text, "full", full_scenario(full))
    readme.write_text(text, encoding="utf-8")
    for name in FIGURES:
        shutil.copyfile(results / f"figures/{name}.png", Path(__file__).with_name(f"{name}.png"))
    shutil.copyfile(results / "report/rule_graph.svg", Path(__file__).with_name("rule_graph.svg"))


main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results" / "laptop")
