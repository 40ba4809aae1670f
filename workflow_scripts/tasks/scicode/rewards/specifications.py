"""How a reward is written down: a mapping, from the config.

    judge: KIND            whose judgement it needs (judges.KINDS); left out: none
    largest: 1.0           scores are cut to [0, largest]
    accept: 0.78           score from which on the reward takes an answer for right; left out: `largest`
    rejects: {COND: SCORE} the first that holds is the score; no judge is asked
    right: PART            of completions that pass every check
    wrong: PART            of all others; instead of both, the keys of a PART itself: one for all

    PART = base: NAME or {MEASURE: WEIGHT}     a reward by name, or a sum
           terms: {MEASURE: WEIGHT}            a sum
           groups: {NAME: {terms: {…}, groups: {…}, most: NUMBER}}    further sums, each cut at `most`
           combine: sum (default) or max       of base and of terms with groups
           bonus: {MEASURE: WEIGHT}            added after that
           penalties: {NAME: {terms: {…}, groups: {…}, most: NUMBER}} subtracted
           caps: {COND: MAXIMUM}               in order, each where its condition holds

MEASURE and COND are those of `conditions`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.tasks.scicode.rewards.compositions import Composition, Part, Sum, Weighed
from workflow_scripts.tasks.scicode.rewards.conditions import Measure, condition, measure
from workflow_scripts.tasks.scicode.rewards.evidence import Evidence
from workflow_scripts.tasks.scicode.rewards.judge_kinds import FIELDS
from workflow_scripts.tasks.scicode.rewards.terms import TERMS

_WHOLE = ("judge", "largest", "accept", "rejects", "right", "wrong")
_PART = ("base", "terms", "groups", "combine", "bonus", "penalties", "caps")
_GROUP = ("terms", "groups", "most")


def composition(
    spec: Mapping[str, Any] | str, *, name: str = "reward", known: Mapping[str, Composition] | None = None
) -> Composition:
    """A reward from its specification, or one of `known` by its name. Raises UserError that names the key."""
    known = known or {}
    if isinstance(spec, str):
        return replace(_named(spec, known, name), name=name)
    _mapping(spec, name)
    keys = _WHOLE if {"right", "wrong"} & set(spec) else (*_WHOLE, *_PART)
    _only(spec, keys, name)
    judge = spec.get("judge", "")
    if judge and judge not in FIELDS:
        raise UserError(f"{name}.judge: there is no judge {judge!r}; choose from {', '.join(FIELDS)}")
    if judge and {"right", "wrong"} & set(spec):
        raise UserError(
            f"{name}: a judged reward does not look at the verdict; give one part in place of right and wrong"
        )
    if ("right" in spec) != ("wrong" in spec):
        raise UserError(f"{name}: right and wrong go together; one of them is missing")
    reader = _Reader(known, judge)
    if "right" in spec:
        right, wrong = (reader.part(spec[side], f"{name}.{side}") for side in ("right", "wrong"))
    else:
        right = wrong = reader.part({key: spec[key] for key in _PART if key in spec}, name)
    largest = _number(spec.get("largest", 1.0), f"{name}.largest")
    if largest == 0:
        raise UserError(f"{name}.largest: must be above 0")
    accept = _number(spec.get("accept", largest), f"{name}.accept")
    rejects = reader.conditions(spec.get("rejects", {}), f"{name}.rejects")
    if any(TERMS[term].judge for holds, _ in rejects for term in holds.terms):
        raise UserError(f"{name}.rejects: conditions on what a judge says, before it is asked")
    return Composition(name, right, wrong, rejects, judge, largest, accept)


class _Reader:
    def __init__(self, known: Mapping[str, Composition], judge: str) -> None:
        self.known, self.judge = known, judge

    def part(self, spec: Any, where: str) -> Part:
        _mapping(spec, where)
        _only(spec, _PART, where)
        if not set(spec) & {"base", "terms", "groups", "bonus"}:
            raise UserError(f"{where}: pays nothing; give it base, terms, groups or bonus")
        combine = spec.get("combine", "sum")
        if combine not in ("sum", "max"):
            raise UserError(f"{where}.combine: is {combine!r}; choose sum or max")
        return Part(
            base=self.base(spec["base"], f"{where}.base") if "base" in spec else None,
            own=self.sum({key: spec[key] for key in ("terms", "groups") if key in spec}, where),
            highest=combine == "max",
            bonus=Sum(self.weights(spec.get("bonus", {}), f"{where}.bonus")),
            penalties=Sum((), self.sums(spec.get("penalties", {}), f"{where}.penalties")),
            caps=self.conditions(spec.get("caps", {}), f"{where}.caps"),
        )

    def base(self, spec: Any, where: str) -> Callable[[Evidence], float]:
        if not isinstance(spec, str):
            return Sum(self.weights(spec, where)).of
        reward = _named(spec, self.known, where)
        if reward.needs_judge:
            raise UserError(f"{where}: {spec} needs a judge and cannot be a base")
        return reward.score

    def sum(self, spec: Any, where: str) -> Sum:
        _mapping(spec, where)
        _only(spec, _GROUP, where)
        return Sum(
            self.weights(spec.get("terms", {}), f"{where}.terms"),
            self.sums(spec.get("groups", {}), f"{where}.groups"),
            _number(spec["most"], f"{where}.most") if "most" in spec else math.inf,
        )

    def sums(self, spec: Any, where: str) -> tuple[Sum, ...]:
        _mapping(spec, where)
        return tuple(self.sum(group, f"{where}.{key}") for key, group in spec.items())

    def weights(self, spec: Any, where: str) -> Weighed:
        _mapping(spec, where)
        return tuple((self.fits(measure(_text(key, where), where), where), _number(weight, f"{where}.{key}"))
                     for key, weight in spec.items())  # fmt: skip

    def conditions(self, spec: Any, where: str) -> Weighed:
        _mapping(spec, where)
        return tuple((self.fits(condition(_text(key, where), where), where), _number(bound, f"{where}.{key}"))
                     for key, bound in spec.items())  # fmt: skip

    def fits(self, found: Measure, where: str) -> Measure:
        """The measure, unless it reads what this reward's judge does not say."""
        for term in found.terms:
            kinds = TERMS[term].judge
            if kinds and self.judge not in kinds:
                needed = " or ".join(sorted(kinds))
                raise UserError(f"{where}: {term} needs `judge: {needed}`, the reward has {self.judge or 'no judge'}")
        return found


def _named(name: str, known: Mapping[str, Composition], where: str) -> Composition:
    if name not in known:
        raise UserError(
            f"{where}: there is no reward {name!r}{closest(name, list(known))}; there are {', '.join(known)}"
        )
    return known[name]


def _mapping(spec: Any, where: str) -> None:
    if not isinstance(spec, Mapping):
        raise UserError(f"{where}: a mapping is needed, not {spec!r}")


def _only(spec: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in spec:
        if key not in keys:
            raise UserError(f"{where}: there is no key {key!r}{closest(str(key), list(keys))}; keys: {', '.join(keys)}")


def _text(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise UserError(f"{where}: {key!r} is not the name of a term")
    return key


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise UserError(f"{where}: a number of 0 or more is needed, not {value!r}")
    return float(value)
