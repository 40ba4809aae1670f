"""Agreement of verifiers: hand-counted tables, the contracts on texts where they differ, the same bytes each time."""

import math

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.figures.verifier_audit import audit_table, examples, examples_markdown
from workflow_scripts.measures.agreement import (
    OPINIONS,
    agreement,
    countdown_opinions,
    disagreements,
    excerpt,
    maths_opinions,
)
from workflow_scripts.records.errors import UserError

STEPS = "4 * 6 = 24 </think> "


def opinions(*rows):
    """Rows (completion, samples, {verifier: True, False or None for undecided})."""
    return pd.DataFrame(
        [
            ("maths", "p1", "5", completion, samples, name, bool(accept), accept is not None, "X", completion)
            for completion, samples, said in rows
            for name, accept in said.items()
        ],
        columns=OPINIONS,
    )


def test_pairs_are_counted_in_samples():
    table = agreement(
        opinions(
            ("a", 6, {"ours": True, "lab_rules": True}),
            ("b", 2, {"ours": True, "lab_rules": False}),
            ("c", 1, {"ours": False, "lab_rules": True}),
            ("d", 3, {"ours": False, "lab_rules": False}),
            ("e", 4, {"ours": None, "lab_rules": True}),
        )
    )
    assert len(table) == 1
    row = table.iloc[0]
    assert (row["task"], row["first"], row["second"], row["answers"], row["samples"]) == (
        "maths", "ours", "lab_rules", 5, 16,
    )  # fmt: skip
    assert tuple(row[["both", "neither", "only_first", "only_second", "undecided"]]) == (6, 3, 2, 1, 4)
    assert row["agreement"] == pytest.approx(9 / 12)
    by_chance = (8 * 7 + 4 * 5) / 144
    assert row["kappa"] == pytest.approx((9 / 12 - by_chance) / (1 - by_chance))


def test_no_kappa_where_nothing_varies_and_no_share_where_nothing_is_decided():
    alike = agreement(opinions(("a", 2, {"ours": True, "lab_rules": True}))).iloc[0]
    assert alike["agreement"] == 1.0 and math.isnan(alike["kappa"])
    unsure = agreement(opinions(("a", 2, {"ours": None, "lab_rules": True}))).iloc[0]
    assert unsure["undecided"] == 2 and math.isnan(unsure["agreement"])


def test_disagreements_are_listed_by_pattern_the_commonest_first():
    said = opinions(
        ("a", 1, {"ours": True, "math_verify": True, "lab_rules": False}),
        ("b", 5, {"ours": True, "math_verify": True, "lab_rules": False}),
        ("c", 2, {"ours": True, "math_verify": True, "lab_rules": False}),
        ("d", 9, {"ours": True, "math_verify": None, "lab_rules": False}),
        ("e", 9, {"ours": True, "math_verify": None, "lab_rules": True}),
        ("f", 9, {"ours": False, "math_verify": False, "lab_rules": False}),
    )
    listed = disagreements(said, limit=2)
    assert list(listed["pattern"]) == ["ours | lab_rules ?math_verify", *["ours, math_verify | lab_rules"] * 2]
    assert list(listed["completion"]) == ["d", "b", "c"]
    assert list(listed["total"]) == [9, 8, 8]
    assert {"status_ours", "extracted_math_verify"} < set(listed.columns)
    assert disagreements(said.sample(frac=1, random_state=1), limit=2).equals(listed)
    assert disagreements(said[said["completion"] == "f"], limit=2).empty


