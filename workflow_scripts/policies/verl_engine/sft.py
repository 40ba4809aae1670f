"""Supervised fine-tuning by `verl.trainer.sft_trainer`, started through torchrun: gloo on CPU, NCCL on CUDA.

verl counts a step in texts where the built-in trainer counts it in completion tokens (`texts_a_step` converts), and
draws the order of every run from one fixed seed; here the seed orders the rows of the file instead. Completions and
the end of the assistant's turn are trained on, prompts are not.
"""

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from workflow_scripts.policies.verl_engine import sections
from workflow_scripts.policies.verl_engine.commands import Command, environment, quiet_hydra, validate, write_command
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.launching import checkpoint, launch
from workflow_scripts.policies.verl_engine.metrics import read_log
from workflow_scripts.policies.verl_engine.sft_texts import Whole, texts_a_step, write_messages
from workflow_scripts.policies.verl_engine.training import working_folder
from workflow_scripts.policies.verl_engine.verbatim import BASE, HELD, MESSAGES, link_policy
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_folder

__all__ = ["SftSettings", "overrides", "texts_a_step", "train_sft", "train_whole", "write_messages"]

_HELD_EVERY = 50
"""Updates between two looks at what is held back, as the built-in trainer's."""


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


def overrides(
    settings: SftSettings, base: Path, messages: Path, work: Path, hardware: Hardware, held: Path | None = None
) -> list[str]:
    """Overrides of sft_trainer. held: messages whose loss is looked at. Raises UserError where texts do not divide
    among the workers."""
    if settings.texts % hardware.world:
        raise UserError(f"texts a step ({settings.texts}) must be a multiple of the {hardware.world} workers")
    return sections.written(
        {
            "data.train_files": messages,
            "data.val_files": held,
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
            "trainer.test_freq": _HELD_EVERY if held else -1,
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

    _check_enough(messages, pq.read_metadata(messages).num_rows, settings)
    work = _emptied(state)
    command = _command(settings, Path.cwd() / base, Path.cwd() / messages, work, hardware)
    return _run(command, state, settings, hardware)


def train_whole(
    base: Path,
    texts: Sequence[Whole],
    state: Path,
    settings: SftSettings,
    hardware: Hardware,
    *,
    seed: int | str,
    held: Sequence[Whole] = (),
) -> list[dict]:
    """As `train_sft`, on texts that are written out. seed: of their order. The state also keeps what was trained on.

    held: texts whose loss (nats a completion token, the mean over batches of `settings.texts`) is in the rows every 50
    updates and at the last; of these, as many as fill whole batches. tokens of a row: the completions' share of the
    tokens that verl counts.
    """
    _check_enough(state, len(texts), settings)
    work = _emptied(state)
    link_policy(Path.cwd() / base, work / BASE)
    write_messages([text[:2] for text in texts], work / MESSAGES, seed=seed)
    looked_at = list(held)[: len(held) // settings.texts * settings.texts]
    if looked_at:
        write_messages([text[:2] for text in looked_at], work / HELD, seed=seed)
    aside = work / HELD if looked_at else None
    command = replace(
        _command(settings, work / BASE, work / MESSAGES, work, hardware, aside),
        verbatim=str(Path.cwd() / base),
        texts=(MESSAGES, HELD) if looked_at else (MESSAGES,),
    )
    rows = _run(command, state, settings, hardware)
    said, whole = sum(text.tokens for text in texts), sum(text.prompt_tokens + text.tokens for text in texts)
    return [row | {"tokens": round(row["tokens"] * said / whole)} for row in rows]


def _check_enough(where: Path, held: int, settings: SftSettings) -> None:
    if held < settings.texts:
        raise UserError(f"{where} holds {held} texts, a step takes {settings.texts}: verl would train on none")


def _emptied(state: Path) -> Path:
    """verl's working folder for a state, empty."""
    work = working_folder(state)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return work


def _command(
    settings: SftSettings, base: Path, messages: Path, work: Path, hardware: Hardware, held: Path | None = None
) -> Command:
    return Command(
        kind="sft",
        overrides=[*overrides(settings, base, messages, work, hardware, held), *quiet_hydra()],
        environment=environment(hardware, work),
        processes=hardware.world,
    )


def _run(command: Command, state: Path, settings: SftSettings, hardware: Hardware) -> list[dict]:
    work = working_folder(state)
    validate(command.overrides, "sft")
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
        texts = [work / name for name in command.texts] if command.verbatim else []
        for path in [*cursor, work / "command.json", work / "command.txt", *texts]:
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
            "held_loss": found.get("val/loss"),
        }
