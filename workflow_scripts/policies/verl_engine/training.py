"""One segment of a training line by verl: from the state folder kept before it to the one after it.

A state folder holds verl's checkpoint (`actor/`, `critic/` with ppo, `data.pt`: weights, optimiser, random states and
data cursor), the judged samples (`rollouts/`), what share of them opens how (`entrances.csv`), all of verl's numbers
(`metrics.jsonl`), and the command (`command.txt`, `command.json`) with what it reads: the prompts (`problems.parquet`,
where they are verbatim) and what is paid (`paid.json`, where the reward is told that; there are no openings then). Its
`.pt` files are pickles: give verl only states that you trained or trust.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.policies.verl_engine import metrics
from workflow_scripts.policies.verl_engine.commands import (
    Command,
    environment,
    quiet_hydra,
    ray_folder,
    read_record,
    validate,
    write_command,
)
from workflow_scripts.policies.verl_engine.hardware import Hardware, Paths
from workflow_scripts.policies.verl_engine.launching import checkpoint, launch
from workflow_scripts.policies.verl_engine.overrides import KEYS, overrides
from workflow_scripts.policies.verl_engine.verbatim import BASE, PROBLEMS, most_tokens, write_verbatim
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_folder, write_text

PAID = "paid.json"

_NOT_DECISIVE = ("judge", "workers")
"""What of a reward's file may change within a line: who is asked where, and how many programs run at once."""


