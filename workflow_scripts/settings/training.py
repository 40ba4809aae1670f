"""Sections of the config that train: lines, kept step by step, and roads, which are other ways to train."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from workflow_scripts.settings.kinds import Commit, Count, Digest, Name, Rate, Section, Share

Countermeasure = Literal["entrance_entropy", "spread_entropy", "low_access", "pass_at_k"]
"""Objectives of policies/objectives that a training may add."""


class Training(Section):
    """Optimising a policy with verifiable rewards."""

    engine: Literal["built_in", "verl"] = "built_in"
    """What trains: built_in for small policies on few cores, verl for real sizes."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of a training job; changes no result."""
    algorithm: Literal["grpo", "ppo"] = "grpo"
    """Group-relative advantages, or a learned critic with generalised advantage estimation."""
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = [1]
    """Training seeds, one policy or chain of segments each."""
    prompts: Count = 64
    """Problems a step."""
    samples: Count = 8
    """Completions a problem; for grpo the group, at least 2."""
    temperature: Annotated[float, Field(gt=0, le=5)] = 1.0
    """Of the training rollouts."""
    max_new_tokens: Count = 64
    """Longest completion in training, in tokens."""
    learning_rate: Rate = 2e-4
    """AdamW, constant."""
    updates: Count = 1
    """Updates a step makes, each on its part of the problems."""
    clip: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Range of the probability ratio left unclipped, 1 ± clip; acts from the second update of a step on."""
    clip_high: Annotated[float, Field(gt=0)] | None = None
    """Upper end of that range, 1 + clip_high, where it is not clip (clip-higher)."""
    kl: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the KL penalty towards the policy that training starts from (nats)."""
    entropy: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the token-entropy bonus (nats)."""
    countermeasures: dict[Countermeasure, Annotated[float, Field(gt=0)]] = {}
    """grpo: what is added against narrowing, with its weight; see policies/objectives."""
    normalise_std: bool = True
    """grpo: divide advantages by the group's standard deviation. Dr.GRPO: false, with `average: constant`."""
    average: Literal["token", "sequence", "constant"] = "token"
    """What the loss is averaged over: all tokens of a batch, each completion's tokens first, or a constant length."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are scaled down to this norm."""
    critic_learning_rate: Rate = 1e-3
    """ppo: AdamW of the critic, a copy of the starting policy with a value head."""
    gamma: Share = 1.0
    """ppo: discount a token."""
    gae_lambda: Share = 1.0
    """ppo: generalised advantage estimation; 1 is the plain return minus the value."""

    @model_validator(mode="after")
    def _trainable(self) -> "Training":
        if self.algorithm == "grpo" and self.samples < 2:
            raise ValueError("grpo compares the completions of a problem: samples must be at least 2")
        if self.updates > self.prompts:
            raise ValueError(f"updates ({self.updates}) cannot exceed prompts ({self.prompts})")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds holds one twice: {self.seeds}")
        self._check_countermeasures()
        return self

    def _check_countermeasures(self) -> None:
        named = self.countermeasures
        if named and self.algorithm != "grpo":
            raise ValueError(f"countermeasures ({', '.join(named)}) are for grpo")
        if {"low_access", "pass_at_k"} <= set(named):
            raise ValueError("countermeasures: low_access and pass_at_k both set the advantages; choose one")
        k = named.get("pass_at_k")
        if k is not None and (k != int(k) or not 1 <= k < self.samples):
            raise ValueError(f"countermeasures.pass_at_k ({k:g}) must be whole, at least 1 and below samples")


class Verl(Section):
    """How verl uses the machine; changes no coefficient of a training."""

    workers: Count = 1
    """Processes that share a policy on CPU; on GPUs there is one for each."""
    rollout: Literal["hf", "vllm"] | None = None
    """What samples while training: hf (CPU only) or vllm; None: hf on CPU, vllm on GPUs."""
    attention: Literal["sdpa", "flash_attention_2"] = "sdpa"
    """Attention of the trained policy."""
    tokens: Count = 16384
    """Most tokens of one pass, padding included."""
    memory: Share = 0.4
    """Share of a GPU that vLLM may take while training."""
    offload: bool = False
    """Parameters and optimiser wait in main memory between their uses."""


