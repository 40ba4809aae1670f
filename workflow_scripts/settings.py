"""The config model: every key with its type, range, default and meaning. Read by Snakefile and command line.

Stages get plain params, never this model, so that a new key leaves the results of other rules alone.
`config/schema.json` is generated from here (`entrances config schema`) and a test keeps it current.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from workflow_scripts.records.errors import UserError, closest

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$", max_length=40)]
"""Part of a path: letters, digits and hyphens."""
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=1)]
Range = Annotated[list[int], Field(min_length=2, max_length=2)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Problems(_Section):
    """What is asked. Generated sets follow the laptop task; a file or hub id is read in the public data format."""

    source: str | None = None
    """None: generated. Else a parquet, jsonl or csv file, or a hub id, with `nums` or `numbers`, and `target`."""
    training_source: str | None = None
    """Training problems, likewise; None: generated."""
    revision: str | None = None
    """Commit of the hub data set; needed when a source is a hub id."""
    evaluation: Count = 150
    """Evaluation problems."""
    calibration: Count = 50
    """How many of them interventions may be tuned on; the others are held out."""
    training: Count = 5000
    """Training problems, disjoint from the evaluation set by (sorted numbers, target)."""
    depth: Count = 534
    """Problems of the four-number set, on which depth is studied; disjoint from the others."""
    tail: Count = 800
    """Problems of the pool in which rarely visited entrances are looked for; disjoint from the others."""
    operands: Annotated[list[Annotated[int, Field(ge=2, le=6)]], Field(min_length=1)] = [3, 4]
    """How many numbers a generated problem has; drawn uniformly from this list."""
    values: Range = [1, 10]
    """Smallest and largest number."""
    targets: Range = [5, 99]
    """Smallest and largest target."""

    @model_validator(mode="after")
    def _consistent(self) -> "Problems":
        if self.calibration >= self.evaluation:
            raise ValueError("calibration must be smaller than evaluation, else nothing is held out")
        for key in ("values", "targets"):
            low, high = getattr(self, key)
            if low > high:
                raise ValueError(f"{key} must be [smallest, largest], not {[low, high]}")
        if self.values[0] < 0 or self.values[1] > 100 or self.targets[0] < 0 or self.targets[1] > 100:
            raise ValueError("values and targets of generated problems must lie in 0…100, what the text can write")
        return self


class Policy(_Section):
    """The base policy: a small decoder of an architecture that transformers and vLLM know, or one that exists."""

    source: str | None = None
    """None: trained from scratch, see `base`. Else a Hugging Face folder or hub id; the keys below are then its own."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    """Commit of the hub policy; needed when source is a hub id."""
    architecture: Literal["llama", "qwen3"] = "llama"
    """Whose decoder block is used."""
    hidden: Annotated[int, Field(ge=8)] = 64
    """Width."""
    layers: Count = 3
    """Decoder blocks."""
    heads: Count = 2
    """Attention heads, of width hidden / heads."""
    mlp: Annotated[int, Field(ge=8)] = 192
    """Width of the gated feed-forward part."""
    context: Annotated[int, Field(ge=32)] = 128
    """Longest sequence, in tokens."""

    @model_validator(mode="after")
    def _divisible(self) -> "Policy":
        if self.hidden % (2 * self.heads):
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of 2 × heads ({self.heads})")
        return self


class Base(_Section):
    """Pre-training of the base policy on random traces, right in their arithmetic, mostly wrong in their result."""

    steps: Count = 3000
    """Optimiser steps."""
    batch: Count = 64
    """Traces a step."""
    learning_rate: Rate = 6e-3
    """Peak of the cosine schedule (AdamW)."""
    on_target: Share = 0.3
    """Share of traces whose stated target is what they reach."""
    retried: Share = 0.25
    """Share of traces that open with a failed attempt."""


class Line(_Section):
    """One line of training: a policy optimised from the base with verifiable rewards, kept every `segment` steps."""

    engine: Literal["built_in", "verl"] = "built_in"
    """What trains: built_in for small policies on few cores, verl for real sizes."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of a training job; changes no result."""
    algorithm: Literal["grpo", "ppo"] = "grpo"
    """Group-relative advantages, or a learned critic with generalised advantage estimation."""
    steps: Count = 300
    """Last step."""
    segment: Count = 25
    """Steps between two kept checkpoints; each segment is one job, from full state to full state."""
    early: Count = 25
    """The step called `early` in tables and claims."""
    late: Count = 300
    """The step called `late`."""
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = [1]
    """Training seeds, one chain of segments each."""
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
    kl: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the KL penalty towards the base (nats)."""
    entropy: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the token-entropy bonus (nats)."""
    normalise_std: bool = True
    """grpo: divide advantages by the group's standard deviation. Dr.GRPO: false, with `average: constant`."""
    average: Literal["token", "sequence", "constant"] = "token"
    """What the loss is averaged over: all tokens of a batch, each completion's tokens first, or a constant length."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are scaled down to this norm."""
    critic_learning_rate: Rate = 1e-3
    """ppo: AdamW of the critic, a copy of the base with a value head."""
    gamma: Share = 1.0
    """ppo: discount a token."""
    gae_lambda: Share = 1.0
    """ppo: generalised advantage estimation; 1 is the plain return minus the value."""

    @property
    def checkpoints(self) -> list[int]:
        """Steps that are kept, the last one included."""
        return sorted({*range(self.segment, self.steps + 1, self.segment), self.steps})

    @model_validator(mode="after")
    def _steps_exist(self) -> "Line":
        if self.early >= self.late:
            raise ValueError(f"early ({self.early}) must come before late ({self.late})")
        for key in ("early", "late"):
            if getattr(self, key) not in self.checkpoints:
                raise ValueError(f"{key} ({getattr(self, key)}) is no kept step; those are {self.checkpoints}")
        if self.algorithm == "grpo" and self.samples < 2:
            raise ValueError("grpo compares the completions of a problem: samples must be at least 2")
        if self.updates > self.prompts:
            raise ValueError(f"updates ({self.updates}) cannot exceed prompts ({self.prompts})")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds holds one twice: {self.seeds}")
        return self


