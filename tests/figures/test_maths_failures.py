"""The page of wrong answers: shares by reason, and texts that cannot break the page."""

import pandas as pd
import pytest

from workflow_scripts.figures.maths_failures import LONGEST, counts, page

TOTALS = pd.Series({("base", "words"): 100, ("rlvr", "words"): 50}).rename_axis(["policy", "benchmark"])


def failures(*rows):
    known = {"policy": "base", "benchmark": "words", "problem_id": "words-1", "question": "how many ?", "gold": "7"}
    return pd.DataFrame([known | {"sample": 0, "extracted": "8", "completion": "3 + 5"} | row for row in rows])


def test_shares_are_of_all_samples_and_policies_without_a_reason_have_none():
    table = failures(
        {"reason": "plan", "count": 30}, {"reason": "plan", "count": 30, "sample": 1},
        {"reason": "arithmetic", "count": 10}, {"reason": "plan", "count": 5, "policy": "rlvr"},
        {"reason": "TIMEOUT", "count": 1},
    )  # fmt: skip
    shares = counts(table, TOTALS).set_index("policy")
    assert list(shares.columns) == ["benchmark", "arithmetic", "plan", "TIMEOUT"]
    assert shares.loc["base", ["arithmetic", "plan", "TIMEOUT"]].tolist() == [0.1, 0.3, 0.01]
    assert shares.loc["rlvr", ["arithmetic", "plan"]].tolist() == [0, 0.1]


@pytest.mark.parametrize(
    "said, shown",
    [
        ("a | b\n\n# c </code><script>", "<code>a | b # c &lt;/code&gt;&lt;script&gt;</code>"),
        ("x" * (LONGEST + 1) + "y", f"<code>… {'x' * (LONGEST - 1)}y</code>"),
    ],
)
def test_what_a_policy_wrote_is_shown_as_text(said, shown):
    text = page(failures({"reason": "plan", "count": 3, "completion": said}), TOTALS, {"base": "base", "rlvr": "GRPO"})
    assert shown in text and "| GRPO (rlvr) | words | 0.000 |" in text


def test_nothing_read_is_said():
    text = page(failures({"reason": "no_answer", "count": 3, "extracted": None}), TOTALS, {"base": "base"})
    assert "→ 7; read: nothing" in text and "**base, words: no answer found** (3 samples)" in text
