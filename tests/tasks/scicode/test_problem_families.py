"""The families: values worked out by hand, references that the sandbox confirms, prompts that tell what is needed."""

import math

import pytest

from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.comparison import compare
from workflow_scripts.tasks.scicode.expressions import Same
from workflow_scripts.tasks.scicode.families import FAMILIES, LEVELS, made
from workflow_scripts.tasks.scicode.families.numbers import exponential, power_sums
from workflow_scripts.tasks.scicode.generation import confirmed, content_key
from workflow_scripts.tasks.scicode.problems import KINDS, Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.values import Expression, encode
from workflow_scripts.tasks.scicode.wrapping import missing_facts

X = ("Symbol", "x")
ONE, MINUS = ("Integer", "1"), ("Integer", "-1")

BY_HAND = [
    # family, parameters, arguments, value
    ("rabi_pulses", {"pulses": [[2.0, 0.0, math.pi / 2]]}, (), 1.0),  # a pi pulse
    ("rabi_pulses", {"pulses": [[1.0, 0.0, 1.0], [1.0, 0.0, 2.0]]}, (), math.sin(1.5) ** 2),
    ("rabi_pulses", {"pulses": [[3.0, 4.0, 1.0]]}, (), 9 / 25 * math.sin(2.5) ** 2),
    ("pauli_product", {"factors": ["X", "Y"]}, (), [1, "Z"]),
    ("pauli_product", {"factors": ["Y", "X"]}, (), [3, "Z"]),
    ("pauli_product", {"factors": ["XX", "YY"]}, (), [2, "ZZ"]),
    ("pauli_product", {"factors": ["XI", "IZ", "XI"]}, (), [0, "IZ"]),
    ("commuting_strings", {"qubits": 2, "terms": ["IZ", "ZI"]}, (), frozenset({"IZ", "ZI", "ZZ"})),
    ("heat_capacity", {"energies": [0.0, 1.0], "degeneracies": [1, 1], "temperature": 1.0}, (),
     math.e / (1 + math.e) ** 2),
    ("ring_configurations", {"spins": 4, "up": 2, "walls": 4}, (), 2),
    ("ring_configurations", {"spins": 4, "up": 2, "walls": 2}, (), 4),
    ("boson_states", {"energies": [1, 2, 3], "particles": 2, "total": 4}, (), 2),
    ("decay_chain", {"initial": [1.0, 0.0, 0.0], "first": 1.0, "second": 2.0, "time": 1.0}, (),
     [math.exp(-1), math.exp(-1) - math.exp(-2), (1 - math.exp(-1)) ** 2]),
    ("stationary_weights", {"rates": [[0, 1], [2, 0]]}, (), [2, 1]),
    ("passage_time", {"forward": [1, 1], "backward": [5, 1]}, (), 3),
    ("grating_intensity", {"slits": 3, "closed": [1]}, (0.0,), 4.0),
    ("grating_intensity", {"slits": 3, "closed": [1]}, (math.pi / 4,), 2.0),  # |1 + i|²
    ("light_modes", {"order": 1, "modulus": 2, "residue": 0, "blocked": [1]}, (), frozenset({(0, -1, 1), (0, -1, -1)})),
    ("ray_matrix", {"elements": [["gap", 10.0], ["lens", 20.0]]}, (), [[1.0, 10.0], [-0.05, 0.5]]),
    ("generating_function", {"p": 1, "q": 1, "first": 0, "second": 1}, (X,), Expression(
        ("Mul", X, ("Pow", ("Add", ONE, ("Mul", MINUS, X), ("Mul", MINUS, ("Pow", X, ("Integer", "2")))), MINUS)))),
    ("series_integers", {"a": 1, "b": 1, "s": 1, "order": 2}, (), [1, 3, 9]),
    ("forced_recurrence", {"p": 1, "q": 1, "r": 1, "start": [0, 1], "n": 3}, (), 7),
    ("absorbed_walks", {"steps": 4, "barrier": -1, "end": 0}, (), 2),  # a Catalan number
    ("operator_list", {"names": ["a", "b"], "charges": [1, 2], "most": [2, 1], "degree": 3, "total": 2}, (),
     ["b", "a a"]),
    ("anomaly_sums", {"charges": [1, -2], "copies": [2, 1]}, (), [0, 6, -6]),
    ("weight_enumerator", {"generators": ["110", "011"]}, (), [1, 0, 3, 0]),
    ("allowed_transitions", {"most": 4, "divisor": 3, "step": 1, "forbidden": [2]}, (), frozenset({0, 3})),
    ("hopping_trace", {"onsite": [1, 2], "hopping": [1], "exponent": 3}, (), 18),
    ("grid_minimum", {"a": 1, "b": 1, "c": 0, "d": -2, "e": 1, "limit": 3}, (), [1, -1, -1]),  # y = 0 is as low
    ("spin_multiplets", {"doubled": [1, 1, 1]}, (), {1: 2, 3: 1}),
    ("ramped_phase", {"start": 1.0, "pieces": [[1.0, 2.0], [1.0, 0.0]]}, (1.5,), 3.5),
    ("fringe_information", {"photons": 1, "runs": 4, "top": 1, "below": 1}, (X,), Expression(("Integer", "4"))),
    ("gaussian_average", {"coefficients": [3, 2], "scale": 1}, (X,), Expression(
        ("Add", ("Integer", "3"), ("Pow", X, MINUS)))),
    ("thermal_average", {"energies": [0, 1], "degeneracies": [1, 1]}, (X,), Expression(
        ("Pow", ("Add", ONE, ("exp", X)), MINUS))),
]  # fmt: skip


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as opened:
        yield opened


