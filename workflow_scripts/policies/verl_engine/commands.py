"""verl's commands: their environment variables, the file that a person can run, and verl's own check beforehand."""

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path

from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.verbatim import BASE, TEMPLATE
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text

PLUGIN = "workflow_scripts.policies.verl_engine.cpu_plugin"
VALUE_MODEL = "workflow_scripts.policies.verl_engine.value_model"

_MODULES = {"ppo": "verl.trainer.main_ppo", "sft": "verl.trainer.sft_trainer"}
_CONFIGS = {"ppo": "ppo_trainer", "sft": "sft_trainer_engine"}
_LONGEST_TEMPORARY = 40
"""Characters of a folder for Ray: its sockets' paths, 60 more, must stay below 108."""


@dataclass(frozen=True)
class Command:
    """One run of verl. kind: ppo (both algorithms of reinforcement learning) or sft. overrides: of its config.
    environment: variables it needs. links: symbolic links that must be there, by place. temporary: Ray's folder.
    verbatim: the policy that verl reads through a folder of links (see `verbatim`), "" where it reads it itself.
    texts: files that are written into the working folder for verl to read, and kept with the state."""

    kind: str
    overrides: Sequence[str]
    environment: Mapping[str, str]
    processes: int = 1
    links: Mapping[str, str] = field(default_factory=dict)
    temporary: str = ""
    verbatim: str = ""
    texts: Sequence[str] = ()

    @property
    def work(self) -> str:
        """verl's working folder."""
        return str(Path(self.environment["VERL_FILE_LOGGER_PATH"]).parent)

    @property
    def arguments(self) -> list[str]:
        """The command, from the interpreter on."""
        if self.kind == "sft":
            start = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={self.processes}"]
            return [sys.executable, *start, "-m", _MODULES["sft"], *self.overrides]
        return [sys.executable, "-m", _MODULES["ppo"], *self.overrides]


def environment(hardware: Hardware, work: Path, *, critic: bool = False) -> dict[str, str]:
    """Variables that verl's processes need; on CUDA, no more than paths and switches of noise."""
    root = str(Path(__file__).resolve().parents[3])
    on_path = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != root]
    values = {
        "PYTHONPATH": os.pathsep.join([root, *on_path]),
        "VERL_FILE_LOGGER_PATH": str(work / "metrics.jsonl"),
        "HF_HUB_OFFLINE": "1",
        "HYDRA_FULL_ERROR": "1",
        "RAY_DEDUP_LOGS": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "WANDB_MODE": "disabled",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if hardware.gpus:
        return values | ({"VERL_USE_EXTERNAL_MODULES": VALUE_MODEL} if critic and _needs_value_model(hardware) else {})
    return values | {
        "VERL_USE_EXTERNAL_MODULES": PLUGIN,
        "VERL_PLATFORM": "cpu",
        "VERL_ENGINE_DEVICE": "cuda",  # under whose name verl keeps its FSDP workers, the only ones that run here
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        # One name a worker: Ray counts devices by these names, and there are none behind them.
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(hardware.world))),
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
    }


def _needs_value_model(hardware: Hardware) -> bool:
    return hardware.attention != "flash_attention_2"


def quiet_hydra() -> list[str]:
    """Overrides that keep Hydra from making folders where the command is run."""
    return ["hydra.output_subdir=null", "hydra.run.dir=.", "hydra/job_logging=stdout"]


def ray_folder(work: Path) -> str:
    """A folder for Ray, short and the same for the same work."""
    name = f"verl-{blake2b(str(work).encode(), digest_size=5).hexdigest()}"
    parent = tempfile.gettempdir()
    return str(Path(parent if len(parent) <= _LONGEST_TEMPORARY - len(name) else "/tmp") / name)


