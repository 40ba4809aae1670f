"""Points of a training line: which policies stand behind `base`, `early`, `late` and every kept step.

A line is a plain row of the workflow: {name, steps (kept, ascending), early, late, seeds, policies}, where policies
maps each step (as text) to its policies, one per seed.
"""

from collections.abc import Mapping, Sequence

BASE = "base"


def entry(line: Mapping, step: int) -> str:
    """Name of a kept step in summaries, over all seeds of the line; step 0 is the base that all lines share."""
    return f"{line['name']} step {step}" if step else BASE


def policies_at(line: Mapping, step: int) -> list[str]:
    """Policies of a step, one per seed; the base is one for all seeds."""
    return list(line["policies"][str(step)]) if step else [BASE]


def entries_of(line: Mapping) -> dict[str, list[str]]:
    """Every point of the line, the base first: entry to policies."""
    return {entry(line, step): policies_at(line, step) for step in (0, *line["steps"])}


def points_of(line: Mapping) -> dict[str, list[str]]:
    """The points that claims compare: base, early and late, to policies."""
    return {BASE: [BASE], "early": policies_at(line, line["early"]), "late": policies_at(line, line["late"])}


def trained_ends(line: Mapping) -> dict[str, list[str]]:
    """The points without the base, to policies: what a line is compared between."""
    return {end: policies for end, policies in points_of(line).items() if end != BASE}


def labelled_ends(line: Mapping) -> dict[str, str]:
    """base, early and late to words with their steps."""
    return {BASE: BASE} | {end: f"{end}: step {line[end]}" for end in ("early", "late")}


def end_panels(line: Mapping) -> dict[str, str]:
    """Title of a panel to policy, for early and late of the line's first seed."""
    return {f"{line['name']} {end}: step {line[end]}": policies_at(line, line[end])[0] for end in ("early", "late")}


def labelled(line: Mapping) -> list[tuple[str, str]]:
    """(label, entry) of every point, from the base to the last step; labels are steps."""
    return [(str(step) if step else BASE, entry(line, step)) for step in (0, *line["steps"])]


def steps_and_entries(line: Mapping) -> list[tuple[int, str]]:
    """(step, entry) of every point, from the base at 0 to the last step."""
    return [(step, entry(line, step)) for step in (0, *line["steps"])]


def shown_in_print(line: Mapping, most: int = 5) -> list[int]:
    """Steps for a printed table: 0, early, late and others evenly between, `most` trained ones at most."""
    steps: Sequence[int] = line["steps"]
    chosen = {line["early"], line["late"]}
    for part in range(1, most - 1):
        wanted = line["early"] + part * (line["late"] - line["early"]) / (most - 1)
        chosen.add(min(steps, key=lambda step: abs(step - wanted)))
    return [0, *sorted(chosen)]
