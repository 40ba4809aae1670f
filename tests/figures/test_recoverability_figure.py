"""figures/recoverability.py: which groups are drawn, and the same bytes each time."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.figures import recoverability, style
from workflow_scripts.records.errors import UserError


@pytest.fixture
def curves():
    rows = [
        {"line": line, "pool": pool, "group": group, "step": step, "entry": f"{line} step {step}", "measure": measure}
        | {"estimate": level + step / 100, "low": level, "high": level + 0.3, "problems": 9, "families": 12}
        for line in ("ppo", "grpo")
        for (pool, group), level in (
            (("tail", "deep"), 0.1),
            (("evaluation", "kept"), 0.4),
            (("evaluation", "extinct"), 0.4),
        )
        if line == "ppo" or pool == "evaluation"
        for step in (20, 0, 10)
        for measure in ("in_family", "any_valid", "chance")
    ]
    return pd.DataFrame(rows)


def test_data_is_ordered(curves):
    frame = recoverability.data(curves)
    assert set(frame["measure"]) == {"in_family", "chance"}
    assert list(dict.fromkeys(frame["line"])) == ["ppo", "grpo"]
    ppo = frame[frame["line"] == "ppo"]
    assert list(dict.fromkeys(ppo["group"])) == ["kept", "extinct", "deep"]
    assert ppo[(ppo["group"] == "deep") & (ppo["measure"] == "in_family")]["step"].tolist() == [0, 10, 20]


def test_panels_and_numbers_of_families(curves):
    with style.styled():
        figure = recoverability.draw(recoverability.data(curves))
    ppo, grpo = figure.axes
    np.testing.assert_allclose(ppo.get_lines()[0].get_xydata(), [[0, 0.4], [10, 0.5], [20, 0.6]])
    assert [text.get_text() for text in ppo.texts] == ["12"] * 3
    heights = sorted(text.xy[1] for text in ppo.texts)
    assert min(np.diff(heights)) > 0.025  # two curves end in one place, their numbers do not
    assert len(grpo.texts) == 2


def test_nothing_to_draw_is_said(curves):
    with pytest.raises(UserError, match="no recoverability to draw"):
        recoverability.data(curves.iloc[:0])


def test_same_bytes_each_time(curves, tmp_path):
    paths = [tmp_path / f"recoverability.{suffix}" for suffix in ("svg", "csv")]
    recoverability.figure(curves, paths)
    first = [path.read_bytes() for path in paths]
    recoverability.figure(curves.sample(frac=1, random_state=1).sort_values("line", ascending=False), paths)
    assert [path.read_bytes() for path in paths] == first
