"""Sections of the config about scientific coding: what is asked, which rewards train, and what judges the programs."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from workflow_scripts.settings.kinds import Count, Name, Rate, Section, Share, without_dropped
from workflow_scripts.settings.maths import GivenPolicy, Judge, WordBase
from workflow_scripts.settings.training import Training

SECTIONS = {"mined": "mining", "teacher": "teacher"}
"""What describes a set that a line may train on."""


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
    wrapped: bool = False
    """For a given policy: prompts of training and evaluation are benchmark-style too, long and with distractors."""
    held_out: Annotated[list[str], Field(min_length=1)] = [
        "decay_chain", "stationary_weights", "passage_time", "grating_intensity", "light_modes", "ray_matrix",
    ]  # fmt: skip
    """For a given policy: families that only the shifted set asks, benchmark-style; here two whole topics."""


class CodeBase(WordBase):
    """Pre-training of the small policy on random programs: often runnable, seldom right."""


class CodeLine(Training):
    """Reinforcement learning under one reward, kept every `segment` steps."""

    reward: Name
    """Which of `rewards` trains."""
    problems: Literal["training", "mined", "teacher"] = "training"
    """What it trains on; mined and teacher: the sets that `mining` and `teacher` describe."""
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


class CodeJudge(Judge):
    """An OpenAI-compatible endpoint that marks programs, where a reward asks one."""

    items: Count = 4
    """Samples of each problem that it marks at every checkpoint; how it agrees with execution is told of these."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Of its sampling."""
    max_tokens: Count = 900
    """Longest reply, in tokens."""


class Mining(Section):
    """A training set that dwells on what the first policy fails at."""

    problems: Count = 1200
    """In the set."""
    share: Share = 0.75
    """At most, of problems that the policy failed; the others are fresh ones of the same families."""
    samples: Count = 8
    """Of the first policy, for each problem of the training set."""


class Teacher(Section):
    """Problems that a language model specifies; kept where running its solvers bears them out."""

    endpoint: Judge
    """Who writes them."""
    specifications: Count = 200
    """That are asked for; each that holds makes four problems or more."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0
    """Of its sampling."""
    max_tokens: Count = 4000
    """Longest reply, in tokens."""


class CodeBenchmark(Section):
    """The public CritPt problems: answers are written as the file that its grading server takes."""

    source: str
    """Folder of its notebooks, one notebook, or a JSON list of problems."""
    wrappings: Annotated[list[Literal["raw-compact", "code-block"]], Field(min_length=1)] = ["raw-compact"]
    """How programs are asked for: bare, or in one block."""
    timestamp: str = "2026-01-01T00:00:00Z"
    """That submissions state, ISO 8601."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Logits are divided by this; 0: the likeliest token."""
    max_new_tokens: Count = 4096
    """Longest answer, in tokens."""


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
    judge: CodeJudge | None = None
    """Who judges where a reward needs a judge; None: such rewards cannot be trained on."""
    mining: Mining | None = None
    """How the set `mined` is made, for a given policy; None: there is none."""
    teacher: Teacher | None = None
    """How the set `teacher` is made; None: there is none."""
    benchmark: CodeBenchmark | None = None
    """What a given policy and the ends of its lines answer besides; None: nothing."""

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
            if line.problems != "training" and getattr(self, SECTIONS[line.problems]) is None:
                raise ValueError(f"lines.{name}.problems: set {SECTIONS[line.problems]}, which says how they are made")
        for key in ("mining", "benchmark") if self.policy is None else ():
            if getattr(self, key) is not None:
                raise ValueError(f"{key}: the small policy reads short problems only; set policy")
        if self.policy is None and any(line.problems != "training" for line in self.lines.values()):
            raise ValueError("lines: the small policy trains on its short problems; drop `problems`, or set policy")
        beyond = [k for k in self.pass_at if k > self.sampling.samples]
        if beyond:
            raise ValueError(f"pass_at: pass@k needs k ≤ sampling.samples ({self.sampling.samples}), not {beyond}")
        if self.judge is not None and self.judge.items > self.sampling.samples:
            raise ValueError(f"judge.items ({self.judge.items}) must be at most sampling.samples")
        return self