def write_command(command: Command, folder: Path, record: Mapping[str, object]) -> None:
    """Writes `command.json` (with `record`, what it was made from) and `command.txt`, a shell script that runs it.

    The script makes what verl reads anew: the working folder, in which the command ran, is gone once the state is
    written. It needs the command's `texts` beside it.
    """
    made = {"made_from": record, **asdict(command), "arguments": command.arguments}
    write_text(folder / "command.json", json.dumps(made, indent=1, sort_keys=True) + "\n")
    lines = [
        "#!/bin/sh",
        "# Runs verl once more as it was run for this state: bash command.txt, or WORK=/some/folder bash command.txt",
        "# WORK: a folder without spaces in its path, which need not exist yet. What verl reads is put there, and",
        "# what it writes stays there. By default the one that was used, which is gone since this state was written.",
        "set -e",
        f'[ -n "$WORK" ] || WORK={shlex.quote(command.work)}',
        'mkdir -p "$WORK"',
        'WORK="$(cd "$WORK" && pwd)"',
    ]
    if command.texts:
        lines += _texts_again(command.texts)
    if command.verbatim:
        lines += _verbatim_again(command.verbatim)
    for place, target in command.links.items():
        lines.append(f"mkdir -p {_quoted(str(Path(place).parent), command.work)}")
        lines.append(f"ln -sfn {shlex.quote(target)} {_quoted(place, command.work)}")
    lines += [f"export {name}={_quoted(value, command.work)}" for name, value in command.environment.items()]
    lines.append(" \\\n    ".join(_quoted(argument, command.work) for argument in command.arguments))
    write_text(folder / "command.txt", "\n".join(lines) + "\n")


def _texts_again(names: Sequence[str]) -> list[str]:
    """Lines of a shell script that put back what verl reads and the state keeps."""
    return [
        f"# {', '.join(names)}: what verl reads; kept beside this file.",
        'HERE="$(cd "$(dirname "$0")" && pwd)"',
        *(f'[ -e "$WORK/{name}" ] || cp "$HERE/{name}" "$WORK/{name}"' for name in names),
    ]


def _verbatim_again(base: str) -> list[str]:
    """Lines of a shell script that do what `verbatim.link_policy` did."""
    return [
        f"# {BASE}: links to the policy's files, with a chat template that writes a prompt as it stands.",
        f"BASE={shlex.quote(base)}",
        f'mkdir -p "$WORK/{BASE}"',
        'for file in "$BASE"/*; do',
        "  case ${file##*/} in chat_template.jinja | chat_template.json | manifest.json) continue ;; esac",
        f'  ln -sfn "$file" "$WORK/{BASE}/${{file##*/}}"',
        "done",
        f'printf %s {shlex.quote(TEMPLATE)} > "$WORK/{BASE}/chat_template.jinja"',
    ]


def _quoted(text: str, work: str) -> str:
    """A word of the shell, with $WORK in place of the path of the working folder."""
    return '"$WORK"'.join(shlex.quote(part) if part else "" for part in text.split(work)) or "''"


def read_record(folder: Path) -> dict:
    """What the command of a state was made from; UserError, naming the file, where it is missing or damaged."""
    path = folder / "command.json"
    try:
        return json.loads(path.read_text())["made_from"]
    except OSError as error:
        raise UserError(f"{path} is missing or unreadable; this is no state of engine: verl") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged; delete the state folder and run snakemake again") from error


def validate(overrides: Sequence[str], kind: str = "ppo") -> None:
    """Composes verl's config with `overrides` and lets verl check it, as main_ppo does before it starts anything.

    Raises UserError with the key that is unknown or wrong, or where verl is not installed.
    """
    try:
        from hydra import compose, initialize_config_module
        from hydra.core.global_hydra import GlobalHydra
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException
    except ImportError as error:
        raise UserError(f"engine: verl needs its environment ({error}); make env-engines builds it") from error
    GlobalHydra.instance().clear()
    own = [override for override in overrides if not override.startswith("hydra")]
    try:
        with initialize_config_module("verl.trainer.config", version_base=None):
            config = compose(_CONFIGS[kind], own)
        if kind == "ppo":
            _check(config)
    except (HydraException, OmegaConfBaseException, ValueError, AssertionError, TypeError, AttributeError) as error:
        # Hydra's first line names the key; what verl raises states the values.
        raise UserError(f"verl refuses its config: {' '.join(str(error).split())[:600]}") from error


def _check(config) -> None:
    from verl.trainer.ppo.core_algos import get_adv_estimator_fn
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    validate_config(config=config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    # What verl looks at only once its workers run.
    get_adv_estimator_fn(config.algorithm.adv_estimator)
    for section in (config.algorithm, config.actor_rollout_ref.rollout):
        omega_conf_to_dataclass(section)
