import itertools

import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies.chunks import padded, split, teacher_forced

tokens = st.lists(st.integers(1, 9), min_size=1, max_size=7)


def test_split_holds_everything_once_within_the_limit():
    lengths = [5, 30, 7, 7, 64, 1]
    parts = split(lengths, limit=40)
    assert sorted(place for part in parts for place in part) == list(range(6))
    assert all(max(lengths[p] for p in part) * len(part) <= 40 or len(part) == 1 for part in parts)
    assert parts == [[5, 0, 2, 3], [1], [4]]


def test_padding_is_on_the_right():
    assert padded([[1, 2], [3], [4, 5, 6]], pad_id=9).tolist() == [[1, 2, 9], [3, 9, 9], [4, 5, 6]]


def test_a_chunk_by_hand():
    (chunk,) = teacher_forced([([1, 2], [3, 4, 5]), ([6, 7, 8], [])])
    assert chunk.tokens.tolist() == [[6, 7, 8, 0, 0], [1, 2, 3, 4, 5]]
    assert (chunk.rows.tolist(), chunk.targets.tolist(), chunk.texts.tolist()) == ([6, 7, 8], [3, 4, 5], [0, 0, 0])
    assert chunk.steps.tolist() == [0, 1, 2]
    (chunk,) = teacher_forced([([1, 2], [3])], whole=True)
    assert (chunk.rows.tolist(), chunk.targets.tolist()) == ([0, 1], [2, 3])


@given(st.lists(st.tuples(tokens, tokens), min_size=1, max_size=12), st.booleans(), st.integers(1, 40))
def test_every_token_is_predicted_once_from_the_one_before(texts, whole, limit):
    seen = {}
    for chunk in teacher_forced(texts, whole=whole, limit=limit):
        flat = chunk.tokens.flatten()
        assert torch.equal(flat[chunk.rows + 1], chunk.targets)
        for row, target, text in zip(chunk.rows.tolist(), chunk.targets.tolist(), chunk.texts.tolist(), strict=True):
            seen.setdefault(text, []).append((int(flat[row]), target))
    for place, (prompt, completion) in enumerate(texts):
        joined = [*prompt, *completion]
        pairs = list(itertools.pairwise(joined))
        assert seen.get(place, []) == (pairs if whole else pairs[len(prompt) - 1 :])
