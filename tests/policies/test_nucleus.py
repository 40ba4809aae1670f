import numpy as np
import pytest

from workflow_scripts.policies.nucleus import draw, likely, nucleus, probabilities


@pytest.mark.parametrize(
    ("shares", "top_p", "kept"),
    [
        ([0.5, 0.3, 0.2], 1.0, [0, 1, 2]),
        ([0.5, 0.3, 0.2], 0.75, [0, 1]),
        ([0.5, 0.3, 0.2], 0.81, [0, 1, 2]),
        ([0.5, 0.3, 0.2], 0.4, [0]),
        ([0.2, 0.5, 0.3], 0.01, [1]),
        ([0.25, 0.25, 0.25, 0.25], 0.6, [1, 2, 3]),  # equal shares: the earlier are dropped first
        ([0.25, 0.25, 0.25, 0.25], 0.5, [2, 3]),  # the kept sum may be exactly top_p
        ([1.0, 0.0, 0.0], 0.9, [0]),
    ],
)
def test_nucleus_keeps_the_smallest_likeliest_set(shares, top_p, kept):
    result = nucleus(np.array([shares], np.float32), top_p)[0]
    assert np.flatnonzero(result).tolist() == kept
    assert np.array_equal(result[kept], np.array(shares, np.float32)[kept])


@pytest.mark.parametrize(("temperature", "top_p"), [(0.7, 0.9), (1.0, 0.95), (1.5, 0.5), (0.3, 0.99)])
def test_nucleus_is_that_of_transformers(temperature, top_p):
    torch = pytest.importorskip("torch")
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopPLogitsWarper

    spread = np.random.default_rng(3).uniform(0.2, 6, size=(3000, 1))
    logits = (np.random.default_rng(4).standard_normal((3000, 120)) * spread).astype(np.float32)
    warped = TopPLogitsWarper(top_p)(None, TemperatureLogitsWarper(temperature)(None, torch.from_numpy(logits)))
    wanted = torch.softmax(warped, -1).numpy()
    kept = nucleus(probabilities(logits, temperature), top_p)
    differs = ((kept > 0) != (wanted > 0)).any(axis=1)
    # the two add up 120 numbers in different order: only a sum within rounding of the limit may fall on the other side
    for row in np.flatnonzero(differs):
        ascending = np.cumsum(np.sort(probabilities(logits[row].astype(np.float64), temperature)))
        assert np.abs(ascending - (1 - top_p)).min() < 1e-6
    assert differs.sum() <= 3
    ours = kept / kept.sum(axis=1, keepdims=True)
    assert np.abs(ours - wanted)[~differs].max() < 1e-5


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    seen = expected > 0
    assert counts[~seen].sum() == 0
    return float(((counts[seen] - expected[seen]) ** 2 / expected[seen]).sum())


@pytest.mark.parametrize(("temperature", "top_p", "limit"), [(1.0, 1.0, 22.5), (0.7, 0.9, 20.1)])
def test_draws_follow_the_distribution(temperature, top_p, limit):
    logits = np.array([[0.0, 1.0, 2.0, -1.0, 0.5, 0.2, -0.3, 1.5], [9.0, 0, 0, 0, 0, 0, 0, 0]], np.float32)
    rng = np.random.default_rng(11)
    rows = rng.integers(0, 2, 40_000)
    tokens = draw(logits, rows, rng.random(40_000), temperature=temperature, top_p=top_p)
    exact = nucleus(probabilities(logits.astype(np.float64), temperature), top_p)[0]
    counts = np.bincount(tokens[rows == 0], minlength=8)
    assert chi_square(counts, exact / exact.sum() * counts.sum()) < limit  # 99.8 % of 7 (5) degrees of freedom
    assert (tokens[rows == 1] == 0).mean() > 0.99


def test_extreme_uniforms_stay_inside_the_nucleus():
    logits = np.array([[-9.0, 1.0, 0.9, -9.0], [-9.0, -9.0, 1.0, 0.9]], np.float32)
    rows, below_one = np.array([0, 0, 1, 1]), 1 - 2.0**-53
    tokens = draw(logits, rows, np.array([0, below_one, 0, below_one]), temperature=1, top_p=0.9)
    assert tokens.tolist() == [1, 2, 2, 3]


