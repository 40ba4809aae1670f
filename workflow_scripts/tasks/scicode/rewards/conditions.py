"""The small language of weights and conditions in a reward's specification, read by pattern and never evaluated.

executes                         the term's value
not executes                     1 where the term is 0, else 0
phrases >= 8                     1 where it holds, else 0; also >, <, <=
long and not correct             both; `or` joins what `and` has joined
passed_share if executes         the value of the first where the condition holds, else 0
"""

import operator
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.tasks.scicode.rewards.evidence import Evidence
from workflow_scripts.tasks.scicode.rewards.terms import TERMS

_ATOM = re.compile(r"(not )?([a-z_]+)(?: (>=|<=|>|<) (-?\d+(?:\.\d+)?))?")
_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


class Measure(NamedTuple):
    """text: as specified. of: its value for a completion. terms: names of the terms it reads."""

    text: str
    of: Callable[[Evidence], float]
    terms: tuple[str, ...]


def measure(text: str, where: str) -> Measure:
    """A value: a term, a condition (1 or 0), or `TERM if CONDITION`. Raises UserError that names `where`."""
    name, joined, condition = text.partition(" if ")
    if not joined:
        found = _bare(text, where)
        return found if found else _condition(text, where)
    value, holds = _bare(name, where), _condition(condition, where)
    if value is None:
        raise UserError(f"{where}: {text!r} needs a single term before `if`, not {name!r}")
    return Measure(text, lambda e: value.of(e) if holds.of(e) else 0.0, value.terms + holds.terms)


def condition(text: str, where: str) -> Measure:
    """1 or 0. Raises UserError that names `where`."""
    return _condition(text, where)


def _bare(text: str, where: str) -> Measure | None:
    if not re.fullmatch("[a-z_]+", text):
        return None
    _known(text, where)
    of = TERMS[text].of
    return Measure(text, lambda e: float(of(e)), (text,))


def _condition(text: str, where: str) -> Measure:
    if not isinstance(text, str) or not text.strip():
        raise UserError(f"{where}: a condition is a text such as `executes` or `phrases >= 8`, not {text!r}")
    clauses = [[_atom(atom, text, where) for atom in clause.split(" and ")] for clause in text.split(" or ")]

    def of(evidence: Evidence) -> float:
        return float(any(all(atom.of(evidence) for atom in clause) for clause in clauses))

    return Measure(text, of, tuple(_names(clauses)))


def _names(clauses: list[list[Measure]]) -> Iterator[str]:
    for clause in clauses:
        for atom in clause:
            yield from atom.terms


def _atom(text: str, whole: str, where: str) -> Measure:
    found = _ATOM.fullmatch(text.strip())
    if not found:
        raise UserError(f"{where}: {whole!r} is not a condition; write `[not] TERM [>= NUMBER]`, joined by and, or")
    negated, name, sign, number = found.groups()
    _known(name, where)
    of = TERMS[name].of
    compare, bound = (_COMPARE[sign], float(number)) if sign else (operator.ne, 0.0)

    def holds(evidence: Evidence) -> float:
        return float(compare(float(of(evidence)), bound) is not bool(negated))

    return Measure(text, holds, (name,))


def _known(name: str, where: str) -> None:
    if name not in TERMS:
        raise UserError(
            f"{where}: there is no term {name!r}{closest(name, list(TERMS))}; `entrances rewards --terms` lists them"
        )