class Sampling(_Section):
    """Free sampling of every policy on the evaluation set."""

    engine: Literal["built_in", "vllm"] = "built_in"
    """What samples: built_in for small policies on few cores, vllm for real sizes."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of a sampling job; changes no result."""
    samples: Count = 320
    """Completions a problem."""
    temperature: Annotated[float, Field(gt=0, le=5)] = 0.7
    """Logits are divided by this."""
    top_p: Rate = 0.9
    """Nucleus: the smallest set of tokens with at least this probability."""
    max_new_tokens: Count = 64
    """Longest completion, in tokens."""
    lost: Count = 2048
    """Samples of the late policy on each problem that it lost: is the loss only a matter of luck?"""
    halves: Count = 512
    """Samples of the late policy in each of two further, independent sets: are entrances that one misses absent?"""


class Measures(_Section):
    """What is computed from the scores."""

    contract: Literal["strict", "paper_ppo", "paper_grpo"] = "strict"
    """What counts as a correct completion."""
    solution_set: Literal["expressible", "full"] = "expressible"
    """What coverages are shares of: the solutions that the laptop text can express, or all over the rationals."""
    pass_at: Annotated[list[Count], Field(min_length=1)] = [1, 4, 16, 64, 256, 320]
    """k of the pass@k columns."""
    bootstrap: Annotated[int, Field(ge=100)] = 2000
    """Draws of the bootstrap over problems."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Of every interval."""
    margins: dict[Literal["C07", "C08"], Annotated[float, Field(gt=0, lt=1)]] = {"C07": 0.1, "C08": 0.05}
    """Of claims that something does not move: confirmed when the interval lies inside ± the margin (a share)."""


class Clamps(_Section):
    """Forced beginnings: how a policy goes on from a beginning that it is given."""

    continuations: Count = 16
    """Completions of each prefix."""
    families: Count = 2
    """Entrances a problem on the ladder: those with the most solutions."""
    scaffolds: Count = 2
    """The policy's own failed attempts a problem into which entrances are spliced."""
    run_cuts: Count = 4
    """Prefixes cut from successful runs a problem: what the leak screen must find."""
    tail_cells: Count = 300
    """Entrances of the tail pool, of probability 0 late in training, that are clamped at every kept step."""
    permutations: Count = 200
    """Of the leak screen."""
    max_new_tokens: Count = 64
    """Longest continuation, in tokens."""


