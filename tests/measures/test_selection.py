import json

import pandas as pd
import pytest

from workflow_scripts.measures.selection import choice_text, choose, chosen_settings, digest
from workflow_scripts.records.errors import UserError

PROBLEMS = pd.DataFrame({"problem_id": ["c0", "c1", "h0", "h1"], "split": ["calibration"] * 2 + ["held_out"] * 2})
CANDIDATES = {"mixing": ["m1", "m2", "m3"], "temperature": ["t1", "t2"]}
MEANS = {  # setting: coverage gain and precision loss on both problems
    "m1": (0.10, 0.01),
    "m2": (0.20, 0.02),
    "m3": (0.40, 0.05),
    "t1": (0.30, 0.10),
    "t2": (0.05, 0.03),
}


def outcomes(problems=("c0", "c1"), **changes):
    rows = []
    for policy, (gain, loss) in ({"late": (0, 0)} | MEANS | changes).items():
        for number, problem in enumerate(problems):
            shift = 0.01 if number % 2 else -0.01
            rows.append((policy, problem, "coverage_paper", 0.3 + gain + shift))
            rows.append((policy, problem, "pass@1", 0.5 - loss + shift))
    return pd.DataFrame(rows, columns=["policy", "problem_id", "measure", "value"])


def chosen(table=None, candidates=None, **options):
    table = outcomes() if table is None else table
    return choose(table, PROBLEMS, candidates or CANDIDATES, "late", **({"tolerance": 0.02} | options))


@pytest.mark.parametrize(
    ("tolerance", "settings"),
    [
        (0.02, {"mixing": "m2", "temperature": "t2"}),  # exactly the tolerance is allowed; none of t is: least loss
        (0.015, {"mixing": "m1", "temperature": "t2"}),
        (0.05, {"mixing": "m3", "temperature": "t2"}),
        (0.5, {"mixing": "m3", "temperature": "t1"}),
    ],
)
def test_the_rule_by_hand(tolerance, settings):
    rows = chosen(tolerance=tolerance)["rows"]
    assert {row["intervention"]: row["setting"] for row in rows} == settings
    for row in rows:
        assert (row["gain"], row["loss"]) == pytest.approx(MEANS[row["setting"]])
        assert row["within_tolerance"] == (row["loss"] <= tolerance)
        assert row["settings"] == len(CANDIDATES[row["intervention"]])


def test_of_equals_the_first_is_taken():
    table = outcomes(m2=MEANS["m1"], m3=MEANS["m1"])
    assert chosen(table)["rows"][0]["setting"] == "m1"
    assert chosen(table, {"mixing": ["m3", "m2", "m1"]})["rows"][0]["setting"] == "m3"


def test_a_record_is_the_same_bytes_whatever_the_order_of_rows():
    choice = chosen()
    assert choice_text(chosen(outcomes().sample(frac=1, random_state=0))) == choice_text(choice)
    assert json.loads(choice_text(choice)) == choice
    assert digest(outcomes()) != digest(outcomes(m1=(0.1, 0.011)))


def test_the_choice_survives_its_files(tmp_path):
    table = outcomes()
    (tmp_path / "choice.json").write_text(choice_text(chosen()))
    table.to_csv(tmp_path / "calibration.csv", index=False, float_format="%.10g")
    read = json.loads((tmp_path / "choice.json").read_text()), pd.read_csv(tmp_path / "calibration.csv")
    assert chosen_settings(*read, PROBLEMS, outcomes(("h0", "h1"))) == {"mixing": "m2", "temperature": "t2"}


def test_held_out_problems_cannot_reach_the_choice():
    with pytest.raises(UserError, match="the choice of settings holds problem h0 of the held_out problems"):
        chosen(outcomes(("c0", "h0")))
    with pytest.raises(UserError, match="problem x0, which is not among the study's"):
        chosen(outcomes(("c0", "x0")))


def test_calibration_problems_cannot_reach_the_held_out_comparison():
    with pytest.raises(UserError, match="the held-out comparison holds problem c1 of the calibration problems"):
        chosen_settings(chosen(), outcomes(), PROBLEMS, outcomes(("h0", "c1")))


def test_a_choice_made_on_held_out_problems_is_refused():
    """Someone relabels the splits to choose, then compares under the true ones."""
    swapped = PROBLEMS.assign(split=PROBLEMS["split"].map({"calibration": "held_out", "held_out": "calibration"}))
    table = outcomes(("h0", "h1"))
    choice = choose(table, swapped, CANDIDATES, "late")
    with pytest.raises(UserError, match="the choice of settings holds problem h0 of the held_out problems"):
        chosen_settings(choice, table, PROBLEMS)
    with pytest.raises(UserError, match="chosen on problem h0, which is not a calibration problem"):
        chosen_settings(choice, outcomes(), PROBLEMS)
    with pytest.raises(UserError, match="its sha256 is another"):
        chosen_settings(choice | {"problems": ["c0", "c1"]}, outcomes(), PROBLEMS)


def test_a_choice_cannot_be_changed_afterwards():
    choice = chosen()
    better = [row | ({"setting": "m3"} if row["setting"] == "m2" else {}) for row in choice["rows"]]
    with pytest.raises(UserError, match="takes 'm3' for mixing, its rule takes 'm2'"):
        chosen_settings(choice | {"rows": better}, outcomes(), PROBLEMS)
    with pytest.raises(UserError, match="its sha256 is another"):
        chosen_settings(choice, outcomes(m3=(0.4, 0.0)), PROBLEMS)
    with pytest.raises(UserError, match="lacks 'sha256'"):
        chosen_settings({name: choice[name] for name in choice if name != "sha256"}, outcomes(), PROBLEMS)


@pytest.mark.parametrize(
    ("table", "candidates", "words"),
    [
        (outcomes(), {"mixing": ["gone"]}, "'gone' has no coverage_paper"),
        (outcomes(), {"mixing": []}, "mixing has no settings"),
        (outcomes()[:0], None, "no outcomes on calibration problems"),
        (outcomes().iloc[4:], None, "'late' has no coverage_paper"),
        (outcomes().drop(index=4), None, "'m1' and 'late' are not on the same problems: c0"),
    ],
)
def test_what_cannot_be_chosen_is_named(table, candidates, words):
    with pytest.raises(UserError, match=words):
        chosen(table, candidates)
