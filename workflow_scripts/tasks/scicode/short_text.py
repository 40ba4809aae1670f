"""What the small policy reads and writes of scientific coding, and the random texts that its base learns from.

    mass 3 kg and speed 4 . kinetic energy ?                                     the prompt
    ```python <nl> def answer(): <nl> <in> return 3 * 4 ** 2 / 2 <nl> ```        a completion

In the random texts it is drawn apart whether a program is well formed, how it is laid out, and whether its formula is
the problem's: being runnable, being short and being right come apart.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.short_families import DISTRACTORS, SHORT_FAMILIES, Body
from workflow_scripts.tasks.scicode.short_problems import END, LARGEST, Drawn, Key, drawn, filled, uniforms
from workflow_scripts.tasks.scicode.short_programs import CLOSE, HEAD, INDENT, LINE, OPEN, indented

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ message['content'] }}{% if message['role'] == 'assistant' %} <eos>{% endif %}"
    "{% if not loop.last %} {% endif %}"
    "{% endfor %}"
)
"""The question as it stands; whether to think is the policy's affair."""

_TAGS = ("<pad>", "<unk>", "<eos>", "<think>", "</think>", OPEN, CLOSE, LINE, INDENT)
_CODE = (
    "def", "answer():", "answer()", "solve():", "return", "for", "in", "i", "x", "y", "m", "range", "sum", "min",
    "list", "(", ")", "[", "]", ":", "=", "+", "-", "*", "/", "//", "**", "None", "True", "#",
)  # fmt: skip
_PROSE = ("i do not know", "the {quantity} is about {number}", "we first need the {quantity}")
_COMMENTS = ("# compute the {quantity} step by step", "# now the {quantity} is computed here")
_SETUP = "## setup ## task report it each times plus"
_FREE = "a"
"""A name that no program defines."""


def _vocabulary() -> list[str]:
    texts = [*_PROSE, *_COMMENTS, *DISTRACTORS, _SETUP, END, _FREE]
    for family in SHORT_FAMILIES:
        texts += [*family.wordings, family.unseen, family.quantity, *(line for body in family.bodies for line in body)]
    words = {word for text in texts for word in text.split() if not word.startswith("{") and not word.isdigit()}
    fixed = dict.fromkeys([*_TAGS, *_CODE])
    return [*fixed, *sorted(words - set(fixed) - {">"}), *map(str, range(LARGEST + 1))]


VOCABULARY: list[str] = _vocabulary()
"""Every word of the texts, in the order of its token ids."""


class Habits(NamedTuple):
    """How the random texts of pre-training are made; shares in [0, 1], each drawn apart from the others.

    shifted: texts about an official-style problem. prose, shell: completions without a program, and with one that
    returns a constant. right, near, other: formulas of the remaining ones that are the problem's, the problem's with
    changes, another family's with this problem's numbers; what is left is any calculation. right_shifted: in place of
    `right` where the problem is official-style; one_step: its formula without the second step. named: formulas that are
    first given a name. comments: programs with comment lines. think: completions that begin with a think part.
    slip: chance of a fault in each line. headless: programs without `def answer()`. bare, unclosed, chatty: programs
    without a block, without its end, and with words before it.
    """

    shifted: float = 0.30
    prose: float = 0.10
    shell: float = 0.15
    right: float = 0.20
    right_shifted: float = 0.03
    one_step: float = 0.15
    near: float = 0.30
    other: float = 0.20
    named: float = 0.35
    comments: float = 0.35
    think: float = 0.20
    slip: float = 0.10
    headless: float = 0.08
    bare: float = 0.07
    unclosed: float = 0.08
    chatty: float = 0.06


LONGEST = 62
"""Words of the longest random completion."""

_OPERATORS = ("+", "-", "*", "/", "//", "**")
_SMALL = (1, 2, 3, 4, 8)


def random_texts(
    *seed_parts: int | str, count: int, excluded: Iterable[Key] = (), habits: Habits | None = None
) -> list[tuple[str, str]]:
    """Pre-training texts: [(prompt, completion without end token)].

    seed_parts: identity of the random stream. excluded: keys of problems that no text may ask.
    Raises UserError where such texts are not found.
    """
    excluded, habits = set(excluded), habits or Habits()
    draws = uniforms("short texts", *seed_parts)
    texts: list[tuple[str, str]] = []
    for _ in range(100 * count):
        if len(texts) == count:
            break
        family = SHORT_FAMILIES[int(next(draws) * len(SHORT_FAMILIES))]
        problem = drawn(family, draws, shifted=next(draws) < habits.shifted)
        if problem.key not in excluded:
            texts.append((problem.prompt, written(problem, draws, habits)))
    if len(texts) < count:
        raise UserError("found no more texts that touch no excluded problem; exclude fewer")
    return texts


def written(problem: Drawn, draws: Iterator[float], habits: Habits) -> str:
    """A random completion of one problem, of at most LONGEST words. draws: uniform in [0, 1)."""
    while True:
        text = _written(problem, draws, habits)
        if len(text.split()) <= LONGEST:
            return text


