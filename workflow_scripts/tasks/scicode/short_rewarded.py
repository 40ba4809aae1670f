"""The verdict and the reward of what the small policy writes, in the form that trainers take."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.short_programs import rendered
from workflow_scripts.tasks.scicode.verdicts import LAYERS


class Rewarded(NamedTuple):
    """prompts: as the policy reads them, one a training problem. reward: of (place among them, completion in words)
    pairs, a dict each: score, the layers, format_ok, characters, think_opening (the program's first line of its own,
    None without one) and formula_form (of right programs: the program)."""

    prompts: list[str]
    reward: Callable[[list[tuple[int, str]]], list[dict[str, Any]]]


def rewarded(problems: Sequence[Problem], reward: Composition, sandbox: Sandbox) -> Rewarded:
    """All completions of a call are judged in one run of the sandbox; one that was judged before is not run again.

    Raises UserError for a reward that needs a judge: the small policy has none.
    """
    if reward.needs_judge:
        raise UserError(
            f"the reward {reward.name} needs a judge; the small policy is trained by rewards that ask nobody"
        )
    known: dict[tuple[int, str], dict[str, Any]] = {}

    def scored(answers: list[tuple[int, str]]) -> list[dict[str, Any]]:
        new = [pair for pair in dict.fromkeys(answers) if pair not in known]
        told = [(rendered(words), problems[place]) for place, words in new]
        for pair, (text, problem), verdict in zip(new, told, judge(told, sandbox), strict=True):
            known[pair] = {
                "score": reward.score(Evidence(text, verdict, problem)),
                **{layer: getattr(verdict, layer) for layer in LAYERS},
                "format_ok": verdict.format_ok,
                "characters": len(text),
                "think_opening": _opening(verdict.code),
                "formula_form": verdict.code if verdict.correct else None,
            }
        return [known[pair] for pair in answers]

    return Rewarded([problem.prompt for problem in problems], scored)


def _opening(code: str | None) -> str | None:
    """The first line of a program that is neither a definition nor a comment."""
    lines = (line.strip() for line in (code or "").splitlines())
    return next((line for line in lines if line and not line.startswith(("def ", "#", "```"))), None)


def sampled(verdicts: Sequence[dict], counts: Sequence[int]) -> list[dict]:
    """Verdicts of distinct completions dealt out to their samples; those of a prompt stay together, for
    `verl_rows.truth_row`."""
    return [verdict for verdict, count in zip(verdicts, counts, strict=True) for _ in range(count)]
