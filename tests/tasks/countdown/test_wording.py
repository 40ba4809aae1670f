"""tasks/countdown/wording.py and english.py: golden texts, what templates are refused for, given-up attempts."""

from fractions import Fraction

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown import english, text
from workflow_scripts.tasks.countdown.appraisal import think_opening
from workflow_scripts.tasks.countdown.clamps import RUNGS, rung_text
from workflow_scripts.tasks.countdown.continuations import continuations, entrance_tokens
from workflow_scripts.tasks.countdown.depth_clamps import depth_clamps, next_menus
from workflow_scripts.tasks.countdown.judging import judge_completion
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.problems import table
from workflow_scripts.tasks.countdown.scaffolds import failed_attempt, run_cuts
from workflow_scripts.tasks.countdown.solver import solve
from workflow_scripts.tasks.countdown.wording import LAPTOP, Wording, spelled_out, wording

NATIVE, FEASIBLE = wording("native"), wording("feasible")
PROBLEM = ([4, 5, 7, 9], 24)


def frames(numbers, target):
    import pandas as pd

    found, problems = solve(numbers, target), table([(numbers, target)], "depth")
    openings = pd.DataFrame(found.openings).assign(problem_id=problems["problem_id"][0])
    return problems, openings, pd.DataFrame(found.solutions).assign(problem_id=problems["problem_id"][0])


def test_the_native_prompt_is_the_published_contract():
    asked = NATIVE.conversation(*PROBLEM)
    assert asked.system == (
        "You are a helpful assistant. You first thinks about the reasoning process in the mind and then provides the "
        "user with the answer."
    )
    assert asked.user == (
        "Using the numbers [4, 5, 7, 9], create an equation that equals 24. You can use basic arithmetic operations "
        "(+, -, *, /) and each number can only be used once. Show your work in <think> </think> tags. And return the "
        "final equation and answer in <answer> </answer> tags, for example <answer> (1 + 2) / 3 = 1 </answer>."
    )
    assert asked.prefill == "Let me solve this step by step.\n<think>"


def test_the_laptop_wording_is_that_of_text_py():
    assert LAPTOP.plain(LAPTOP.conversation(*PROBLEM)) == text.think_prompt(*PROBLEM) == "4 5 7 9 -> 24 <think>"
    for expression in ("4 * 7 - 9 + 5", "(5 + 7) * (9 - 7)", "100 / 4 - 1"):
        assert LAPTOP.solution_completion(expression) == text.solution_completion(expression)
    with pytest.raises(UserError, match="cannot say"):
        LAPTOP.solution_completion("5 * (5 - 1 / 5)")


@pytest.mark.parametrize(
    ("words", "expression", "expected"),
    [
        (
            NATIVE,
            "4 * 7 - 9 + 5",
            "Let me try: 4 * 7 = 28, 28 - 9 = 19, 19 + 5 = 24 </think>\n<answer> 4 * 7 - 9 + 5 </answer>",
        ),
        (
            NATIVE,
            "5 * (5 - 1 / 5)",
            "Let me try: 1 / 5 = 1/5, 5 - (1/5) = 24/5, 5 * (24/5) = 24 </think>\n<answer> 5 * ( 5 - 1 / 5 ) </answer>",
        ),
        (NATIVE, "4 - 9 + 29", "Let me try: 4 - 9 = -5, (-5) + 29 = 24 </think>\n<answer> 4 - 9 + 29 </answer>"),
        (
            FEASIBLE,
            "4 + 9",
            "Let me try: 4 + 9 = 13 </think>\n<feasible>yes</feasible>\n<answer> 4 + 9 </answer>",
        ),
    ],
)
def test_solutions_in_english(words, expression, expected):
    assert words.solution_completion(expression) == expected


GOLDEN = {
    "nothing": "",
    "first_number": "Let me try: 4",
    "entrance": "Let me try: 4 *",
    "first_calculation": "Let me try: 4 * 7 = 28",
    "generic_plan": "My plan is to multiply, then add, then subtract.",
    "misleading_plan": "My plan is to take 4 first and add to it.",
    "wrong_value": "Let me try: 4 * 7 = 29",
}


@pytest.mark.parametrize("rung", RUNGS)
def test_rungs_in_english(rung):
    openings = frames(*PROBLEM)[1]["opening"]
    given_text = rung_text(rung, "4 * 7 + 5 - 9", numbers=PROBLEM[0], target=24, menu=set(openings), words=NATIVE)
    assert given_text == GOLDEN[rung]


@pytest.mark.parametrize(
    ("value", "target", "laptop", "free"),
    [(100, 24, 99, 101), (23, 24, 22, 22), (0, 1, 2, -1), (Fraction(1, 5), 24, Fraction(6, 5), Fraction(6, 5))],
)
def test_a_wrong_value_can_be_said_and_is_not_the_target(value, target, laptop, free):
    assert (LAPTOP.near_miss(value, target), NATIVE.near_miss(value, target)) == (laptop, free)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=4), st.data())
