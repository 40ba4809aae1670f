"""figures/entrance_diagram.py and its layout: what is drawn, that it is legible, and the same bytes each time."""

from functools import cache
from itertools import combinations, pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import PathPatch

from workflow_scripts.figures import entrance_diagram, entrance_layout, style
from workflow_scripts.figures.entrance_parts import formula_look
from workflow_scripts.measures.branches import branches, shown_solutions
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown import solver

DEFAULT = (4, 5, 7, 9), 24
PAIR = ("early", "late")
SMALL = (6, 6, 6, 6), 24
INSTANCES = [
    DEFAULT,
    SMALL,
    ((3, 4, 5), 23),
    ((1, 2, 3, 4), 24),
    ((1, 2, 3, 4, 5), 37),  # 49 solutions, 15 openings
    ((25, 50, 75, 100, 3, 6), 952),
    ((101, 87, 100, 63, 51, 99), 116283),  # long numbers
]


solve = cache(solver.solve)


def masses_of(solved, labels=PAIR, valid=True):
    """Falling masses over the menu, from its front for the first policy and from its end for the second."""
    names = [*(row.opening for row in solved.openings), "outside"]
    falling = 0.5 ** np.arange(len(names))
    falling /= falling.sum()
    rows = [
        {"policy": label, "opening": name, "probability": p, "valid": 0.4 * p}
        for at, label in enumerate(labels)
        for name, p in zip(names, falling[:: (-1) ** at], strict=True)
    ]
    frame = pd.DataFrame(rows)
    return frame if valid else frame.drop(columns="valid")


def drawn(numbers, target, *, masses=(), **limits):
    """masses: labels of policies."""
    solved = solve(numbers, target)
    frame = branches(solved, masses_of(solved, masses) if masses else None)
    with style.styled():
        return entrance_diagram.draw(frame, list(numbers), target, **limits)


def words_of(figure):
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    return texts, [text for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize(
    ("numbers", "target", "masses"),
    [
        *((*instance, PAIR) for instance in INSTANCES),
        *((*instance, ()) for instance in (DEFAULT, SMALL, INSTANCES[4])),
        (*DEFAULT, ("base", "ppo step 25", "ppo step 275")),
    ],
)
def test_legible(numbers, target, masses):
    with style.styled():
        figure = drawn(numbers, target, masses=masses)
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        inside, key = words_of(figure)
        assert all(text.get_fontsize() >= 6.5 for text in [*inside, *key])
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in [*inside, *key]]
    for words, box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, words
    for (one, a), (two, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        along = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Line boxes hold room for letters with tails, which expressions do not have: they may touch, not cover
        assert across <= 0 or along <= 0.3 * min(a.height, b.height), (one, two)


def test_page_width_unless_numbers_are_long():
    assert drawn(*DEFAULT, masses=PAIR).get_figwidth() == style.WIDTH["text"]
    assert style.WIDTH["text"] < drawn(*INSTANCES[-1], masses=PAIR).get_figwidth() < 1.1 * style.WIDTH["text"]


def test_says_what_there_is():
    words = {text.get_text() for text in words_of(drawn(*DEFAULT))[0]}
    assert {"{4, 5, 7, 9} → 24", "11 solutions", "4 formulas", "7 openings"} <= words
    assert {"4 ×   7 of 11", "9 −   2 of 11", "5 −   1 of 11", "7 −   1 of 11"} <= words
    assert {"4 × 7 + 5 − 9", "9 − (4 − 7) × 5"} <= words
    assert {"4 ×", "4 −", "5 −", "7 ×", "7 −", "9 ×", "9 −"} <= words


def test_a_line_for_each_opening_and_each_pair():
    solved = solve(*DEFAULT)
    frame = branches(solved)
    leaves = shown_solutions(frame, 42)
    links = entrance_layout.links_of(frame, leaves, [row.opening for row in solved.openings])
    assert len(links) == len(frame) == 20
    assert links[links["leads"]].groupby("opening").size().to_dict() == {"4*": 7, "7-": 1, "9-": 1}
    curves = [patch for patch in drawn(*DEFAULT).axes[0].patches if type(patch) is PathPatch]
    assert len(curves) == 7 + 20


def test_equal_formulas_look_alike_and_different_ones_do_not():
    lines = [line for line in drawn(*DEFAULT).axes[0].get_lines() if line.get_marker() != "None"]
    looks = [(line.get_markeredgecolor(), line.get_marker()) for line in lines]
    assert sorted(looks.count(look) for look in set(looks)) == [1, 2, 3, 5]
    assert sum(line.get_markerfacecolor() == "white" for line in lines) == 3
    assert len({formula_look(formula) for formula in range(1, 61)}) == 60


def test_bars_have_the_length_of_the_mass():
    figure = drawn(*DEFAULT, masses=PAIR)
    lengths = {round(patch.get_width() / entrance_layout.BAR, 9) for patch in figure.axes[0].patches if _is_bar(patch)}
    expected = masses_of(solve(*DEFAULT))
    assert {round(p, 9) for p in [*expected["probability"], *expected["valid"]]} <= lengths
    words = [text.get_text() for text in words_of(figure)[0]]
    assert words.count("0.50") == 2 and "no solution" in words
    assert [text.get_text() for text in words_of(figure)[1]][:3] == ["early", "late", "outlined: opens so, not valid"]


def _is_bar(patch):
    return hasattr(patch, "get_width") and patch.get_height() < 0.08


def test_without_valid_shares_bars_are_filled():
    solved = solve(*DEFAULT)
    with style.styled():
        figure = entrance_diagram.draw(branches(solved, masses_of(solved, valid=False)), [4, 5, 7, 9], 24)
    assert not any("outlined" in text.get_text() for text in words_of(figure)[1])


def test_more_than_fits_is_counted():
    figure = drawn(*DEFAULT, masses=PAIR, most_openings=4, most_solutions=6)
    words = [text.get_text() for text in words_of(figure)[0]]
    assert "4 more" in words and "7 openings" in words and "11 solutions" in words
    assert sum(text.startswith("…") for text in words) >= 1
    everything = sum(int(text.split()[1]) for text in words if text.startswith("…"))
    markers = [line for line in figure.axes[0].get_lines() if line.get_marker() != "None"]
    assert everything + len(markers) == 11


@pytest.mark.parametrize(
    ("text", "printed"),
    [("4*", "4 ×"), ("10/", "10 ÷"), ("5 - (9 - 4 * 7)", "5 − (9 − 4 × 7)"), ("8 / 2 + 1", "8 ÷ 2 + 1"), ("", "")],
)
def test_printed_signs(text, printed):
    assert entrance_layout.pretty(text) == printed


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (0.0004, "<0.001"), (0.0214, "0.021"), (0.0996, "0.10"), (0.934, "0.93"), (1.0, "1.00")],
)
def test_printed_shares(value, words):
    assert entrance_layout.share_words(value) == words


