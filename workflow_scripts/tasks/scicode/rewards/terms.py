"""The terms that rewards are composed of: small pure functions of the evidence, each with what it measures.

Most are shares or flags in [0, 1]; `characters`, `repeat_ratio`, `phrases`, `lines` and `literals` are amounts, to be
compared with a number in a condition (`phrases >= 8`). Terms of a judge are its marks, a tenth each.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from workflow_scripts.tasks.scicode.rewards.evidence import Evidence
from workflow_scripts.tasks.scicode.rewards.judge_kinds import FIELDS, TAGS


class Term(NamedTuple):
    """does: what it measures, one line. of: its value for a completion. judge: the kind of judge it needs, or ''."""

    does: str
    of: Callable[[Evidence], float]
    judge: frozenset[str] = frozenset()


SKIPPED = (
    "derivation omitted", "steps omitted", "skipping the derivation", "skip the derivation", "details omitted",
    "left to the reader", "it can be shown", "it is easy to show", "after some algebra", "省略推导", "过程略", "略去",
)  # fmt: skip
"""Phrases of a derivation that was promised and not given."""

GENERAL: Mapping[str, Term] = {
    "always": Term("1 for every completion", lambda e: 1),
    "empty": Term("nothing but white space", lambda e: not e.completion.strip()),
    # layers of the verdict
    "extracted": Term("a program was found in the text", lambda e: e.verdict.extracted),
    "compiles": Term("the program parses", lambda e: e.verdict.parses),
    "defines": Term("the program defines `answer`", lambda e: e.verdict.defines),
    "executes": Term("`answer` returns from every call", lambda e: e.verdict.runs),
    "fails": Term("`answer` is defined and some call of it fails", lambda e: e.verdict.defines and not e.verdict.runs),
    "typed": Term("what it returns has the right type", lambda e: e.verdict.typed),
    "passed_share": Term("share of the checks that pass", lambda e: e.verdict.passed / max(e.verdict.total, 1)),
    "correct": Term("every check passes", lambda e: e.verdict.correct),
    "format_ok": Term("exactly one closed block with one `answer`, by the verdict", lambda e: e.verdict.format_ok),
    # marks of the raw text
    "fence": Term("a closed fenced block stands in the text", lambda e: e.shape.fences >= 2),
    "single_fence": Term("exactly one closed fenced block", lambda e: e.shape.fences == 2),
    "unclosed": Term("a fenced block is never closed", lambda e: e.shape.fences % 2),
    "no_think": Term("no think tags, not even an empty pair", lambda e: not thinks(e.completion)),
    "has_answer": Term("`def answer` stands in the text", lambda e: "def answer" in e.completion),
    "single_function": Term("one top-level `def answer` in a program that parses", lambda e: e.functions == 1),
    "skips": Term("a phrase says that the derivation is left out", lambda e: any(p in e.completion for p in SKIPPED)),
    # length and repetition
    "characters": Term("characters of the text", lambda e: e.shape.characters),
    "brief": Term("reference's characters over the text's, at most 1", lambda e: min(1, e.target / max(_size(e), 1))),
    "long": Term("over 1800 characters and 4 times the reference", lambda e: _size(e) > max(1800, 4 * e.target)),
    "very_long": Term("over 3600 characters and 8 times the reference", lambda e: _size(e) > max(3600, 8 * e.target)),
    "thousands_over": Term("thousands of characters beyond 2600", lambda e: max(0, _size(e) - 2600) / 1000),
    "repeat_ratio": Term("share of 8-word phrases that stood before", lambda e: e.shape.repeat_ratio),
    "phrases": Term("how often the commonest 8-word phrase stands there", lambda e: e.shape.phrases),
    "lines": Term("how often the commonest line stands there", lambda e: e.shape.lines),
    # what the program writes out
    "literals": Term("numbers and texts written out in the program", lambda e: e.literals),
    "many_literals": Term(
        "more of them than 1.6 times the reference's, and 8 more",
        lambda e: e.literals > max(1.6 * e.literals_of_reference, e.literals_of_reference + 8),
    ),
    "expects_empty": Term("the problem's right value is empty", lambda e: e.expects_empty),
    # an answer in the text
    "marked": Term("a final answer is marked in the text", lambda e: e.text_answer.marked),
    "answer_reads": Term("the text's answer is read exactly", lambda e: e.text_answer.reads),
    "text_share": Term(
        "share of expected values that the text's answer equals",
        lambda e: e.text_answer.passed / max(e.text_answer.total, 1),
    ),
    "text_correct": Term("the text's answer equals all of them", lambda e: e.text_answer.correct),
    "intermediates": Term("share of the problem's intermediate values in the text", lambda e: e.intermediates),
}  # fmt: skip


def thinks(text: str) -> bool:
    """Whether a think tag stands in the text."""
    return "<think>" in text or "</think>" in text


def _size(evidence: Evidence) -> int:
    return evidence.shape.characters


def _mark(name: str) -> Callable[[Evidence], float]:
    largest = 1 if name == "reward" else 10

    def of(evidence: Evidence) -> float:
        mark = evidence.judgement.fields[name] / largest
        # A program behind think tags does not keep the contract, whatever the judge thinks of it.
        return min(mark, 0.7) if name == "output_contract" and thinks(evidence.completion) else mark

    return of


def _tagged(tag: str) -> Callable[[Evidence], float]:
    return lambda evidence: tag in evidence.judgement.tags


def _judged() -> dict[str, Term]:
    made = {"fatal": Term("judge: an error that makes the rest worthless", lambda e: e.judgement.fatal, _KINDS)}
    for name in sorted({name for fields in FIELDS.values() for name in fields}):
        kinds = frozenset(kind for kind, fields in FIELDS.items() if name in fields)
        words = "judge: its own reward" if name == "reward" else f"judge: {name.replace('_', ' ')}, a tenth"
        made[f"judged_{name}"] = Term(words, _mark(name), kinds)
    tagging = _KINDS - {"generic"}
    return made | {f"tag_{tag}": Term(f"judge: {words}", _tagged(tag), tagging) for tag, words in TAGS.items()}


_KINDS = frozenset(FIELDS)
TERMS: Mapping[str, Term] = {**GENERAL, **_judged()}
"""Every term by name."""
