"""What is wrong with a run, said by its numbers alone: every sentence is computed from `run_diagnostics`."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from workflow_scripts.measures.run_diagnostics import WINDOW, not_logged, summary

LIMITS: Mapping[str, float] = {
    "saturated": 0.95,  # of the largest reward, mean at the end
    "no_gradient": 0.1,  # of the steps
    "effective": 0.25,  # of the prompts, at the end, at least
    "entropy_rise": 2.0,  # times the start
    "entropy_fall": 0.25,
    "at_cap": 0.1,  # of the samples, at the end
    "at_cap_once": 0.5,  # in one step
    "clipped": 0.2,  # of the tokens, at the end
    "hacking": 0.25,  # of the samples, at the end
    "errors": 2.0,  # standard errors that make a change
}
"""From where on a number is worth a sentence."""

ESSENTIAL = ("reward", "zero_variance", "entropy", "kl", "clipped", "length", "at_cap", "grad_norm")
"""What a run should have logged; the rest follows, or needs a verdict beside the reward."""

_SPELT = {
    "zero_variance": "reward variance within groups (or one sample a prompt)",
    "grad_norm": "gradient norm",
    "at_cap": "share at the cap",
}

Found = tuple[str, float, str]
"""Kind of warning, the number that it is about, its sentence."""


def warnings(
    frame: pd.DataFrame, *, largest: Mapping[str, float] | float | None = None, window: int = WINDOW
) -> pd.DataFrame:
    """Columns run, warning, value, text; no rows for runs that nothing is wrong with.

    frame: of run_diagnostics.diagnose. largest: the largest reward there is, of all runs or by run; without it, the
    largest one that a run logged of a sample; with neither, saturation is not judged. A change counts where it is
    larger than LIMITS["errors"] standard errors, so runs of fewer than four steps have none.
    """
    ends = summary(frame, window=window).set_index(["run", "measure"])
    rows = []
    for run, steps in frame.groupby("run", sort=False):
        top = largest.get(run) if isinstance(largest, Mapping) else largest
        found = ends.loc[run]
        for kind, value, text in [*_of_reward(found, top), *_of_samples(found), *_of_policy(found), *_of_log(steps)]:
            rows.append({"run": run, "warning": kind, "value": value, "text": text})
    return pd.DataFrame(rows, columns=["run", "warning", "value", "text"])


def changed(ends: pd.DataFrame, measure: str) -> int:
    """1 where a measure rose, −1 where it fell, 0 where it did neither or cannot be told.

    ends: rows of run_diagnostics.summary of one run, by measure.
    """
    if measure not in ends.index:
        return 0
    row = ends.loc[measure]
    difference = row["last"] - row["first"]
    return int(np.sign(difference)) if abs(difference) > LIMITS["errors"] * row["change_se"] else 0


def _of_reward(ends: pd.DataFrame, largest: float | None) -> Iterator[Found]:
    if "reward" not in ends.index:
        return
    reward = ends.loc["reward"]
    if largest is None and "reward_max" in ends.index:
        largest = ends.loc["reward_max", "highest"]
    if largest and largest > 0 and reward["last"] >= LIMITS["saturated"] * largest:
        share = reward["last"] / largest
        yield "saturated", share, f"the reward is saturated: {share:.1%} of the largest ({largest:.4g}) at the end"
    told = f"{reward['first']:.4g} to {reward['last']:.4g}"
    if changed(ends, "reward") < 0:
        yield "reward_fell", reward["last"] - reward["first"], f"the reward fell, {told}"
    if changed(ends, "reward") > 0 and "correct" in ends.index and changed(ends, "correct") <= 0:
        right = ends.loc["correct"]
        does = "fell" if changed(ends, "correct") else "did not rise"
        text = (
            f"the reward rose, {told}, the share of right samples {does}, {right['first']:.4g} to {right['last']:.4g}"
        )
        yield "reward_without_truth", right["last"] - right["first"], text


def _of_samples(ends: pd.DataFrame) -> Iterator[Found]:
    if "hacking" in ends.index and ends.loc["hacking", "last"] >= LIMITS["hacking"]:
        share = ends.loc["hacking", "last"]
        yield "hacking", share, f"{share:.0%} of the samples at the end are well rewarded and not right"
    if "no_gradient" in ends.index and ends.loc["no_gradient", "mean"] >= LIMITS["no_gradient"]:
        share, steps = ends.loc["no_gradient", ["mean", "steps"]]
        yield "no_gradient", share, f"{round(share * steps)} of {int(steps)} steps had no gradient ({share:.0%})"
    if "effective" in ends.index and ends.loc["effective", "last"] < LIMITS["effective"]:
        share = ends.loc["effective", "last"]
        yield "few_effective", share, f"{share:.0%} of the prompts at the end have samples of different rewards"


def _of_policy(ends: pd.DataFrame) -> Iterator[Found]:
    if "entropy" in ends.index and ends.loc["entropy", "first"] > 0:
        first, last = ends.loc["entropy", ["first", "last"]]
        ratio = last / first
        if ratio >= LIMITS["entropy_rise"]:
            yield "entropy_rose", ratio, f"the entropy rose {ratio:.1f}×, {first:.3g} to {last:.3g} nats"
        elif ratio <= LIMITS["entropy_fall"]:
            yield "entropy_fell", ratio, f"the entropy fell to {ratio:.0%} of its start, {first:.3g} to {last:.3g} nats"
    if "at_cap" in ends.index:
        last, highest = ends.loc["at_cap", ["last", "highest"]]
        if last >= LIMITS["at_cap"] or highest >= LIMITS["at_cap_once"]:
            yield "at_cap", last, f"{last:.0%} of the samples are cut off at the end, {highest:.0%} in the worst step"
    if "clipped" in ends.index and ends.loc["clipped", "last"] >= LIMITS["clipped"]:
        share = ends.loc["clipped", "last"]
        yield "clipped", share, f"{share:.0%} of the tokens are clipped at the end"


def _of_log(steps: pd.DataFrame) -> Iterator[Found]:
    present = set(steps["step"])
    gaps = [step for step in range(min(present), max(present)) if step not in present]
    if gaps:
        first = ", ".join(map(str, gaps[:5])) + (" …" if len(gaps) > 5 else "")
        yield "missing_steps", len(gaps), f"{len(gaps)} steps between the first and the last are not logged: {first}"
    silent = [_SPELT.get(name, name) for name in not_logged(steps)["measure"] if name in ESSENTIAL]
    if silent:
        yield "not_logged", len(silent), f"not logged: {', '.join(silent)}"
