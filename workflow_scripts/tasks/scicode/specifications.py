"""A problem specification as a language model writes it: its schema, and everything that is wrong with one.

What is told without running it is told here; `teacher` runs the solvers. Slots of the prompt are replaced, never
formatted: a text from outside could reach attributes that way.
"""

import ast
import json
import keyword
import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from workflow_scripts.tasks.scicode.families.kinds import shown
from workflow_scripts.tasks.scicode.wrapping import stands

KINDS = ("exact", "numeric", "sequence", "set")
"""Kinds of checks that a specification may ask for: those whose values JSON holds."""
FEWEST_VALIDATIONS = 3
LONGEST = {"prompt": 4000, "template": 1500, "solver": 8000, "second_solver": 8000}
"""Characters."""
SHORTEST_PROMPT = 150
SMALL = 12
"""Whole numbers up to this size stand in many texts by chance."""

_CASE = {
    "type": "object",
    "properties": {"parameters": {"type": "string"}, "expected": {"type": "string"}},
    "required": ["parameters", "expected"],
    "additionalProperties": False,
}
_TEXT = {"type": "string"}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "family": {"type": "string", "pattern": "^[a-z][a-z0-9_]{2,40}$"},
        "topic": {"type": "string", "minLength": 3, "maxLength": 60},
        "prompt": _TEXT,
        "template": _TEXT,
        "returns": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        "kind": {"type": "string", "enum": list(KINDS)},
        "solver": _TEXT,
        "second_solver": {"type": ["string", "null"]},
        "sample": _CASE,
        "validation": {"type": "array", "items": _CASE},
    },
    "required": [
        "family", "topic", "prompt", "template", "returns", "kind", "solver", "second_solver", "sample", "validation",
    ],
    "additionalProperties": False,
}  # fmt: skip
"""JSON schema of a specification. Parameters and expected values are JSON within texts: so the schema is closed."""

_SLOT = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_MARKUP = re.compile(r"<\|[^|>]{1,40}\|>|</?think>|```|\[/?INST\]|<<SYS>>", re.I)
_DIGITS = 9
"""Significant digits of an expected number that give it away."""


class Reason(StrEnum):
    """Why a specification is not taken; of several reasons the first in this order."""

    NO_REPLY = "no_reply"  # refused, cut short, or never of the schema
    SCHEMA = "schema"
    CASES = "cases"  # parameters or expected values that are no JSON of the kind asked for, or of other names
    FEW_CASES = "few_cases"  # fewer than three validations of different parameters
    CONSTANT = "constant"  # every case expects the same
    LENGTH = "length"
    MARKUP = "markup"  # marks of chats, of thinking, of code blocks in the prompt
    SLOTS = "slots"  # parameters without a slot, slots without a parameter
    TEMPLATE = "template"  # not Python, no answer(), or does not name what is returned
    STATED = "stated"  # an expected value stands in the prompt, or is one of the parameters in every case
    SOLVER_FAILS = "solver_fails"  # in the sandbox
    SOLVER_DISAGREES = "solver_disagrees"  # with the expected values
    SECOND_FAILS = "second_fails"
    SECOND_DISAGREES = "second_disagrees"
    DUPLICATE = "duplicate"  # of a problem that there is, or of a specification before it that holds


class Case(NamedTuple):
    """Decoded: parameters by name, the value as the check's kind holds it."""

    parameters: dict[str, Any]
    expected: Any


class Fault(NamedTuple):
    """Why a specification is not taken, and which part of it."""

    reason: Reason
    detail: str


def cases_of(specification: Mapping[str, Any]) -> list[Case]:
    """The sample and the validations. Raises ValueError, with what is wrong, for anything that is not as asked for."""
    found = []
    for number, case in enumerate([specification["sample"], *specification["validation"]]):
        try:
            parameters, expected = (
                json.loads(case[key], parse_constant=_refused) for key in ("parameters", "expected")
            )
        except (ValueError, RecursionError) as error:
            raise ValueError(f"case {number}: no JSON ({error})") from error
        if not isinstance(parameters, dict) or not parameters or not all(map(_plain, parameters.values())):
            raise ValueError(f"case {number}: parameters must be an object of numbers, texts and lists of them")
        odd = [name for name in parameters if not name.isidentifier() or keyword.iskeyword(name)]
        if odd or (found and parameters.keys() != found[0].parameters.keys()):
            raise ValueError(f"case {number}: its parameters are {', '.join(parameters)}")
        found.append(Case(parameters, _expected(expected, specification["kind"], number)))
    return found


