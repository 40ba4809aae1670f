"""The reference system's rewards: its measured floors and caps, and that no better answer is paid less.

Same text, another verdict: whatever the text, a program that comes further never earns less. Where the shape of the
text differs, some of these rewards do pay the worse answer more; tests of the audit list where.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reward_cases import LADDER, PROBLEM, REFERENCE, block, evidence

from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.rewards import REWARDS, Evidence, Judgement

PLAIN = [name for name, reward in REWARDS.items() if not reward.needs_judge]
JUDGED = [name for name, reward in REWARDS.items() if reward.needs_judge]

EMPTY_LIST = evidence(block("def answer():\n    return []"), "runs")
SYNTAX = evidence(block("def answer(:\n    return []"), "extracted")
PROSE = evidence("The answer follows from the conservation of energy.", "nothing")
GOLD = evidence(block(REFERENCE), "correct")
RAISES = evidence(block("def answer():\n    return 1 / 0"), "defines")


@pytest.mark.parametrize(
    ("reward", "empty_list", "syntax", "prose", "gold"),
    [
        ("strict", 0, 0, 0, 1),
        ("layers", 0.2, 0.02, 0, 1),
        # what the reference's own code gave for these texts
        ("execution", 0.45, 0.24, 0.05, 1),
        ("compact", 0.45, 0.08, 0.05, 1),
        ("bounded", 0.45, 0.08, 0.05, 1),
        ("clean", 0.47, 0.32, 0.19, 1),
        ("shaped", 0.52, 0.33, 0.19, 1),
        ("focused", 0.52, 0.33, 0.19, 1),
        # made for this study
        ("format", 1, 0.6, 0.1, 1),
        ("length", 0.8, 0, 0, 1),
    ],
)
def test_floors(reward, empty_list, syntax, prose, gold):
    found = [REWARDS[reward].score(case) for case in (EMPTY_LIST, SYNTAX, PROSE, GOLD)]
    assert found == [empty_list, syntax, prose, gold]


def test_partial_credit_and_errors_under_execution():
    half = evidence(block("def answer():\n    return [1, 2, 4]"), "typed", passed=2, total=4)
    assert REWARDS["execution"].score(half) == pytest.approx(0.45 + 0.35 / 2)
    assert REWARDS["execution"].score(RAISES) == pytest.approx(0.38)  # the format alone, above 0.25
    assert REWARDS["compact"].score(RAISES) == 0.22


THINK = "<think>\n\n</think>\n\n"


@pytest.mark.parametrize(
    ("reward", "right", "wrong"),
    [("execution", 0.97, 0.45), ("compact", 0.97, 0.45), ("bounded", 0.92, 0.45), ("clean", 0.935, 0.45),
     ("shaped", 0.871, 0.30), ("strict", 1, 0)],
)  # fmt: skip
def test_think_tags_cost_what_the_reference_takes(reward, right, wrong):
    """Brief is 48 characters of the reference in its fence over 67 of the text."""
    gold = evidence(THINK + GOLD.completion, "correct", code=REFERENCE)
    empty = evidence(THINK + EMPTY_LIST.completion, "runs", code="def answer():\n    return []")
    assert (gold.target, gold.shape.characters) == (48, 67)
    assert REWARDS[reward].score(gold) == pytest.approx(right, abs=1e-3)
    assert REWARDS[reward].score(empty) == pytest.approx(wrong, abs=1e-3)


def _long(characters):
    """A program under a comment without repeated words."""
    comment = "".join(f" {number}" for number in range(characters))[:characters]
    return block(f"#{comment}\ndef answer():\n    return [1, 2, 3]")


def _loop():
    return block("\n".join(["# and so on and so on and so on and so on"] * 12) + "\n" + REFERENCE)


@pytest.mark.parametrize(
    ("text", "reward", "right", "wrong"),
    [
        (_long(2000), "compact", 0.92, 0.37),  # −.08 long, at most .08 where right
        (_long(2000), "bounded", 0.84, 0.10),
        (_long(2000), "clean", 0.84, 0.12),
        (_long(2000), "shaped", 0.78, 0.18),
        (_long(4000), "compact", 0.92, 0.18),
        (_long(4000), "bounded", 0.12, 0.10),
        (_long(4000), "clean", 0.12, 0.12),
        (_long(4000), "shaped", 0.16, 0.16),
        (_loop(), "bounded", 0.82, 0.05),  # .45 − .40 of repetition
        (_loop(), "clean", 0.82, 0.12),
        (_loop(), "shaped", 0.74, 0.16),
    ],
)
def test_caps_on_length_and_repetition(text, reward, right, wrong):
    scores = [REWARDS[reward].score(evidence(text, reached, code=REFERENCE)) for reached in ("correct", "typed")]
    assert scores == pytest.approx([right, wrong])


def test_focused_caps():
    empty = Problem("p2", "filters", "labels", "Which?", "", "def answer():\n    return []", (Check("exact", "[]"),))
    shell = block("def answer():\n    return [0]")
    assert REWARDS["focused"].score(evidence(shell, "runs", problem=empty)) == 0.38
    assert REWARDS["focused"].score(RAISES) == 0.28
    many = block(f"def answer():\n    return {list(range(30))}")
    assert REWARDS["focused"].score(evidence(many, "typed")) == 0.32
    lots = block(f"def answer():\n    return {list(range(85))}")
    assert REWARDS["focused"].score(evidence(lots, "typed")) == 0.22


TEXT_ANSWERS = [
    ("Final answer: [1, 2, 3]", 1.0),
    ("We get 1, then 2.\nThe answer is [1,2,3].", 1.0),
    ("The list\n\\boxed{[1, 2, 3]}", 1.0),
    ("Final answer: [1, 2, 4]", 0.24),  # marked and read
    ("Final answer: [1, 2, 3] (derivation omitted)", 0.12),
    ("derivation omitted. Final answer: [1, 2, 3]", 0.65),
    ("nothing to be said", 0.0),
    ("", 0.0),
    ("Final answer: __import__('os').system('true')", 0.12),
    ("Final answer: 9**9**9**9", 0.12),
]


@pytest.mark.parametrize(("text", "score"), TEXT_ANSWERS)
def test_final_answer_in_the_text(text, score):
    assert REWARDS["final_answer"].score(evidence(text, "nothing")) == pytest.approx(score)


NUMBER = Problem("p3", "energy", "mechanics", "E?", "", "def answer():\n    return 13.5", (Check("numeric", "13.5"),),
                 {"intermediates": {"square": 9, "half": 1.5}})  # fmt: skip


WORDS = Problem("p4", "labels", "operators", "Which?", "", "def answer(): ...", (Check("set", '{"$set":["XZ","YI"]}'),))
ORDER = Problem("p5", "labels", "operators", "Which?", "", "def answer(): ...", (Check("sequence", '["d","c c"]'),))


@pytest.mark.parametrize(
    ("text", "problem", "correct"),
    [
        ("Final answer: {'YI', 'XZ'}", WORDS, True),
        ("Final answer: XZ, YI.", WORDS, True),
        ("Final answer: {'YI'}", WORDS, False),
        ("Final answer: {'YI', 'YI'}", WORDS, False),
        ("Final answer: ['d', 'c c']", ORDER, True),
        ("Final answer: ['c c', 'd']", ORDER, False),
    ],
)
def test_words_in_the_text(text, problem, correct):
    assert (REWARDS["final_answer"].score(evidence(text, "nothing", problem=problem)) == 1.0) is correct


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("so it is 13.5", 0.82),  # right without a mark
        ("Final answer: 13.5001", 1.0),  # a text is read to 1e-4
        ("Final answer: 13.6", 0.24),
        ("Final answer: 27/2", 1.0),
    ],
)
def test_a_number_in_the_text(text, score):
    assert REWARDS["final_answer"].score(evidence(text, "nothing", problem=NUMBER)) == pytest.approx(score)


@pytest.mark.parametrize(
    ("text", "reached", "score"),
    [("no numbers", "nothing", 0.0), ("v^2 = 9", "nothing", 0.2), ("9 and 1.50", "nothing", 0.4),
     ("19", "nothing", 0.0), ("9 and 1.5", "correct", 1.0), ("", "correct", 0.6)],
)  # fmt: skip
def test_intermediates_are_looked_for_in_the_text(text, reached, score):
    assert REWARDS["intermediates"].score(evidence(text, reached, problem=NUMBER)) == pytest.approx(score)


PIECES = [
    "```python\n", "```", "\n", "<think>", "</think>", "def answer():\n    return []", "def answer(:", " x" * 40,
    "# again and again and again and again and again\n" * 6, "Final answer: [1, 2, 3]", "return ", " 7" * 900,
]  # fmt: skip
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


def _verdicts(text, code):
    """The same text under verdicts from worst to best."""
    for reached in LADDER:
        for passed in (0, 1, 2) if reached == "typed" else (0,):
            yield evidence(text, reached, code=code, **({"passed": passed, "total": 3} if reached == "typed" else {}))


CODES = st.sampled_from(["def answer():\n    return []", "x = 1", "answer = lambda: 1", REFERENCE])


@pytest.mark.parametrize("name", sorted({*PLAIN} - {"focused"}))
@given(text=texts, code=CODES)
def test_the_same_text_never_earns_less_where_its_program_comes_further(name, text, code):
    reward = REWARDS[name]
    scores = [reward.score(case) for case in _verdicts(text, code)]
    assert all(low <= high for low, high in pairwise(scores)), scores
    assert all(0 <= score <= reward.largest for score in scores)


@given(text=texts, code=CODES)
def test_focused_pays_no_wrong_answer_above_a_right_one(text, code):
    *wrong, right = [REWARDS["focused"].score(case) for case in _verdicts(text, code)]
    assert max(wrong) <= right


def test_focused_pays_what_does_not_parse_above_what_runs_or_almost_does():
    """The reference's fault: its last caps meet programs that parse, and leave alone those that do not."""
    lots = f"def answer():\n    return {list(range(85))}"
    texts = [evidence(block(lots), reached) for reached in ("extracted", "defines", "runs")]
    assert [REWARDS["focused"].score(case) for case in texts] == [0.33, 0.22, 0.22]
    assert [REWARDS["focused"].score(case) for case in (SYNTAX, RAISES)] == [0.33, 0.28]


@given(text=texts)
def test_strict_is_one_where_correct_and_zero_elsewhere(text):
    assert [REWARDS["strict"].score(case) for case in _verdicts(text, REFERENCE)] == [0.0] * 8 + [1.0]


@pytest.mark.parametrize("name", JUDGED)
def test_without_a_judgement_there_is_no_score(name):
    assert REWARDS[name].score(GOLD) is None
    other = Judgement("nobody", {})
    assert REWARDS[name].score(Evidence(GOLD.completion, GOLD.verdict, PROBLEM, other)) is None


def test_quick_rejects_ask_no_judge():
    scores = {
        name: [REWARDS[name].rejected(evidence(text, "nothing")) for text in ("", "short", "x" * 30)] for name in JUDGED
    }
    assert scores["generic_judge"] == scores["brief_judge"] == [0, 0.02, None]
    assert scores["semantic_judge"] == [0, None, None]
    assert scores["final_answer_judge"] == scores["final_answer_judge_strict"] == [0, 0.01, 0.04]
    assert REWARDS["final_answer_judge"].rejected(GOLD) is None
