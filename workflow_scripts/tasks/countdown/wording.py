"""How a policy is asked and how it writes: the laptop text, the paper's two English prompts, or one's own template.

`laptop` is the text of text.py, one word a token, parted by spaces. Every other wording is English that goes on without
a space where a text is cut: a prompt ends in an open think part, and a solver-built continuation reads

    Let me try: 4 * 7 = 28, 28 - 9 = 19, 19 + 5 = 24 </think>
    <answer> 4 * 7 - 9 + 5 </answer>

Templates are files of resources/prompts/ (or others' own) with the keys of `Template`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.tasks.countdown import english, text
from workflow_scripts.tasks.countdown.english import Step
from workflow_scripts.tasks.countdown.grammar import parse

NAMED = ("laptop", "native", "feasible")
"""Wordings that come with the project; another one is given as the path of its template file."""

PROMPTS = Path(__file__).resolve().parents[3] / "resources" / "prompts"

CHATS = ("auto", "plain")

_OPERATORS = "*+-/"


class Conversation(NamedTuple):
    """What a policy is asked. prefill: how its answer is begun for it, in an open think part."""

    system: str
    user: str
    prefill: str


@dataclass(frozen=True)
class Wording:
    """The texts of one way of asking.

    user, system: messages; `{numbers}` (`[4, 5, 7, 9]`) and `{target}` are filled in, other braces stand as they are.
    prefill: beginning of the answer, put behind the messages. lead: what stands before the first step of an attempt.
    before_answer: what stands between the think part and the answer block. chat: `auto`, the tokenizer's chat template
    where it has one; `plain`, the bare texts.
    """

    name: str
    user: str = "{numbers} -> {target}"
    system: str = ""
    prefill: str = "<think>"
    lead: str = "Let me try:"
    before_answer: str = "\n"
    chat: str = "auto"

    @property
    def words(self) -> bool:
        """Whether this is the small policy's text: every token a word, whole values of 0…100."""
        return self.name == "laptop"

    @property
    def gap(self) -> str:
        """What stands between a text and its continuation: a space between words, else nothing."""
        return " " if self.words else ""

    @property
    def comma(self) -> str:
        """What stands between two steps."""
        return " , " if self.words else ", "

    @property
    def handover(self) -> str:
        """From the last step to the expression of the answer."""
        return f" </think>{self.before_answer}<answer> "

    def conversation(self, numbers: Sequence[int], target: int) -> Conversation:
        """The messages that ask for one problem."""
        given = [int(number) for number in numbers]
        if self.words:
            return Conversation("", text.prompt(given, int(target)), self.prefill)
        filled = [part.replace("{numbers}", str(given)) for part in (self.system, self.user)]
        return Conversation(*(part.replace("{target}", str(int(target))) for part in filled), self.prefill)

    def plain(self, asked: Conversation) -> str:
        """The messages as bare text, for policies without a chat template."""
        return (" " if self.words else "\n\n").join(part for part in asked if part)

    def joined(self, given: str, following: str) -> str:
        """A text and what a policy went on with."""
        return f"{given}{self.gap}{following}".strip()

    def context(self, prompt: str, prefix: str = "") -> tuple[str, str]:
        """(text, lead) where a next step is asked for, for policies.likelihood.next_pairs.

        prefix: steps done, ending in a comma. The laptop text counts its lead, the only word that opens an attempt, to
        the step; English gives it, since a policy may open in many words, and what is asked is which step it takes.
        """
        if self.words:
            return self.joined(prompt, prefix), "" if prefix else self.lead
        return f"{prompt}{prefix or self.lead}", " "

    def steps(self, expression: str) -> list[Step]:
        """Executed steps of an expression. Raises UserError for a value that the laptop text cannot say."""
        if self.words:
            text.solution_completion(expression)
        return english.executed(parse(expression))

    def attempt(self, steps: Sequence[Step]) -> str:
        """An attempt in its own words: `try 4 * 7 = 28 , 28 - 9 = 19`, `Let me try: 4 * 7 = 28, 28 - 9 = 19`."""
        return f"{self.lead} {self.comma.join(map(english.said, steps))}"

    def solution_completion(self, expression: str) -> str:
        """The completion that carries an expression out, from the first attempt's lead to the closed answer block.

        expression: of the strict grammar. Raises UserError as `steps` does, Rejected where it does not parse.
        """
        attempt = self.attempt(self.steps(expression))
        return f"{attempt}{self.handover}{text.spaced(expression)} </answer>"

    def entrance(self, opening: str) -> str:
        """The minimal entrance of an opening `4*`: `try 4 *`, `Let me try: 4 *`."""
        return f"{self.lead} {opening[:-1]} {opening[-1]}"

    def generic_plan(self, witness: str) -> str:
        """A plan that names the operators of a solution, without its numbers."""
        signs = sorted(sign for sign in witness if sign in _OPERATORS)
        return " ".join([*signs, "."]) if self.words else english.plan(signs)

    def misleading_plan(self, opening: str) -> str:
        """A plan to begin with an opening that leads nowhere; in the laptop's words, that opening itself."""
        return self.entrance(opening) if self.words else english.plan_to_open(opening)

    def holds_answer(self, given: str, target: int, forms: Collection[str] = ()) -> str:
        """What of the answer a text gives away: its value, an answer tag or one of the solutions' texts; else empty.

        forms: texts of solutions, spaced (text.spaced).
        """
        if not self.words:
            return english.holds_answer(given, target, forms)
        spread = f" {given} "
        return next((told for told in (f"= {target}", "<answer>", *sorted(forms)) if f" {told} " in spread), "")

    def in_words(self, given: str) -> str:
        """A text as the leak screen reads it, in the laptop's words: `try 4 * 7 = 28 ,`."""
        return given if self.words else english.in_words(given, self.lead)

    def near_miss(self, value: Fraction, target: int) -> Fraction:
        """A wrong value for a step: one too many, or too few where that is the target or (laptop) cannot be said."""
        sayable = (lambda v: 0 <= v <= text.LARGEST) if self.words else (lambda v: True)
        return next(v for v in (value + 1, value - 1, value + 2, value - 2) if sayable(v) and v != target)


