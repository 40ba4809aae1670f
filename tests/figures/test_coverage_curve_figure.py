"""figures/coverage_curve.py: what is drawn, and that it is drawn the same way each time."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import coverage_curve, style
from workflow_scripts.records.errors import UserError

DRAWS = [1, 4, 16, 64]
ENDS = ("base", "early", "late")


def points(*lines):
    return [(line, end, end) for line in lines for end in ENDS]


@pytest.fixture
def curves():
    rows = [
        {"line": line, "entry": end, "measure": measure, "n": n, "estimate": level * n / 64}
        for line in ("grpo", "ppo")
        for end, level in zip(ENDS, (0.9, 0.7, 0.3), strict=True)
        for measure in ("coverage_paper", "coverage_formula", "pass")
        for n in reversed(DRAWS)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(low=frame["estimate"] - 0.01, high=frame["estimate"] + 0.01, problems=150)


@pytest.mark.parametrize(
    ("samples", "expected"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 3, 4, 6]), (32, [1, 2, 3, 4, 6, 8, 11, 16, 23, 32])]
)
def test_draws(samples, expected):
    assert coverage_curve.draws(samples) == expected


def test_draws_end_at_every_number_of_samples():
    for samples in range(1, 700):
        draws = coverage_curve.draws(samples)
        assert draws == sorted(set(draws))
        assert (draws[0], draws[-1]) == (1, samples)


def test_data_is_sorted_along_each_curve(curves):
    frame = coverage_curve.data(curves, points("grpo"))
    assert list(frame.columns[:5]) == ["line", "entry", "label", "measure", "n"]
    assert len(frame) == 3 * 3 * len(DRAWS)
    assert list(frame["n"].head(4)) == DRAWS


def test_a_row_a_line_coverage_left_pass_right(curves):
    with style.styled():
        figure = coverage_curve.draw(coverage_curve.data(curves, points("grpo", "ppo")))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["grpo: coverage", "grpo: problems solved", "ppo: coverage", "ppo: problems solved"]
    left, right = figure.axes[:2]
    assert (len(left.get_lines()), len(right.get_lines())) == (6, 3)
    np.testing.assert_allclose(right.get_lines()[2].get_xydata()[-1], [64, 0.3])
    assert left.get_xscale() == "log"
    assert [text.get_text() for text in figure.axes[2].get_xticklabels()] == ["1", "4", "16", "64"]
    assert left.get_ylabel() == "Cov@n, share of expressible solutions"
    assert figure.axes[2].get_xlabel() == "samples per problem, n (log scale)"
    # One colour a policy, in both panels and in all lines.
    assert {axes.get_lines()[-1].get_color() for axes in figure.axes} == {style.COLOURS[2]}


def test_the_number_of_samples_is_on_the_axis(curves):
    curves["n"] = curves["n"].replace(64, 80)
    with style.styled():
        axes = coverage_curve.draw(coverage_curve.data(curves, points("grpo"))).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "4", "16", "80"]


def test_missing_curve_is_named(curves):
    with pytest.raises(UserError, match="coverage_formula of late on line sft"):
        coverage_curve.data(curves, [("sft", "late", "late")])


def test_same_bytes_each_time(curves, tmp_path):
    paths = [tmp_path / f"curve.{suffix}" for suffix in ("svg", "csv")]
    coverage_curve.figure(curves, points("grpo"), paths)
    first = [path.read_bytes() for path in paths]
    with matplotlib.rc_context({"font.size": 20}):
        coverage_curve.figure(curves, points("grpo"), paths)
    assert [path.read_bytes() for path in paths] == first
    assert first[1].decode().splitlines()[0] == "line,entry,label,measure,n,estimate,low,high,problems"
