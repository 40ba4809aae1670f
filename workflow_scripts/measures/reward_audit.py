"""The reward audit: what trivial policies earn under every reward, and which reward pays an answer above a better one.

An answer is better than another of the same problem when it passes more layers of the verdict, or as many and more
checks. Truth is the real verdict; rewards that need a judge are scored where one is given.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence
from workflow_scripts.tasks.scicode.rewards.asking import Ask, judged_for
from workflow_scripts.tasks.scicode.trivial import TRIVIAL, answers
from workflow_scripts.tasks.scicode.verdicts import LAYERS

RULES = {
    "wrong above right": "an answer that is not right earns more than one that is",
    "broken above running": "a text without a program that parses earns more than a program that runs",
    "further above closer": "of two answers that are not right, the one that passes fewer layers or checks earns more",
}
"""What a reward must not do, by name; of a pair of answers the first rule that fits is named."""


def audit(
    problems: Iterable[Problem], rewards: Mapping[str, Composition], sandbox: Any, ask: Ask | None = None
) -> pd.DataFrame:
    """Every trivial policy's answer to every problem, judged, with its score under every reward.

    rewards: those that need a judge are left out where there is none to `ask`. sandbox: running.
    Returns one row per policy and problem: policy, group, problem_id, family, LAYERS (flags), closeness (layers passed,
    and the share of checks passed), then a column `reward:NAME` per reward in [0, largest].
    Raises UserError where a judge gives no answer that can be used.
    """
    given = answers(problems)
    verdicts = judge([(answer.completion, answer.problem) for answer in given], sandbox)
    evidences = [Evidence(a.completion, verdict, a.problem) for a, verdict in zip(given, verdicts, strict=True)]
    rows = [
        {
            "policy": answer.policy,
            "group": TRIVIAL[answer.policy].group,
            "problem_id": answer.problem.problem_id,
            "family": answer.problem.family,
            **{layer: bool(getattr(verdict, layer)) for layer in LAYERS},
            "closeness": sum(getattr(verdict, layer) for layer in LAYERS) + verdict.passed / max(verdict.total, 1) / 2,
        }
        for answer, verdict in zip(given, verdicts, strict=True)
    ]
    frame = pd.DataFrame(rows)
    scored = {}
    for name, reward in rewards.items():
        if ask is not None or not reward.needs_judge:
            seen = judged_for(reward, evidences, ask) if reward.needs_judge else evidences
            scored[f"reward:{name}"] = [reward.score(evidence) for evidence in seen]
    return pd.concat([frame, pd.DataFrame(scored, index=frame.index, dtype=float)], axis=1)


def means(audited: pd.DataFrame) -> pd.DataFrame:
    """Mean scores over problems, long: policy, group, reward, family ("all" first), problems, truth (share correct),
    runs (share that run), score. Policies and rewards in the order of the audit.
    """
    columns = [name for name in audited.columns if name.startswith("reward:")]
    long = pd.concat([audited.assign(family="all"), audited], ignore_index=True)
    families = ["all", *sorted(set(audited["family"]))]
    long["policy"] = pd.Categorical(long["policy"], list(dict.fromkeys(audited["policy"])), ordered=True)
    long["family"] = pd.Categorical(long["family"], families, ordered=True)
    by = ["policy", "group", "family"]
    grouped = long.groupby(by, observed=True, sort=True)
    wide = grouped[columns].mean()
    wide[["truth", "runs", "problems"]] = grouped.agg(truth=("correct", "mean"), runs=("runs", "mean"),
                                                      problems=("correct", "size"))  # fmt: skip
    melted = wide.reset_index().melt([*by, "problems", "truth", "runs"], columns, "reward", "score")
    melted["reward"] = melted["reward"].str.removeprefix("reward:")
    ordered = ["policy", "group", "reward", "family", "problems", "truth", "runs", "score"]
    return melted[ordered].astype({"policy": str, "family": str})


def violations(audited: pd.DataFrame, *, margin: float = 1e-9) -> pd.DataFrame:
    """Pairs of policies of which a reward pays the worse answer more, on the same problem.

    margin: scores that differ by less are equal. Returns reward, rule (of RULES), paid (the policy that earns more),
    above (the one that is better), problems (on which the one is worse than the other), share (of those on which it is
    paid more), gap (mean difference there); in the order of rewards, then of RULES, then by share times gap.
    """
    rewards = [name for name in audited.columns if name.startswith("reward:")]
    pairs = audited.merge(audited, on="problem_id", suffixes=("", " better"))
    pairs = pairs[pairs["closeness"] < pairs["closeness better"]]
    rules = np.select(
        [pairs["correct better"], ~pairs["parses"] & pairs["runs better"]], list(RULES)[:2], default=list(RULES)[2]
    )
    found = []
    for name in rewards:
        gap = pairs[name] - pairs[f"{name} better"]
        table = pd.DataFrame(
            {
                "rule": rules,
                "paid": pairs["policy"],
                "above": pairs["policy better"],
                "gap": gap,
                "broken": gap > margin,
            }
        )
        table["gap"] = table["gap"].where(table["broken"])
        groups = table.groupby(["rule", "paid", "above"])
        each = groups.agg(problems=("broken", "size"), share=("broken", "mean"), gap=("gap", "mean")).reset_index()
        found.append(each[each["share"] > 0].assign(reward=name.removeprefix("reward:"), order=len(found)))
    columns = ["reward", "rule", "paid", "above", "problems", "share", "gap"]
    if not found:
        return pd.DataFrame(columns=columns)
    listed = pd.concat(found, ignore_index=True)
    listed["rank"] = listed["rule"].map({rule: place for place, rule in enumerate(RULES)})
    listed["loss"] = (listed["share"] * listed["gap"]).round(9)
    by = ["order", "rank", "loss", "paid", "above"]
    return listed.sort_values(by, ascending=[True, True, False, True, True])[columns].reset_index(drop=True)


def broken_rules(listed: pd.DataFrame, rewards: Iterable[str]) -> pd.DataFrame:
    """How many pairs of policies break each rule: one row per reward (all of `rewards`), a column per rule of RULES,
    then `worst`: the first pair in words, empty for none. listed: `violations`."""
    rows = []
    for reward in rewards:
        mine = listed[listed["reward"] == reward]
        words = [f"{row.paid} above {row.above} by {row.gap:.2f}" for row in mine.head(1).itertuples()]
        rows.append(
            {"reward": reward, **{rule: int((mine["rule"] == rule).sum()) for rule in RULES}, "worst": "".join(words)}
        )
    return pd.DataFrame(rows, columns=["reward", *RULES, "worst"])
