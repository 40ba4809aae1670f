r"""Verifiers that others use, written anew from what they do, faults included: columns of the audit, never a score.

`lab_rules`: the verifier of the SFT → DPO → GRPO maths lab (the version that reads ``1,234``). Its faults: the first
box counts; the word "answer" steers it; all commas go (``1,2`` = 12); the letters t, r, n and backslashes are stripped
from the ends ("tan" = "a"); no percent outside boxes, no units, no symbolic equality.
`paper_extractor`: the reference code's maths grader. Last box, else ``####``, else last number; commas and percent
signs go; equality of strings, or of decimals to 1e-8, so that fractions and roots compare as text.
`math_verify`: the package with its own extraction and all settings left alone, in the worker process.

Deviation: where a reference raises or works for a minute (``1e5000``, ``1e30000000`` under the lab's rules) the status
here is ERROR at once.
"""

import re
from decimal import Decimal, DecimalException
from fractions import Fraction
from typing import NamedTuple

from workflow_scripts.tasks.maths.judging import asks_percentage, judge_completion
from workflow_scripts.tasks.maths.symbolic import Symbolic
from workflow_scripts.tasks.maths.verdicts import UNDECIDED, Status

VERIFIERS = ("ours", "math_verify", "lab_rules", "paper_extractor")
MAX_PRINTED = 4_300
"""Digits of an integer that Python prints; the lab's rules raise beyond."""
MAX_READ = 20_000
"""Characters of a completion that math-verify is given: the last ones."""


class Opinion(NamedTuple):
    """What one verifier says of one completion.  extracted: None where nothing was, or is not told."""

    accept: bool
    status: Status
    extracted: str | None = None

    @property
    def decided(self) -> bool:
        """Whether the verifier found out."""
        return self.status not in UNDECIDED


def opinions_on(completion: str, gold: str, symbolic: Symbolic, question: str = "") -> dict[str, Opinion]:
    """What each of `VERIFIERS` says of a completion, beside a gold answer; `question` says whether % is a unit."""
    ours = judge_completion(completion, gold, symbolic, percent_is_unit=asks_percentage(question))
    return {
        "ours": Opinion(ours.accept, ours.status, ours.extracted),
        "math_verify": math_verify(completion, gold, symbolic),
        "lab_rules": lab_rules(completion, gold),
        "paper_extractor": paper_extractor(completion, gold),
    }


def math_verify(completion: str, gold: str, symbolic: Symbolic) -> Opinion:
    """math-verify's opinion; what it extracts stays in the worker."""
    status = symbolic.ask("math_verify", gold, completion[-MAX_READ:])
    return Opinion(status is Status.OK, status)


# The lab's rules

_LAB_AMOUNT = r"(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_LAB_NUMBER = re.compile(rf"(?<![A-Za-z0-9_])[+-]?{_LAB_AMOUNT}(?:\s*/\s*[+-]?{_LAB_AMOUNT})?(?![A-Za-z0-9_])")
_LAB_MARKER = re.compile(r"(?:####|final\s+answer|answer|答案)\s*(?:is|为|是|[:：=])?\s*([^\n]+)", re.IGNORECASE)
_LAB_BOX = re.compile(r"\\boxed\s*\{")
_LAB_FRACTION = re.compile(r"\\frac\s*\{([^{}]+)\}\s*\{([^{}]+)\}")
_LAB_MIXED = re.compile(r"([+-]?)(\d+)\s+(\d+)\s*/\s*(\d+)").fullmatch
_LAB_STRIPPED = "`$ \\trn"  # meant as white space


def lab_rules(completion: str, gold: str) -> Opinion:
    """The lab's verdict on a completion."""
    extracted = _lab_extracted(completion)
    if extracted is None:
        return Opinion(False, Status.NO_ANSWER)
    try:
        ours, theirs = _lab_normal(extracted), _lab_normal(gold)
    except (ValueError, ZeroDivisionError, OverflowError):
        return Opinion(False, Status.ERROR, extracted)
    same = ours is not None and ours == theirs
    return Opinion(same, Status.OK if same else Status.WRONG, extracted)


def _lab_extracted(text: str) -> str | None:
    if not text.strip():
        return None
    if (boxed := _first_box(text)) is not None:
        return boxed
    marked = None
    for marked in _LAB_MARKER.finditer(text):  # noqa: B007
        pass
    if marked is None:
        return _last_of(_LAB_NUMBER, text)
    tail = marked[1]
    return _first_box(tail) or _last_of(_LAB_NUMBER, tail) or tail.strip().rstrip("。.!?;；") or None