LAPTOP = Wording("laptop", lead=text.LEAD, before_answer=" ", chat="plain")
"""The small policy's text."""

_KEYS = tuple(field.name for field in fields(Wording))


def wording(given: str | Mapping[str, str]) -> Wording:
    """The wording of a name (NAMED), of a template file's path, or of the fields that `spelled_out` gives.

    Raises UserError that names the file and the key: no such name or file, an unknown key, a user message without
    {numbers} and {target}, a prefill that leaves no think part open, an answer tag in before_answer, another
    `chat` than CHATS.
    """
    if isinstance(given, str):
        return LAPTOP if given == LAPTOP.name else _checked(_read(given), given)
    return _checked(given, given.get("name", "the template"))


def spelled_out(name: str) -> str | dict[str, str]:
    """What a rule gives its stages as a param: a name of NAMED, else the content of the template file.

    So an edited template makes stale what was made with it. Raises UserError as `wording` does.
    """
    if name in NAMED:
        return name
    read = _read(name)
    _checked(read, name)
    return read


def _read(name: str) -> dict[str, Any]:
    import yaml

    path = PROMPTS / f"{name}.yaml" if name in NAMED else Path(name)
    if not path.is_file():
        hint = closest(name, list(NAMED))
        raise UserError(
            f"{name!r} is no wording{hint}; choose one of {', '.join(NAMED)}, or the path of a template file"
        )
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"cannot read the template {path}: {error}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} must hold `key: text` lines; its keys are {', '.join(_KEYS[1:])}")
    return {"name": name, **data}


def _checked(data: Mapping[str, Any], where: str) -> Wording:
    for key, value in data.items():
        if key not in _KEYS:
            hint = closest(str(key), list(_KEYS)) or f"; known are {', '.join(_KEYS[1:])}"
            raise UserError(f"{where}: unknown key {key!r}{hint}")
        if not isinstance(value, str):
            raise UserError(f"{where}: {key} must be a text, not {value!r:.60}")
    for mark in ("{numbers}", "{target}"):
        if mark not in data.get("user", ""):
            raise UserError(f"{where}: user must hold {mark}, which is filled in for each problem")
    found = Wording(**data)
    found = Wording(**dict(data) | {"lead": found.lead.strip()})
    if found.words:
        raise UserError(f"{where}: {LAPTOP.name} is the small policy's own wording; name the template otherwise")
    if found.prefill.rfind("<think>") <= found.prefill.rfind("</think>"):
        raise UserError(f"{where}: prefill must leave <think> open: the contracts read a think part, then an answer")
    if any(tag in found.before_answer for tag in ("<answer>", "</answer>")):
        raise UserError(f"{where}: before_answer must not hold <answer> tags; the answer block is put behind it")
    if not found.lead or found.lead[-1].isalnum():
        raise UserError(f"{where}: lead must end in a mark such as a colon, so that a number can follow it")
    if found.chat not in CHATS:
        raise UserError(f"{where}: chat must be one of {', '.join(CHATS)}, not {found.chat!r}")
    return found
