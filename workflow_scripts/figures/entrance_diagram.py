"""Figure `entrance diagram`: one problem's tree from its numbers over the openings to every solution, drawn from the
solver's output, with the mass that policies put on each opening."""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.figures import entrance_layout as layout
from workflow_scripts.figures import entrance_parts as parts
from workflow_scripts.figures import style
from workflow_scripts.measures.branches import branches, shown_openings, shown_solutions
from workflow_scripts.records.schemas import OUTSIDE
from workflow_scripts.tasks.countdown.problems import problem_id
from workflow_scripts.tasks.countdown.solver import solve

MOST_OPENINGS = 16
"""Openings drawn, a mention of the rest included."""
MOST_SOLUTIONS = 42
"""Rows of solutions, mentions of further ones included."""


def draw(
    frame: pd.DataFrame,
    numbers: Sequence[int],
    target: int,
    *,
    most_openings: int = MOST_OPENINGS,
    most_solutions: int = MOST_SOLUTIONS,
) -> Figure:
    """The figure from its data.

    frame: measures.branches.branches. An opening is linked to the solutions that some writing begins with it; by a
    strong line where it is the solution's paper family too. Where there are more openings or solutions than places,
    the rest is counted. With masses, a bar from 0 to 1 per policy at each opening.
    """
    openings, others = shown_openings(frame, most_openings)
    leaves, greys = layout.renumbered(shown_solutions(frame, most_solutions)), parts.greys_of(frame)
    root, links = layout.root_lines(numbers, target), layout.links_of(frame, leaves, openings)
    rows, key = layout.row_places(leaves), parts.key_of(frame, greys, links)
    last = [""] * bool(others) + [OUTSIDE] * bool(greys)
    pitch = max(0.2, parts.BAR_PITCH * len(greys) + 0.07)
    body = max(rows[-1] + layout.ROW / 2, (len(openings) + len(last)) * pitch, parts.root_height(root))
    per_line = 3 if greys else 2
    height = parts.HEADER + body + 0.12 + 0.125 * -(-len(key) // per_line)

    drawn = style.new_figure("text", height)
    drawn.set_layout_engine("none")
    columns = layout.columns_of(root, openings, leaves, partial(parts.width_in, drawn), bars=bool(greys))
    drawn.set_size_inches(columns.page, height)
    axes = drawn.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, columns.page), ylim=(height, 0))
    axes.set_axis_off()

    ys = [parts.HEADER + row + (body - rows[-1] - layout.ROW / 2) / 2 for row in rows]
    middles = layout.opening_places(links, ys, last, pitch, parts.HEADER + pitch / 2, parts.HEADER + body - pitch / 2)
    total = frame["paper_form"].nunique()
    counts = {"solution": total, "formula": frame["formula_form"].nunique(), "opening": len(openings) + len(others)}
    parts.draw_root(axes, columns, parts.HEADER + body / 2, root, counts)
    parts.draw_headers(axes, columns)
    parts.draw_openings(axes, columns, frame, middles, greys, others)
    parts.draw_links(axes, columns, links, parts.HEADER + body / 2, middles, ys)
    parts.draw_solutions(axes, columns, leaves, ys)
    parts.draw_families(axes, columns, leaves, ys, total)
    look = {"fontsize": layout.SMALL, "handlelength": 1.6, "handletextpad": 0.5, "columnspacing": 1.4}
    drawn.legend(handles=key, loc="lower center", ncols=per_line, labelspacing=0.3, borderaxespad=0.1, **look)
    return drawn


def figure(
    numbers: Sequence[int],
    target: int,
    paths: Iterable[str | os.PathLike],
    *,
    masses: pd.DataFrame | None = None,
    most_openings: int = MOST_OPENINGS,
    most_solutions: int = MOST_SOLUTIONS,
) -> None:
    """Solves the problem, draws its diagram and writes it to `paths` (.pdf, .png, .svg; .csv holds the data).

    masses: of policies, as in measures.branches.branches (policy_masses reads them off the records). Raises UserError
    as solve and branches do, before anything is written.
    """
    numbers = list(numbers)
    frame = branches(solve(numbers, target), masses)
    with style.styled():
        drawn = draw(frame, numbers, target, most_openings=most_openings, most_solutions=most_solutions)
        style.save(drawn, frame, paths)


def draw_instance(numbers: Sequence[int], target: int, out_folder: str | os.PathLike) -> list[Path]:
    """Draws the bare tree of a problem into out_folder, which is made if need be; the paths written: pdf, png, svg and
    the data as csv. Raises UserError as `figure` does."""
    name = f"entrances_{problem_id(numbers, target)}"
    paths = [Path(out_folder) / f"{name}.{suffix}" for suffix in ("pdf", "png", "svg", "csv")]
    figure(numbers, target, paths)
    return paths
