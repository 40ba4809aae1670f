"""What samples pass or fail by: every sample in one bucket, every status of every task in its place."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.measures.failure_buckets import BUCKETS, STATUSES, bucket_of, recorded_scores, shares
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.verdicts import Status as CountdownStatus
from workflow_scripts.tasks.maths.verdicts import Status as MathsStatus
from workflow_scripts.tasks.scicode.sandbox import Status as SandboxStatus

LAYERS = ("extracted", "parses", "defines", "runs", "typed")


def score(status="OK", correct=None, format_ok=True, **more):
    return {
        "policy": "base",
        "status": status,
        "correct": status == "OK" if correct is None else correct,
        "format_ok": format_ok,
        **more,
    }


def coded(holding, status="ERROR", **more):
    """A score of scientific coding whose first `holding` layers hold; all five and `correct` for 6."""
    layers = {layer: place < holding for place, layer in enumerate(LAYERS)}
    return score(status, correct=holding == 6, **layers, **more)


def named(*rows, **more):
    return bucket_of(pd.DataFrame(list(rows)), **more).tolist()


@pytest.mark.parametrize(
    ("row", "bucket"),
    [
        (score(), "pass clean"),
        (score(format_ok=False), "pass off format"),
        (score("WRONG_VALUE"), "wrong value"),
        (score("WRONG", format_ok=False), "wrong value"),
        (score("UNBALANCED"), "syntax"),
        (score("DIVISION_BY_ZERO"), "runtime"),
        (score("TIMEOUT"), "timeout"),
        (score("UNCLOSED_ANSWER", format_ok=False), "format"),
        (score("NO_ANSWER", format_ok=False), "no answer"),
        (score("TOO_DEEP"), "other"),
        (score("SOMETHING_NEW"), "other"),
        (coded(0, "NO_CODE"), "no answer"),
        (coded(1, "SYNTAX"), "syntax"),
        (coded(2, "NO_ANSWER"), "no answer"),
        (coded(3, "ERROR"), "runtime"),
        (coded(3, "memory"), "runtime"),
        (coded(3, "timeout"), "timeout"),
        (coded(4, "WRONG_TYPE"), "wrong type"),
        (coded(5, "WRONG_VALUE"), "wrong value"),
        (coded(5, "UNDECIDED"), "other"),
        (coded(6, "OK"), "pass clean"),
        (coded(6, "OK", format_ok=False), "pass off format"),
        (coded(4, "A_NAME_THAT_IS_NEW"), "wrong type"),
    ],
)
def test_a_sample_s_bucket(row, bucket):
    assert named(row) == [bucket]


@pytest.mark.parametrize("status", [*CountdownStatus, *MathsStatus, *SandboxStatus])
def test_every_status_of_the_tasks_has_its_place(status):
    assert status.upper() == "OK" or status.upper() in STATUSES


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        ("try 4 * 7 </think> <answer> 4 * 7 </answer>", "pass with thinking"),
        ("<think> \n </think> <answer> 4 * 7 </answer>", "pass clean"),
        ("<answer> 4 * 7 </answer>", "pass clean"),
    ],
)
def test_a_pass_with_thoughts_by_its_text(text, bucket):
    assert named(score(), texts=pd.Series([text])) == [bucket]


def test_a_pass_with_thoughts_by_its_first_step():
    assert named(score(think_opening="4*"), score(think_opening=None)) == ["pass with thinking", "pass clean"]


def test_shares_by_hand():
    rows = [score(), score("WRONG"), score("WRONG"), score("TIMEOUT")]
    found = shares(pd.DataFrame(rows)).set_index("bucket")
    assert list(found.index) == list(BUCKETS)
    assert found.loc["wrong value", ["count", "share"]].tolist() == [2, 0.5]
    assert found.loc["no answer", "share"] == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["base", "late"]), st.sampled_from(["one", "two"]), st.sampled_from([*CountdownStatus]),
            st.booleans(), st.integers(0, 6),
        ),
        min_size=1,
    ),
    st.booleans(),
)  # fmt: skip
def test_shares_sum_to_one_in_every_group(rows, layered):
    made = [
        (coded(holding, status, format_ok=ok) if layered else score(status, format_ok=ok))
        | {"policy": policy, "set": name}
        for policy, name, status, ok, holding in rows
    ]
    found = shares(pd.DataFrame(made), ["policy", "set"])
    groups = found.groupby(["policy", "set"])
    assert groups["share"].sum().tolist() == pytest.approx([1.0] * groups.ngroups)
    assert groups.ngroups == len({row[:2] for row in rows})
    assert found["count"].sum() == len(rows)


def test_verl_s_records_are_scores(tmp_path):
    state = tmp_path / "line-s1-step2"
    (state / "rollouts").mkdir(parents=True)
    row = {"input": "a", "output": "so </think> 3", "score": 1.0, "status": "OK", "format_ok": True}
    for step in (1, 2):
        lines = [row, row | {"score": 0.0, "status": "WRONG_VALUE"}, {"input": "a", "output": "", "score": 0.0}]
        (state / "rollouts" / f"{step}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = recorded_scores(state)
    assert found[["policy", "step", "status", "correct"]].values.tolist() == [
        ["line-s1", 1, "OK", True], ["line-s1", 1, "WRONG_VALUE", False],
        ["line-s1", 2, "OK", True], ["line-s1", 2, "WRONG_VALUE", False],
    ]  # fmt: skip
    counted = shares(found, texts=found["completion"]).set_index("bucket")["share"]
    assert counted["pass with thinking"] == counted["wrong value"] == 0.5
    assert recorded_scores(tmp_path).empty


def test_what_lacks_is_named():
    with pytest.raises(UserError, match="'format_ok'"):
        named({"status": "OK", "correct": True})
    with pytest.raises(UserError, match="'set'"):
        shares(pd.DataFrame([score()]), ["policy", "set"])
    with pytest.raises(UserError, match="no scores"):
        shares(pd.DataFrame(columns=list(score())))