class Instance(_Section):
    """The instance of Figure 1."""

    numbers: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=6)] = [4, 5, 7, 9]
    """Numbers given."""
    target: int = 24
    """What they are to make."""


class Settings(_Section):
    """One study: what `results/<study>/` is made from."""

    study: Name = "laptop"
    """Name of the study, and of its folder under results/."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Every random stream of the study starts from it."""
    problems: Problems = Problems()
    policy: Policy = Policy()
    base: Base = Base()
    lines: Annotated[dict[Name, Line], Field(min_length=1)] = {
        "ppo": Line(algorithm="ppo", steps=275, late=275, prompts=256, samples=1, updates=2),
        "grpo": Line(steps=450, late=450),
    }
    """Training lines by name; an overlay drops one with `name: null`."""
    sampling: Sampling = Sampling()
    measures: Measures = Measures()
    clamps: Clamps = Clamps()
    instance: Instance = Instance()

    @model_validator(mode="before")
    @classmethod
    def _without_dropped_lines(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("lines"), dict):
            data = data | {"lines": {name: line for name, line in data["lines"].items() if line is not None}}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> "Settings":
        beyond = [k for k in self.measures.pass_at if k > self.sampling.samples]
        if beyond:
            limit = self.sampling.samples
            raise ValueError(f"measures.pass_at: pass@k needs k ≤ sampling.samples ({limit}), not {beyond}")
        if self.sampling.lost <= self.sampling.samples:
            raise ValueError(f"sampling.lost ({self.sampling.lost}) must exceed sampling.samples")
        self._fit_in_context()
        return self

    def _fit_in_context(self) -> None:
        if self.policy.source is not None:
            return  # its own config.json states its context
        longest = 2 * max(self.problems.operands) + 2
        for key, tokens in {
            "sampling.max_new_tokens": self.sampling.max_new_tokens,
            **{f"lines.{name}.max_new_tokens": line.max_new_tokens for name, line in self.lines.items()},
        }.items():
            if tokens + longest > self.policy.context:
                limit = self.policy.context
                raise ValueError(f"{key} ({tokens}) and a prompt of {longest} tokens exceed policy.context ({limit})")


def merged(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`overlay` laid over `base`: sections are merged key by key, anything else replaced (Snakemake's own rule)."""
    result = dict(base)
    for key, value in overlay.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return result


def read_yaml(path: str | Path) -> dict[str, Any]:
    """One config file as plain data. Raises UserError, naming file and line, where it is absent or no YAML mapping."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read config {path}: {error}") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise UserError(f"{path}{line}: not valid YAML ({getattr(error, 'problem', error)})") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} must hold `key: value` lines, not {type(data).__name__}")
    return data


def _fields_at(location: Sequence[str | int]) -> list[str]:
    """Known keys of the section that `location` (a pydantic error location without its last part) leads to."""
    model: Any = Settings
    for part in location:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            model = Line  # below a line's name
            continue
        model = model.model_fields[str(part)].annotation
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _explained(error: Mapping[str, Any]) -> str:
    location = [part for part in error["loc"] if part != "[key]"]
    key = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        known = _fields_at(location[:-1])
        return f"{key}: unknown key{closest(str(location[-1]), known) or '; known here: ' + ', '.join(known)}"
    message = error["msg"].removeprefix("Value error, ")
    got = "" if error["type"] == "value_error" else f", not {error['input']!r}"
    return f"{key}: {message}{got}" if key else message


def validated(data: Mapping[str, Any], name: str = "config") -> Settings:
    """The settings in plain data. Raises UserError with one line per fault: key, what is wrong, a suggestion."""
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        faults = "\n".join(f"  {_explained(fault)}" for fault in error.errors())
        raise UserError(f"{name} is not valid:\n{faults}") from None


DEFAULT = Path(__file__).resolve().parents[1] / "config" / "config.yaml"


def load(path: str | Path | None = None) -> Settings:
    """The default config with the overlay file `path` (if any) laid over it, validated."""
    data = read_yaml(DEFAULT)
    if path is not None and Path(path).resolve() != DEFAULT:
        data = merged(data, read_yaml(path))
    return validated(data, str(path or DEFAULT))


def schema() -> str:
    """JSON schema of the config, as text."""
    return json.dumps(Settings.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
