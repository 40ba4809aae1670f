"""figures/reward_audit.py: the table, the frames and words of the heat map, files that do not change."""

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.figures.reward_audit import audit_table, draw, figure, overall, violations_markdown
from workflow_scripts.measures.reward_audit import violations
from workflow_scripts.records.errors import UserError

POLICIES = [("gold", "right", 1.0, 1.0), ("gold, commented", "right", 1.0, 1.0), ("off by one", "near", 0.0, 1.0),
            ("return []", "empty", 0.0, 1.0), ("prose", "empty", 0.0, 0.0)]  # fmt: skip
SCORES = {"strict": [1, 1, 0, 0, 0], "short_ones": [1, 0.4, 0.8, 0.8, 0.1]}


@pytest.fixture
def found():
    rows = [
        {"policy": policy, "group": group, "reward": reward, "family": family, "problems": count, "truth": truth,
         "runs": runs, "score": float(scores[place])}
        for reward, scores in SCORES.items()
        for place, (policy, group, truth, runs) in enumerate(POLICIES)
        for family, count in (("all", 4), ("lists", 2), ("numbers", 2))
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def listed():
    rows = [("p", policy, 6.0 if truth else 4.0 * runs, truth == 1, runs == 1) for policy, _, truth, runs in POLICIES]
    frame = pd.DataFrame(rows, columns=["problem_id", "policy", "closeness", "correct", "runs"]).assign(parses=True)
    return violations(frame.assign(**{f"reward:{name}": scores for name, scores in SCORES.items()}))


def test_overall_keeps_the_order_of_policies_and_rewards(found):
    wide = overall(found)
    assert list(wide.columns) == ["policy", "group", "problems", "runs", "truth", "strict", "short_ones"]
    assert list(wide["policy"]) == [policy for policy, *_ in POLICIES]
    assert list(wide["short_ones"]) == SCORES["short_ones"]
    with pytest.raises(UserError, match="no reward that can be scored"):
        overall(found.iloc[:0])


def test_table_with_its_violations(found, listed, tmp_path):
    table = audit_table(found, listed)
    text = tables.markdown(table)
    assert "| return []: an empty list | 1.00 | 0.00 | 0.00 | 0.80 |" in text
    assert "* strict: no violation." in text
    assert "* short_ones: 2 pairs wrong above right; foremost off by one above gold, commented by 0.40." in text
    assert "4 problems of 2 families" in text
    tables.write(table, [tmp_path / "t.csv", tmp_path / "t.tex"])
    csv = pd.read_csv(tmp_path / "t.csv")
    assert list(csv["short_ones"]) == SCORES["short_ones"] and "\\toprule" in (tmp_path / "t.tex").read_text()


def test_violations_as_markdown(listed):
    lines = violations_markdown(listed, most=1).splitlines()
    assert lines[-1] == "| short_ones | wrong above right | off by one | gold, commented | 1 | 1.00 | 0.40 |"
    assert len(lines) == 4 and violations_markdown(listed.iloc[:0]) == ""


def test_heat_map_shows_every_value_and_frames_what_is_paid_above_the_right(found):
    drawn = draw(found)
    axes = drawn.axes[0]
    shown = [text.get_text() for text in axes.texts]
    assert shown == [
        "1",
        "1",
        "1",
        "1",
        "1",
        "1",
        "1",
        ".40",
        "1",
        "0",
        "0",
        ".80",
        "1",
        "0",
        "0",
        ".80",
        "0",
        "0",
        "0",
        ".10",
    ]
    # 0.8 is more than the 0.4 of a right answer: off by one, and the empty list.
    frames = [(round(patch.get_x() + 0.46), round(patch.get_y() + 0.44)) for patch in axes.patches]
    assert frames == [(3, 2), (3, 3)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["runs", "right", "strict", "short ones"]


def test_a_missing_score_is_a_dash(found):
    found.loc[(found["policy"] == "prose") & (found["reward"] == "strict"), "score"] = float("nan")
    assert [text.get_text() for text in draw(found).axes[0].texts][-2:] == ["–", ".10"]


def test_files_are_the_same_each_time(found, tmp_path):
    paths = [[tmp_path / f"{name}{suffix}" for suffix in (".png", ".svg", ".pdf", ".csv")] for name in "ab"]
    for each in paths:
        figure(found, each)
    assert [path.read_bytes() for path in paths[0]] == [path.read_bytes() for path in paths[1]]
    pd.testing.assert_frame_equal(pd.read_csv(paths[0][3]), found, check_dtype=False)
