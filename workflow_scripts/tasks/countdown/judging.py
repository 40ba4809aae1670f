"""Judge Countdown answers under one of three contracts: extraction, grammar, exact value, forms and entrances.

`strict` (the default; the laptop lines train on it): strict.py. `paper_ppo` and `paper_grpo`: contracts.py.
Any text gets a verdict at a cost linear in its length; nothing here raises on what a model wrote.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Real

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.tasks.countdown import contracts, strict
from workflow_scripts.tasks.countdown.verdicts import Status, Verdict

__all__ = ["CONTRACTS", "Status", "Verdict", "judge_answer", "judge_completion", "judge_rows"]

CONTRACTS = ("strict", "paper_ppo", "paper_grpo")


def judge_answer(answer: str, numbers: Sequence[int], target: int, contract: str = "strict") -> Verdict:
    """Verdict on the bare text of an answer block, as if it stood in a well-formed completion.

    numbers: given, in any order.  target: whole (a fractional one is compared exactly).  contract: one of `CONTRACTS`.
    Raises `UserError` for an unknown contract or a problem that is none; never for what `answer` says.
    """
    numbers, target = _problem(numbers, target)
    if contract == "strict":
        verdict = strict.strict_answer(answer, numbers, target)
    elif contract == "paper_ppo":
        verdict = contracts.ppo_answer(answer, numbers, target)
    elif contract == "paper_grpo":
        verdict = contracts.grpo_answer(answer, numbers, target)
    else:
        raise _unknown_contract(contract)
    verdict.format_ok = True
    return verdict


def judge_completion(
    completion: str, numbers: Sequence[int], target: int, contract: str = "strict", *, feasible: bool = True
) -> Verdict:
    """Verdict on what a policy wrote after its prompt; arguments and errors as in `judge_answer`.

    strict: the think part runs to the first ``</think>``, whether its ``<think>`` was prefilled or is written here;
    what stands in it never counts. After it no think tag and exactly one answer block. Text around the block is
    accepted, but then `format_ok` is False. feasible: the problem's label, which `paper_ppo` compares with its own.
    """
    numbers, target = _problem(numbers, target)
    if contract == "strict":
        return strict.strict_completion(completion, numbers, target)
    if contract == "paper_ppo":
        return contracts.ppo_completion(completion, numbers, target, feasible=feasible)
    if contract == "paper_grpo":
        return contracts.grpo_completion(completion, numbers, target)
    raise _unknown_contract(contract)


def judge_rows(rows: Iterable[Mapping], contract: str = "strict") -> Iterator[dict]:
    """One verdict a row, in order, made as it is asked for.

    rows: mappings with `numbers`, `target` and either `answer` (the bare text of an answer block) or `completion` (what
    a policy wrote); null counts as absent, other keys are ignored.
    Gives dicts that JSON can hold: accept, status, extracted, forms {paper, formula}, paper_family, entrance (opening
    of the answer as written), think_entrance (of the first step in the think part), format_ok, detail; null for none.
    Raises `UserError` that names the row, counted from 1, and the key.
    """
    if contract not in CONTRACTS:
        raise _unknown_contract(contract)
    return (_judge_row(row, number, contract) for number, row in enumerate(rows, start=1))


def _judge_row(row: Mapping, number: int, contract: str) -> dict:
    if not isinstance(row, Mapping):
        raise UserError(f"row {number}: needs numbers, target and either answer or completion, not {row!r:.60}")
    numbers, target = _take(row, number, "numbers"), _take(row, number, "target")
    if isinstance(numbers, str | bytes | Mapping) or not hasattr(numbers, "__iter__"):
        raise UserError(f"row {number}: numbers must be a list of whole numbers, not {numbers!r:.60}")
    texts = [key for key in ("answer", "completion") if row.get(key) is not None]
    if len(texts) != 1:
        raise UserError(
            f"row {number}: {'both answer and completion are' if texts else 'neither answer nor completion is'} given;"
            " a row has one of them"
        )
    text = row[texts[0]]
    if not isinstance(text, str):
        raise UserError(f"row {number}: {texts[0]} must be a text, not {text!r:.60}")
    judge = judge_answer if texts[0] == "answer" else judge_completion
    try:
        return _as_dict(judge(text, numbers, target, contract))
    except UserError as error:
        raise UserError(f"row {number}: {error}") from None


def _take(row: Mapping, number: int, key: str) -> object:
    value = row.get(key)
    if value is None:
        raise UserError(f"row {number}: {key} is missing")
    return value


def _as_dict(verdict: Verdict) -> dict:
    """A verdict as JSON shows it (see `judge_rows`)."""
    return {
        "accept": verdict.accept,
        "status": verdict.status.value,
        "extracted": None if verdict.extracted is None else verdict.extracted.encode(errors="replace").decode(),
        "forms": {"paper": verdict.paper_form, "formula": verdict.formula_form},
        "paper_family": verdict.paper_family,
        "entrance": verdict.answer_opening,
        "think_entrance": verdict.think_opening,
        "format_ok": verdict.format_ok,
        "detail": verdict.detail,
    }


def _unknown_contract(contract: str) -> UserError:
    """The error that names the contracts there are."""
    return UserError(
        f"contract {contract!r} is none of {', '.join(CONTRACTS)}{closest(str(contract), list(CONTRACTS))}"
    )


def _problem(numbers: Sequence[int], target: int) -> tuple[list[int], int | Fraction]:
    """The problem in Python's own numbers, whatever kind a table gave."""
    try:
        given = [n if type(n) is int else _exact(n, "numbers") for n in numbers]
    except TypeError:
        raise UserError(f"numbers must be a list of whole numbers, not {numbers!r:.60}") from None
    for number in given:
        if type(number) is not int:
            raise UserError(f"numbers must be whole, not {float(number)}")
    return given, target if type(target) is int else _exact(target, "target")


def _exact(number: object, key: str) -> int | Fraction:
    if isinstance(number, Integral) and not isinstance(number, bool):
        return int(number)
    if isinstance(number, Real) and not isinstance(number, bool) and abs(number) < float("inf"):
        value = Fraction(number)
        return value.numerator if value.denominator == 1 else value
    raise UserError(f"{key} must be whole, not {number!r:.60}")
