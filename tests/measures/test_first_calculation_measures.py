"""measures/first_calculations.py on hand-worked samples."""

from math import exp, log

import numpy as np
import pandas as pd
import pytest
from maths_rows import samples, scores

from workflow_scripts.measures.first_calculations import (
    MEASURES,
    chosen_example,
    example_rows,
    problem_values,
    typical_problem,
    worked_example,
)
from workflow_scripts.records.errors import UserError

STATISTICS = {"seed": 1, "draws": 500}


def value(values, measure, policy="base", problem="words-0000"):
    chosen = values[(values["measure"] == measure) & (values["policy"] == policy) & (values["problem_id"] == problem)]
    return chosen["value"].item()


def test_one_problem_by_hand():
    values = problem_values(scores(*samples("AAab--")), [1, 2])
    thirds = -(3 / 4) * log(3 / 4) - (1 / 4) * log(1 / 4)
    expected = {
        "entropy": thirds,
        "entropy_corrected": thirds + 1 / 8,
        "effective_count": exp(thirds),
        "entropy_correct": 0.0,
        "none_share": 1 / 3,
        "entropy_with_none": -(3 / 6) * log(3 / 6) - (1 / 6) * log(1 / 6) - (2 / 6) * log(2 / 6),
        "pass@1": 2 / 6,
        "pass@2": 1 - (4 * 3) / (6 * 5),
        "format_rate": 1.0,
        "truncated": 0.0,
        "tokens": 10.0,
    }
    assert {name: value(values, name) for name in expected} == pytest.approx(expected)
    assert set(values["measure"]) == {*MEASURES, "pass@1", "pass@2"}


def test_commuted_labels_are_one_only_where_said():
    rows = [{"first_calculation": label} for label in ("4 * 3", "3 * 4", "4 - 3", "3 - 4")]
    values = problem_values(scores(*rows), [1])
    assert value(values, "entropy") == pytest.approx(log(4))
    assert value(values, "entropy_unordered") == pytest.approx(1.5 * log(2))


def test_without_a_calculation_there_is_no_entropy():
    values = problem_values(scores(*samples("--")), [1])
    assert np.isnan([value(values, name) for name in ("entropy", "entropy_corrected", "effective_count")]).all()
    assert value(values, "none_share") == 1.0
    assert value(values, "entropy_with_none") == 0.0


def test_truncated_samples_are_counted():
    rows = [*samples("A"), *samples("a", finish_reason="length", format_ok=False)]
    values = problem_values(scores(*rows), [1])
    assert (value(values, "truncated"), value(values, "format_rate")) == (0.5, 0.5)


def test_bad_scores_are_refused():
    good = scores(*samples("Aa"))
    with pytest.raises(UserError, match="pass@3 cannot"):
        problem_values(good, [3])
    with pytest.raises(UserError, match="sample 0 of base on words-0000 is given twice"):
        problem_values(pd.concat([good, good]), [1])
    with pytest.raises(UserError, match="only one has words-0000"):
        problem_values(scores(*samples("A"), *samples("A", policy="late", problem_id="words-0001")), [1])


def test_worked_example():
    frame = scores(*samples("AAb-"), *samples("bbbB", policy="late"), *samples("c", problem_id="words-0001"))
    with pytest.raises(UserError, match="late has no sample of problem words-0001"):
        worked_example(frame, "words-0001")
    table = worked_example(frame, "words-0000")
    assert table.to_numpy().tolist() == [
        ["base", "words-0000", "1 + 9", 2, 2, 0.5],
        ["base", "words-0000", "2 + 9", 1, 0, 0.25],
        ["base", "words-0000", "", 1, 0, 0.25],
        ["late", "words-0000", "2 + 9", 4, 1, 1.0],
    ]


def test_typical_problem_has_the_median_change():
    made = {"0": ("abcd", "abcd"), "1": ("abcd", "aabb"), "2": ("abcd", "aaaa")}
    rows = [row for i, (base, _) in made.items() for row in samples(base, problem_id=f"words-{i}")]
    rows += [row for i, (_, late) in made.items() for row in samples(late, problem_id=f"words-{i}", policy="late")]
    values = problem_values(scores(*rows), [1])
    assert typical_problem(values, ["base"], ["late"]) == "words-1"
    with pytest.raises(UserError, match="no worked example"):
        typical_problem(values[values["policy"] == "base"], ["base"], ["late"])


