"""Sections of the config about mathematics: what is asked, which policies answer, and who judges."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from workflow_scripts.settings.kinds import Commit, Count, Digest, Name, Rate, Section, Share, without_dropped
from workflow_scripts.settings.training import DpoRoad, GrpoRoad, SftRoad

Format = Literal["gsm8k", "math500", "minerva_math", "olympiadbench", "amc23", "aime24"]
GENERATED = ("words", "shifted")
"""Benchmarks that the workflow writes itself: word problems, and those of other wordings and larger numbers."""

PIPELINE = "pipeline"


class Benchmark(Section):
    """A published test set: a local file, or one of a hub data set at its pinned revision."""

    format: Format
    """Whose field names and answer form the file has."""
    source: str
    """A jsonl or parquet file, or the hub id of a data set."""
    file: str | None = None
    """File inside the hub data set."""
    revision: Commit | None = None
    """Commit of the hub data set; needed with a hub id."""
    sha256: Digest | None = None
    """Digest that the file must have."""
    problems: Count = 500
    """The first so many are asked."""


class GivenPolicy(Section):
    """A policy that exists: a Hugging Face folder, or a hub id at its pinned revision."""

    source: str
    """Folder or hub id."""
    revision: Commit | None = None
    """Commit; needed with a hub id."""
    folder: str | None = None
    """Folder inside the source."""
    sha256: dict[str, Digest] = {}
    """Digests that fetched files must have, by file name."""
    label: str = ""
    """What tables call it; its name where empty."""


class WordBase(Section):
    """Pre-training of the small maths policy on texts right in their arithmetic, often wrong in what they take."""

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
    architecture: Literal["llama", "qwen3"] = "llama"
    """Whose decoder block is used."""
    steps: Count = 1600
    """Optimiser steps."""
    batch: Count = 64
    """Texts a step."""
    learning_rate: Rate = 6e-3
    """Peak of the cosine schedule (AdamW)."""


class WordSft(SftRoad):
    """Supervised training on worked-out answers, several routes a problem."""

    boxed: Share = 0.5
    """Share of the demonstrations whose answer is boxed; the others state it without a mark."""


WordRoad = Annotated[WordSft | DpoRoad | GrpoRoad, Field(discriminator="kind")]


class Rewards(Section):
    """r = correctness · correct + format_bonus · format valid − invalid_penalty · nothing extracted."""

    correctness: Annotated[float, Field(ge=0)] = 1.0
    """For a correct answer."""
    format_bonus: Annotated[float, Field(ge=0)] = 0.1
    """For a marked answer, right or wrong."""
    invalid_penalty: Annotated[float, Field(ge=0)] = 0.1
    """Off for a text without an answer."""


class WordSizes(Section):
    """How many word problems there are."""

    words: Count = 100
    """In the evaluation set."""
    shifted: Count = 100
    """In the shifted test set."""
    training: Count = 2000
    """To train on."""


class MathsSampling(Section):
    """Free sampling of every maths policy on every benchmark."""

    engine: Literal["built_in", "vllm"] = "built_in"
    """What samples: built_in for small policies on few cores, vllm for real sizes."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of a sampling job; changes no result."""
    samples: Count = 64
    """Completions a problem."""
    temperature: Annotated[float, Field(gt=0, le=5)] = 1.0
    """Logits are divided by this."""
    top_p: Rate = 1.0
    """Nucleus."""
    max_new_tokens: Count = 48
    """Longest completion, in tokens."""


class Judge(Section):
    """An OpenAI-compatible endpoint that marks first calculations blindly. Without one the claim is not run."""

    base_url: str
    """Where it answers, `http://…/v1`."""
    model: str
    """Its name there."""
    key_variable: str | None = None
    """Environment variable that holds the key; it is never stored."""
    items: Count = 400
    """Traces that are judged for each pair of policies."""
    concurrency: Count = 8
    """Requests at a time; changes no result."""
    requests: Count = 100_000
    """Budget: after so many requests the job stops."""
    replay: bool = False
    """Only what is in the cache is used; nothing is asked."""