def _written(problem: Drawn, draws: Iterator[float], habits: Habits) -> str:
    kind = next(draws)
    thought = _said(problem, draws, _PROSE[1:]) if next(draws) < 0.5 else ""
    start = " ".join(f"<think> {thought} </think>".split()) + " " if next(draws) < habits.think else ""
    if kind < habits.prose:
        return start + _said(problem, draws, _PROSE)
    body = _shell(problem, draws) if kind < habits.prose + habits.shell else _formula(problem, draws, habits)
    lines = [HEAD, *indented(body)]
    if next(draws) < habits.headless:
        lines[0] = _one(draws, ("answer()", "def solve():", "def answer()"))
    lines = [_slipped(line, draws) if next(draws) < habits.slip else line for line in lines]
    if next(draws) < habits.comments:
        comment = f"{INDENT} {_said(problem, draws, _COMMENTS)}"
        lines[1:1] = [comment] * (1 + int(next(draws) * 4))
    way = next(draws)
    if way < habits.bare:
        return start + f" {LINE} ".join(lines)
    way -= habits.bare
    block = [OPEN, *lines] if way < habits.unclosed else [OPEN, *lines, CLOSE]
    if habits.unclosed <= way < habits.unclosed + habits.chatty:
        block = [_said(problem, draws, _PROSE[1:]), *block]
    return start + f" {LINE} ".join(block)


def _said(problem: Drawn, draws: Iterator[float], templates: tuple[str, ...]) -> str:
    return _one(draws, templates).format(quantity=problem.family.quantity, number=int(next(draws) * LARGEST))


def _shell(problem: Drawn, draws: Iterator[float]) -> Body:
    return (f"return {_one(draws, ('0', '1', '[ ]', 'None', 'True', str(_any_number(problem, draws))))}",)


def _formula(problem: Drawn, draws: Iterator[float], habits: Habits) -> Body:
    plan, right = next(draws), habits.right
    if problem.second is not None:
        if plan < habits.one_step:
            return _named(_one(draws, _one_step(problem)), draws, habits)
        plan, right = (plan - habits.one_step) / (1 - habits.one_step), habits.right_shifted
    if plan < right:
        return _named(_one(draws, problem.bodies), draws, habits)
    if plan < right + habits.near:
        body = _one(draws, problem.bodies if next(draws) < 0.5 else _one_step(problem))
        return _named(_changed(body, problem, draws), draws, habits)
    if plan < right + habits.near + habits.other:
        other = _one(draws, SHORT_FAMILIES)
        numbers = {letter: _any_number(problem, draws) for letter in other.ranges}
        return _named(filled(_one(draws, other.bodies), numbers), draws, habits)
    terms = [str(_any_number(problem, draws)) for _ in range(2 + int(next(draws) * 3))]
    text = terms[0] + "".join(f" {_one(draws, _OPERATORS[:4])} {term}" for term in terms[1:])
    return _named((f"return {text}",), draws, habits)


def _one_step(problem: Drawn) -> tuple[Body, ...]:
    """What returns the value that a problem asks for before its second step."""
    return tuple(filled(body, problem.numbers) for body in problem.family.bodies)


def _named(body: Body, draws: Iterator[float], habits: Habits) -> Body:
    """The same program, sometimes with a name for what it returns."""
    value = body[-1].removeprefix("return ")
    if next(draws) >= habits.named or value in ("x", "y", "m"):
        return body
    name = _one(draws, ("y", "m"))
    return *body[:-1], f"{name} = {value}", f"return {name}"


def _changed(body: Body, problem: Drawn, draws: Iterator[float]) -> Body:
    """One to three operators or numbers of a program replaced, whatever comes of it."""
    words = [line.split() for line in body]
    for _ in range(1 + int(next(draws) * 3)):
        places = [
            (line, place)
            for line, row in enumerate(words)
            for place, word in enumerate(row)
            if word in _OPERATORS or word.isdigit()
        ]
        line, place = _one(draws, tuple(places))
        operator = words[line][place] in _OPERATORS
        words[line][place] = _one(draws, _OPERATORS[:-1]) if operator else str(_any_number(problem, draws))
    return tuple(" ".join(row) for row in words)


def _slipped(line: str, draws: Iterator[float]) -> str:
    """A line with a fault: a bracket, colon or word lost, a word twice, or a name that nothing defines."""
    words = line.split()
    place = int(next(draws) * len(words))
    kind = next(draws)
    if kind < 0.4:
        del words[place]
    elif kind < 0.7:
        words.insert(place, words[place])
    else:
        words[-1 if words[-1] not in (")", "]", ":") else -2] = _FREE
    return " ".join(words)


def _any_number(problem: Drawn, draws: Iterator[float]) -> int:
    """One of the problem's numbers, or a small constant."""
    known = (*problem.numbers.values(), *(problem.second or ()))
    return _one(draws, known) if next(draws) < 0.75 else _one(draws, _SMALL)


def _one(draws: Iterator[float], options: tuple) -> object:
    return options[int(next(draws) * len(options))]
