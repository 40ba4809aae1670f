"""Where programs stand in completions, and what is known of them without running them."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.tasks.scicode.extraction import LONGEST, extract, parsed, spoken
from workflow_scripts.tasks.scicode.verdicts import Status

F = "```"
ONE = "def answer():\n    return 1\n"
TWO = "def answer():\n    return 2\n"
HELPER = "def helper():\n    return 0\n"


def block(code, language="python"):
    return f"{F}{language}\n{code}{F}"


# completion, program, format_ok of the text around it
EXAMPLE = f"def answer():\n    '@'\n    {F}python\n    1\n    {F}\n    '@'\n".replace("@", "''")
FOUND = [
    (block(ONE), ONE, True), (block(ONE, ""), ONE, True), (block(ONE, "py"), ONE, True),
    (f"\n\n{block(ONE)}\n\n", ONE, True), (f"~~~python\n{ONE}~~~", ONE, True), (f"{F}`python\n{ONE}{F}`", ONE, True),
    (f"{F}python \r\n{ONE}{F}\r\n", ONE, True),
    # The last block that defines answer
    (f"{block(ONE)}\n{block(TWO)}", TWO, False), (f"{block(ONE)}\nUsage:\n{block('print(answer())')}", ONE, False),
    (f"{block(HELPER)}\n{block(ONE)}", ONE, False), (f"{block(HELPER)}\n{block('print(1)')}", "print(1)", False),
    (f"{block(ONE)}\n{block('answer = lambda: 3')}", "answer = lambda: 3", False),
    (f"{block(ONE)}\n{block('from m import f as answer')}", "from m import f as answer", False),
    (f"{block(ONE)}\n{block('answer == 3')}", ONE, False),
    # Words around
    (f"Here it is:\n{block(ONE)}", ONE, False), (f"{block(ONE)}\nThat is all.", ONE, False),
    (f"The answer: {block(ONE)}", ONE, False),
    # Thinking
    (f"<think>{block(TWO)}</think>\n{block(ONE)}", ONE, True), (f"{block(TWO)} so\n</think>\n{block(ONE)}", ONE, True),
    (f"<think>a</think>{block(ONE)}<think>b</think>", ONE, True), (f"<think></think>\n\n{block(ONE)}", ONE, True),
    (f"<think>a <think> b</think>{block(ONE)}", ONE, True), (f"{block(ONE)}<think>{block(TWO)}", ONE, False),
    (f"{block(ONE)}<|im_end|>{block(TWO)}", ONE, True),
    # Broken fences
    (f"{F}python\n{ONE}", ONE, False), (f"{F}python\n{ONE.rstrip()}{F}\nand so on", ONE.rstrip(), False),
    (f"{F}python\nx = (\n{F}python\n{ONE}{F}", ONE, False), (f"{block(ONE)}\n{F}\nunclosed", ONE, False),
    # Indented, as in a list; a docstring with an example
    (f"1. so\n   {F}python\n   def answer():\n       return 1\n   {F}", ONE, False),
    (block(EXAMPLE), EXAMPLE, True),
    # What comes of a program is none; what binds a value is no function
    (f"{block(ONE)}\nOutput:\n{block('answer = 1', '')}", ONE, False),
    (f"{block(ONE)}\nIt prints\n{block('def answer(): 1', 'text')}", ONE, False),
    (block("answer = 1\n", "text"), "answer = 1\n", True),
    # Marks that a program writes
    *((block(text + ONE), text + ONE, True) for text in (
        "S = '<think>'\n", '"""drops </think> here"""\n', 'END = "</s>"\n', "E = '<|im_end|>'\n",
    )),
    (f"<think>{F}python\nx = 1</think>\n{block(ONE)}", ONE, True),
    (f"it's so</think>{block(ONE)}", ONE, True), (f"\ufeff{ONE}", ONE, False),
    # No fence at all
    (f"'@\nTitle\n~~~~~\n@'\n{ONE}".replace("@", "''"), f"'@\nTitle\n~~~~~\n@'\n{ONE}".replace("@", "''"), False),
    (ONE, ONE, False), (f"<think>hm</think>\n{ONE}", f"\n{ONE}", False),
]  # fmt: skip

MISSING = [
    ("", Status.EMPTY), ("  \n", Status.EMPTY), ("<|im_end|>", Status.EMPTY), (block(""), Status.EMPTY),
    (f"{F}python", Status.EMPTY), ("The answer is 3.", Status.NO_CODE), (HELPER, Status.NO_CODE),
    (f"So:\n{ONE}", Status.NO_CODE), (f"{F}python def answer(): return 1{F}", Status.NO_CODE),
    (f"<think>{block(ONE)}", Status.UNCLOSED_THINK), (f"{block(ONE)}</think>", Status.EMPTY),
    (f"{block(ONE)}</think><think>", Status.UNCLOSED_THINK),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "formed"), FOUND)
def test_programs_in_texts(text, code, formed):
    found = extract(text)
    assert (found.code, found.status, found.formed) == (code, Status.OK, formed)


@pytest.mark.parametrize(("text", "status"), MISSING)
def test_texts_without_program(text, status):
    assert extract(text)[:3] == (None, status, False)


def test_forms_of_asking():
    assert extract(ONE, "raw") == (ONE, Status.OK, True, "")
    assert extract(f"<think>x</think>{ONE}", "raw").code == ONE
    assert extract("So 3.", "raw").code == "So 3."
    assert extract(ONE, "fenced").status is Status.NO_CODE
    assert extract(block(ONE), "fenced").code == ONE


PIECES = [F, f"{F}python\n", "\n", "~~~", "<think>", "</think>", ONE, TWO, " x ", "    ", "`", "<|im_end|>", "é\0"]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(["any", "fenced", "raw"]))
def test_whatever_is_taken_stands_in_what_was_said(text, form):
    found = extract(text, form)
    assert (found.code is None) == (found.status is not Status.OK)
    if found.code is not None:
        said = spoken(text)[0]
        assert all(line.strip() in said for line in found.code.split("\n"))
        assert "<think>" not in found.code
    if found.formed and form != "raw":
        assert said.strip().startswith((F, "~~~")) and said.strip().endswith((F, "~~~"))


@given(st.text(st.characters(blacklist_characters="`~<|"), max_size=200).filter(str.strip))
def test_a_fenced_text_comes_back_as_it_was(code):
    found = extract(f"<think>…</think>\n{F}python\n{code}\n{F}\n")
    assert found == (f"{code}\n", Status.OK, True, "")


LARGE = [
    F * 300_000, "`" * 1_000_000, f"{F}\n" * 250_000, f"{F}py\n" * 200_000, f"x {F}x` " * 100_000, "<think>" * 140_000,
    "</think>" * 120_000, "import " + "answer " * 140_000, "answer" + " " * 1_000_000,
    f"{F}py\n" + f"x {F} y" * 140_000, f"{F}py\n" + (F + " " * 50 + "x\n") * 18_000, " " * 1_000_000,
    "def answer\n" * 90_000, f"{F}py\n# " + "<think>" * 140_000, f"{F}py\n'</s>\n{F}\n" * 60_000,
    "~" * 500_000 + "`" * 500_000,
]  # fmt: skip


@pytest.mark.parametrize("text", LARGE, ids=range(len(LARGE)))
def test_a_megabyte_of_anything_is_read(text):
    assert extract(text).status in (Status.EMPTY, Status.NO_CODE, Status.UNCLOSED_THINK, Status.OK)


DEFINITIONS = [
    (ONE, 1), (ONE + TWO, 2), ("class answer: pass", 1), ("answer = lambda: 1", 1), ("answer: int = 3", 1),
    ("answer: int", 0), ("a = answer = f", 1), ("(answer, b) = f, g", 1), ("from m import f as answer", 1),
    ("import m as answer", 1), ("from m import answer", 1), ("(answer := f)", 1), ("async def answer(): pass", 1),
    ("if x:\n    def answer(): pass\nelse:\n    def answer(): pass", 2),
    ("try:\n    f()\nexcept E:\n    answer = f", 1), ("with a:\n    for b in c:\n        answer = b", 1),
    ("match a:\n    case 1:\n        answer = f", 1), ("def f():\n    def answer(): pass", 0),
    ("class A:\n    def answer(self): pass", 0), ("answer()", 0), ("answer.x = 1", 0),
    ("x = [answer for answer in y]", 0), ("", 0), ("x = [(answer := f) for y in z]", 1),
    ("x = lambda: (answer := f)", 0),
    ("for answer in [f]: pass", 1), ("with f() as answer: pass", 1), ("def f():\n    global answer\n    answer = g", 1),
    ("globals()['answer'] = f", 1), ("del answer", 0),
]  # fmt: skip


@pytest.mark.parametrize(("code", "count"), DEFINITIONS)
def test_definitions_on_the_top_level(code, count):
    assert parsed(code) == (count, Status.OK, "")


BROKEN = [
    ("def answer(:", Status.SYNTAX, "line 1"), ("a\0b", Status.SYNTAX, "null"), ("a = '\ud800'", Status.SYNTAX, "surr"),
    ("1" * 5000, Status.SYNTAX, "4300"), (" x", Status.SYNTAX, "indent"), ("(" * 100_000, Status.SYNTAX, "nested"),
    ("-" * 100_000 + "1", Status.TOO_DEEP, "deep"), ("a" + ".b" * 60_000, Status.TOO_DEEP, "deep"),
    ("1" + "+1" * 60_000, Status.TOO_DEEP, "deep"), ("x" * (LONGEST + 1), Status.TOO_LONG, str(LONGEST)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "status", "word"), BROKEN, ids=range(len(BROKEN)))
def test_what_does_not_parse_is_told_apart(code, status, word):
    found = parsed(code)
    assert (found.definitions, found.status) == (0, status) and word in found.error


@given(st.text(max_size=80))
def test_parsing_agrees_with_python(code):
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        assert parsed(code).status is Status.SYNTAX
    else:
        assert parsed(code).status is Status.OK
