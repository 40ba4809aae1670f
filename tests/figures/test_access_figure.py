"""figures/access_execution.py and figures/theory.py: what is drawn, and the same bytes each time."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import access_execution, style, theory
from workflow_scripts.records.errors import UserError

POINTS = [(0, "base"), (10, "toy step 10"), (20, "toy step 20")]


def _interval(values):
    values = np.asarray(values, dtype=float)
    return {"estimate": values, "low": values - 0.05, "high": values + 0.05, "problems": 9}


@pytest.fixture
def summary():
    levels = {"menu_entropy": [1.2, 0.8, 0.4], "execution_in_family": [0.2, 0.3, 0.35]}
    entries = [entry for _, entry in POINTS]
    return pd.concat(pd.DataFrame({"entry": entries, "measure": m, **_interval(v)}) for m, v in levels.items())


@pytest.fixture
def lines():
    families = pd.DataFrame({"policy": "t", "problem_id": ["p", "p", "q"], "opening": ["1+", "2+", "1-"]})
    families = families.assign(access=[-0.3, 0.3, 0.0], execution=[0.1, -0.2, 0.0])
    binned = pd.DataFrame({"measure": ["execution_bin_1", "execution_bin_7"], "access": [-0.3, 0.3]})
    binned = binned.assign(**_interval([0.1, -0.2]))
    split = pd.DataFrame({"measure": [*access_execution.PARTS, "shapley_access_share"]})
    split = split.assign(**_interval([0.05, 0.1, 0.15, 0.33]))
    evidence = access_execution.Evidence(POINTS, families, binned, split)
    return {"toy": evidence, "other": evidence}


def test_data_holds_what_is_drawn(summary, lines):
    frame = access_execution.data(summary, lines)
    counts = frame.groupby(["line", "panel"]).size()
    assert counts["toy"].to_dict() == {"bin": 2, "curve": 6, "family": 3, "split": 3}
    row = frame[(frame["measure"] == "menu_entropy") & (frame["step"] == 10)].iloc[0]
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx((0.8, 0.75, 0.85))
    family = frame[(frame["panel"] == "family") & (frame["opening"] == "2+")].iloc[0]
    assert (family["x"], family["estimate"]) == (0.3, -0.2)


def test_panels(summary, lines):
    with style.styled():
        figure = access_execution.draw(access_execution.data(summary, lines))
    entropy, execution, scatter, bars = figure.axes
    curve = next(line.get_xydata() for line in entropy.get_lines())
    np.testing.assert_allclose(curve, [[0, 1.2], [10, 0.8], [20, 0.4]])
    assert "completion" in execution.get_ylabel()
    assert len(scatter.collections[0].get_offsets()) == 3
    assert [text.get_text() for text in bars.get_xticklabels()] == ["access", "execution", "both"]
    assert sorted(round(patch.get_height(), 2) for patch in bars.patches) == [0.05, 0.05, 0.1, 0.1, 0.15, 0.15]


@pytest.mark.parametrize("missing", ["menu_entropy", "execution_in_family"])
def test_missing_measure_is_named(summary, lines, missing):
    with pytest.raises(UserError, match=missing):
        access_execution.data(summary[summary["measure"] != missing], lines)


def test_missing_part_is_named(summary, lines):
    broken = lines["toy"]._replace(split=lines["toy"].split.iloc[1:])
    with pytest.raises(UserError, match="shapley_access of line toy"):
        access_execution.data(summary, {"toy": broken})


def _bytes(tmp_path, draw):
    paths = [tmp_path / f"drawn.{suffix}" for suffix in ("svg", "csv")]
    draw(paths)
    first = [path.read_bytes() for path in paths]
    draw(paths)
    assert [path.read_bytes() for path in paths] == first
    return first


def test_same_bytes_each_time(summary, lines, tmp_path):
    written = _bytes(tmp_path, lambda paths: access_execution.figure(summary, lines, paths))
    assert written[1].decode().startswith("panel,line,step,measure")


@pytest.fixture
def evidence():
    rows = [
        pd.DataFrame({"after": [entry], "measure": f"rank_{name}", **_interval([0.1 * place + step / 100])})
        for place, name in enumerate(theory.PREDICTORS)
        for step, entry in POINTS[1:]
    ]
    bins = pd.DataFrame({"predictor": np.repeat(list(theory.PREDICTORS), 2), "bin": [1, 2] * 3, **_interval([0.1] * 6)})
    return theory.Evidence(POINTS, pd.concat(rows), bins)


def test_theory_data(evidence):
    frame = theory.data({"toy": evidence})
    assert frame.groupby("panel").size().to_dict() == {"outcome": 6, "rank": 6}
    row = frame[(frame["panel"] == "rank") & (frame["predictor"] == "access") & (frame["x"] == 20)].iloc[0]
    assert row["estimate"] == pytest.approx(0.4)
    with style.styled():
        figure = theory.draw(frame)
    assert figure.axes[0].get_title() == "toy"
    np.testing.assert_allclose(figure.axes[0].get_lines()[0].get_xydata(), [[10, 0.1], [20, 0.2]])


def test_theory_shows_what_could_not_be_ranked_as_a_gap(evidence):
    for rows in (evidence.rows.iloc[:0], evidence.rows[evidence.rows["measure"] != "rank_access"]):
        frame = theory.data({"toy": evidence._replace(rows=rows)})
        gaps = frame[(frame["panel"] == "rank") & (frame["predictor"] == "access")]
        assert len(gaps) == 2
        assert gaps["estimate"].isna().all() and (gaps["problems"] == 0).all()
        with style.styled():
            assert theory.draw(frame).axes[0].get_title() == "toy"


def test_theory_same_bytes_each_time(evidence, tmp_path):
    written = _bytes(tmp_path, lambda paths: theory.figure({"toy": evidence}, paths))
    assert written[1].decode().startswith("panel,line,predictor,x,estimate")