def test_the_example_is_the_one_asked_for_or_a_typical_one():
    rows = [row for i, letters in enumerate(["abcd", "aabb", "aaaa", "----"])
            for policy, text in (("base", "abcd"), ("late", letters))
            for row in samples(text, problem_id=f"words-{i}", policy=policy)]  # fmt: skip
    values, pairs = problem_values(scores(*rows), [1]), [{"policies": [["base", "late"]]}]
    assert chosen_example(values, pairs, "words-2", ["words"]) == "words-2"
    assert chosen_example(values, pairs, None, ["words"]) == "words-1"
    assert chosen_example(values, [], None, ["words"]) == "words-0"  # the first one without pairs
    with pytest.raises(UserError, match="words-9 is no problem of benchmark words; its problems are words-0 … words-3"):
        chosen_example(values, pairs, "words-9", ["words", "shifted"])
    with pytest.raises(UserError, match="gsm8k-0108 is no problem of the benchmarks words, shifted"):
        chosen_example(values, pairs, "gsm8k-0108", ["words", "shifted"])
    with pytest.raises(UserError, match="benchmark words: no problem has entropy"):
        chosen_example(values[values["problem_id"] == "words-3"], pairs, None, ["words"])


def test_example_rows():
    frame = scores(*samples("abcd" * 16), *samples("a" * 60 + "bcd-", policy="late"))
    entries, pairs = {"base": ["base"], "late": ["late"]}, [("base", "late")]
    row = example_rows(frame, "words-0000", entries, pairs, **STATISTICS).iloc[0]
    assert row["start"] == pytest.approx(log(4))
    assert row["estimate"] == pytest.approx(row["end"] - row["start"])
    assert row["low"] < row["estimate"] < row["high"] < 0
    with pytest.raises(UserError, match="late has no calculation"):
        example_rows(scores(*samples("a"), *samples("-", policy="late")), "words-0000", entries, pairs, **STATISTICS)


def labelled(policy, labels):
    return [{"policy": policy, "first_calculation": label} for label in labels]


@pytest.mark.parametrize(("many", "few"), [(64, 1), (40, 3), (1, 64), (3, 40)])
def test_an_examples_interval_holds_its_estimate(many, few):
    rows = [
        *labelled("base", [f"{i % many} + 1" for i in range(64)]),
        *labelled("late", [f"{i % few} + 1" for i in range(64)]),
    ]
    row = example_rows(scores(*rows), "words-0000", {"b": ["base"], "l": ["late"]}, [("b", "l")], **STATISTICS).iloc[0]
    assert row["low"] < row["estimate"] < row["high"]
    assert (row["estimate"] < 0) == (row["high"] < 0) == (many > few)


def test_seeds_that_hold_to_one_beginning_each_have_no_entropy():
    rows = [
        *samples("abcd" * 4),
        *(row for i, letter in enumerate("abc") for row in samples(letter * 16, policy=f"l{i}")),
    ]
    entries = {"base": ["base"], "late": ["l0", "l1", "l2"]}
    row = example_rows(scores(*rows), "words-0000", entries, [("base", "late")], **STATISTICS).iloc[0]
    assert (row["start"], row["end"]) == (pytest.approx(log(4)), 0.0)
    assert row["low"] < row["estimate"] < row["high"] < 0


def test_seeds_are_averaged_and_resampled():
    rows = [*samples("aaaa"), *samples("aabb", policy="l0"), *samples("cccc", policy="l1")]
    entries = {"base": ["base"], "late": ["l0", "l1"], "three": ["l0", "l1", "base"]}
    row = example_rows(scores(*rows), "words-0000", entries, [("base", "late")], **STATISTICS).iloc[0]
    assert row["estimate"] == pytest.approx(log(2) / 2)
    assert row["low"] == 0 and row["high"] >= log(2)  # twice the seed that holds to one, twice the other
    with pytest.raises(UserError, match="as many as the other"):
        example_rows(scores(*rows), "words-0000", entries, [("late", "three")], **STATISTICS)