def drawn(name, level, draw=0):
    family = FAMILIES[name]
    return made(family, family.draw(seeds.generator("test", name, level, draw), level))


@pytest.mark.parametrize("name, parameters, arguments, value", BY_HAND)
def test_the_second_solution_gives_what_is_worked_out_by_hand(name, parameters, arguments, value):
    family = FAMILIES[name]
    found = family.value(parameters, *arguments)
    assert compare(Check(family.kind, encode(value)), encode(found)).same is Same.YES


def test_every_family_has_a_value_by_hand():
    assert {row[0] for row in BY_HAND} == set(FAMILIES)


def test_the_sandbox_confirms_every_reference(sandbox):
    problems = [drawn(name, 1 + place % 3) for place, name in enumerate(FAMILIES)]
    assert {check.kind for problem in problems for check in problem.checks} == set(KINDS)
    confirmed(problems, sandbox)


def test_a_reference_that_disagrees_is_named(sandbox):
    right = drawn("heat_capacity", 1)
    wrong = Problem(**vars(right) | {"reference": "def answer():\n    return 1.5\n"})
    with pytest.raises(UserError, match=r"family heat_capacity disagree for .*temperature.*gives 1\.5 .WRONG_VALUE"):
        confirmed([right, wrong], sandbox)


def test_families_cover_topics_and_arguments():
    assert len({family.topic for family in FAMILIES.values()}) >= 6
    assert {bool(family.arguments) for family in FAMILIES.values()} == {True, False}
    for family in FAMILIES.values():
        assert sum(other.topic == family.topic for other in FAMILIES.values()) < len(FAMILIES) / 4


@pytest.mark.parametrize("name", FAMILIES)
def test_prompts_tell_every_parameter_and_the_template(name):
    for level in LEVELS:
        problem = drawn(name, level)
        assert missing_facts(problem, problem.prompt) == []
        assert problem.template in problem.prompt
        assert problem.prompt.startswith(problem.core)
        assert "{" not in problem.core
        assert len(problem.prompt) < 1500


@pytest.mark.parametrize("name", FAMILIES)
def test_levels_differ_and_draws_repeat(name):
    keys = {content_key(drawn(name, level, draw)) for level in LEVELS for draw in range(4)}
    assert len(keys) >= 11  # small spaces may give one problem twice
    assert drawn(name, 2) == drawn(name, 2)


def test_the_exponential_of_a_rotation():
    (a, b), (c, d) = exponential([[0, -10.0], [10.0, 0]])
    assert [a, b, c, d] == pytest.approx([math.cos(10), -math.sin(10), math.sin(10), math.cos(10)], abs=1e-12)


def test_power_sums_of_one_two_three():
    assert power_sums([6, 11, 6], 4) == [6, 14, 36, 98]
