"""The config of an audit: an overlay of config/config.yaml with one line of given checkpoints, and sizes for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workflow_scripts.audit.checks import Checkpoint
from workflow_scripts.records.errors import UserError
from workflow_scripts.settings import DEFAULT, read_yaml
from workflow_scripts.tasks.countdown.problem_files import read_problems
from workflow_scripts.tasks.countdown.problems import keys
from workflow_scripts.tasks.countdown.wording import wording

CONTRACTS = {"laptop": "strict", "native": "paper_grpo", "feasible": "paper_ppo"}
"""What counts as correct under a wording, where nothing else is asked for; `strict` for one's own templates."""

NEW_TOKENS = {"laptop": 64, "native": 1024, "feasible": 256}
"""Longest completion at the paper's sizes; one's own templates as `native`."""

LINE = "own"

_FEW_TOKENS = 256


@dataclass(frozen=True)
class Sizes:
    """How much is asked for. evaluation: problems. samples: completions of each. full: all sizes of the paper."""

    evaluation: int = 20
    samples: int = 16
    max_new_tokens: int | None = None
    full: bool = False


def overlay(
    checkpoints: Sequence[Checkpoint],
    *,
    study: str,
    wording_name: str,
    contract: str | None = None,
    engine: str = "built_in",
    sizes: Sizes,
    problems_file: str | None = None,
) -> dict[str, Any]:
    """The config of an audit, to be laid over config/config.yaml.

    Lines, roads and the maths lab of that config are dropped: nothing is trained. Raises UserError for a problem file
    with too few problems.
    """
    words, folders = wording(wording_name), [str(checkpoint.folder) for checkpoint in checkpoints]
    steps = folders if len(folders) > 1 else folders * 2  # a line has two ends; of one folder alone it is not asked for
    policy: dict[str, Any] = {"source": folders[0], "wording": wording_name}
    if words.words:
        policy["context"] = checkpoints[0].context
    default = read_yaml(DEFAULT)
    own = {"source": steps, "steps": len(steps), "segment": 1, "early": 1, "late": len(steps)}
    return {
        "study": study,
        "problems": _problem_counts(sizes, problems_file) | ({"source": problems_file} if problems_file else {}),
        "policy": policy,
        "lines": dict.fromkeys(default["lines"]) | {LINE: own},
        "sampling": {"engine": engine, **_sampling(sizes, wording_name)},
        "measures": {
            "contract": contract or CONTRACTS.get(wording_name, "strict"),
            "solution_set": "expressible" if words.words else "full",
            "pass_at": _pass_at(320 if sizes.full else sizes.samples),
        },
        "clamps": _clamps(sizes, wording_name),
        "interventions": _interventions(sizes, checkpoints[0].layers),
        "roads": dict.fromkeys(default.get("roads", {})),
        "maths": {"roads": None, "pairs": None},
    }


def new_tokens(sizes: Sizes, wording_name: str) -> int:
    """Longest completion, in tokens."""
    most = NEW_TOKENS.get(wording_name, NEW_TOKENS["native"])
    return sizes.max_new_tokens or (most if sizes.full else min(most, _FEW_TOKENS))


def _pass_at(samples: int) -> list[int]:
    return sorted({k for k in (1, 4, 16, 64, 256, 320) if k <= samples} | {samples})


def _sampling(sizes: Sizes, wording_name: str) -> dict[str, int]:
    longest = {"max_new_tokens": new_tokens(sizes, wording_name)}
    if sizes.full:
        return longest
    return {"samples": sizes.samples, "lost": 2 * sizes.samples, "halves": sizes.samples} | longest


def _clamps(sizes: Sizes, wording_name: str) -> dict[str, int]:
    longest = {"max_new_tokens": new_tokens(sizes, wording_name)}
    few = {"continuations": 4, "families": 1, "scaffolds": 1, "run_cuts": 2, "tail_cells": 16, "permutations": 19}
    return longest if sizes.full else few | longest


def _interventions(sizes: Sizes, layers: int) -> dict[str, Any]:
    half = layers // 2
    blocks = [[0, half], [half, layers], None] if half else [None]
    if sizes.full:
        return {"blocks": blocks}
    samples = max(2, min(8, sizes.samples))
    few = {"alphas": [0.5], "mixed": [0.5], "drawings": [{"temperature": 1.0}, {"temperature": 1.3, "min_p": 0.1}]}
    return {"samples": samples, "proposing": samples // 2, "blocks": blocks} | few


def _problem_counts(sizes: Sizes, file: str | None) -> dict[str, int]:
    if sizes.full:
        wanted = {"evaluation": 150, "calibration": 50, "depth": 534, "tail": 800}
    else:
        wanted = {"evaluation": sizes.evaluation, "calibration": max(1, 2 * sizes.evaluation // 5)}
        wanted |= {"depth": 12, "tail": 16}
    wanted["training"] = 1  # nothing is trained
    if wanted["evaluation"] < 2:
        raise UserError("at least 2 evaluation problems are needed: one to choose settings on, one to compare them on")
    if file:
        distinct = list(dict.fromkeys(keys(read_problems(file))))
        rest = distinct[wanted["evaluation"] :]
        four = sum(len(numbers) == 4 for numbers, _ in rest)
        wanted["depth"] = min(wanted["depth"], four, max(1, len(rest) - 1))
        wanted["tail"] = min(wanted["tail"], len(rest) - wanted["depth"])
        if not wanted["depth"] or wanted["tail"] < 1:
            raise UserError(
                f"{file} holds {len(distinct)} different problems: {wanted['evaluation']} for evaluation leave {four} "
                "of four numbers for the depth set, and one more is needed for the tail pool; give more, or a smaller "
                "--evaluation"
            )
    return wanted
