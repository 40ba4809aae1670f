"""Short problems: values worked out twice, references run for real, sets that share nothing."""

from collections import Counter

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import Check, Problem, problem_frame, problems_of
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.short_families import BY_NAME, SHORT_FAMILIES
from workflow_scripts.tasks.scicode.short_problems import drawn, key_of, short_problem, short_set, stepped, uniforms
from workflow_scripts.tasks.scicode.short_programs import completion_of, rendered
from workflow_scripts.tasks.scicode.values import decode


@pytest.mark.parametrize(
    ("family", "numbers", "value"),
    [
        ("kinetic", {"m": 3, "v": 4}, 24),
        ("gas", {"n": 2, "t": 30, "v": 6}, 80),
        ("lens", {"a": 6, "b": 3}, 2),
        ("gap", {"d": 3, "g": 2}, 25),
        ("partition", {"a": 2, "b": 3, "w": 4}, 14),
        ("degeneracy", {"n": 2, "s": 2}, 12),  # 6 states in level 2, twice
        ("minimum", {"a": 6, "b": 9}, -9),
        ("minimum", {"a": 9, "b": 9}, -20),  # x = 4 or 5
        ("minimum", {"a": 20, "b": 3}, -51),  # the grid ends before the vertex
        ("recurrence", {"x": 1, "b": 2, "c": 3, "k": 3}, 29),  # 5, 13, 29
        ("harmonics", {"f": 5, "k": 3}, [5, 10, 15]),
        ("projections", {"j": 2, "h": 3}, [-6, -3, 0, 3, 6]),
    ],
)
def test_values_by_hand(family, numbers, value):
    assert BY_NAME[family].value(**numbers) == pytest.approx(value)


def test_every_right_program_of_every_family_passes_and_counts_as_handed_in():
    draws, pairs = uniforms("tests", 1), []
    for family in SHORT_FAMILIES:
        for shifted in (False, True):
            for number in range(8):
                found = drawn(family, draws, shifted=shifted)
                problem = short_problem(found, f"{family.name}-{shifted}-{number}")
                pairs += [(rendered(completion_of(body)), problem) for body in found.bodies]
                pairs.append((f"```python\n{problem.reference}\n```", problem))
    with Sandbox() as sandbox:
        verdicts = judge(pairs, sandbox)
    wrong = [(pair, verdict) for pair, verdict in zip(pairs, verdicts) if not (verdict.correct and verdict.format_ok)]
    assert len(pairs) > 400 and wrong == []


@pytest.mark.parametrize(
    ("body", "many", "expected"),
    [
        (("return 2 + 3",), False, ("return 4 * ( 2 + 3 ) + 5",)),
        (("x = 1", "return x"), False, ("x = 1", "return 4 * x + 5")),
        (("return [ 1 , 2 ]",), True, ("return [ 4 * y + 5 for y in [ 1 , 2 ] ]",)),
    ],
)
def test_second_steps(body, many, expected):
    assert stepped(body, 4, 5, many=many) == expected


@pytest.fixture(scope="module")
def sets():
    made, taken = {}, set()
    for name, count in (("evaluation", 60), ("shifted", 60), ("training", 400)):
        made[name] = short_set(name, count, seed=1, excluded=taken, shifted=name == "shifted")
        taken |= {key_of(problem) for problem in made[name]}
    return made


def test_sets_share_no_parameters_and_each_key_occurs_once(sets):
    keys = [key_of(problem) for problems in sets.values() for problem in problems]
    assert len(keys) == len(set(keys)) == 520
    ids = [problem.problem_id for problems in sets.values() for problem in problems]
    assert len(set(ids)) == 520 and ids[0] == "evaluation-00"


def test_families_and_answers_are_balanced(sets):
    for name, problems in sets.items():
        families = Counter(problem.family for problem in problems)
        assert len(families) == len(SHORT_FAMILIES) and max(families.values()) - min(families.values()) <= 1, name
        answers = Counter((problem.family, problem.checks[0].expected) for problem in problems)
        assert max(answers.values()) <= max(2, -(-len(problems) // len(families) // 10))


def test_official_style_problems_have_their_own_wording_a_decoy_and_a_second_step(sets):
    for problem in sets["shifted"]:
        gain, offset = problem.parameters["second"]
        assert problem.prompt.startswith("## setup ") and f"times {gain} plus {offset} ?" in problem.prompt
        value = BY_NAME[problem.family].value(**problem.parameters["numbers"])
        expected = decode(problem.checks[0].expected)
        if isinstance(value, list):
            assert expected == [gain * item + offset for item in value]
        else:
            assert expected == pytest.approx(gain * value + offset)
    assert not any("## setup" in problem.prompt for problem in sets["training"] + sets["evaluation"])


def test_sets_go_through_a_table_and_are_the_same_each_time(sets):
    again = short_set("evaluation", 60, seed=1)
    assert again == sets["evaluation"] == problems_of(problem_frame(again, "evaluation"))
    assert short_set("evaluation", 60, seed=2) != again


def test_too_many_problems_name_the_family():
    with pytest.raises(UserError, match="family gap, only 240"):
        short_set("training", 3000, seed=1)


def test_a_problem_of_other_families_has_no_key():
    with pytest.raises(UserError, match="p1 of the family 'series'"):
        key_of(Problem("p1", "series", "x", "?", "", "", (Check("numeric", "1"),)))
