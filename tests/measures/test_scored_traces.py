"""Which traces are scored, and where they are cut in tokens."""

import re

import pytest
from maths_rows import samples, scores

from workflow_scripts.measures.scored_traces import chosen_traces, cuts, drawn
from workflow_scripts.records.errors import UserError

TEXT = "4 * 3 = 12 , 12 + 5 = 17 </think> the answer is 17"


def word_offsets(text):
    return [word.span() for word in re.finditer(r"\S+", text)]


@pytest.fixture
def both():
    return scores(*samples("AABb", policy="base"), *samples("CA", policy="rlvr"))


def rollouts(frame):
    said = [f"{policy} {sample}" for policy, sample in zip(frame["policy"], frame["sample"])]
    return frame[["policy", "problem_id", "sample"]].assign(prefix="", completion=said)


def test_one_correct_trace_of_every_beginning_and_origin_with_its_text(both):
    traces = chosen_traces(both, rollouts(both))
    assert list(traces["completion"]) == ["base 0", "base 2", "rlvr 0", "rlvr 1"]
    assert list(traces["origin"]) == ["base", "base", "rlvr", "rlvr"]


def test_an_origins_traces_do_not_depend_on_the_others(both):
    alone = both[both["policy"] == "base"]
    together = chosen_traces(both, rollouts(both), most=1)
    assert together[together["origin"] == "base"].equals(chosen_traces(alone, rollouts(alone), most=1))


def test_an_origin_without_correct_samples_has_no_traces():
    frame = scores(*samples("AB", policy="base"), *samples("ab", policy="rlvr"))
    assert set(chosen_traces(frame, rollouts(frame))["origin"]) == {"base"}


def test_without_any_correct_sample_there_is_nothing_to_score():
    frame = scores(*samples("ab"))
    with pytest.raises(UserError, match="there are no traces to score"):
        chosen_traces(frame, rollouts(frame))


def test_a_score_without_its_rollout_is_named(both):
    with pytest.raises(UserError, match="sample 1 of rlvr on words-0000"):
        chosen_traces(both, rollouts(both).iloc[:-1])


def test_cuts_of_words():
    # The unit of the first calculation ends at the comma; the next one holds the second.
    assert cuts(TEXT, word_offsets(TEXT)) == {
        "boundary": 6, "boundary_sentence": 11, "boundary_second": 11, "split": False,
    }  # fmt: skip


def test_a_token_that_reaches_over_the_cut_is_before_it():
    found = cuts(TEXT, [(0, 9), (9, 14), (14, len(TEXT))])
    assert (found["boundary"], found["split"]) == (2, True)


def test_a_text_without_a_calculation_has_no_cuts():
    assert set(cuts("the answer is 17", word_offsets("the answer is 17")).values()) == {None}


def test_drawn_traces_are_a_fixed_part_in_their_order(both):
    traces = chosen_traces(both, rollouts(both))
    some = drawn(traces, 2, seed=1)
    assert len(some) == 2 and some.equals(drawn(traces, 2, seed=1)) and drawn(traces, 9, seed=1).equals(traces)
    assert list(some.index) == [0, 1] and set(some["completion"]) <= set(traces["completion"])
