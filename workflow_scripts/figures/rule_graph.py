"""The rule graph as svg, laid out here: from the text that `snakemake --rulegraph dot` prints to boxes and arrows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from workflow_scripts.records.errors import UserError

Edges = list[tuple[str, str]]
"""(before, after) pairs of rules."""

_NODE = re.compile(r'^\s*(\d+)\s*\[\s*label\s*=\s*"([^"]*)"')
_EDGE = re.compile(r"^\s*(\d+)\s*->\s*(\d+)")

_ROW, _HEIGHT, _GAP, _LETTER, _MARGIN = 58, 26, 22, 6.9, 14  # pixels


def parsed(dot: str) -> tuple[list[str], Edges]:
    """Rules and (before, after) pairs of a rule graph in dot; a rule's step to itself is left out.

    Raises UserError where the text holds no graph.
    """
    names, pairs = {}, []
    for line in dot.splitlines():
        if node := _NODE.match(line):
            names[node[1]] = node[2].split("\\n")[0]
        elif edge := _EDGE.match(line):
            pairs.append((edge[1], edge[2]))
    if not names:
        raise UserError("snakemake gave no rule graph")
    edges = {(names[a], names[b]) for a, b in pairs if names[a] != names[b]}
    return sorted(set(names.values())), sorted(edges)


def split(names: Sequence[str], edges: Edges) -> tuple[Edges, Edges]:
    """Edges that go on, and edges that lead back to a rule before them.

    Jobs never wait for themselves, but rules may: one that runs twice, on what was found the first time, is one box.
    """
    after: dict[str, list[str]] = {}
    for a, b in sorted(edges):
        after.setdefault(a, []).append(b)
    back, done, open_ = [], set(), set()

    def follow(name: str) -> None:
        open_.add(name)
        for following in after.get(name, ()):
            if following in open_:
                back.append((name, following))
            elif following not in done:
                follow(following)
        open_.discard(name)
        done.add(name)

    needed = {b for _, b in edges}
    for name in sorted(names, key=lambda name: (name in needed, name)):
        if name not in done:
            follow(name)
    return sorted(set(edges) - set(back)), sorted(back)


def reduced(edges: Iterable[tuple[str, str]]) -> Edges:
    """The edges that no longer path implies: what must be drawn for every order to be seen."""
    edges = set(edges)
    after: dict[str, set[str]] = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)

    def reachable(start: str) -> set[str]:
        seen, waiting = set(), [start]
        while waiting:
            for following in after.get(waiting.pop(), ()):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return seen

    reach = {name: reachable(name) for name in after}
    return sorted((a, b) for a, b in edges if not any(b in reach.get(other, ()) for other in after[a] - {b}))


def layers(names: Sequence[str], edges: Edges) -> dict[str, int]:
    """Row of each rule: the longest way to it. Raises UserError for a graph with a cycle."""
    row = dict.fromkeys(names, 0)
    for _ in names:
        moved = {b: row[a] + 1 for a, b in sorted(edges, key=lambda edge: row[edge[0]]) if row[b] <= row[a]}
        if not moved:
            return row
        row.update(moved)
    raise UserError("the rule graph has a cycle")


def _with_bends(row: Mapping[str, int], edges: Edges) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of places, and each edge as a path of them: an edge over several rows gets a place in each."""
    rows: list[list[str]] = [[] for _ in range(max(row.values()) + 1)]
    for name in row:
        rows[row[name]].append(name)
    paths = []
    for which, (a, b) in enumerate(edges):
        bends = [f"{a}>{b}>{which}>{i}" for i in range(row[a] + 1, row[b])]
        for i, bend in enumerate(bends, row[a] + 1):
            rows[i].append(bend)
        paths.append([a, *bends, b])
    return rows, paths


def _ordered(rows: list[list[str]], paths: list[list[str]]) -> None:
    """Orders each row by the mean place of its neighbours, downwards and upwards, so that few edges cross."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for path in paths:
        for a, b in pairwise(path):
            below.setdefault(a, []).append(b)
            above.setdefault(b, []).append(a)
    for sweep in range(8):
        neighbours, order = (above, rows) if sweep % 2 == 0 else (below, rows[::-1])
        place = {name: i / max(len(row) - 1, 1) for row in rows for i, name in enumerate(row)}
        for row in order:
            wanted = {
                name: sum(place[n] for n in neighbours.get(name, [name])) / len(neighbours.get(name, [name]))
                for name in row
            }
            row.sort(key=lambda name: (wanted[name], name))
            place.update({name: i / max(len(row) - 1, 1) for i, name in enumerate(row)})


def _width(name: str) -> float:
    return 10.0 if ">" in name else _LETTER * len(name) + 20


def svg(dot: str, *, title: str = "rule graph") -> str:
    """The graph as a self-contained svg: one box per rule, arrows from what is made to what is made from it.

    dot: printed by `snakemake --rulegraph dot`. Arrows that follow from others are left out; dashed ones lead back to
    a rule that runs again.
    """
    names, every = parsed(dot)
    edges, back = split(names, every)
    edges = reduced(edges)
    row = layers(names, edges)
    rows, paths = _with_bends(row, [*edges, *((b, a) for a, b in back)])
    _ordered(rows, paths)
    widths = [sum(map(_width, row)) + _GAP * (len(row) - 1) for row in rows]
    full = max(widths) + 2 * _MARGIN
    middle: dict[str, tuple[float, float]] = {}
    for i, row in enumerate(rows):
        left = (full - widths[i]) / 2
        for name in row:
            middle[name] = (left + _width(name) / 2, _MARGIN + _HEIGHT / 2 + i * _ROW)
            left += _width(name) + _GAP
    height = 2 * _MARGIN + _HEIGHT + _ROW * (len(rows) - 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {full:.0f} {height:.0f}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0.8 L7.5,4 L0,7.2 z" fill="#7a8794"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for i, path in enumerate(paths):
        places = [middle[name] for name in path]
        parts.append(_arrow(places) if i < len(edges) else _arrow(places[::-1], back=True))
    parts += [_box(name, *middle[name]) for name in names]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _arrow(points: Sequence[tuple[float, float]], *, back: bool = False) -> str:
    """From the edge of the first box to that of the last, through the places between; upwards and dashed for `back`."""
    half = -_HEIGHT / 2 if back else _HEIGHT / 2
    last = len(points) - 1
    places = [(x, y + half if i == 0 else y - half if i == last else y) for i, (x, y) in enumerate(points)]
    steps = [f"M{places[0][0]:.1f},{places[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(places):
        bend = (y0 + y1) / 2
        steps.append(f"C{x0:.1f},{bend:.1f} {x1:.1f},{bend:.1f} {x1:.1f},{y1:.1f}")
    dashes = ' stroke-dasharray="4 3"' if back else ""
    return (
        f'<path d="{" ".join(steps)}" fill="none" stroke="#7a8794" stroke-width="1.1"{dashes} marker-end="url(#tip)"/>'
    )


def _box(name: str, x: float, y: float) -> str:
    width = _width(name)
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width:.1f}" height="{_HEIGHT}" rx="6" '
        f'fill="#eaf2f8" stroke="#0b6ea8"/><text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="#1d2731">'
        f"{escape(name)}</text>"
    )
