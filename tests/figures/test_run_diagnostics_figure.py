"""The health figure: its data, what it says of what nobody logged, and the same bytes twice."""

import json
from itertools import pairwise

import pandas as pd
import pytest

from workflow_scripts.figures import run_diagnostics as drawn
from workflow_scripts.figures import style
from workflow_scripts.measures.failure_buckets import BUCKETS
from workflow_scripts.measures.run_diagnostics import COLUMNS
from workflow_scripts.records.errors import UserError


def steps(run, count, **columns):
    frame = pd.DataFrame(float("nan"), index=range(count), columns=list(COLUMNS)).assign(**columns)
    frame.insert(0, "run", run)
    frame.insert(1, "step", range(1, count + 1))
    return frame


def texts(figure):
    parts = [axes.get_title() for axes in figure.axes]
    for axes in figure.axes:
        parts += [text.get_text() for text in axes.texts]
        parts += [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []
    return parts


def test_every_drawn_column_is_a_column():
    names = [name for panel in drawn.PANELS for name in panel.curves]
    assert len(drawn.PANELS) == 8 and set(names) <= set(COLUMNS) and len(names) == len(set(names))


def test_data_are_running_means_of_what_was_logged():
    frame = steps("a", 40, reward=[float(i) for i in range(40)], kl=[float("nan")] * 39 + [0.5])
    found = drawn.data(frame, window=10)
    rewards = found[found["measure"] == "reward"]
    assert rewards["value"].tolist() == list(range(40))
    assert rewards["estimate"].tolist()[:6] == [0, 0.5, 1, 1.5, 2.5, 3.5]  # a tenth of 40 steps: means of four
    assert found[found["measure"] == "kl"][["step", "value", "estimate"]].values.tolist() == [[40, 0.5, 0.5]]
    assert set(found["measure"]) == {"reward", "kl"}


def test_what_nobody_logged_is_said():
    frame = pd.concat([steps("a", 4, reward=0.5, entropy=0.1), steps("b", 4, reward=0.2)])
    said = texts(drawn.draw(drawn.data(frame)))
    assert said.count("not logged") == 6  # all panels but reward and entropy
    assert "right: not logged" in said and "entropy\n1 of 2 runs: not logged" in said


def test_steps_without_a_gradient_are_counted():
    frame = steps("a", 4, grad_norm=[0.0, 0.1, 0.0, 0.2], no_gradient=[1.0, 0.0, 1.0, 0.0])
    assert "gradient norm\n2 of 4 steps without" in texts(drawn.draw(drawn.data(frame)))


def test_nothing_to_draw_is_an_error():
    with pytest.raises(UserError, match="nothing to draw"):
        drawn.draw(drawn.data(steps("a", 2)))


def test_bars_end_at_one():
    rows = [{"policy": "a", "bucket": name, "count": 1, "share": 1 / len(BUCKETS)} for name in BUCKETS]
    with style.styled():
        bars = drawn.draw_buckets(pd.DataFrame(rows)).axes[0].patches
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(1)
    assert all(right.get_x() == pytest.approx(left.get_x() + left.get_width()) for left, right in pairwise(bars))


def test_a_state_folder_becomes_files_with_the_same_bytes(tmp_path):
    state = tmp_path / "line-s1-step3"
    (state / "rollouts").mkdir(parents=True)
    for step in (1, 2, 3):
        rows = [
            {
                "input": f"p{i % 2}",
                "output": "x",
                "score": i % 3,
                "status": "OK" if i % 3 else "WRONG",
                "format_ok": True,
            }
            for i in range(8)
        ]
        (state / "rollouts" / f"{step}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = [{"step": s, "data": {"actor/entropy": 0.1 * s, "actor/grad_norm": 0.0}} for s in (1, 2, 3)]
    (state / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)))
    made = drawn.diagnosed([str(state)], tmp_path / "one")
    drawn.diagnosed([str(state)], tmp_path / "two")
    names = sorted(path.name for path in made.files)
    assert names == sorted(path.name for path in (tmp_path / "one").iterdir()) and len(names) == 10
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert "3 of 3 steps had no gradient (100%)" in made.warnings["text"].tolist()
    assert made.buckets.groupby("policy")["share"].sum().tolist() == pytest.approx([1])
    table = pd.read_csv(tmp_path / "one" / "run_diagnostics.csv")
    assert list(table) == ["run", "step", *COLUMNS] and table["kl"].isna().all()


def test_a_run_can_be_named_and_a_path_may_hold_an_equals_sign(tmp_path):
    folder = tmp_path / "lr=1"
    folder.mkdir()
    (folder / "run.log").write_text("step:1 - critic/score/mean:0.5\n")
    made = drawn.diagnosed([f"mine={folder / 'run.log'}", str(folder / "run.log")], tmp_path / "out")
    assert list(made.summary["run"].unique()) == ["mine", "run"] and made.buckets.empty
