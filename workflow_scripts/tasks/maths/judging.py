"""Judge maths answers: extraction (extraction.py), then equivalence (equivalence.py), the symbolic worker last.

Any text gets a verdict; nothing here raises on what a model wrote.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import isfinite
from numbers import Integral, Real

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.equivalence import Oracle, compare, undecided
from workflow_scripts.tasks.maths.extraction import Extraction, extract, last_box
from workflow_scripts.tasks.maths.symbolic import Symbolic
from workflow_scripts.tasks.maths.verdicts import Status, Verdict

__all__ = ["Status", "Verdict", "asks_percentage", "gold_text", "judge_answer", "judge_completion", "judge_rows"]

_SIGN = r"(?:per ?cent(?:age|ages|s)?(?![\w-])|\\?%)"
_BETWEEN = (
    r"(?:(?:is|was|are|were|be|will|would|should|the|a|an|of|her|his|their|its|integer|whole|total|average|approximate|"
    r"overall|final|combined|exact|net|annual|corresponding|minimum|maximum|smallest|largest)\s+){0,5}"
)
_TELL = r"find|determine|compute|calculate|give|state|estimate|report"
_PERCENTAGE = re.compile(
    rf"\b(?:what(?:['’]s)?|which|how (?:many|much)|{_TELL})\s+\$?{_BETWEEN}{_SIGN}"
    rf"|\b(?:what|how|express\w*|answer|write|{_TELL})\b[^.?!]{{0,200}}\b(?:as|in) (?:an? )?{_SIGN}"
    rf"|\bnearest (?:\w+ ){{0,3}}?{_SIGN}",
    re.IGNORECASE,
)
"""A question for a percentage: the word that asks and the sign or word, or the form that an answer is to have."""
_UNKNOWN = re.compile(r"\$\s*(?P<name>[A-Za-z])\s*(?:\\?%|\$\s?(?:\\?%|per ?cent))|(?<![\w\\$])(?P<bare>[b-z])\s?\\?%")
"""A letter with a percent sign: a question for that letter's value asks for a percentage."""


def judge_answer(answer: str, gold: str, oracle: Oracle = undecided, **rules: bool | float) -> Verdict:
    """Verdict on the bare text of an answer, as if it stood in a box.

    oracle: a `Symbolic`, or none for exact comparison alone.  rules: percent_is_unit, tolerance of
    `equivalence.compare`.
    """
    return _judged(Extraction(answer.strip(), "answer"), gold, partial(compare, oracle=oracle, **rules))


def judge_completion(completion: str, gold: str, oracle: Oracle = undecided, **rules: bool | float) -> Verdict:
    """Verdict on what a policy wrote after its prompt; arguments as in `judge_answer`."""
    return _judged(extract(completion), gold, partial(compare, oracle=oracle, **rules))


def _judged(found: Extraction, gold: str, compared: Callable[[str, str], tuple[Status, str]]) -> Verdict:
    if found.text is None:
        return Verdict(False, Status.NO_ANSWER, detail=found.detail)
    if not found.text:
        return Verdict(False, Status.EMPTY, "", found.source, detail=found.detail or "nothing in its place")
    status, method = compared(gold, found.text)
    return Verdict(status is Status.OK, status, found.text, found.source, found.format_ok, method, found.detail)


def judge_rows(rows: Iterable[Mapping], *, symbolic: bool = True) -> Iterator[dict]:
    """One verdict a row, in order, made as it is asked for; equal answers to equal gold are judged once.

    rows: mappings with `gold` and `answer` (bare; texts or numbers), or `completion`; `question`, where given,
    says whether a percentage is asked for, `tolerance` (relative, default 0) how near a number must come; null counts
    as absent, other keys are ignored.  symbolic: ask the worker about what is not decided exactly.
    Gives dicts that JSON can hold: accept, status, extracted, source, format_ok, method, detail.
    Raises `UserError` that names the row, counted from 1, and the key.
    """
    known: dict[tuple, tuple[Status, str]] = {}
    with Symbolic() as worker:
        for number, row in enumerate(rows, start=1):
            yield _judge_row(row, number, worker if symbolic else undecided, known)


