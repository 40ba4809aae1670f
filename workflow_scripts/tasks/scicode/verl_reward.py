"""The reward of scientific coding with verl's signature: truth by execution, and what a composition pays for it.

verl hands over one sample at a time and waits for many at once. Those that come while the sandbox is busy are judged
together; the sandbox is one for each process, and ends with it.

What is paid stands in a file of JSON, which a training state keeps: {"reward": a composition or the name of one,
"limits": {seconds, memory_mb, isolation}, "workers": programs at once}. Rewards that ask a judge need a client, which
the function here does not have: `policies.verl_engine.judged_reward` brings one.
"""

import asyncio
import atexit
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.rewards import Composition, Evidence, Judgement, composition
from workflow_scripts.tasks.scicode.rewards.asking import Ask, judged_for
from workflow_scripts.tasks.scicode.sandbox import Sandbox, limited
from workflow_scripts.tasks.scicode.verdicts import LAYERS
from workflow_scripts.tasks.scicode.verl_rows import problem_of


class Sample(NamedTuple):
    """A completion and the problem that it answers."""

    completion: str
    problem: Problem


class Rewarding:
    """Scores samples, many at a time; a context manager. For one thread at a time.

    limits: seconds, memory_mb and isolation of a program. workers: programs at once. ask: the judge.
    Raises UserError where the reward needs a judge and there is none to ask.
    """

    def __init__(
        self, reward: Composition, *, limits: Mapping[str, Any], workers: int = 2, ask: Ask | None = None
    ) -> None:
        if reward.needs_judge and ask is None:
            raise UserError(f"the reward {reward.name} needs a judge: set scicode.judge to an endpoint")
        self.reward, self._ask = reward, ask
        self._limits, self._workers = dict(limits), workers
        self._sandbox: Sandbox | None = None

    @classmethod
    def read(cls, path: str | Path, ask: Ask | None = None) -> "Rewarding":
        """From the file that says what is paid. Raises UserError, naming the file, where it is damaged."""
        try:
            told = json.loads(Path(path).read_text(encoding="utf-8"))
            reward, limits, workers = told["reward"], told["limits"], int(told.get("workers", 2))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} does not say what is rewarded ({error!r})") from error
        return cls(composition(reward), limits=limits, workers=workers, ask=ask)

    def scored(self, samples: Sequence[Sample]) -> list[dict[str, Any]]:
        """One dict a sample, in order, with the same keys each time: score (in [0, largest]), status, the layers,
        passed and checks (how many), format_ok, characters, and judgement (JSON; "" where no judge was asked).

        The verdict is always found, also where the score does not look at it.
        Raises UserError where a judge gives no answer that can be used: that is no score of 0.
        """
        verdicts = judge(samples, self._opened())
        found = [Evidence(said, verdict, problem) for (said, problem), verdict in zip(samples, verdicts, strict=True)]
        if self.reward.needs_judge:
            found = judged_for(self.reward, found, self._ask)
        return [_told(evidence, self.reward.score(evidence)) for evidence in found]

    def close(self) -> None:
        """Ends the sandbox's processes."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def __enter__(self) -> "Rewarding":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = limited(self._limits, self._workers)
        return self._sandbox


def _told(evidence: Evidence, score: float) -> dict[str, Any]:
    verdict = evidence.verdict
    return {
        "score": float(score),
        "status": str(verdict.status),
        **{layer: bool(getattr(verdict, layer)) for layer in LAYERS},
        "passed": int(verdict.passed),
        "checks": int(verdict.total),
        "format_ok": bool(verdict.format_ok),
        "characters": len(evidence.completion),
        "judgement": _text(evidence.judgement),
    }


def _text(judgement: Judgement | None) -> str:
    if judgement is None:
        return ""
    marks = {"fields": dict(judgement.fields), "fatal": judgement.fatal, "tags": sorted(judgement.tags)}
    return json.dumps({"kind": judgement.kind} | marks, sort_keys=True)


class Batches:
    """Items that are asked for one by one and worked on together: what waits while a batch is at work is the next.

    work: from a list of items to their results, in order; always called in one and the same thread.
    """

    def __init__(self, work: Callable[[list[Any]], Sequence[Any]]) -> None:
        self._work = work
        self._thread = ThreadPoolExecutor(1, "reward")  # which also starts the sandbox: its processes end with it
        self._waiting: list[tuple[Any, asyncio.Future]] = []
        self._working: asyncio.Task | None = None

    async def of(self, item: Any) -> Any:
        """The item's result; raises what `work` raises, for each item of the batch."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.append((item, future))
        if self._working is None:
            self._working = loop.create_task(self._until_done())
        return await future

    async def _until_done(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                taken, self._waiting = self._waiting, []
                try:
                    results = await loop.run_in_executor(self._thread, self._work, [item for item, _ in taken])
                except Exception as error:  # whatever it is, it belongs to those who wait
                    for _, future in taken:
                        _settle(future, error=error)
                    continue
                for (_, future), result in zip(taken, results, strict=True):
                    _settle(future, result)
        finally:
            self._working = None


def _settle(future: asyncio.Future, result: Any = None, error: Exception | None = None) -> None:
    if future.done():  # given up by who waited
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


@cache
def batches_of(path: str, ask: Ask | None = None) -> Batches:
    """The batches of a process for one file of what is paid; the sandbox is closed at the process's end."""
    rewarding = Rewarding.read(path, ask)
    atexit.register(rewarding.close)
    return Batches(rewarding.scored)


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    paid: str,
    ask: Ask | None = None,
    **_: object,
) -> dict[str, Any]:
    """The score of one completion and what was found out about it, see `Rewarding.scored`.

    solution_str: what the policy wrote after its prompt. extra_info: `problem` as `verl_rows` writes it. paid: the file
    that says what is paid. data_source, ground_truth and what else verl passes are not looked at.
    Raises UserError for a row without problem, and as `Rewarding` does.
    """
    if not extra_info or "problem" not in extra_info:
        raise UserError("extra_info lacks the problem; write the training rows with tasks.scicode.verl_rows")
    return await batches_of(paid, ask).of(Sample(solution_str, problem_of(extra_info["problem"])))
