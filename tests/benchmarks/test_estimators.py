"""The estimator stage beside what a user would run instead: the human-eval loop, and a bootstrap in plain Python.

`make benchmarks`. Sizes are those of the study: 30 policies × 150 problems × 320 samples. The ratios are printed and
stored with each benchmark.
"""

import time

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures import estimators
from workflow_scripts.measures.breadth import breadth
from workflow_scripts.measures.comparison import bootstrap_of, contrasts, problem_values, summary
from workflow_scripts.measures.statistics import Bootstrap

POLICIES, PROBLEMS, SAMPLES = 30, 150, 320


def _once(function):
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def _report(benchmark, seconds_theirs, what):
    ratio = seconds_theirs / benchmark.stats.stats.median
    benchmark.extra_info.update(
        {"instead": what, "instead_seconds": round(seconds_theirs, 4), "ratio": round(ratio, 1)}
    )
    print(f"\n{what}: {seconds_theirs:.4g} s; here {benchmark.stats.stats.median:.4g} s; {ratio:.1f} times faster")
    return ratio


def _human_eval(n, c, k):
    """openai/human-eval, evaluation.py, as published."""
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))


def test_pass_at_every_k(benchmark):
    correct = np.random.default_rng(1).integers(0, SAMPLES + 1, PROBLEMS)
    ks = np.arange(1, SAMPLES + 1)
    ours = benchmark(lambda: estimators.pass_at_k(samples=SAMPLES, correct=correct, ks=ks))
    theirs, seconds = _once(lambda: np.array([[_human_eval(SAMPLES, c, k) for k in ks] for c in correct]))
    np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert _report(benchmark, seconds, "human-eval loop over 320 k × 150 problems") > 10
    assert benchmark.stats.stats.median < 1


def test_bootstrap(benchmark):
    """The whole pass@k curve of one policy, 2,000 draws."""
    values = np.random.default_rng(2).random((PROBLEMS, SAMPLES))
    ours = benchmark(lambda: Bootstrap.over(PROBLEMS, seed=1, draws=2000).estimate(values))

    def naive(columns):
        stream, intervals = np.random.default_rng(3), []
        for column in range(columns):
            rows = values[:, column]
            means = sorted(rows[stream.integers(0, PROBLEMS, PROBLEMS)].mean() for _ in range(2000))
            intervals.append((means[49], means[1949]))
        return np.array(intervals)

    theirs, seconds = _once(lambda: naive(8))
    np.testing.assert_allclose(np.stack([ours.low, ours.high], axis=1)[:8], theirs, atol=0.01)
    assert _report(benchmark, seconds * SAMPLES / 8, "loop of resamples, 320 columns (8 timed)") > 10


def _scores(policy, seed, leaves):
    stream = np.random.default_rng(seed)
    rows = PROBLEMS * SAMPLES
    problem = np.repeat(np.arange(PROBLEMS), SAMPLES)
    leaf = stream.integers(0, leaves[problem]) * stream.integers(0, 2, rows)
    correct = stream.random(rows) < 0.3
    name = problem.astype(str).astype(object)
    form = (
        np.where(correct, "(", "w")
        + name
        + "/"
        + leaf.astype(str).astype(object)
        + np.where(correct, "", stream.integers(0, 99, rows).astype(str))
    )
    opening = stream.integers(0, 8, rows).astype(str).astype(object) + "*"
    frame = pd.DataFrame(
        {
            "policy": policy,
            "problem_id": "p" + name,
            "prefix": "",
            "sample": np.tile(np.arange(SAMPLES), PROBLEMS),
            "correct": correct,
            "format_ok": True,
            "paper_form": form,
            "formula_form": form,
            "paper_family": (leaf // 4).astype(str).astype(object) + "*",
            "answer_opening": opening,
            "think_opening": opening,
            "tokens": 25,
            "finish_reason": "stop",
        }
    )
    texts = [name for name in frame if isinstance(frame[name].iloc[0], str)]
    return frame.astype(dict.fromkeys(texts, "str"))


@pytest.fixture(scope="module")
def study():
    leaves = np.random.default_rng(0).integers(2, 26, PROBLEMS)
    pairs = [(p, leaf) for p in range(PROBLEMS) for leaf in range(leaves[p])]
    solutions = pd.DataFrame(
        {
            "problem_id": [f"p{p}" for p, _ in pairs],
            "paper_form": [f"({p}/{leaf}" for p, leaf in pairs],
            "formula_form": [f"({p}/{leaf}" for p, leaf in pairs],
            "paper_family": [f"{leaf // 4}*" for _, leaf in pairs],
            "expressible": [leaf % 5 < 4 for _, leaf in pairs],
        }
    )
    menu = [(p, o) for p in range(PROBLEMS) for o in range(6)]
    openings = pd.DataFrame(
        {"problem_id": [f"p{p}" for p, _ in menu], "opening": [f"{o}*" for _, o in menu], "expressible": True}
    )
    return _scores("policy", 1, leaves), solutions, openings


def test_reduction_of_one_policy(benchmark, study):
    """48,000 scored samples to counts and measures per problem, beside loops over pandas groups."""
    scores, solutions, _ = study
    problems, _ = benchmark.pedantic(breadth, args=study, rounds=3)

    def naive():
        listed = {p: set(g["paper_form"]) for p, g in solutions.groupby("problem_id")}
        found = {}
        for problem_id, rows in scores.groupby("problem_id"):
            hits = {
                f for f, ok in zip(rows["paper_form"], rows["correct"], strict=True) if ok and f in listed[problem_id]
            }
            entropy = rows["think_opening"].value_counts(normalize=True).pipe(lambda p: -(p * np.log(p)).sum())
            found[problem_id] = (len(hits), entropy)
        return found

    theirs, seconds = _once(naive)
    by_problem = problems.set_index("problem_id")
    assert all(by_problem.loc[p, "found_paper"] == hits for p, (hits, _) in theirs.items())
    _report(benchmark, seconds, "group loop, 2 of 40 columns")
    assert benchmark.stats.stats.median < 1


def test_all_policies(benchmark, study):
    """Every measure of 30 policies with intervals, and every step's paired difference from the first: under a
    second."""
    problems, _ = breadth(*study)
    frame = pd.concat([problems.assign(policy=f"policy{i:02}") for i in range(POLICIES)])

    def stage():
        values = problem_values(frame, [1, 4, 16, 64, 256, 320])
        bootstrap = bootstrap_of(values, seed=1, draws=2000)
        entries = {policy: [policy] for policy in values.policies}
        pairs = [(values.policies[0], policy) for policy in values.policies[1:]]
        return summary(values, bootstrap), contrasts(values, bootstrap, entries, pairs)

    levels, changes = benchmark.pedantic(stage, rounds=3)
    assert levels["entry"].nunique() == POLICIES
    assert len(changes) == (POLICIES - 1) * levels["measure"].nunique()
    assert benchmark.stats.stats.median < 1
