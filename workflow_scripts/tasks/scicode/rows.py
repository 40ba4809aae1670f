"""Judge programs from a file: what stands in a row, and what its verdict looks like as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from typing import Any, NamedTuple

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.tasks.scicode.execution import judge, judge_code
from workflow_scripts.tasks.scicode.expected import expected_of
from workflow_scripts.tasks.scicode.extraction import Form
from workflow_scripts.tasks.scicode.numeric import has_symbols, is_number
from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.sandbox import Outcome, Program, Sandbox
from workflow_scripts.tasks.scicode.sandbox import Status as Ended
from workflow_scripts.tasks.scicode.values import Expression, decode, encode
from workflow_scripts.tasks.scicode.verdicts import LAYERS, Verdict

ROWS = 256
"""That are judged together."""

_TOLERANCE = Check("exact", "0").tolerance


class _Row(NamedTuple):
    number: int
    key: str  # completion or code
    text: str
    checks: tuple[Check, ...]  # none where the reference says what is right
    given: Mapping[str, Any]


def judge_rows(rows: Iterable[Mapping], sandbox: Sandbox | None = None, *, form: Form = "any") -> Iterator[dict]:
    """One verdict a row, in order, ROWS of them at a time; null counts as absent, keys not named here are ignored.

    A row has `completion` (what a policy wrote after its prompt) or `code` (a bare program), and what it is judged by:

    * `checks`: a list of objects {kind, expected, args (a list, default []), tolerance (default 1e-8)}. Expected values
      and arguments are JSON as it is, or objects of `values` ({"$tuple": [1, 2]}) within it; an object of other keys is
      a dict. Where `checks` is a text with such a list, as in problem tables, texts in the place of `expected` and
      `args` are encoded values.
    * or `reference`: a program whose value is expected, with `kind` (by default numeric for a number, sequence for a
      list or tuple, set for a set, symbolic for an expression, else exact), `args` and `tolerance` as of a check.

    `problem_id` and `family`, where given, are in the verdict. sandbox: running; by default one with the usual limits.
    form: of completions, see `extraction`.
    Gives dicts that JSON can hold: problem_id, family, status, the layers, passed, total, format_ok, error, value (the
    first call's, encoded and cut), code (of completions). Raises UserError that names the row, from 1, and the key.
    """
    with ExitStack() as stack:
        waiting = enumerate(rows, start=1)
        while True:
            batch, error = _batch(waiting)
            if batch:
                sandbox = sandbox or stack.enter_context(Sandbox())
                ready, fault = _with_references(batch, sandbox)
                yield from _judged(ready, sandbox, form)
                error = fault or error
            if error is not None:  # once the rows before it have their verdicts
                raise error
            if not batch:
                return


def _batch(waiting: Iterator[tuple[int, Mapping]]) -> tuple[list[_Row], UserError | None]:
    """The next ROWS rows, or those before one that is wrong, with what is wrong."""
    batch: list[_Row] = []
    try:
        for number, row in islice(waiting, ROWS):
            batch.append(_row(row, number))
    except UserError as error:
        return batch, error
    return batch, None


def _row(row: Mapping, number: int) -> _Row:
    if not isinstance(row, Mapping):
        raise UserError(f"row {number}: needs completion or code, and checks or reference, not {row!r:.60}")
    given = {key: value for key, value in row.items() if value is not None}
    text = _one_of(given, ("completion", "code"), number)
    judged_by = _one_of(given, ("checks", "reference"), number)
    for key in (text, *(("reference",) if judged_by == "reference" else ()), "family"):
        if not isinstance(given.get(key, ""), str):
            raise UserError(f"row {number}: {key} must be a text, not {given[key]!r:.60}")
    try:
        checks = _checks(given["checks"]) if judged_by == "checks" else ()
        for check in checks:
            expected_of(check)
    except UserError as error:
        raise UserError(f"row {number}: checks: {error}") from None
    return _Row(number, text, given[text], checks, given)


def _one_of(given: Mapping, keys: tuple[str, str], number: int) -> str:
    found = [key for key in keys if key in given]
    if len(found) != 1:
        said = f"both {keys[0]} and {keys[1]} are" if found else f"neither {keys[0]} nor {keys[1]} is"
        raise UserError(f"row {number}: {said} given; a row has one of them")
    return found[0]


def _checks(told: Any) -> tuple[Check, ...]:
    encoded = isinstance(told, str)
    if encoded:
        try:
            told = json.loads(told)
        except (ValueError, RecursionError) as error:
            raise UserError(f"no JSON: {told[:60]!r} ({error})"[:200]) from None
    if not isinstance(told, list | tuple) or not told:
        raise UserError(f"one or more are needed, as a list of objects, not {told!r:.60}")
    return tuple(_check(check, encoded) for check in told)


def _check(told: Any, encoded: bool) -> Check:
    if not isinstance(told, Mapping) or "kind" not in told or "expected" not in told:
        raise UserError(f"a check is an object with kind and expected, not {told!r:.60}")
    unknown = sorted(map(str, set(told) - {"kind", "expected", "args", "tolerance"}))
    if unknown:
        raise UserError(f"a check has no {unknown[0]}{closest(unknown[0], ['kind', 'expected', 'args', 'tolerance'])}")
    expected, args = told["expected"], told.get("args")
    return Check(
        str(told["kind"]),
        expected if encoded and isinstance(expected, str) else _encoded(expected, "expected"),
        args if encoded and isinstance(args, str) else _arguments(told),
        _tolerance(told),
    )


def _arguments(told: Mapping) -> str:
    given = told.get("args")
    if given is not None and not isinstance(given, list | tuple):
        raise UserError(f"args must be a list of positional arguments, not {given!r:.60}")
    return _encoded(list(given or ()), "args")


def _tolerance(told: Mapping) -> float:
    given = told.get("tolerance")
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float)):
        raise UserError(f"tolerance must be a number, not {given!r:.60}")
    return _TOLERANCE if given is None else float(given)


def _encoded(node: Any, key: str) -> str:
    try:
        return encode(_value(node))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{key} is no value: {error}"[:200]) from None


def _value(node: Any) -> Any:
    """JSON as a value: objects with one key that starts with $ are those of `values`, others are dicts."""
    if isinstance(node, list | tuple):
        return [_value(item) for item in node]
    if isinstance(node, Mapping):
        if len(node) == 1 and str(next(iter(node))).startswith("$"):
            return decode(json.dumps(node))
        return {str(key): _value(item) for key, item in node.items()}
    return node


def _with_references(batch: list[_Row], sandbox: Sandbox) -> tuple[list[_Row], UserError | None]:
    """The rows with checks in the place of references, which are run for it; up to the first whose reference cannot be
    used, and what is wrong with that."""
    asked = {}
    for row in batch:
        if not row.checks:
            try:
                asked[row.number] = Program(row.given["reference"], (_arguments(row.given),))
            except UserError:
                break  # found again below, behind the rows before it
    outcomes: dict[int, Outcome] = {}
    while left := [number for number in asked if number not in outcomes]:
        outcomes |= zip(left, sandbox.run([asked[number] for number in left]))
    done = []
    for row in batch:
        try:
            done.append(row if row.checks else _checked_by(row, outcomes.get(row.number)))
        except (UserError, ValueError) as error:
            return done, UserError(f"row {row.number}: {error}")
    return done, None


def _checked_by(row: _Row, outcome: Outcome | None) -> _Row:
    """The row with what its reference returned as the expected value; without an outcome its arguments are at fault."""
    args = _arguments(row.given)
    (call,) = outcome.calls
    if call.status is not Ended.OK:
        raise UserError(f"the reference does not return a value ({call.status}: {call.error})")
    try:
        check = Check(str(row.given.get("kind") or _kind(decode(call.value))), call.value, args, _tolerance(row.given))
        expected_of(check)
    except (UserError, ValueError) as error:
        raise UserError(f"reference: {error}") from None
    return row._replace(checks=(check,))


def _kind(value: Any) -> str:
    """The kind of check that fits a value."""
    if isinstance(value, Expression):
        return "symbolic" if has_symbols(value) or not is_number(value) else "numeric"
    if is_number(value):
        return "numeric"
    return {list: "sequence", tuple: "sequence", frozenset: "set"}.get(type(value), "exact")


def _judged(batch: list[_Row], sandbox: Sandbox, form: Form) -> Iterator[dict]:
    pairs = [(row.text, Problem(f"of row {row.number}", "", "", "", "", "", row.checks)) for row in batch]
    completions = [pair for row, pair in zip(batch, pairs, strict=True) if row.key == "completion"]
    programs = [pair for row, pair in zip(batch, pairs, strict=True) if row.key == "code"]
    verdicts = {"completion": iter(judge(completions, sandbox, form=form)), "code": iter(judge_code(programs, sandbox))}
    for row in batch:
        yield _told(row, next(verdicts[row.key]))


def _told(row: _Row, verdict: Verdict) -> dict:
    named = {key: row.given[key] for key in ("problem_id", "family") if key in row.given}
    found = {
        "status": verdict.status.value,
        **{layer: getattr(verdict, layer) for layer in LAYERS},
        "passed": verdict.passed,
        "total": verdict.total,
        "format_ok": verdict.format_ok,
        "error": _plain(verdict.error),
        "value": _plain(verdict.value),
    }
    return named | found | ({"code": _plain(verdict.code)} if row.key == "completion" else {})


def _plain(text: str | None) -> str | None:
    """The text without halves of surrogate pairs, which no file can hold."""
    return None if text is None else text.encode(errors="replace").decode()
