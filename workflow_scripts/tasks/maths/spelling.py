r"""One spelling for what means the same: a closed list of rewrites of LaTeX and Unicode, before an answer is read.

Dollar signs, ``\left``, ``\right`` and thin spaces go; ``\dfrac``, ``\tfrac``, ``\cfrac`` become ``\frac``; text
commands become ``\text``; ``\cdot`` and ``\times`` a star; Unicode operators and letters their ASCII or LaTeX names.
Nothing is evaluated and no word is replaced inside another.
"""

import re

from workflow_scripts.tasks.maths.verdicts import Rejected, Status

MAX_LENGTH = 2_000
"""Characters of an answer."""
MAX_DEPTH = 40
"""Brackets inside one another."""

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("−–—‒﹣－", "-"),
        **dict.fromkeys("×⋅·∙∗", "*"),
        **dict.fromkeys("\u00a0\u2009\u202f\u2002\u2003\t\r\n", " "),
        "÷": "/",
        "∕": "/",
        "⁄": "/",
        "π": r"\pi ",
        "√": r"\sqrt ",
        "∞": r"\infty ",
        "°": r"^\circ ",
        "±": r"\pm ",
        "∓": r"\mp ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "≠": r"\ne ",
        "∪": r"\cup ",
        "∩": r"\cap ",
        "∈": r"\in ",
        "％": "%",
        "，": ",",
        "（": "(",
        "）": ")",
        "²": "^2",
        "³": "^3",
        "½": r"\frac{1}{2}",
        "¼": r"\frac{1}{4}",
        "¾": r"\frac{3}{4}",
        "θ": r"\theta ",
        "’": "'",
        "‘": "'",
        "∅": r"\emptyset ",
    }
)
_COMMANDS = {
    name: into
    for into, names in {
        "": "left right bigl bigr Bigl Bigr big Big displaystyle limits pounds euro textdollar",
        " ": "quad qquad enspace thinspace",
        r"\frac": "dfrac tfrac cfrac",
        r"\text": "mbox hbox textrm textbf textit textnormal textsf textup mathrm mathbf mathsf mathit boldsymbol bm",
        "*": "cdot times ast",
        "/": "div",
        "<": "lt",
        ">": "gt",
        "[": "lbrack",
        "]": "rbrack",
        "(": "langle",
        ")": "rangle",
        ":": "colon",
        r"\le ": "leq leqslant",
        r"\ge ": "geq geqslant",
        r"\ne ": "neq",
        r"\{": "lbrace",
        r"\}": "rbrace",
        r"^\circ ": "degree degrees",
        r"\emptyset ": "varnothing",
    }.items()
    for name in names.split()
}
"""LaTeX commands and what they become."""
_THOUSANDS = re.compile(r"(?<=\d)(?:,\s?\\!\s?|\{,\}|\\,)(?=\d{3}(?!\d))")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SPACING = re.compile(r"\\[!,;:>\s]|~")
_MATHS = re.compile(r"\\?\$|\\[()\[\]]|[£€`]")
_FBOX = re.compile(r"\\(?:boxed|fbox)\s*\{(.*)\}\s*", re.DOTALL).fullmatch
_SPACES = re.compile(r" {2,}")
_TEXT_AROUND = re.compile(r"\\text\s*\{([^{}]*)\}").fullmatch
_DEGREES = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ\b)")
_WRAPPED_NUMBER = re.compile(r"\\text\s*\{\s*([-+]?[\d.,/]+)\s*\}")


def tidy(text: str) -> str:
    """The answer in the one spelling, without white space around it; empty where nothing is left.

    Raises `Rejected`: TOO_LONG, TOO_DEEP.
    """
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise Rejected(Status.TOO_LONG, f"{len(text)} characters, at most {MAX_LENGTH}")
    if text.isalnum() and text.isascii():
        return text
    text = text.translate(_CHARACTERS)
    for _ in range(3):
        found = _FBOX(text)
        if not found:
            break
        text = found[1].strip()
    if "\\" in text or "$" in text or "{" in text or "~" in text or "`" in text or "£" in text or "€" in text:
        text = _THOUSANDS.sub(",", text)
        # A backslash doubled ends a matrix row and must not be taken apart.
        text = r"\\".join(_one_row(row) for row in text.split(r"\\"))
    text = _SPACES.sub(" ", text).strip()
    while text and text[-1] in ".,;:?" and text[-2:-1] != "\\":
        text = text[:-1].rstrip()
    _check_depth(text)
    return text


def _one_row(text: str) -> str:
    text = _MATHS.sub(_keep_delimiters_apart, text)
    text = _COMMAND.sub(lambda found: _COMMANDS.get(found[1], found[0]), text)
    text = _SPACING.sub(" ", text)
    text = _DEGREES.sub(r"^\\circ ", text)
    return _WRAPPED_NUMBER.sub(r"\1", text)


def _keep_delimiters_apart(found: re.Match) -> str:
    return " " if found[0] in ("\\(", "\\)", "\\[", "\\]") else ""


def _check_depth(text: str) -> None:
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    if deepest > MAX_DEPTH:
        raise Rejected(Status.TOO_DEEP, f"brackets {deepest} deep, at most {MAX_DEPTH}")


def unwrapped(text: str) -> str:
    r"""`text` without one ``\text{…}`` around all of it."""
    found = _TEXT_AROUND(text)
    return found[1].strip() if found else text


def fingerprint(text: str) -> str:
    """The tidied text without white space and without braces around single characters: equal ones are equal answers."""
    bare = re.sub(r"\s+", "", text)
    return re.sub(r"(?<=[\^_])\{(\w)\}", r"\1", bare)
