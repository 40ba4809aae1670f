"""Why a Countdown text was accepted or refused: one closed list for every contract."""

from enum import StrEnum


class Status(StrEnum):
    """One named reason for each verdict; `OK` alone is an acceptance."""

    OK = "OK"
    # The completion around the answer
    UNCLOSED_THINK = "UNCLOSED_THINK"  # no </think>: whatever follows may still be thought
    REPEATED_THINK = (
        "REPEATED_THINK"  # a think tag after the think part has ended, or more parts than the contract takes
    )
    NO_ANSWER = "NO_ANSWER"  # no answer tag after the think part
    UNCLOSED_ANSWER = "UNCLOSED_ANSWER"
    UNOPENED_ANSWER = "UNOPENED_ANSWER"
    NESTED_ANSWER = "NESTED_ANSWER"
    MULTIPLE_ANSWERS = "MULTIPLE_ANSWERS"
    ANSWER_BEFORE_THINK_END = "ANSWER_BEFORE_THINK_END"  # paper_grpo: its one block stands inside the think part
    NO_FEASIBLE_TAG = "NO_FEASIBLE_TAG"  # paper_ppo: no readable feasibility label
    WRONG_FEASIBILITY = "WRONG_FEASIBILITY"  # paper_ppo: the label differs from the problem's
    BAD_NO_SOLUTION = "BAD_NO_SOLUTION"  # paper_ppo: labelled infeasible, but the block does not begin with NO_SOLUTION
    # The answer as text
    EMPTY = "EMPTY"
    TOO_LONG = "TOO_LONG"  # characters, literals or digits of one literal beyond the limits
    TOO_DEEP = "TOO_DEEP"  # brackets nested beyond the limit
    FOREIGN_DIGIT = "FOREIGN_DIGIT"  # full-width, Arabic-Indic, superscript …
    WORD = "WORD"  # letters: names, functions, hexadecimal, scientific notation
    FOREIGN_CHARACTER = "FOREIGN_CHARACTER"  # anything else outside the grammar
    FOREIGN_OPERATOR = "FOREIGN_OPERATOR"  # ** // % ^ !
    DECIMAL_LITERAL = "DECIMAL_LITERAL"
    LEADING_ZERO = "LEADING_ZERO"
    THOUSANDS_SEPARATOR = "THOUSANDS_SEPARATOR"  # a comma or underscore among digits
    LATEX = "LATEX"  # a backslash
    SIGNED_LITERAL = "SIGNED_LITERAL"  # a sign where an operand must stand
    IMPLICIT_PRODUCT = "IMPLICIT_PRODUCT"  # a bracket beside an operand without an operator between
    MISSING_OPERATOR = "MISSING_OPERATOR"  # two numbers side by side
    MISSING_OPERAND = "MISSING_OPERAND"
    UNBALANCED = "UNBALANCED"
    MULTIPLE_EQUALS = "MULTIPLE_EQUALS"
    MALFORMED_EQUATION = "MALFORMED_EQUATION"  # a side is missing, or the right one is not an integer
    # The expression as arithmetic
    DIVISION_BY_ZERO = "DIVISION_BY_ZERO"
    FOREIGN_NUMBER = "FOREIGN_NUMBER"
    REPEATED_NUMBER = "REPEATED_NUMBER"
    UNUSED_NUMBER = "UNUSED_NUMBER"
    WRONG_RIGHT_SIDE = "WRONG_RIGHT_SIDE"
    WRONG_VALUE = "WRONG_VALUE"


class Rejected(Exception):
    """A text or expression that the grammar or arithmetic refuses.

    status: the named reason.  detail: what and where, in a few words, fit for a person.
    """

    def __init__(self, status: Status, detail: str = ""):
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
