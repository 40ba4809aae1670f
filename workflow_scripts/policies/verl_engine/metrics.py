"""A segment's rows of metrics, out of verl's own log and its records of the rollouts.

Measures of breadth are those of `policies.rollouts.described`: the verdicts of every sample stand in the records, since
`reward_manager` hands them to verl and verl writes them. Columns that differ from the built-in trainer's:

- kl: verl's estimate on the sampled tokens (k3 for grpo, k1 for ppo), not the exact one; NaN where the coefficient is
  0, for no reference is loaded then;
- seconds_judging: mean seconds that a sample waits for its verdict, beside the sampling, whose seconds hold it;
- distinct: completions that differ in text or length (built in: in tokens);
- distinct, zero_variance, entrance_entropy: NaN with one sample a problem, which cannot differ from another.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.verl_files import entries

Sample = Mapping[str, object]
"""One sample as verl records it: input, output, score, and the keys of the verdict."""

_OF_VERL = {
    "token_entropy": "actor/entropy",
    "loss": "actor/loss",
    "clipped": "actor/pg_clipfrac",
    "grad_norm": "actor/grad_norm",
    "seconds_sampling": "timing_s/gen",
    "seconds_judging": "timing_s/agent_loop/compute_score/mean",
    "seconds": "timing_s/step",
}
_OF_SEVERAL = ("distinct", "zero_variance", "entrance_entropy")
_KL = ("actor/kl_loss", "actor/reward_kl_penalty")


def read_log(path: Path) -> dict[int, dict[str, float]]:
    """verl's numbers by step, from the file of its `file` logger; UserError, naming the line, where it is damaged."""
    logged: dict[int, dict[str, float]] = {}
    for entry in entries(path, "log", strict=True):
        logged.setdefault(entry["step"], {}).update(entry["data"])
    return logged


def read_rollouts(path: Path) -> list[dict]:
    """The samples of one step, in the order in which verl trained on them; UserError as of `read_log`."""
    return entries(path, "samples", strict=True)


def described(samples: Sequence[Sample], per_problem: int) -> dict[str, float]:
    """What a step's answers look like: the columns of `policies.rollouts.described`, with the same meanings; NaN for
    what one sample a problem does not have.

    samples: those of a problem stand together, `per_problem` of them. Raises UserError where they do not.
    """
    groups = _groups(samples, per_problem)
    openings = [Counter(sample["think_opening"] for sample in group if sample.get("think_opening")) for group in groups]
    formulas = [
        {sample["formula_form"] for sample in group if sample["score"] > 0 and sample.get("formula_form")}
        for group in groups
    ]
    found = {
        "reward": _mean([sample["score"] for sample in samples]),
        "format_ok": _mean([bool(sample.get("format_ok")) for sample in samples]),
        "truncated": _mean([not sample.get("stopped", True) for sample in samples]),
        "length": _mean([sample.get("tokens", math.nan) for sample in samples]),
        "distinct": sum(len({(s["output"], s.get("tokens")) for s in group}) for group in groups) / len(samples),
        "zero_variance": _mean([len({sample["score"] for sample in group}) == 1 for group in groups]),
        "entrance_entropy": _mean([_entropy(counter) for counter in openings if counter]),
        "distinct_formulas": _mean([len(given) for given in formulas]),
    }
    return found if per_problem > 1 else found | dict.fromkeys(_OF_SEVERAL, math.nan)


def entrance_masses(samples: Sequence[Sample]) -> dict[str, float]:
    """Share of a step's samples that open so (`4*`), "" for those without a readable first step; sorted by opening."""
    counts = Counter(str(sample.get("think_opening") or "") for sample in samples)
    return {opening: count / len(samples) for opening, count in sorted(counts.items())}


def rows(log: Path, rollouts: Path, first_step: int, last_step: int, per_problem: int) -> Iterator[dict]:
    """One row of `records.schemas.TRAINING` for each step after `first_step` up to `last_step`.

    log: file of verl's `file` logger. rollouts: folder of its records. Raises UserError, naming the step, where one
    was not trained.
    """
    logged = read_log(log)
    for step in range(first_step + 1, last_step + 1):
        if step not in logged:
            raise UserError(f"{log} holds no step {step}; verl trained {_span(logged)}")
        found = logged[step]
        kl = next((found[key] for key in _KL if key in found), math.nan)
        yield {
            "step": step,
            "kl": float(kl),
            **described(read_rollouts(rollouts / f"{step}.jsonl"), per_problem),
            **{column: float(found.get(key, math.nan)) for column, key in _OF_VERL.items()},
            "value_loss": float(found.get("critic/vf_loss", 0.0)),
        }


def _span(steps: Mapping[int, object]) -> str:
    return f"steps {min(steps)} to {max(steps)}" if steps else "none"


def _groups(samples: Sequence[Sample], per_problem: int) -> list[Sequence[Sample]]:
    groups = [samples[start : start + per_problem] for start in range(0, len(samples), per_problem)]
    for group in groups:
        if len(group) != per_problem or len({sample["input"] for sample in group}) != 1:
            raise UserError(
                f"verl's records do not hold {per_problem} samples of {group[0]['input']!r:.80} in a row; "
                "trainer.balance_batch must be off"
            )
    if not groups:
        raise UserError("verl's records hold no samples")
    return groups


def _entropy(counter: Counter) -> float:
    shares = [count / counter.total() for count in counter.values()]
    return -sum(share * math.log(share) for share in shares)


def _mean(values: Sequence[float]) -> float:
    return sum(map(float, values)) / len(values) if values else 0.0
