"""Verdicts on Countdown texts: one closed list of reasons, whatever the contract."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The reason of a verdict; `OK` alone is an acceptance."""

    OK = "OK"
    # The completion around the answer
    UNCLOSED_THINK = "UNCLOSED_THINK"  # no </think>: all that follows may still be thought
    REPEATED_THINK = "REPEATED_THINK"  # a think tag after the think part
    NO_ANSWER = "NO_ANSWER"  # no answer tag after the think part
    UNCLOSED_ANSWER = "UNCLOSED_ANSWER"
    UNOPENED_ANSWER = "UNOPENED_ANSWER"
    NESTED_ANSWER = "NESTED_ANSWER"
    MULTIPLE_ANSWERS = "MULTIPLE_ANSWERS"
    ANSWER_IN_THINK = "ANSWER_IN_THINK"  # paper_grpo: its one block begins before the think part ends
    NO_FEASIBILITY = "NO_FEASIBILITY"  # paper_ppo: no readable feasibility label
    WRONG_FEASIBILITY = "WRONG_FEASIBILITY"  # paper_ppo: the label differs from the problem's
    BAD_NO_SOLUTION = "BAD_NO_SOLUTION"  # paper_ppo: labelled infeasible, yet the block does not begin with NO_SOLUTION
    # The answer as text
    EMPTY = "EMPTY"
    TOO_LONG = "TOO_LONG"  # characters, literals or digits beyond the limits
    TOO_DEEP = "TOO_DEEP"  # brackets inside one another beyond the limit
    LATEX = "LATEX"  # a backslash
    FOREIGN_DIGIT = "FOREIGN_DIGIT"  # full-width, Arabic-Indic, superscript …
    THOUSANDS_SEPARATOR = "THOUSANDS_SEPARATOR"  # a comma, underscore or apostrophe between digits
    WORD = "WORD"  # letters: names, functions, hexadecimal, scientific notation
    DECIMAL_LITERAL = "DECIMAL_LITERAL"
    FOREIGN_OPERATOR = "FOREIGN_OPERATOR"  # ** // % ^ !
    FOREIGN_CHARACTER = "FOREIGN_CHARACTER"  # anything else outside the grammar
    LEADING_ZERO = "LEADING_ZERO"
    IMPLICIT_PRODUCT = "IMPLICIT_PRODUCT"  # a bracket beside an operand without an operator between
    MISSING_OPERATOR = "MISSING_OPERATOR"  # two numbers side by side
    SIGNED_LITERAL = "SIGNED_LITERAL"  # a sign where an operand must stand
    UNBALANCED = "UNBALANCED"  # brackets
    MISSING_OPERAND = "MISSING_OPERAND"
    MULTIPLE_EQUALS = "MULTIPLE_EQUALS"
    MALFORMED_EQUATION = "MALFORMED_EQUATION"  # a side is missing, or the right one is not an integer
    # The expression as arithmetic
    DIVISION_BY_ZERO = "DIVISION_BY_ZERO"
    FOREIGN_NUMBER = "FOREIGN_NUMBER"  # a number that was not given
    REPEATED_NUMBER = "REPEATED_NUMBER"  # used more often than given
    UNUSED_NUMBER = "UNUSED_NUMBER"
    WRONG_RIGHT_SIDE = "WRONG_RIGHT_SIDE"  # the stated result is not the target
    WRONG_VALUE = "WRONG_VALUE"


class Rejected(Exception):
    """A text or expression that the grammar or arithmetic refuses.

    status: the named reason.  detail: what and where, in a few words, fit for a person.
    """

    def __init__(self, status: Status, detail: str = ""):
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


@dataclass(slots=True)
class Verdict:
    """What a contract says of one text.

    accept: the answer is right and in the contract's form.  status: why.  extracted: the answer text without white
    space around it, None where none could be found.  The forms, the family and the answer's opening are given wherever
    the answer is an expression with a value, right or wrong.  think_opening: of the first step written in the think
    part.  format_ok: the completion has exactly the contract's shape, whatever the answer says.  detail: for people.
    """

    accept: bool
    status: Status
    extracted: str | None = None
    paper_form: str | None = None
    formula_form: str | None = None
    paper_family: str | None = None
    answer_opening: str | None = None
    think_opening: str | None = None
    format_ok: bool = False
    detail: str = ""