@settings(max_examples=30)
def test_every_solution_is_accepted_and_opens_as_it_says(numbers, data):
    """Random instances with a solution: the judge accepts the English text under each contract, with its entrance."""
    target = data.draw(st.integers(1, 60))
    _, openings, solutions = frames(numbers, target)
    if openings.empty:
        return
    for words, contract in ((NATIVE, "paper_grpo"), (NATIVE, "strict"), (FEASIBLE, "paper_ppo")):
        for row in continuations(menu(solutions, "full"), menu(openings, "full"), words).itertuples():
            verdict = judge_completion(row.continuation, numbers, target, contract)
            assert verdict.accept and verdict.think_opening == row.opening == verdict.answer_opening
            assert row.continuation[: row.entrance] == words.entrance(row.opening)


@pytest.mark.parametrize(
    ("spans", "characters", "expected"),
    [
        ([(0, 3), (3, 6), (6, 8), (8, 9)], 8, (3, False)),
        ([(0, 3), (3, 6), (6, 10)], 8, (3, True)),  # the operator's token holds what follows it
        ([(0, 8)], 8, (1, False)),
        ([(0, 0), (0, 8), (8, 9)], 8, (2, False)),  # a token without characters, such as half a letter
    ],
)
def test_where_an_entrance_ends_in_tokens(spans, characters, expected):
    assert entrance_tokens(spans, characters) == expected


def test_an_entrance_without_tokens_is_refused():
    with pytest.raises(UserError, match="no token"):
        entrance_tokens([(5, 8)], 3)


def test_contexts_for_a_next_step():
    assert LAPTOP.context("4 5 -> 9 <think>") == ("4 5 -> 9 <think>", "try")
    assert LAPTOP.context("4 5 -> 9 <think>", "try 4 + 5 = 9 ,") == ("4 5 -> 9 <think> try 4 + 5 = 9 ,", "")
    assert NATIVE.context("P<think>") == ("P<think>Let me try:", " ")
    assert NATIVE.context("P<think>", "Let me try: 4 + 5 = 9,") == ("P<think>Let me try: 4 + 5 = 9,", " ")
    assert (LAPTOP.joined("try 4 *", "7 = 28"), NATIVE.joined("try: 4 *", " 7")) == ("try 4 * 7 = 28", "try: 4 * 7")


def test_depth_in_english():
    problems, openings, _ = frames([4, 5, 7, 9], 24)
    clamps = depth_clamps(problems, menu(openings, "full"), NATIVE)
    texts = dict(zip(clamps["rung"], clamps["prefix"]))
    witness = openings.set_index("opening")["witness"][clamps["family"][0]]
    whole = NATIVE.solution_completion(witness)
    assert texts["depth0"] == "" and texts["depth3"] == whole[: whole.index("<answer>") + len("<answer>")]
    assert texts["depth1"].endswith(",") and texts["depth2"].startswith(texts["depth1"])
    full = next_menus(problems, clamps, words=NATIVE, solution_set="full").set_index("rung")
    few = next_menus(problems, clamps, words=NATIVE).set_index("rung")
    assert list(full["operands"].map(len)) == [4, 3, 2]
    assert set(openings["opening"]) == set(full["feasible"]["depth0"])
    assert all(set(few["feasible"][rung]) <= set(full["feasible"][rung]) for rung in few.index)


def test_depth_leaves_out_what_passes_through_fractions():
    problems, openings, _ = frames([1, 5, 5, 5], 24)
    assert depth_clamps(problems, menu(openings, "full"), NATIVE).empty


SETS_OUT_ANEW = "First 4 * 9 = 36, then 36 - 5 = 31.\nThat is too far. Let me try 7 * 4 = 28 instead."


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (SETS_OUT_ANEW, "First 4 * 9 = 36, then 36 - 5 = 31.\nThat is too far."),
        ("4 + 5 = 9, which does not work. So 7 * 4 = 28", "4 + 5 = 9, which does not work."),
        ("4 + 5 = 9. It isn’t 24!\nNow try 7", "4 + 5 = 9. It isn’t 24!"),
        ("4 + 5 = 9. I'll try 7 * 4", "4 + 5 = 9."),
        ("Let me try: 4 + 5 = 9 </think> does not work. <answer>9</answer>", None),  # never within the think part
        ("4 * 6 = 24. Let's try another", None),  # it met the target
        ("Let me try 4 first", None),  # no value was stated
        ("try 4 + 5 = 9 no .", None),
        ("", None),
    ],
)
def test_attempts_that_are_given_up(completion, expected):
    assert english.failed_attempt(completion, 24) == expected
    assert failed_attempt(completion, 24, NATIVE) == (None if expected is None else ("retry", expected))


@given(st.text(alphabet="letry: 4*=28.'now\n<>/think", max_size=300), st.integers(0, 99))
@settings(max_examples=150)
def test_any_text_is_read(completion, target):
    found = english.failed_attempt(completion, target)
    assert found is None or (completion.startswith(found) and f"= {target}" not in found)
    cuts = english.cuts_of_run(completion)
    assert cuts is None or completion.startswith(cuts[0])


