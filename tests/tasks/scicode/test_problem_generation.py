"""Sets of problems: the same for the same seed, apart from each other, without a common answer; and their wrapper."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.families import FAMILIES, made
from workflow_scripts.tasks.scicode.generation import (
    COMMONEST,
    TINY,
    content_key,
    generate,
    keys_of,
    parameter_key,
)
from workflow_scripts.tasks.scicode.problems import Check, problem_frame, problems_of
from workflow_scripts.tasks.scicode.values import decode
from workflow_scripts.tasks.scicode.wrapping import facts_kept, missing_facts, stands, wrapped

SOME = ("heat_capacity", "allowed_transitions", "grid_minimum", "boson_states")
BASE = generate("training", count=40, seed=3, families=SOME)


def test_a_set_follows_from_its_seed_and_its_name():
    assert generate("training", count=40, seed=3, families=SOME) == BASE
    for other in ({"seed": 4}, {"name_of_set": "evaluation"}):
        others = generate(**{"name_of_set": "training", "count": 40, "seed": 3, "families": SOME} | other)
        shared = keys_of(others) & keys_of(BASE)
        assert len(shared) < 20  # of 80; small spaces meet by chance


def test_a_smaller_set_is_the_beginning_of_a_larger_one():
    assert generate("training", count=13, seed=3, families=SOME) == BASE[:13]


def test_families_come_in_turn_and_nothing_twice():
    assert [problem.family for problem in BASE] == list(SOME) * 10
    assert len({content_key(problem) for problem in BASE}) == len({problem.problem_id for problem in BASE}) == 40


def test_excluded_problems_do_not_come_again():
    again = generate("training", count=40, seed=3, families=SOME, exclude=keys_of(BASE))
    assert keys_of(again).isdisjoint(keys_of(BASE))
    assert [problem.family for problem in again] == list(SOME) * 10


def test_no_answer_is_common():
    for family in ("allowed_transitions", "boson_states", "weight_enumerator", "operator_list"):
        problems = generate("training", count=60, seed=5, families=[family])
        counts = Counter(tuple(check.expected for check in problem.checks) for problem in problems)
        assert max(counts.values()) <= COMMONEST * 60
        assert counts['{"$set":[]}',] + counts["[]",] <= COMMONEST * 60


def test_expected_numbers_are_not_rounding():
    problems = generate("training", count=200, seed=6, families=["ramped_phase", "ray_matrix", "heat_capacity"])
    numbers = [
        abs(float(text)) for p in problems for c in p.checks for text in re.findall(r"-?[\d.]+e?-?\d*", c.expected)
    ]
    assert min(number for number in numbers if number) >= TINY


def test_a_family_that_has_no_more_is_named():
    with pytest.raises(UserError, match="family spin_multiplets has no further problem for the set small after 20"):
        generate("small", count=30, seed=1, families=["spin_multiplets"], levels=(1,))


@pytest.mark.parametrize(
    "families, message", [(["heat_capcity"], "did you mean 'heat_capacity'"), ([], "one family or more")]
)
def test_unknown_families_are_refused(families, message):
    with pytest.raises(UserError, match=message):
        generate("training", count=1, seed=1, families=families)


def test_problems_survive_a_table():
    assert problems_of(problem_frame(BASE, "training")) == [replace(p, parameters=dict(p.parameters)) for p in BASE]


def test_keys_see_content_and_parameters_not_the_wrapper_or_spaces():
    one = BASE[0]
    spaced = replace(one, core=one.core.replace(" ", "  \n"))
    dressed = wrapped(one, 1)
    assert content_key(one) == content_key(spaced) == content_key(dressed)
    assert parameter_key(one) == parameter_key(dressed)
    assert content_key(replace(one, checks=(Check("numeric", "1.0"),))) != content_key(one)
    changed = {**one.parameters, "temperature": one.parameters["temperature"] + 1}
    assert parameter_key(replace(one, parameters=changed)) != parameter_key(one)
    # What follows from the drawn parameters is no parameter.
    assert "intermediates" in one.parameters
    assert parameter_key(replace(one, parameters={**one.parameters, "intermediates": {}})) == parameter_key(one)


def test_problems_without_parameters_are_told_apart_by_content():
    bare = [replace(problem, parameters={}, family="external") for problem in BASE[:2]]
    assert len({parameter_key(problem) for problem in bare}) == 2


@pytest.mark.parametrize("name", FAMILIES)
def test_the_wrapper_keeps_core_facts_and_checks(name):
    [problem] = generate("training", count=1, seed=8, families=[name])
    dressed = wrapped(problem, 8)
    assert facts_kept(problem, dressed.prompt)
    assert (dressed.checks, dressed.reference, dressed.core) == (problem.checks, problem.reference, problem.core)
    assert dressed.problem_id != problem.problem_id
    assert 1000 < len(dressed.prompt) < 4000
    before, _, after = dressed.prompt.partition(problem.core)
    used = set(re.findall(r"\d+\.\d+", problem.core))
    decoys = re.findall(r"\d+\.\d", before + after)
    assert len(decoys) >= 4  # two paragraphs or more, two numbers each
    assert used.isdisjoint(decoys)
    assert wrapped(problem, 8) == dressed
    assert generate("training", count=1, seed=8, families=[name], wrapped=True) == [dressed]


def test_wrappers_differ_by_seed_and_problem():
    prompts = {wrapped(problem, seed).prompt.replace(problem.core, "") for problem in BASE[:4] for seed in range(4)}
    assert len(prompts) == 16


@settings(max_examples=60)
@given(st.sampled_from(BASE), st.data())
def test_a_changed_digit_is_a_lost_fact(problem, data):
    places = [match.start() for match in re.finditer(r"\d", problem.core)]
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != problem.core[place]]))
    altered = problem.core[:place] + digit + problem.core[place + 1 :]
    assert missing_facts(problem, wrapped(problem, 1).prompt.replace(problem.core, altered))[0] == "core"


@pytest.mark.parametrize("value, text, found", [
    ("3", "with 3 spins", True), ("3", "with 13 spins", False), ("3", "3.5 units", False), ("3", "x = 3.", True),
    ("0.5", "10.5", False), ("-3", "is -3,", True), ("[1, 2]", "energies [1, 2] and", True),
    ("[1, 2]", "[1, 2, 3]", False), ("2", "x**2", True), ("2", "a2", False), ("3", "3e5", False),
])  # fmt: skip
def test_values_stand_on_their_own(value, text, found):
    assert stands(value, text) is found


def test_a_family_whose_prompt_hides_a_parameter_cannot_be_wrapped():
    family = FAMILIES["heat_capacity"]
    hidden = replace(family, task=family.task.replace("{temperature}", "T"))
    problem = made(hidden, {"energies": [0.0, 1.5], "degeneracies": [1, 2], "temperature": 0.75})
    with pytest.raises(UserError, match="does not tell temperature"):
        wrapped(problem, 1)
    assert decode(problem.checks[0].expected) > 0
