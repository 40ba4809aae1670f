r"""Where the program of a completion stands, and what is known of it without running it. Linear in the text.

Think parts do not count: `<think>` to `</think>`; all that stands before a `</think>` whose `<think>` was prefilled;
and all after a `<think>` that is never closed. Nor does text after an end mark (`<|im_end|>`, …). In a block, such a
mark is text where a quote stands before it on its line.

A text that is a Python module with an `answer` as a whole is the program. Of the fenced blocks of any other, the last
one is taken that is of Python or of no language and defines `answer` as something to call; where there is none, the
last one that binds `answer` at all, else the last one. A fence is a line of three or more backticks or tildes, indented
or not:

* Words before an opening fence on its line are allowed, and so is a language after it. Without a language it needs a
  line of its own.
* It is closed by a line of as many of the same marks and nothing else, which is not indented by four or more than it.
* A block is unclosed where none comes, where another fence with a language comes first, or where the text ends. If one
  of its lines ends in the marks ("return x```"), it ends there, but still counts as unclosed.

`format_ok` holds for exactly one block, closed, opened on a line of its own, nothing but white space around it outside
the think part, and in it one definition of `answer`. Prose around the block is read past, but is not the format.
"""

import ast
import re
import warnings
from typing import Literal, NamedTuple

from workflow_scripts.tasks.scicode.verdicts import Status

LONGEST = 1 << 17
"""Characters of the longest program that is read; the sandbox takes twice as many bytes."""

Form = Literal["fenced", "raw", "any"]
"""fenced: a block, or nothing. raw: the whole text is the program. any: a block, else the whole text if it can be."""

_THINK = re.compile(r"</?think>")
_END_MARK = re.compile(r"<\|(?:endoftext|im_end|eot_id)\|>|</s>")
_WRITTEN = re.compile(rf"[\n'\"]|{_THINK.pattern}|{_END_MARK.pattern}")
_FENCE = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<words>[^`~\n]*+)(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+#.-]*+)[^`\n]*+$", re.M
)
_CALLABLE = re.compile(
    r"^(?:(?:async[ \t]++)?def|class)[ \t]++answer\b|^answer[ \t]*+(?::[^=\n]*+)?=(?!=)[ \t]*+[A-Za-z_]"
    r"|^(?:from|import)[ \t][^\n]*\banswer[ \t]*+(?:$|[,)#;])",
    re.M,
)
_PYTHON = re.compile(r"(?:python|py|ipython|sage)?[\d.]*", re.I)
_DEFINITION = re.compile(
    r"^(?:(?:async[ \t]++)?def|class)[ \t]++answer\b|^answer[ \t]*+(?::[^=\n]*+)?=(?!=)"
    r"|^(?:from|import)[ \t][^\n]*\banswer[ \t]*+(?:$|[,)#;])",
    re.M,
)


class Extraction(NamedTuple):
    """code: the program, None where there is none; status then says why, and is OK otherwise. formed: the text around
    it is as asked for, which together with a program that defines `answer` once makes the format. detail: what was
    passed over, for people."""

    code: str | None
    status: Status = Status.OK
    formed: bool = False
    detail: str = ""


class Parsed(NamedTuple):
    """definitions: of `answer` on the top level. status: OK, SYNTAX, TOO_LONG or TOO_DEEP; error says more."""

    definitions: int
    status: Status = Status.OK
    error: str = ""


class _Block(NamedTuple):
    code: str
    closed: bool
    python: bool  # or of no language
    alone: bool  # opened on a line of its own
    start: int
    end: int


def extract(completion: str, form: Form = "any") -> Extraction:
    """The program of a completion, by the rules above. Never raises on a text.

    form: `raw` is the wrapping of a public benchmark that takes the text after the thinking as it is.
    """
    text, unclosed = spoken(completion.removeprefix("\ufeff"))
    if not text.strip():
        return Extraction(None, Status.UNCLOSED_THINK if unclosed else Status.EMPTY)
    if form == "raw":
        return Extraction(text, formed=not unclosed)
    if form == "any" and _DEFINITION.search(text) and parsed(text).definitions:
        return Extraction(text, detail="no fenced block")
    blocks = _blocks(text)
    if not blocks:
        return Extraction(None, Status.NO_CODE)
    binding = [block for block in blocks if _DEFINITION.search(block.code)]
    calling = [block for block in binding if block.python and _CALLABLE.search(block.code)]
    chosen = (calling or binding or blocks)[-1]
    detail = "" if chosen.closed else "the block is never closed"
    if not chosen.code.strip():
        return Extraction(None, Status.EMPTY, detail=detail)
    around = text[: chosen.start] + text[chosen.end :]
    formed = len(blocks) == 1 and chosen.closed and chosen.alone and not around.strip() and not unclosed
    return Extraction(chosen.code, formed=formed, detail=detail)


def spoken(completion: str) -> tuple[str, bool]:
    """The text outside think parts and before an end mark; and whether a think part is never closed."""
    inside = _quoted(completion)
    ended = next((mark for mark in _END_MARK.finditer(completion) if mark.start() not in inside), None)
    text = completion[: ended.start()] if ended else completion
    parts, start, thinking = [], 0, False
    for tag in _THINK.finditer(text):
        if tag.start() in inside:
            continue
        if tag[0] == "<think>":
            if not thinking:
                parts.append(text[start : tag.start()])
            thinking = True
        else:
            if not thinking:  # prefilled
                parts.clear()
            start, thinking = tag.end(), False
    if not thinking:
        parts.append(text[start:])
    return "".join(parts), thinking


