"""`entrances solve` and `entrances diagram`: one Countdown instance, as text and as a drawing."""

import argparse
import json
from pathlib import Path

from workflow_scripts.commands import command


def add(commands: "argparse._SubParsersAction") -> None:
    """Adds the two to the parser."""
    solve = command(
        commands,
        "solve",
        "All solutions of a Countdown instance, their families and openings.",
        "entrances solve 4 5 7 9 --target 24 --json",
        _solve,
    )
    _add_instance(solve)
    solve.add_argument("--json", action="store_true", help="one JSON object instead of text")

    diagram = command(
        commands,
        "diagram",
        "Draws a Countdown instance from its numbers through its openings to its solutions: pdf, png, svg, csv.",
        "entrances diagram 4 5 7 9 --target 24 --out drawings",
        _diagram,
    )
    _add_instance(diagram)
    diagram.add_argument("--out", type=Path, default=Path(), help="folder for the files (default: this one)")
    diagram.add_argument("--json", action="store_true", help="the files' paths as JSON")


def _add_instance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("numbers", nargs="+", type=int, help="the numbers, each used exactly once")
    parser.add_argument("--target", type=int, required=True, help="the value to reach")


def _solve(arguments: argparse.Namespace) -> None:
    from workflow_scripts.tasks.countdown.solver import solve

    found = solve(arguments.numbers, arguments.target).to_json()
    if arguments.json:
        print(json.dumps(found))
        return
    counts = found["counts"]
    print(f"{' '.join(map(str, arguments.numbers))} -> {arguments.target}")
    print(
        f"{counts['paper']} solutions as the paper counts them, {counts['formula']} formulas, "
        f"{counts['families']} entrance families, {counts['openings']} openings"
    )
    for family, solutions in found["families"].items():
        print(f"\n{family}  ({solutions})")
        for row in found["solutions"]:
            if row["family"] == family:
                note = "" if row["expressible"] else "not expressible in the laptop text"
                print(f"  {row['rendering']:<32} {note}".rstrip())


def _diagram(arguments: argparse.Namespace) -> None:
    from workflow_scripts.figures.entrance_diagram import draw_instance

    paths = [str(path) for path in draw_instance(arguments.numbers, arguments.target, arguments.out)]
    print(json.dumps(paths) if arguments.json else "\n".join(paths))