@pytest.mark.parametrize(
    ("wanted", "limits", "places"),
    [
        ([1, 1], (-9, 9), [0, 2]),
        ([1, 9], (-9, 7), [1, 7]),
        ([1, 5], (-9, 9), [1, 5]),
        ([0, 0, 0], (0, 9), [0, 2, 4]),
        ([0, 0, 9], (-9, 9), [-1, 1, 9]),
    ],
)
def test_spread_by_hand(wanted, limits, places):
    assert entrance_layout.spread(wanted, 2, *limits) == pytest.approx(places)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12))
def test_spread_keeps_order_distance_and_limits(wanted):
    found = entrance_layout.spread(wanted, 0.5, 0, 10)
    assert len(found) == len(wanted)
    assert min(found) >= -1e-9 and max(found) <= 10 + 1e-9
    assert all(b - a >= 0.5 - 1e-9 for a, b in pairwise(found))


def test_same_bytes_each_time(tmp_path):
    paths = [tmp_path / f"diagram.{suffix}" for suffix in ("pdf", "png", "svg", "csv")]
    masses = masses_of(solve(*SMALL))
    entrance_diagram.figure(*SMALL, paths, masses=masses)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        entrance_diagram.figure(*SMALL, paths, masses=masses)
    assert [path.read_bytes() for path in paths] == first
    data = pd.read_csv(paths[3])
    assert len(data) == 4 and data["opening"].iloc[-1] == "outside"
    assert {"mass early", "valid early", "mass late", "valid late"} <= set(data.columns)


def test_an_instance_is_drawn_into_a_folder(tmp_path):
    paths = entrance_diagram.draw_instance([9, 4, 5, 7], 24, tmp_path / "new")
    assert [path.name for path in paths] == [
        f"entrances_4_5_7_9-24.{suffix}" for suffix in ("pdf", "png", "svg", "csv")
    ]
    assert all(path.stat().st_size > 0 for path in paths)


def test_no_solution_writes_nothing(tmp_path):
    with pytest.raises(UserError, match="no expression over 1, 1, 1 reaches 99"):
        entrance_diagram.draw_instance([1, 1, 1], 99, tmp_path / "new")
    assert not (tmp_path / "new").exists()
