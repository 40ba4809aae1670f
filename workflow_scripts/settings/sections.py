"""Sections of the config that say what is asked, with which policy, and how it is measured."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from workflow_scripts.settings.kinds import Commit, Count, Digest, Range, Rate, Section, Share


class Problems(Section):
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


class Policy(Section):
    """The base policy: a small decoder of an architecture that transformers and vLLM know, or one that exists."""

    source: str | None = None
    """None: trained from scratch, see `base`. Else a Hugging Face folder or hub id; the keys below are then its own."""
    revision: Commit | None = None
    """Commit of the hub policy; needed when source is a hub id."""
    sha256: dict[str, Digest] = {}
    """Digests that fetched files must have, by file name; of files left out none is asked."""
    wording: str = "laptop"
    """What the policy reads and writes: laptop, native (the public GRPO prompt), feasible (the PPO line's), or a
    template file."""
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


class Base(Section):
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


class Sampling(Section):
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


class Measures(Section):
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
    margins: dict[Literal["C07", "C08", "C18", "C19", "C21", "C23"], Annotated[float, Field(gt=0, lt=1)]] = {
        "C07": 0.1,
        "C08": 0.05,
        "C18": 0.03,
        "C19": 0.03,
        "C21": 0.03,
        "C23": 0.05,
    }
    """Of claims that something does not move: confirmed when the interval lies inside ± the margin (a share)."""


class Clamps(Section):
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


Change = Annotated[list[int], Field(min_length=2, max_length=2)] | None


class Drawing(Section):
    """One way of drawing tokens."""

    temperature: Annotated[float, Field(gt=0, le=5)] = 1.0
    """Logits are divided by this."""
    top_p: Rate = 1.0
    """Nucleus."""
    min_p: Share = 0.0
    """Tokens below this share of the likeliest one's probability are dropped."""


class Interventions(Section):
    """What may bring breadth back without training: tuned on the calibration problems, compared once on the others."""

    samples: Count = 64
    """Completions a problem on both sides."""
    blocks: Annotated[list[Change], Field(min_length=1)] = [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3], None]
    """Interpolated decoder blocks, [first, last (exclusive)], or null for all weights."""
    alphas: Annotated[list[Share], Field(min_length=1)] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0]
    """Shares of the early policy in interpolation."""
    mixed: Annotated[list[Share], Field(min_length=1)] = [0.7, 0.5, 0.3, 0.2, 0.1]
    """Shares of the early policy's logits in mixing; of settings that do the same the first is chosen."""
    drawings: Annotated[list[Drawing], Field(min_length=1)] = [
        Drawing(top_p=0.9),
        Drawing(temperature=1.3, top_p=0.9),
        Drawing(),
        Drawing(temperature=1.3),
        Drawing(min_p=0.05),
        Drawing(temperature=1.3, min_p=0.05),
        Drawing(temperature=1.3, min_p=0.1),
        Drawing(temperature=1.6, min_p=0.1),
    ]
    """Temperatures, nuclei and minimum probabilities that are tried."""
    proposing: Count = 16
    """Samples of the solver-free entrance proposers, paid from the same token budget."""
    partner_alpha: Share = 0.5
    """Share of the early partner, over all weights, in the curve over the partner's step."""
    tolerance: Share = 0.02
    """Loss of pass@1 that a chosen setting may have on the calibration problems."""


class Instance(Section):
    """The instance of Figure 1."""

    numbers: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=6)] = [4, 5, 7, 9]
    """Numbers given."""
    target: int = 24
    """What they are to make."""