def _first_box(text: str) -> str | None:
    found = _LAB_BOX.search(text)
    return _braced(text, found.end()) or None if found else None


def _braced(text: str, start: int) -> str | None:
    """What stands from `start` to the brace that closes an open one, stripped; None where none does."""
    depth = 1
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return text[start : start + found.start()].strip()
    return None


def _last_of(pattern: re.Pattern, text: str) -> str | None:
    last = None
    for last in pattern.finditer(text):  # noqa: B007
        pass
    return last[0].strip() if last else None


def _lab_normal(answer: str) -> str | None:
    before = None
    while before != answer:
        before, answer = answer, _LAB_FRACTION.sub(r"\1/\2", answer)
    for old, new in (("\\left", ""), ("\\right", ""), ("−", "-"), ("–", "-"), (",", "")):
        answer = answer.replace(old, new)
    answer = answer.strip().strip(_LAB_STRIPPED).rstrip("。.!?;；,，")
    if "=" in answer:
        answer = answer.rpartition("=")[2].strip()
    answer = re.sub(r"^答案\s*[:：]?\s*", "", answer).strip().strip("$ ")
    if mixed := _LAB_MIXED(answer):
        whole = int(mixed[2]) * int(mixed[4]) + int(mixed[3])
        answer = f"{'-' if mixed[1] == '-' else ''}{whole}/{mixed[4]}"
    if (value := _lab_value(answer.replace(" ", ""))) is not None:
        return str(value)
    return " ".join(answer.casefold().split()).strip(".。!！?？") or None


def _lab_value(text: str) -> Fraction | None:
    percent = text.endswith("%")
    top, slash, bottom = text.removesuffix("%").partition("/")
    try:
        value = _lab_fraction(top)
        if slash:
            value /= _lab_fraction(bottom)
    except (ValueError, ZeroDivisionError) as fault:
        if "beyond" in str(fault):
            raise
        return None
    return value / 100 if percent else value


def _lab_fraction(text: str) -> Fraction:
    found = re.search(r"[eE]([+-]?\d+)$", text)
    if found and (len(found[1]) > 6 or abs(int(found[1])) > MAX_PRINTED):
        raise ValueError("a number beyond what is printed")
    return Fraction(text)


# The paper's grader

_PAPER_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?")
_PAPER_HASH = re.compile(r"####\s*([-+]?[0-9][0-9,]*(?:\.\d+)?)")
_PAPER_FRACTION = re.compile(r"\\frac\{([^{}]+)\}\{([^{}]+)\}")
_PAPER_TOLERANCE = Decimal("1e-8")
_NOT_FINITE = frozenset(sign + word for sign in ("", "+", "-") for word in ("nan", "inf", "infinity"))


def paper_extractor(completion: str, gold: str) -> Opinion:
    """The reference grader's verdict on a completion."""
    extracted = _paper_extracted(completion)
    if extracted is None:
        return Opinion(False, Status.NO_ANSWER)
    same = _paper_same(_paper_normal(extracted), _paper_normal(gold))
    return Opinion(same, Status.OK if same else Status.WRONG, extracted)


def _paper_extracted(text: str) -> str | None:
    start = text.rfind("\\boxed")
    opened = text.find("{", start) if start >= 0 else -1
    if opened >= 0 and (boxed := _braced(text, opened + 1)):
        return boxed
    hashed = _PAPER_HASH.findall(text)
    return hashed[-1] if hashed else _last_of(_PAPER_NUMBER, text)


def _paper_normal(text: str) -> str:
    for gone in ("\\left", "\\right", "$", ",", "\\%", "%"):
        text = text.replace(gone, "")
    text = re.sub(r"\\(?:text|mathrm)\{([^}]*)\}", r"\1", text)
    before = None
    while before != text:
        before, text = text, _PAPER_FRACTION.sub(r"(\1)/(\2)", text)
    return re.sub(r"\s+", "", text).strip(".。,:;，；").lower() or "<unparsed>"


def _paper_same(one: str, other: str) -> bool:
    if one in _NOT_FINITE or other in _NOT_FINITE or "<unparsed>" in (one, other):
        return False
    if one == other:
        return True
    try:
        return abs(Decimal(one) - Decimal(other)) <= _PAPER_TOLERANCE
    except (DecimalException, ValueError):
        return False