@dataclass(frozen=True)
class Segment:
    """What one run of verl trains.

    settings: of the line, as in the config. base: policy folder that the line started from, also the reference and the
    critic's start. problems: training parquet in verl's form. state: folder to write. before: state folder that it
    continues, None at step 0. seed, line: key its random streams. reward: where verl finds compute_score. contract:
    what it accepts. paid: in the place of a contract, all that the reward is told, as a file whose path is its argument
    `paid`; of a `judge` in it (fields of `endpoint.Endpoint`) a line is held to the model alone.
    prompt_tokens: of the longest prompt; counted with the policy's tokenizer where None. prompts: the texts that the
    policy reads, one for each row of `problems`; None for what its chat template makes of the rows' messages.
    """

    settings: Mapping[str, Any]
    base: Path
    problems: Path
    state: Path
    before: Path | None
    first_step: int
    last_step: int
    seed: int
    line: str
    reward: str = "pkg://workflow_scripts.tasks.countdown.reward"
    contract: str = "strict"
    paid: Mapping[str, Any] | None = None
    prompt_tokens: int | None = None
    prompts: Sequence[str] | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What a state can only be continued with."""
        return {
            "settings": {key: self.settings[key] for key in KEYS},
            "seed": self.seed,
            "line": self.line,
            **({"contract": self.contract} if self.paid is None else {"reward": self.reward, "paid": self._decisive}),
        }

    @property
    def _decisive(self) -> dict[str, Any]:
        kept = {key: value for key, value in self.paid.items() if key not in _NOT_DECISIVE}
        return kept | {"judge": (self.paid.get("judge") or {}).get("model", "")}

    @property
    def texts(self) -> list[str]:
        """Files that are written for verl to read."""
        return [PROBLEMS] * (self.prompts is not None) + [PAID] * (self.paid is not None)


def command_of(segment: Segment, hardware: Hardware) -> Command:
    """The command of a segment: complete, not yet checked by verl and not yet run.

    Raises UserError for settings that verl cannot do, where there are fewer problems than a step takes, and where the
    state before was made with other settings or by another number of workers.
    """
    work = working_folder(segment.state)
    resume, links = None, {}
    if segment.first_step:
        if segment.before is None:
            raise UserError(f"a segment from step {segment.first_step} needs the state folder of that step")
        _check_continues(segment, hardware)
        resume = work / "before" / f"global_step_{segment.first_step}"  # the name that verl reads the step from
        links = {str(resume): str(_absolute(segment.before))}
    verbatim = segment.prompts is not None
    paths = Paths(
        base=work / BASE if verbatim else _absolute(segment.base),
        problems=work / PROBLEMS if verbatim else _absolute(segment.problems),
        work=work,
        resume=resume,
        reward=segment.reward,
    )
    _check_enough(segment)
    prompt_tokens = segment.prompt_tokens or (
        most_tokens(segment.base, segment.prompts) if verbatim else longest_prompt(segment.base, segment.problems)
    )
    temporary = ray_folder(work)
    given = overrides(
        segment.settings,
        paths,
        segment.first_step,
        segment.last_step,
        hardware,
        seed=segment.seed,
        line=segment.line,
        prompt_tokens=prompt_tokens,
        reward={"contract": segment.contract} if segment.paid is None else {"paid": work / PAID},
    )
    return Command(
        kind="ppo",
        overrides=[*given, f"+ray_kwargs.ray_init._temp_dir={temporary}", *quiet_hydra()],
        environment=environment(hardware, work, critic=segment.settings["algorithm"] == "ppo"),
        links=links,
        temporary=temporary,
        verbatim=str(_absolute(segment.base)) if verbatim else "",
        texts=segment.texts,
    )


def run(segment: Segment, hardware: Hardware) -> list[dict]:
    """Trains a segment and writes its state folder; returns a row of `records.schemas.TRAINING` for each step.

    verl works in a folder beside the state; it stays where the run fails, for its records, and is replaced by the next
    try. Raises UserError, before anything starts, as `command_of` and `commands.validate` do, and afterwards where the
    last step was not reached, with what the log says.
    """
    work = working_folder(segment.state)
    command = command_of(segment, hardware)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if segment.prompts is not None:
        write_verbatim(_absolute(segment.base), segment.problems, segment.prompts, work)
    if segment.paid is not None:
        write_text(work / PAID, json.dumps(segment.paid, indent=1, sort_keys=True) + "\n")
    validate(command.overrides)  # which reads the policy's config
    write_command(command, work, segment.record)
    lines = launch(command)
    kept = checkpoint(work, segment.last_step, hardware.world, "actor", lines)
    if segment.settings["algorithm"] == "ppo":
        checkpoint(work, segment.last_step, hardware.world, "critic", lines)
    rollouts = work / "rollouts"
    found = list(
        metrics.rows(
            work / "metrics.jsonl", rollouts, segment.first_step, segment.last_step, segment.settings["samples"]
        )
    )
    with atomic_folder(segment.state) as folder:
        for name in ("metrics.jsonl", "command.json", "command.txt", *command.texts):
            (work / name).replace(folder / name)
        for path in [*kept.iterdir(), rollouts]:
            path.replace(folder / path.name)
        if segment.paid is None:  # the study's own reward, which tells how a sample opens
            (folder / "entrances.csv").write_text(_entrances(folder / "rollouts"), encoding="utf-8")
    shutil.rmtree(work)
    return found


def working_folder(state: Path) -> Path:
    """Where verl works for a state folder, absolute."""
    state = _absolute(state)
    return state.with_name(f"{state.name}.verl")


def longest_prompt(base: Path, problems: Path) -> int:
    """Tokens of the longest prompt of a problem file, as the policy's chat template and tokenizer make it."""
    import pyarrow.parquet as pq
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    prompts = pq.read_table(problems, columns=["prompt"]).column("prompt").to_pylist()
    texts = tokenizer.apply_chat_template(prompts, add_generation_prompt=True, tokenize=False)
    return max(len(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"])


def _check_enough(segment: Segment) -> None:
    import pyarrow.parquet as pq

    held = pq.read_metadata(segment.problems).num_rows
    if held < segment.settings["prompts"]:
        raise UserError(
            f"{segment.problems} holds {held} problems, a step takes {segment.settings['prompts']}: "
            "lower prompts or give more problems"
        )


def _absolute(path: Path) -> Path:
    return Path.cwd() / path  # not resolved: a link of a shared cache must keep its name


def _entrances(rollouts: Path) -> str:
    """step, opening, mass: one row for each opening that a step's samples took."""
    lines = ["step,opening,mass"]
    for file in sorted(rollouts.iterdir(), key=lambda path: int(path.stem)):
        for opening, mass in metrics.entrance_masses(metrics.read_rollouts(file)).items():
            lines.append(f"{file.stem},{opening},{mass!r}")
    return "\n".join(lines) + "\n"


def _check_continues(segment: Segment, hardware: Hardware) -> None:
    before = read_record(segment.before)
    for key, value in segment.record.items():
        if before.get(key) != value:
            odd = ""
            if key == "settings":
                odd = ", ".join(name for name in value if before.get(key, {}).get(name) != value[name])
            raise UserError(
                f"{segment.before} was trained with another {key}{f' ({odd})' if odd else ''}; a state can only be "
                "continued with the settings that it was made with"
            )
    shards = len(list((segment.before / "actor").glob("model_world_size_*_rank_*.pt")))
    if shards != hardware.world:
        raise UserError(
            f"{segment.before} was trained by {shards} worker(s), this job has {hardware.world}; keep the number of "
            "GPUs over a line"
        )