def test_a_draw_does_not_depend_on_its_row():
    logits = np.random.default_rng(0).standard_normal((1, 50)).astype(np.float32)
    uniforms = np.random.default_rng(1).random(500)
    alone = draw(logits, np.zeros(500, int), uniforms, temperature=0.7, top_p=0.9)
    crowd = np.random.default_rng(2).standard_normal((999, 50)).astype(np.float32)
    among = draw(np.concatenate([crowd, logits]), np.full(500, 999), uniforms, temperature=0.7, top_p=0.9)
    assert np.array_equal(alone, among)


def test_temperature_zero_takes_the_likeliest():
    logits = np.array([[0.0, 3.0, 1.0]], np.float32)
    assert draw(logits, np.zeros(3, int), np.array([0.0, 0.5, 0.99]), temperature=0, top_p=1).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("shares", "min_p", "kept"),
    [
        ([0.5, 0.3, 0.2], 0.0, [0, 1, 2]),
        ([0.5, 0.3, 0.2], 0.5, [0, 1]),
        ([0.5, 0.25, 0.25], 0.5, [0, 1, 2]),  # exactly the share is enough
        ([0.25, 0.5, 0.25], 0.51, [1]),
        ([0.5, 0.5, 0.0], 1.0, [0, 1]),
        ([0.0, 0.6, 0.3], 0.5, [1, 2]),  # after top-p: what it dropped stays dropped
    ],
)
def test_min_p_keeps_what_is_likely_beside_the_likeliest(shares, min_p, kept):
    result = likely(np.array([shares], np.float32), min_p)[0]
    assert np.flatnonzero(result).tolist() == kept
    assert np.array_equal(result[kept], np.array(shares, np.float32)[kept])


@pytest.mark.parametrize(
    ("temperature", "top_p", "min_p"), [(1.0, 1.0, 0.05), (1.5, 1.0, 0.1), (0.7, 0.9, 0.3), (1.3, 0.95, 0.01)]
)
def test_min_p_is_that_of_transformers(temperature, top_p, min_p):
    torch = pytest.importorskip("torch")
    from transformers.generation.logits_process import MinPLogitsWarper, TemperatureLogitsWarper, TopPLogitsWarper

    spread = np.random.default_rng(5).uniform(0.2, 6, size=(2000, 1))
    logits = (np.random.default_rng(6).standard_normal((2000, 120)) * spread).astype(np.float32)
    warped = TemperatureLogitsWarper(temperature)(None, torch.from_numpy(logits))
    if top_p < 1:
        warped = TopPLogitsWarper(top_p)(None, warped)
    wanted = torch.softmax(MinPLogitsWarper(min_p)(None, warped), -1).numpy()
    kept = likely(nucleus(probabilities(logits, temperature), top_p), min_p)
    differs = ((kept > 0) != (wanted > 0)).any(axis=1)
    assert differs.sum() <= 3  # sums and ratios within rounding of a limit
    ours = kept / kept.sum(axis=1, keepdims=True)
    assert np.abs(ours - wanted)[~differs].max() < 1e-5
    assert (kept > 0).sum(axis=1).max() > 1 and (kept == 0).any()


def test_min_p_draws_only_what_it_keeps_and_0_changes_no_draw():
    logits = np.random.default_rng(0).standard_normal((300, 50)).astype(np.float32) * 2
    rows, uniforms = np.repeat(np.arange(300), 20), np.random.default_rng(1).random(6000)
    plain = draw(logits, rows, uniforms, temperature=1.3, top_p=0.95)
    assert np.array_equal(draw(logits, rows, uniforms, temperature=1.3, top_p=0.95, min_p=0), plain)
    cut = draw(logits, rows, uniforms, temperature=1.3, top_p=0.95, min_p=0.4)
    shares = probabilities(logits, 1.3)
    inside = shares >= np.float32(0.4) * shares.max(axis=1, keepdims=True)
    assert inside[rows, cut].all() and not inside[rows, plain].all()
    only = draw(logits, rows, uniforms, temperature=1.3, top_p=1, min_p=1)
    assert np.array_equal(only, logits.argmax(axis=1)[rows])
