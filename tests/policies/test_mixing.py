import numpy as np
import pytest

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.decoding import decode
from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.inference import Reader, RowCache, step
from workflow_scripts.policies.mixing import STRATEGIES, Mixture, mixed, mixture
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import sample_keys

END, CLOSE, VOCABULARY = 2, 5, 9
PROMPTS = [[3, 4, 6], [3, 4], [7, 8, 3, 3], [3, 4, CLOSE, 6]]
DRAWING = {"temperature": 0.7, "top_p": 0.9, "max_new_tokens": 10, "eos_id": END}


def policy(seed: int, vocabulary: int = VOCABULARY, spread: float = 0.25, **changes) -> DecodeWeights:
    sizes = {"hidden": 32, "layers": 2, "heads": 2, "head_dim": 16, "mlp": 48, "positions": 24} | changes
    architecture = Architecture(vocabulary, **sizes)
    rng = np.random.default_rng(seed)
    tensors = {
        name: (np.ones(shape) if len(shape) == 1 else rng.standard_normal(shape) * spread).astype(np.float32)
        for name, shape in architecture.shapes().items()
    }
    return DecodeWeights.from_tensors(tensors, architecture.config())


@pytest.fixture(scope="module")
def late():
    return policy(1)


@pytest.fixture(scope="module")
def early():
    return policy(2)


def keys(samples: int) -> np.ndarray:
    return np.stack([sample_keys("mixing", place, samples=range(samples)) for place in range(len(PROMPTS))])


def said(weights, reader=Reader, samples=40, **changes):
    return decode(weights, PROMPTS, keys(samples), **(DRAWING | changes), log_probs=True, reader=reader)


def equal(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("tokens", "lengths", "log_probs"))


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        ("global", [0.5, 0.5, 0.5]),
        ("reasoning", [0.5, 0.5, 0.0]),
        ("answer", [0.0, 0.0, 0.5]),
        # uniform over four words: H = ln 4, all of alpha; two equal ones: ln 2 / ln 4, half of it; one word: H = 0
        ("entropy_adaptive", [0.5, 0.25, 0.0]),
    ],
)
def test_shares_by_hand(strategy, wanted):
    none = -1e4
    logits = np.array([[1, 1, 1, 1], [3, none, 3, none], [none, 7, none, none]], np.float32)
    rule = Mixture(policy(2, 4), 0.5, strategy, close_id=3)
    assert rule.shares(logits, np.array([False, False, True])) == pytest.approx(wanted, abs=1e-6)


def test_mixed_logits_by_hand():
    late = np.array([[1, 2], [1, 2], [1.1, 2.3]], np.float32)
    early = np.array([[5, -2], [5, -2], [0.7, 0.1]], np.float32)
    shares = np.array([0.25, 0, 1], np.float32)
    assert mixed(late, early, shares).tolist() == [[2.0, 1.0], [1, 2], early[2].tolist()]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_alpha_0_says_what_the_late_policy_says(late, early, strategy):
    assert equal(said(late, Mixture(early, 0, strategy, CLOSE)), said(late))


def test_a_tiny_alpha_reads_both_and_says_what_the_late_policy_says(late, early):
    assert np.array_equal(said(late, Mixture(early, 1e-12, "global", CLOSE)).tokens, said(late).tokens)


def test_alpha_1_everywhere_says_what_the_early_policy_says(late, early):
    assert equal(said(late, Mixture(early, 1, "global", CLOSE)), said(early))
    assert not np.array_equal(said(early).tokens, said(late).tokens)


def following(weights, ids):
    """Logits after `ids`, read alone, one token at a time."""
    cache = RowCache(weights)
    for position, token in enumerate(ids):
        logits = step(weights, np.array([token]), cache, position)
    return logits[0].astype(np.float64)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("rows_at_once", [1, 512])
def test_log_probs_are_those_of_the_rule_read_alone(late, early, strategy, rows_at_once):
    alpha = 0.6
    decoded = said(late, Mixture(early, alpha, strategy, CLOSE), 12, temperature=1, top_p=1, rows_at_once=rows_at_once)
    spans = set()
    for prompt, tokens, lengths, found in zip(PROMPTS, decoded.tokens, decoded.lengths, decoded.log_probs):
        for row, length, values in zip(tokens.tolist(), lengths, found):
            for place in range(length):
                ids = [*prompt, *row[:place]]
                closed = CLOSE in ids
                spans.add(closed)
                own, other = following(late, ids), following(early, ids)
                shares = np.exp(own - own.max())
                shares /= shares.sum()
                a = {
                    "global": alpha,
                    "reasoning": 0 if closed else alpha,
                    "answer": alpha if closed else 0,
                    "entropy_adaptive": -alpha * (shares * np.log(shares)).sum() / np.log(VOCABULARY),
                }[strategy]
                both = (1 - a) * own + a * other
                wanted = both[row[place]] - both.max() - np.log(np.exp(both - both.max()).sum())
                assert values[place] == pytest.approx(wanted, abs=2e-5)
    assert spans == {True, False}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_order_and_number_of_samples_change_no_bit(late, early, strategy):
    rule = Mixture(early, 0.5, strategy, CLOSE)
    whole, few = said(late, rule), said(late, rule, 7)
    assert np.array_equal(whole.tokens[:, :7, : few.tokens.shape[2]], few.tokens)
    assert equal(whole, said(late, rule, rows_at_once=1))


def test_spans_differ_where_they_should(late, early):
    """Up to the close of the think part `answer` is the late policy, and `reasoning` mixes as `global` does."""
    free, answer = said(late), said(late, Mixture(early, 1, "answer", CLOSE))
    everywhere, reasoning = (said(late, Mixture(early, 0.7, name, CLOSE)) for name in ("global", "reasoning"))
    differ = 0
    for one, other in ((free, answer), (everywhere, reasoning)):
        for prompt in range(3):  # the fourth has closed before it begins
            for a, b in zip(one.tokens[prompt].tolist(), other.tokens[prompt].tolist()):
                until = a.index(CLOSE) + 1 if CLOSE in a else len(a)
                assert a[:until] == b[:until]
                differ += a != b
    assert differ > 10


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alpha": -0.1}, r"alpha of a mixture must be in \[0, 1\], not -0.1"),
        ({"alpha": 1.5}, "not 1.5"),
        ({"alpha": float("nan")}, "not nan"),
        ({"strategy": "thinking"}, "'thinking' is none of global, reasoning"),
        ({"close_id": VOCABULARY}, "outside the vocabulary of 9"),
    ],
)
def test_impossible_mixtures_are_named(early, changes, words):
    with pytest.raises(UserError, match=words):
        Mixture(**({"early": early, "alpha": 0.5, "strategy": "global", "close_id": CLOSE} | changes))


def test_policies_that_cannot_be_mixed_are_named(late):
    with pytest.raises(UserError, match="vocabularies of 9 and 10 words cannot be mixed"):
        said(late, Mixture(policy(2, 10), 0.5, "global", CLOSE))
    with pytest.raises(UserError, match="reads 24 tokens and its partner only 16"):
        said(late, Mixture(policy(2, positions=16), 0.5, "global", CLOSE))
    with pytest.raises(UserError, match="lacks the word '</think>'"):
        mixture(policy(2), ("a", "b"), alpha=0.5, strategy="global")


def test_the_word_that_closes_is_found(early):
    assert mixture(early, ("a", "</think>", "b"), alpha=0.5, strategy="answer").close_id == 1