class Maths(Section):
    """Mathematics: the same question outside Countdown, by first calculations and same-trace differences."""

    prompt: Literal["words", "qwen-boxed", "plain"] = "words"
    """How a problem is put: words (the small policy's text), qwen-boxed or plain."""
    sets: WordSizes = WordSizes()
    base: WordBase = WordBase()
    rewards: Rewards = Rewards()
    roads: dict[Name, WordRoad] = {}
    """How the small policy is trained, by name; starts are base or another road. Dropped with `name: null`."""
    policies: dict[Name, GivenPolicy] = {}
    """Policies that exist, by name, in the place of the small ones."""
    benchmarks: dict[Name, Benchmark] = {}
    """Published test sets, by name; none: the generated word problems and their shifted test."""
    sampling: MathsSampling = MathsSampling()
    pass_at: Annotated[list[Count], Field(min_length=1)] = [1, 8, 64]
    """k of the pass@k columns."""
    pairs: dict[Name, Annotated[list[Name], Field(min_length=2, max_length=2)]] = {}
    """Before and after, by name: what claims and Figure 3 compare. The first is the one that claims are read on; one
    called `pipeline`, which goes through SFT and preferences, is compared with it (C29)."""
    also: list[Name] = []
    """Further pairs on which entropy and pass@k must move as claimed (C24, C25): other sizes of the same comparison."""
    example: str | None = None
    """Problem of Table 6; None: the one of the first benchmark with the median change of entropy."""
    depth: Count = 64
    """Samples at which distinct traces are counted."""
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Of the claim that pass@k at the largest k hardly moves (C25)."""
    judge: Judge | None = None
    """Who marks first calculations blindly; None: nobody, and C27 is not run."""

    @model_validator(mode="before")
    @classmethod
    def _without_dropped(cls, data: Any) -> Any:
        kept = without_dropped(data, ("roads", "policies", "benchmarks", "pairs"))
        pairs = kept.get("pairs") if isinstance(kept, dict) else None
        if isinstance(pairs, dict) and PIPELINE in pairs:  # an overlay's own pairs come behind it
            kept = kept | {"pairs": {name: pair for name, pair in pairs.items() if name != PIPELINE}}
            kept["pairs"][PIPELINE] = pairs[PIPELINE]
        return kept

    @property
    def names(self) -> list[str]:
        """Policies in the order of tables."""
        return list(self.policies) or (["base", *self.roads] if self.roads else [])

    @property
    def asked(self) -> list[str]:
        """Benchmarks in the order of tables."""
        return list(self.benchmarks) or list(GENERATED)

    def _seeds_fit(self) -> None:
        """Policies that are trained from, or compared with, one another have the same seeds, or one of them has one."""
        several = {name: road.seeds for name, road in self.roads.items() if len(road.seeds) > 1}
        for name, road in self.roads.items():
            start = self.roads.get(road.start)
            if start is not None and len(start.seeds) > 1 and not set(road.seeds) <= set(start.seeds):
                raise ValueError(f"roads.{name}.seeds must be among those of its start, {road.start}: {start.seeds}")
        for name, pair in self.pairs.items():
            counts = {len(several[policy]) for policy in pair if policy in several}
            if len(counts) > 1:
                raise ValueError(f"pairs.{name}: {pair[0]} and {pair[1]} have different numbers of seeds")
        counts = {len(several[policy]) for pair in self.pairs.values() for policy in pair if policy in several}
        if len(counts) > 1:
            raise ValueError("pairs: all policies that are compared must have one seed, or the same number of seeds")

    @model_validator(mode="after")
    def _consistent(self) -> "Maths":
        if self.policies and self.roads:
            raise ValueError("policies are given, so that roads, which train the small one, must be dropped (null)")
        if bool(self.policies) != bool(self.benchmarks):
            raise ValueError("given policies answer published benchmarks, and the small ones the word problems")
        beyond = [k for k in self.pass_at if k > self.sampling.samples]
        if beyond:
            raise ValueError(f"pass_at: pass@k needs k ≤ sampling.samples ({self.sampling.samples}), not {beyond}")
        if self.depth > self.sampling.samples:
            raise ValueError(f"depth ({self.depth}) must be at most sampling.samples ({self.sampling.samples})")
        for name, road in self.roads.items():
            known = ["base", *list(self.roads)[: list(self.roads).index(name)]]
            if road.start not in known:
                raise ValueError(f"roads.{name}.start ({road.start}) must come before it: one of {', '.join(known)}")
        odd = [name for name, road in self.roads.items() if getattr(road, "engine", "built_in") != "built_in"]
        if odd:
            raise ValueError(f"roads.{odd[0]}.engine: the small maths policy is trained by the built_in engine")
        self._seeds_fit()
        same = [name for name, pair in self.pairs.items() if pair[0] == pair[1]]
        if same:
            raise ValueError(f"pairs.{same[0]} compares {self.pairs[same[0]][0]} with itself")
        if self.also and self.also[0] == next(iter(self.pairs), None):
            raise ValueError(f"also: {self.also[0]} is the pair that claims are read on already")
        unpaired = [name for name in self.also if name not in self.pairs]
        if unpaired:
            raise ValueError(f"also: {unpaired[0]} is no pair; choose from {', '.join(self.pairs) or 'none'}")
        for name, pair in self.pairs.items():
            odd = [policy for policy in pair if policy not in self.names]
            if odd:
                raise ValueError(f"pairs.{name}: {odd[0]} is no policy; choose from {', '.join(self.names) or 'none'}")
        return self