def fault_of(specification: Mapping[str, Any]) -> Fault | None:
    """What is wrong with a specification, as far as that can be told without running it; None for nothing."""
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(SCHEMA).iter_errors(specification)), None)
    if error is not None:
        return Fault(Reason.SCHEMA, f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:200])
    try:
        cases = cases_of(specification)
    except ValueError as problem:
        return Fault(Reason.CASES, str(problem)[:200])
    distinct = len({json.dumps(case.parameters, sort_keys=True) for case in cases})
    if distinct < len(cases) or len(cases) < 1 + FEWEST_VALIDATIONS:
        return Fault(Reason.FEW_CASES, f"{distinct} different cases of {len(cases)}")
    if len({repr(_ordered(case.expected)) for case in cases}) == 1:
        return Fault(Reason.CONSTANT, f"{len(cases)} cases expect {str(cases[0].expected)[:80]}")
    for key, most in LONGEST.items():
        length = len(specification[key] or "")
        if length > most or (key == "prompt" and length < SHORTEST_PROMPT):
            return Fault(Reason.LENGTH, f"{key} has {length} characters")
    if found := _MARKUP.search(specification["prompt"]):
        return Fault(Reason.MARKUP, found[0])
    slots, names = set(_SLOT.findall(specification["prompt"])), set(cases[0].parameters)
    if slots != names:
        return Fault(Reason.SLOTS, f"slots {', '.join(sorted(slots)) or 'none'}; parameters {', '.join(sorted(names))}")
    return _template_fault(specification) or _stated(specification["prompt"], cases)


def filled(prompt: str, parameters: Mapping[str, Any]) -> str:
    """The prompt with values in the place of its slots."""
    return _SLOT.sub(lambda slot: shown(parameters[slot[1]]), prompt)


def _template_fault(specification: Mapping[str, Any]) -> Fault | None:
    template = specification["template"]
    try:
        body = ast.parse(template).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Fault(Reason.TEMPLATE, f"it does not parse ({type(error).__name__})")
    defined = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "answer"]
    if len(defined) != 1 or ast.unparse(defined[0].args):
        return Fault(Reason.TEMPLATE, "it must define answer() once, without arguments")
    unnamed = [name for name in specification["returns"] if not stands(name, template)]
    return Fault(Reason.TEMPLATE, f"it does not name {', '.join(unnamed)}"[:200]) if unnamed else None


def _stated(prompt: str, cases: Sequence[Case]) -> Fault | None:
    if all(any(value == case.expected for value in case.parameters.values()) for case in cases):
        return Fault(Reason.STATED, "a parameter is the answer")
    text = _SLOT.sub(" ", prompt)
    for case in cases:
        if any(stands(written, text) for written in _writings(case.expected)):
            return Fault(Reason.STATED, str(case.expected)[:80])
    return None


def _writings(value: Any) -> list[str]:
    """Ways in which a text could state a value; none for what stands in many texts by chance."""
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= SMALL):
        return []
    if isinstance(value, int):
        return [str(value), f"{value:,}"]
    if isinstance(value, float):
        rounded = (f"{value:.{digits}g}" for digits in range(4, _DIGITS + 1))
        return [repr(value), *(written for written in rounded if len(written.strip("-0.")) >= 4)]
    if isinstance(value, str):
        return [value] if len(value) > 2 else []
    items = sorted(value, key=repr) if isinstance(value, frozenset) else value
    written = [list(item) if isinstance(item, tuple) else item for item in items]
    inside = str(written)[1:-1]
    return [inside, inside.replace("'", ""), inside.replace("'", '"')] if len(written) > 1 else []


def _expected(value: Any, kind: str, number: int) -> Any:
    if kind == "numeric" and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f"case {number}: a number is expected, not {str(value)[:80]}")
    if kind in ("sequence", "set") and not isinstance(value, list):
        raise ValueError(f"case {number}: a list is expected, not {str(value)[:80]}")
    if kind == "exact" and not isinstance(value, str | int | bool):
        raise ValueError(f"case {number}: a whole number, a text or a boolean is expected, not {str(value)[:80]}")
    if not _plain(value):
        raise ValueError(f"case {number}: the expected value holds something else than numbers, texts and lists")
    return frozenset(_frozen(item) for item in value) if kind == "set" else value


def _frozen(item: Any) -> Any:
    return tuple(_frozen(part) for part in item) if isinstance(item, list) else item


def _ordered(value: Any) -> Any:
    return sorted(value, key=repr) if isinstance(value, frozenset) else value


def _plain(value: Any, depth: int = 4) -> bool:
    if isinstance(value, list):
        return depth > 0 and all(_plain(item, depth - 1) for item in value)
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number")
