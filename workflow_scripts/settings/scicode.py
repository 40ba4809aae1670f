"""Sections of the config about scientific coding: what is asked, which rewards train, and what judges the programs."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from workflow_scripts.settings.kinds import Count, Name, Rate, Section, without_dropped
from workflow_scripts.settings.maths import GivenPolicy, Judge, WordBase
from workflow_scripts.settings.training import Training


class CodeSizes(Section):
    """How many problems there are."""

    training: Count = 600
    """To train on."""
    evaluation: Count = 64
    """Of the same wordings, with other parameters."""
    shifted: Count = 64
    """Official-style: unseen wordings, distractors, two steps where training has one."""
    audited: Count = 3
    """Of each generated family, that trivial policies answer in the reward audit."""


class CodeBase(WordBase):
    """Pre-training of the small policy on random programs: often runnable, seldom right."""


class CodeLine(Training):
    """Reinforcement learning under one reward, kept every `segment` steps."""

    reward: Name
    """Which of `rewards` trains."""
    steps: Count = 120
    """Last step."""
    segment: Count = 30
    """Steps between two kept checkpoints; each segment is one job, from full state to full state."""
    prompts: Count = 32
    """Problems a step."""
    max_prompt_tokens: Annotated[int, Field(ge=1)] | None = None
    """verl: longest prompt, in tokens; None: counted."""

    @property
    def checkpoints(self) -> list[int]:
        """Steps that are kept, the last one included."""
        return sorted({*range(self.segment, self.steps + 1, self.segment), self.steps})

    @model_validator(mode="after")
    def _groups(self) -> "CodeLine":
        if self.algorithm != "grpo" or self.countermeasures:
            raise ValueError("lines of scientific coding are trained by plain grpo")
        return self


class CodeSampling(Section):
    """Free sampling of every policy on every set."""

    engine: Literal["built_in", "vllm"] = "built_in"
    """What samples: built_in for small policies on few cores, vllm for real sizes."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of a sampling job; changes no result."""
    samples: Count = 32
    """Completions a problem."""
    temperature: Annotated[float, Field(gt=0, le=5)] = 1.0
    """Logits are divided by this."""
    top_p: Rate = 1.0
    """Nucleus."""
    max_new_tokens: Count = 64
    """Longest completion, in tokens."""


class SandboxLimits(Section):
    """What a program may use while it is judged."""

    seconds: Annotated[float, Field(gt=0, le=600)] = 2.0
    """Processor time of one program, all its calls together."""
    memory_mb: Annotated[int, Field(ge=64)] = 1024
    """Address space, in megabytes."""
    isolation: Literal["auto", "namespaces", "bubblewrap", "process"] = "auto"
    """How programs are kept apart from the machine; auto: the strongest that works here."""


class Scicode(Section):
    """Scientific coding: rewards that look good while the truth does or does not move. Without lines there is none."""

    sets: CodeSizes = CodeSizes()
    base: CodeBase = CodeBase()
    policy: GivenPolicy | None = None
    """The policy that training starts from, in the place of the small one."""
    rewards: dict[Name, str | dict[str, Any]] = {}
    """Rewards by name: the name of a family (`entrances rewards` lists them), or terms with their weights."""
    lines: dict[Name, CodeLine] = {}
    """Training lines by name; an overlay drops one with `name: null`."""
    sampling: CodeSampling = CodeSampling()
    pass_at: Annotated[list[Count], Field(min_length=1)] = [1, 8]
    """k of the pass@k columns."""
    limits: SandboxLimits = SandboxLimits()
    judge: Judge | None = None
    """Who judges where a reward needs a judge; None: such rewards cannot be trained on."""

    @model_validator(mode="before")
    @classmethod
    def _without_dropped(cls, data: Any) -> Any:
        return without_dropped(data, ("rewards", "lines"))

    @model_validator(mode="after")
    def _consistent(self) -> "Scicode":
        for name, line in self.lines.items():
            if name == "base":
                raise ValueError("lines.base: this name is taken by the policy that training starts from")
            if line.reward not in self.rewards:
                known = ", ".join(self.rewards) or "there are none"
                raise ValueError(f"lines.{name}.reward ({line.reward}) is none of rewards: {known}")
            if (line.engine == "built_in") != (self.policy is None):
                raise ValueError(
                    f"lines.{name}.engine: the built_in engine trains the small policy, verl a given one (policy)"
                )
        beyond = [k for k in self.pass_at if k > self.sampling.samples]
        if beyond:
            raise ValueError(f"pass_at: pass@k needs k ≤ sampling.samples ({self.sampling.samples}), not {beyond}")
        return self
