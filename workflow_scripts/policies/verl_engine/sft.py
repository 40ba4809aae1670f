"""Supervised fine-tuning by `verl.trainer.sft_trainer`, started through torchrun: gloo on CPU, NCCL on CUDA.

verl counts a step in texts where the built-in trainer counts it in completion tokens (`texts_a_step` converts), and
draws the order of every run from one fixed seed; here the seed orders the rows of the file instead. Completions and
the end of the assistant's turn are trained on, prompts are not.
"""

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow_scripts.policies.verl_engine import sections
from workflow_scripts.policies.verl_engine.commands import Command, environment, quiet_hydra, validate, write_command
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.launching import checkpoint, launch
from workflow_scripts.policies.verl_engine.metrics import read_log
from workflow_scripts.policies.verl_engine.training import working_folder
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file, atomic_folder
from workflow_scripts.records.seeds import generator


@dataclass(frozen=True)
class SftSettings:
    """steps: updates. texts: demonstrations an update. rate: peak of the cosine (AdamW), after `warmup` updates.
    decay: of AdamW. clip: largest gradient norm. longest: tokens of a whole text; a longer one is an error."""

    steps: int
    texts: int
    rate: float
    longest: int
    warmup: int = 0
    decay: float = 0.0
    clip: float = 1.0


def write_messages(demonstrations: Sequence[tuple[str, str]], path: Path, *, seed: int | str) -> None:
    """Writes (user's message, assistant's message) pairs as the parquet that verl reads, in an order drawn by `seed`.

    Raises UserError where there are none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not demonstrations:
        raise UserError("there are no demonstrations to train on")
    order = generator("verl sft", seed).permutation(len(demonstrations)).tolist()
    said = [
        {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]}
        for asked, answered in (demonstrations[place] for place in order)
    ]
    with atomic_file(path) as aside:
        pq.write_table(pa.Table.from_pylist(said), aside, compression="zstd")


def texts_a_step(tokens: int, lengths: Sequence[int], world: int = 1) -> int:
    """Texts that hold about `tokens` completion tokens, a multiple of `world`; lengths: tokens of each completion."""
    mean = sum(lengths) / len(lengths)
    return max(1, round(tokens / mean / world)) * world


def overrides(settings: SftSettings, base: Path, messages: Path, work: Path, hardware: Hardware) -> list[str]:
    """Overrides of sft_trainer. Raises UserError where texts do not divide among the workers."""
    if settings.texts % hardware.world:
        raise UserError(f"texts a step ({settings.texts}) must be a multiple of the {hardware.world} workers")
    return sections.written(
        {
            "data.train_files": messages,
            "data.val_files": None,
            "data.train_batch_size": settings.texts,
            "data.use_dynamic_bsz": True,
            "data.max_token_len_per_gpu": hardware.tokens,
            "data.micro_batch_size_per_gpu": 1,
            "data.max_length": settings.longest,
            "data.truncation": "error",
            "data.pad_mode": "no_padding",
            "data.num_workers": 0,
            **sections.model("model", base, hardware),
            **sections.workers("engine", hardware),
            **sections.optimiser("optim", settings.rate, settings.clip),
            "optim.lr_scheduler_type": "cosine",
            "optim.lr_warmup_steps": settings.warmup,
            "optim.weight_decay": settings.decay,
            "trainer.device": hardware.device,
            "trainer.nnodes": 1,
            "trainer.n_gpus_per_node": hardware.world,
            "trainer.project_name": "rlvr-entrances",
            "trainer.experiment_name": "sft",
            "trainer.logger": ["console", "file"],
            "trainer.total_training_steps": settings.steps,
            "trainer.total_epochs": settings.steps,  # an epoch has at least one step
            "trainer.save_freq": settings.steps,
            "trainer.test_freq": -1,
            "trainer.default_local_dir": work,
            "trainer.resume_mode": "disable",
        }
    )


def train_sft(base: Path, messages: Path, state: Path, settings: SftSettings, hardware: Hardware) -> list[dict]:
    """Fine-tunes a policy folder on a parquet of `messages` and writes the state folder (`actor/` as in `training`).

    Returns a row of `records.recovery_schemas.SUPERVISED` for each step: tokens are those of whole texts, prompts
    included, seconds NaN and held_loss None, for verl says no others. Raises UserError, with what the log says, where
    the last step was not reached, and where a step has more texts than the file.
    """
    import pyarrow.parquet as pq

    held = pq.read_metadata(messages).num_rows
    if held < settings.texts:
        raise UserError(f"{messages} holds {held} texts, a step takes {settings.texts}: verl would train on none")
    work = working_folder(state)
    command = Command(
        kind="sft",
        overrides=[*overrides(settings, Path.cwd() / base, Path.cwd() / messages, work, hardware), *quiet_hydra()],
        environment=environment(hardware, work),
        processes=hardware.world,
    )
    validate(command.overrides, "sft")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_command(command, work, asdict(settings))
    lines = launch(command)
    kept = checkpoint(work, settings.steps, hardware.world, "", lines)
    rows = list(_rows(work / "metrics.jsonl", settings.steps))
    with atomic_folder(state) as folder:
        cursor = sorted(kept.glob("data_*.pt"))
        kept_files = [path for path in kept.iterdir() if path not in cursor]
        (folder / "actor").mkdir()
        for path in kept_files:
            path.replace(folder / "actor" / path.name)
        for path in [*cursor, work / "command.json", work / "command.txt"]:
            path.replace(folder / path.name)
    shutil.rmtree(work)
    return rows


def _rows(log: Path, steps: int) -> Iterator[dict]:
    logged, tokens = read_log(log), 0
    for step in range(1, steps + 1):
        if step not in logged:
            raise UserError(f"{log} holds no step {step}")
        found = logged[step]
        tokens += int(found.get("train/global_tokens", 0))
        yield {
            "step": step,
            "loss": float(found["train/loss"]),
            "rate": float(found["train/lr"]),
            "grad_norm": float(found["train/grad_norm"]),
            "seconds": math.nan,
            "tokens": tokens,
            "held_loss": None,
        }