def _quoted(text: str) -> frozenset[int]:
    """Places of marks that a program writes: in an open block, behind a quote on their line."""
    written, behind = [], False
    for found in _WRITTEN.finditer(text):
        if len(found[0]) > 1:
            written += [found.start()] if behind else []
        else:
            behind = found[0] != "\n"
    spans = ((text.find("\n", block.start), block.end) for block in (_blocks(text) if written else ()))
    inside, none = [], (len(text), len(text) + 1)
    start, end = next(spans, none)
    for place in written:
        while end <= place:
            start, end = next(spans, none)
        if 0 <= start < place:
            inside.append(place)
    return frozenset(inside)


def parsed(code: str) -> Parsed:
    """Whether a program parses, and how often it defines `answer`; nothing is executed."""
    if len(code) > LONGEST:
        return Parsed(0, Status.TOO_LONG, f"the program has more than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says of odd escapes and comparisons is its author's business
            tree = ast.parse(code)
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        return Parsed(0, Status.SYNTAX, f"{type(error).__name__}: {error.msg}{where}")
    except (RecursionError, MemoryError):
        return Parsed(0, Status.TOO_DEEP, "the program nests too deep")
    except ValueError as error:  # null bytes, halves of surrogate pairs
        return Parsed(0, Status.SYNTAX, f"ValueError: {error}"[:200])
    return Parsed(_definitions(tree))


def _definitions(tree: ast.Module) -> int:
    """Statements that bind `answer` in the module, within its compound statements too; where there is none, 1 for a
    module that may bind it in another way: a function by `global answer`, `globals()["answer"]`."""
    found, waiting = 0, [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found += node.name == "answer"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found += sum((alias.asname or alias.name) == "answer" for alias in node.names)
        elif not isinstance(node, ast.AnnAssign) or node.value is not None:
            children = list(ast.iter_child_nodes(node))
            # Of a match statement and of handlers it is the bodies that hold statements.
            bodies = [c for c in children if isinstance(c, ast.stmt | ast.ExceptHandler | ast.match_case)]
            found += any(map(_binds, [child for child in children if child not in bodies]))
            waiting += bodies
    return found or int(any(map(_may_bind, ast.walk(tree))))


def _binds(node: ast.AST) -> bool:
    """Whether an expression, or what a statement assigns to, binds `answer` in its own scope."""
    if isinstance(node, ast.Name):
        return node.id == "answer" and isinstance(node.ctx, ast.Store)
    if isinstance(node, ast.Lambda):
        return False
    inner = node.target if isinstance(node, ast.comprehension) else None
    return any(_binds(child) for child in ast.iter_child_nodes(node) if child is not inner)


def _may_bind(node: ast.AST) -> bool:
    if isinstance(node, ast.Global):
        return "answer" in node.names
    return isinstance(node, ast.Constant) and node.value == "answer"


def _blocks(text: str) -> list[_Block]:
    """The fenced blocks of a text, in order."""
    blocks, opening = [], None
    for fence in _FENCE.finditer(text):
        if opening is None:
            if fence["language"] or not fence["words"].strip():
                opening = fence
        elif _closes(fence, opening):
            blocks.append(_block(text, opening, fence.start(), fence.end(), closed=True))
            opening = None
        elif fence["language"] and _beside(fence, opening):
            blocks.append(_block(text, opening, fence.start(), fence.start(), closed=False))
            opening = fence
    if opening is not None:
        blocks.append(_block(text, opening, len(text), len(text), closed=False))
    return blocks


def _beside(fence: re.Match, opening: re.Match) -> bool:
    """Whether a fence is no deeper than the block that is open, so that it is not part of a docstring in it."""
    return not fence["words"].strip() and len(fence["indent"]) < len(opening["indent"]) + 4


def _closes(fence: re.Match, opening: re.Match) -> bool:
    alike = fence["marks"][0] == opening["marks"][0] and len(fence["marks"]) >= len(opening["marks"])
    return alike and _beside(fence, opening) and fence[0].strip() == fence["marks"]


def _block(text: str, opening: re.Match, stop: int, end: int, *, closed: bool) -> _Block:
    code = text[opening.end() + 1 : stop]
    if not closed:
        code = _until_late(code, opening["marks"])
    if indent := opening["indent"]:
        lines = code.split("\n")
        code = "\n".join(line[len(indent) :] if line.startswith(indent) else line for line in lines)
    python = _PYTHON.fullmatch(opening["language"]) is not None
    return _Block(code, closed, python, not opening["words"].strip(), opening.start(), end)


def _until_late(code: str, marks: str) -> str:
    """An unclosed block up to the first line that ends in its marks."""
    place = 0
    for line in code.splitlines(keepends=True):
        bare = line.rstrip()
        if bare.endswith(marks):
            return code[: place + len(bare) - len(marks)]
        place += len(line)
    return code