def _judge_row(row: Mapping, number: int, oracle: Oracle, known: dict) -> dict:
    if not isinstance(row, Mapping):
        raise UserError(f"row {number}: needs gold and either answer or completion, not {row!r:.60}")
    if row.get("gold") is None:
        raise UserError(f"row {number}: gold is missing")
    try:
        gold = gold_text(row["gold"])
    except UserError as error:
        raise UserError(f"row {number}: {error}") from None
    texts = [key for key in ("answer", "completion") if row.get(key) is not None]
    if len(texts) != 1:
        raise UserError(
            f"row {number}: {'both answer and completion are' if texts else 'neither answer nor completion is'} given;"
            " a row has one of them"
        )
    text = row[texts[0]]
    if texts[0] == "answer" and isinstance(text, Real) and not isinstance(text, bool) and isfinite(text):
        text = gold_text(text)
    if not isinstance(text, str):
        kind = "a text or a number" if texts[0] == "answer" else "a text"
        raise UserError(f"row {number}: {texts[0]} must be {kind}, not {text!r:.60}")
    question, tolerance = row.get("question") or "", row.get("tolerance") or 0.0
    if not isinstance(question, str):
        raise UserError(f"row {number}: question must be a text, not {question!r:.60}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance < 1:
        raise UserError(f"row {number}: tolerance must be a number from 0 to below 1, not {tolerance!r:.60}")
    rules = {"percent_is_unit": asks_percentage(question), "tolerance": float(tolerance)}

    def remembered(gold: str, answer: str) -> tuple[Status, str]:
        key = (gold, answer, *rules.values())
        if key not in known:
            known[key] = compare(gold, answer, oracle, **rules)
        return known[key]

    found = Extraction(text.strip(), "answer") if texts[0] == "answer" else extract(text)
    return _as_dict(_judged(found, gold, remembered))


def gold_text(gold: object) -> str:
    r"""The gold answer as a text: of a number its shortest decimal, of a GSM8K solution what follows its last ``####``,
    of a text with a box what is in the last one, of a list of texts their list.

    Raises `UserError` for anything else.
    """
    if isinstance(gold, list | tuple) and gold:
        return ", ".join(map(gold_text, gold))
    if isinstance(gold, Integral) and not isinstance(gold, bool):
        return str(int(gold))
    if isinstance(gold, Real) and not isinstance(gold, bool) and abs(gold) < float("inf"):
        return str(int(gold)) if float(gold).is_integer() else repr(float(gold))
    if not isinstance(gold, str) or not gold.strip():
        raise UserError(f"gold must be a text or a number, not {gold!r:.60}")
    if "####" in gold:
        return gold.rpartition("####")[2].strip() or gold.strip()
    if "\\boxed" in gold and (box := last_box(gold)[0]):
        return box
    return gold.strip()


def asks_percentage(question: str) -> bool:
    """Whether a question asks for a percentage, so that the sign in an answer is a unit and 25 = 25 %.

    It does where it asks "what percent", "by what %" or "find the percentage", where it wants the answer "as a percent"
    or "to the nearest percent", and where it asks for n and says ``n \\%``; not where it only mentions one.
    """
    if _PERCENTAGE.search(question):
        return True
    names = {found["name"] or found["bare"] for found in _UNKNOWN.finditer(question)}
    # Not "what is $n \\%$ of 50", nor "what is $n+1$".
    end = r"(?!\s?\$?\s?\\?%)(?![\w^_(]|\s*[-=+*/])"
    asked = rf"\b(?:value of|solve for|what is|what must|{_TELL})\s+\$?\s?(?:{'|'.join(sorted(names))}){end}"
    return bool(names) and re.search(asked, question, re.IGNORECASE) is not None


def _as_dict(verdict: Verdict) -> dict:
    """A verdict as JSON shows it (see `judge_rows`)."""
    return {
        "accept": verdict.accept,
        "status": verdict.status.value,
        "extracted": None if verdict.extracted is None else verdict.extracted.encode(errors="replace").decode(),
        "source": verdict.source,
        "format_ok": verdict.format_ok,
        "method": verdict.method,
        "detail": verdict.detail,
    }