def test_contracts_on_texts_where_they_differ():
    problems = pd.DataFrame({"problem_id": ["p"], "numbers": [[4, 6]], "target": [24]})
    texts = {
        f"{STEPS}<answer>4*6</answer>": (True, True, True),
        f"{STEPS}<answer>-4*-6</answer>": (False, True, True),
        f"{STEPS}<answer>4*6 # four times six</answer>": (False, True, False),
        f"{STEPS}<answer>4*6": (False, True, False),
        f"{STEPS}<answer>4+6</answer>": (False, False, False),
    }
    rollouts = pd.DataFrame({"problem_id": "p", "completion": [*texts, next(iter(texts))]})
    said = countdown_opinions(rollouts, problems)
    assert list(said.columns) == OPINIONS and len(said) == 15
    wide = said.pivot(index="completion", columns="verifier", values="accept")
    assert {text: tuple(row[["strict", "paper_ppo", "paper_grpo"]]) for text, row in wide.iterrows()} == texts
    table = agreement(said).set_index(["first", "second"])
    assert table.loc[("strict", "paper_ppo"), ["both", "only_second", "only_first"]].tolist() == [2, 3, 0]
    assert table.loc[("strict", "paper_grpo"), ["both", "only_second"]].tolist() == [2, 1]
    assert set(disagreements(said, limit=9)["pattern"]) == {
        "paper_ppo, paper_grpo | strict", "paper_ppo | strict, paper_grpo",
    }  # fmt: skip


def test_maths_verifiers_on_texts_where_they_differ():
    pytest.importorskip("math_verify")
    problems = pd.DataFrame(
        {"problem_id": ["p", "q"], "question": ["How many?", "What percentage?"], "gold": [r"\frac{1}{2}", "25"]}
    )
    rollouts = pd.DataFrame(
        [("p", r"\boxed{0.5}"), ("p", r"\boxed{0.5}"), ("p", r"\boxed{1} no \boxed{0.5}"), ("q", r"\boxed{25\%}")],
        columns=["problem_id", "completion"],
    )
    said = maths_opinions(rollouts, problems)
    accept = said.pivot(index=["problem_id", "completion"], columns="verifier", values="accept")
    assert accept["ours"].all()
    assert accept["lab_rules"].tolist() == [True, False, False]
    assert accept["paper_extractor"].tolist() == [False, False, True]
    assert said.loc[said["completion"] == r"\boxed{0.5}", "samples"].tolist() == [2, 2, 2, 2]


def test_a_problem_that_is_not_there_is_named():
    problems = pd.DataFrame({"problem_id": ["p"], "numbers": [[4, 6]], "target": [24]})
    with pytest.raises(UserError, match=r"1 problems .* q among them"):
        countdown_opinions(pd.DataFrame({"problem_id": ["q"], "completion": ["x"]}), problems)


def test_the_table_and_its_examples(tmp_path):
    said = opinions(
        ("so `a`", 6, {"ours": True, "lab_rules": False}), ("b\n" * 200, 2, {"ours": True, "lab_rules": True})
    )
    table, listed = audit_table(agreement(said), notes=["Policies: base."]), disagreements(said, limit=5)
    frame = tables.frame_of(table)
    assert frame["pair"].tolist() == ["Maths: this verifier / lab's rules"]
    assert frame[["samples", "both", "only_first", "agreement"]].iloc[0].tolist() == [8, 2, 6, 0.25]
    assert [(example.pattern, example.total) for example in examples(listed)] == [("ours | lab_rules", 6)]
    text = tables.markdown(table) + examples_markdown(listed)
    assert "| Maths: this verifier / lab's rules | 8 | 2 | 0 | 6 | 0 | 0 | 0.2500 |" in text
    assert "**this verifier** accept, **lab's rules** reject (6 samples):" in text
    assert "* gold `5`: `` so `a` ``" in text and "* Policies: base." in text
    paths = [tmp_path / f"audit.{kind}" for kind in ("csv", "md", "tex")]
    tables.write(table, paths)
    first = [path.read_bytes() for path in paths]
    tables.write(audit_table(agreement(said.iloc[::-1]), notes=["Policies: base."]), paths)
    assert [path.read_bytes() for path in paths] == first
    assert examples_markdown(listed.iloc[:0]) == ""


def test_an_excerpt_is_the_end_of_a_text_on_one_line():
    assert excerpt("a\n b ") == "a b"
    assert excerpt("x" * 200) == "…" + "x" * 160
