"""The leakage report on sets whose shares are known."""

from dataclasses import replace

import pandas as pd
import pytest

from workflow_scripts.figures.code_tables import leakage_table
from workflow_scripts.figures.tables import markdown
from workflow_scripts.tasks.scicode.generation import generate, keys_of
from workflow_scripts.tasks.scicode.leakage import ALL, COLUMNS, report, worst
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.wrapping import wrapped


def made(name, family, prompt, kind, expected):
    return Problem(
        name, family, "tests", prompt, "def answer():\n    ...\n", "", (Check(kind, expected),), {"name": name}
    )


COUNT = "How many of the {} things are left in the box when all others are gone?"
TRAINING = [
    made("t1", "counts", COUNT.format(2), "exact", "0"),
    made("t2", "counts", COUNT.format(3), "exact", "0"),
    made("t3", "counts", COUNT.format(4), "exact", "7"),
    made("t4", "lists", "Which are left?", "sequence", "[]"),
]
EVALUATION = [
    TRAINING[1],
    replace(TRAINING[2], problem_id="again", parameters={"name": "other"}),
    made("e1", "counts", COUNT.format(5), "exact", "5"),
    made("e2", "sets", "Which labels are left?", "set", '{"$set":[]}'),
]


@pytest.fixture(scope="module")
def found():
    with Sandbox() as sandbox:
        return report(TRAINING, {"evaluation": EVALUATION}, sandbox).set_index(["set", "family"])


def test_rows_are_sets_and_families(found):
    assert [*found.index] == [
        ("training", ALL), ("training", "counts"), ("training", "lists"),
        ("evaluation", ALL), ("evaluation", "counts"), ("evaluation", "sets"),
    ]  # fmt: skip
    assert list(found.reset_index().columns) == list(COLUMNS)


@pytest.mark.parametrize("place, column, value", [
    (("training", ALL), "problems", 4), (("training", ALL), "distinct", 1.0),
    (("training", "counts"), "commonest", 2 / 3), (("training", ALL), "commonest", 3 / 4),
    (("training", ALL), "empty", 1 / 4), (("training", "counts"), "return 0", 2 / 3),
    (("training", "lists"), "return []", 1.0), (("training", "counts"), "commonest value", 2 / 3),
    (("evaluation", ALL), "content_in_training", 2 / 4), (("evaluation", ALL), "parameters_in_training", 1 / 4),
    (("evaluation", "sets"), "content_in_training", 0.0), (("evaluation", "sets"), "empty", 1.0),
    (("evaluation", "counts"), "commonest value", 1 / 3), (("evaluation", "counts"), "number of the prompt", 1 / 3),
    (("evaluation", "sets"), "return []", 1.0), (("evaluation", ALL), "return None", 0.0),
])  # fmt: skip
def test_shares(found, place, column, value):
    assert found.loc[place, column] == pytest.approx(value)


def test_overlap_of_prompts_by_hand():
    """Of nine words a prompt has two runs of eight; training holds the first alone."""
    words = "one two three four five six seven eight nine"
    training = [made("t", "f", words[: words.rindex(" ")], "exact", "1")]
    others = {"other": [made("o", "f", words, "exact", "2"), made("p", "f", "short", "exact", "3")]}
    with Sandbox() as sandbox:
        found = report(training, others, sandbox)
    assert found.set_index(["set", "family"]).loc[("other", ALL), "prompt_overlap"] == pytest.approx(1 / 4)


def test_generated_sets_share_nothing_and_reward_no_shortcut():
    names = ["heat_capacity", "spin_multiplets", "light_modes"]
    training = generate("training", count=60, seed=1, families=names)
    evaluation = generate("evaluation", count=15, seed=1, families=names, exclude=keys_of(training))
    leaked = [wrapped(problem, 1) for problem in training[:3]]
    with Sandbox() as sandbox:
        found = report(training, {"evaluation": evaluation, "leaked": leaked}, sandbox)
    assert worst(found[found["set"] != "leaked"]) == 0
    assert worst(found[found["set"] == "leaked"]) == 1  # the wrapper hides nothing
    rows = found[found["family"] == ALL].set_index("set")
    policies = ["return []", "return 0", "return None", "commonest value", "number of the prompt"]
    assert rows.loc[["training", "evaluation"], policies].max(axis=None) <= 0.1


def test_the_table_has_a_row_a_set(found):
    text = markdown(leakage_table(found.reset_index()))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert [row.split("|")[1].strip() for row in rows] == ["set", "training", "evaluation"]
    assert rows[2].split("|")[4].strip() == "0.500"
    assert rows[1].split("|")[4].strip() == "–"
    assert worst(pd.DataFrame({"content_in_training": [None], "parameters_in_training": [None]}, dtype=float)) == 0