class Line(Training):
    """One line of training from the base, kept every `segment` steps; or of checkpoints that exist."""

    source: str | Annotated[list[str], Field(min_length=1)] | None = None
    """None: trained. Else Hugging Face folders or hub ids, one for each kept step, or one with `{step}` in it."""
    revision: Commit | None = None
    """Commit of the hub ids; needed where source names some."""
    folder: str | None = None
    """Folder inside each source that holds the checkpoint, `{step}` being its step."""
    sha256: dict[int, dict[str, Digest]] = {}
    """Digests that the files of a checkpoint must have, by step and file name; of those left out none is asked."""

    steps: Count = 300
    """Last step."""
    segment: Count = 25
    """Steps between two kept checkpoints; each segment is one job, from full state to full state."""
    early: Count = 25
    """The step called `early` in tables and claims."""
    late: Count = 300
    """The step called `late`."""

    @property
    def checkpoints(self) -> list[int]:
        """Steps that are kept, the last one included."""
        return sorted({*range(self.segment, self.steps + 1, self.segment), self.steps})

    def given(self, step: int) -> dict[str, Any]:
        """Where the checkpoint of a kept step of a line with a source lies: source, revision, folder, sha256."""
        source = self.source if isinstance(self.source, str) else self.source[self.checkpoints.index(step)]
        filled = [text and text.replace("{step}", str(step)) for text in (source, self.folder)]
        sha256 = self.sha256.get(step, {})
        return {"source": filled[0], "revision": self.revision, "folder": filled[1], "sha256": sha256}

    @model_validator(mode="after")
    def _sources_fit(self) -> "Line":
        kept = len(self.checkpoints)
        if isinstance(self.source, list) and len(self.source) != kept:
            raise ValueError(f"source names {len(self.source)} checkpoints, and {kept} steps are kept")
        if isinstance(self.source, str) and kept > 1 and "{step}" not in f"{self.source}{self.folder}":
            raise ValueError("source or folder must hold {step}, since several steps are kept")
        if self.source is None and (self.revision or self.folder):
            raise ValueError("revision and folder belong to a source; there is none")
        if self.source is not None and len(self.seeds) > 1:
            raise ValueError("a line of given checkpoints has one seed")
        return self

    @model_validator(mode="after")
    def _steps_exist(self) -> "Line":
        if self.early >= self.late:
            raise ValueError(f"early ({self.early}) must come before late ({self.late})")
        for key in ("early", "late"):
            if getattr(self, key) not in self.checkpoints:
                raise ValueError(f"{key} ({getattr(self, key)}) is no kept step; those are {self.checkpoints}")
        return self


class _Road(Section):
    start: Name = "base"
    """The policy that it starts from: base, or another road."""
    role: Literal["road", "arm"] = "road"
    """Arms are compared with the arm called `control`, at the same budget; roads with the training lines."""


class SftRoad(_Road):
    """Supervised training on several solutions a problem."""

    kind: Literal["sft"]
    """Supervised."""
    engine: Literal["built_in", "verl"] = "built_in"
    """What trains: built_in for small policies on few cores, verl for real sizes (solver's solutions, all weights)."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of a training job; changes no result."""
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = [1]
    """Training seeds."""
    source: Literal["solver", "own"] = "solver"
    """Where the solutions come from: built by the solver, or the start policy's own correct samples."""
    demonstrations: Annotated[int, Field(ge=1, le=8)] = 4
    """Most solutions a problem."""
    choice: Literal["diverse", "uniform"] = "diverse"
    """Of the solver's: one entrance after the other, or uniform over the solutions."""
    steps: Count = 225
    """Optimiser steps."""
    tokens: Count = 3200
    """Completion tokens a step: with steps, the budget, the same for every number of demonstrations."""
    learning_rate: Rate = 5e-3
    """Peak of the cosine schedule (AdamW)."""
    selection: Literal["last", "lowest_held_loss"] = "last"
    """Which checkpoint is kept."""
    lora: Annotated[int, Field(ge=0)] = 0
    """Rank of low-rank adapters (peft); 0 trains all weights."""

    @model_validator(mode="after")
    def _engine_can(self) -> "SftRoad":
        if self.engine == "verl" and (self.source != "solver" or self.selection != "last" or self.lora):
            raise ValueError("engine: verl trains all weights on the solver's solutions and keeps the last step")
        return self


class DpoRoad(_Road):
    """Direct preference optimisation on the start policy's own samples, correct against wrong."""

    kind: Literal["dpo"]
    """Preferences."""
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = [1]
    """Training seeds."""
    problems: Count = 2000
    """Training problems that are sampled."""
    samples: Annotated[int, Field(ge=2)] = 8
    """Completions of each."""
    pairs_a_problem: Count = 4
    """Most pairs of a correct and a wrong completion."""
    steps: Count = 100
    """Optimiser steps."""
    pairs: Count = 32
    """Pairs a step."""
    learning_rate: Rate = 5e-4
    """AdamW."""
    beta: Annotated[float, Field(gt=0)] = 0.5
    """Strength of the reference."""


class GrpoRoad(Training, _Road):
    """Reinforcement learning from another start, or with other objectives."""

    kind: Literal["grpo"]
    """Group-relative reinforcement learning."""
    steps: Count = 150
    """Steps, in one job."""


Road = Annotated[SftRoad | DpoRoad | GrpoRoad, Field(discriminator="kind")]