@pytest.mark.parametrize(
    ("given_text", "told"),
    [
        ("so 4 * 6 = 24.", "= 24"),
        ("so 4 * 6 =24", "= 24"),
        ("it is 240 = 240 or 24.5 = 24.5", ""),
        ("done </think>", "</think>"),
        ("use 4*7 -9+5", "4 * 7 - 9 + 5"),
        ("4 * 7 = 28", ""),
    ],
)
def test_what_gives_an_answer_away(given_text, told):
    assert NATIVE.holds_answer(given_text, 24, {"4 * 7 - 9 + 5"}) == told


def test_cuts_of_a_run():
    import pandas as pd

    run = "I take 4 * 7 = 28, 28 - 9 = 19, 19 + 5 = 24 </think>\n<answer> 4 * 7 - 9 + 5 </answer>"
    assert english.cuts_of_run(run) == (
        "I take 4 * 7 = 28, 28 - 9 = 19",
        "I take 4 * 7 = 28, 28 - 9 = 19, 19 + 5 = 24 </think>",
    )
    assert english.cuts_of_run("4 * 6 = 24 </think>") is None
    assert english.cuts_of_run("4 * 7 = 28, 28 - 4 = 24") is None  # the think part is not closed
    problems, openings, _ = frames(*PROBLEM)
    name = problems["problem_id"][0]
    rollouts = pd.DataFrame(
        {"policy": "p", "problem_id": name, "prefix": "", "sample": [0, 1], "completion": [run, run]}
    )
    scores = rollouts.drop(columns="completion").assign(correct=[True, False], answer_opening="4*")
    cuts = run_cuts(rollouts, scores, problems, openings, words=NATIVE)
    given_texts = dict(zip(cuts["rung"], cuts["prefix"]))
    assert (given_texts["before_last_step"], given_texts["before_answer"]) == english.cuts_of_run(run)
    assert set(cuts["family"]) == {"4*"}


def test_english_in_the_laptops_words():
    told = NATIVE.in_words("Well. Let me try: 4 × 7 = 28, (28-9) = 19")
    assert LAPTOP.in_words("try 4 * 7 = 28 ,") == "try 4 * 7 = 28 ,"
    assert told == "Well . try 4 * 7 = 28 , ( 28 - 9 ) = 19"


def test_think_openings_of_clamped_texts():
    for opening in ("4*", "10/", "7-"):
        assert think_opening(NATIVE.joined(NATIVE.entrance(opening), " 7 = 3")) == opening


TEMPLATE = {
    "user": "Make {target} of {numbers}, in {braces}.",
    "prefill": "<think>\n",
    "lead": "Try: ",
    "chat": "plain",
}


def test_a_template_of_ones_own(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(TEMPLATE))
    mine = wording(str(path))
    assert mine == wording(spelled_out(str(path))) and not mine.words
    assert mine.plain(mine.conversation([1, 2], 3)) == "Make 3 of [1, 2], in {braces}.\n\n<think>\n"
    assert mine.entrance("1+") == "Try: 1 +"
    assert spelled_out("native") == "native" and spelled_out("laptop") == "laptop"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": "Make {target}."}, r"user must hold \{numbers\}"),
        ({"prefil": "x"}, r"unknown key 'prefil' \(did you mean 'prefill'\?\)"),
        ({"prefill": "Answer:"}, "prefill must leave <think> open"),
        ({"prefill": "<think> </think>"}, "prefill must leave <think> open"),
        ({"before_answer": "\nSo <answer> "}, "before_answer must not hold <answer> tags"),
        ({"lead": "try"}, "lead must end in a mark"),
        ({"lead": 3}, "lead must be a text, not 3"),
        ({"chat": "yes"}, "chat must be one of auto, plain"),
        ({"name": "laptop"}, "laptop is the small policy's own wording"),
    ],
)
def test_templates_that_are_refused(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(TEMPLATE | change))
    with pytest.raises(UserError, match=message):
        spelled_out(str(path))


def test_a_template_that_is_no_file(tmp_path):
    with pytest.raises(UserError, match=r"'nativ' is no wording \(did you mean 'native'\?\)"):
        wording("nativ")
    (tmp_path / "bad.yaml").write_text("- a\n")
    with pytest.raises(UserError, match="must hold `key: text` lines"):
        wording(str(tmp_path / "bad.yaml"))
    (tmp_path / "bad.yaml").write_text("a: [\n")
    with pytest.raises(UserError, match=r"cannot read the template .*bad\.yaml"):
        wording(str(tmp_path / "bad.yaml"))


def test_numpy_numbers_are_written_as_python_s():
    import numpy as np

    assert "[4, 5]" in NATIVE.conversation(np.array([4, 5]), np.int64(9)).user
    assert isinstance(Wording("x", user="{numbers} {target}").conversation([1], 2), tuple)
