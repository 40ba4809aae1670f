"""The config model: every key with its type, range, default and meaning. Read by Snakefile and command line.

Stages get plain params, never this model, so that a new key leaves the results of other rules alone.
`config/schema.json` is generated from here (`entrances config schema`) and a test keeps it current.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.nested import DEFAULT
from workflow_scripts.settings.kinds import Name, Section, without_dropped
from workflow_scripts.settings.maths import Maths
from workflow_scripts.settings.scicode import Scicode
from workflow_scripts.settings.sections import (
    Base,
    Clamps,
    Instance,
    Interventions,
    Measures,
    Policy,
    Problems,
    Sampling,
)
from workflow_scripts.settings.training import DpoRoad, GrpoRoad, Line, Road, SftRoad, Verl


class Settings(Section):
    """One study: what `results/<study>/` is made from."""

    study: Name = "laptop"
    """Name of the study, and of its folder under results/."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Every random stream of the study starts from it."""
    offline: bool = False
    """Nothing is fetched: sources that are hub ids are refused, with what to do. HF_HUB_OFFLINE=1 does the same."""
    problems: Problems = Problems()
    policy: Policy = Policy()
    base: Base = Base()
    lines: Annotated[dict[Name, Line], Field(min_length=1)] = {
        "ppo": Line(algorithm="ppo", steps=275, late=275, prompts=256, samples=1, updates=2),
        "grpo": Line(steps=450, late=450),
    }
    """Training lines by name; an overlay drops one with `name: null`."""
    verl: Verl = Verl()
    sampling: Sampling = Sampling()
    measures: Measures = Measures()
    clamps: Clamps = Clamps()
    instance: Instance = Instance()
    interventions: Interventions = Interventions()
    roads: dict[Name, Road] = {}
    """Other ways to train, by name; an overlay drops one with `name: null`, all with `roads: null`."""
    maths: Maths = Maths()
    """The study's second half, on mathematics; without roads and policies there is none."""
    scicode: Scicode = Scicode()
    """Scientific coding, where rewards are compared with the truth; without lines there is none."""

    @model_validator(mode="before")
    @classmethod
    def _without_dropped_lines(cls, data: Any) -> Any:
        return without_dropped(data, ("lines", "roads"))

    @model_validator(mode="after")
    def _consistent(self) -> "Settings":
        beyond = [k for k in self.measures.pass_at if k > self.sampling.samples]
        if beyond:
            limit = self.sampling.samples
            raise ValueError(f"measures.pass_at: pass@k needs k ≤ sampling.samples ({limit}), not {beyond}")
        if self.sampling.lost <= self.sampling.samples:
            raise ValueError(f"sampling.lost ({self.sampling.lost}) must exceed sampling.samples")
        self._roads_lead_back()
        self._arms_have_a_control()
        self._interventions_fit()
        self._fit_in_context()
        self._engines_can()
        return self

    def _engines_can(self) -> None:
        """Refuses what no rule of the chosen engines can do, before anything is planned."""
        odd = [name for name, road in self.roads.items() if isinstance(road, GrpoRoad) and road.engine != "built_in"]
        if odd:
            raise ValueError(f"roads.{odd[0]}.engine: roads are trained by the built_in engine")
        for name, line in self.lines.items():
            if line.engine == "verl" and line.countermeasures and not line.source:
                raise ValueError(f"lines.{name}: verl knows no countermeasures; drop them or set engine: built_in")
            if line.engine == "built_in" and not line.source and self.policy.wording != "laptop":
                raise ValueError(
                    f"lines.{name}: the built_in engine trains the small policy, which reads wording laptop; set "
                    "engine: verl, or give `source` for a line of checkpoints that exist"
                )

    def _roads_lead_back(self) -> None:
        for name, road in self.roads.items():
            if name in ("base", *self.lines) or any(name.startswith(f"{line}-s") for line in self.lines):
                raise ValueError(f"roads.{name}: this name is taken by a policy of the study")
            passed, start = [name], road.start
            while start != "base":
                if start not in self.roads:
                    known = ", ".join(["base", *self.roads])
                    raise ValueError(f"roads.{passed[-1]}.start ({start}) is no road; choose one of {known}")
                if start in passed:
                    raise ValueError(f"roads.{name}: starts go in a circle: {' → '.join([*passed, start])}")
                passed.append(start)
                if not set(road.seeds) <= set(self.roads[start].seeds):
                    raise ValueError(f"roads.{name}.seeds must be among those of its start, {start}")
                start = self.roads[start].start

    def _arms_have_a_control(self) -> None:
        arms = {name: road for name, road in self.roads.items() if road.role == "arm"}
        if arms and not isinstance(arms.get("control"), GrpoRoad):
            named = ", ".join(arms)
            raise ValueError(f"roads: arms ({named}) are compared with an arm `control` of kind grpo; there is none")

    def _interventions_fit(self) -> None:
        given = self.interventions
        if given.proposing >= given.samples:
            raise ValueError(
                f"interventions.proposing ({given.proposing}) must be below interventions.samples ({given.samples})"
            )
        if self.policy.source is None:
            layers = self.policy.layers
            for blocks in filter(None, given.blocks):
                if not 0 <= blocks[0] < blocks[1] <= layers:
                    raise ValueError(
                        f"interventions.blocks: {blocks} is no [first, last (exclusive)] among {layers} blocks"
                    )
            largest = max(*self.instance.numbers, self.instance.target)
            if largest > 100 or self.instance.target < 0:
                raise ValueError("instance: the small policy reads numbers and targets 0…100")

    def _fit_in_context(self) -> None:
        if self.policy.source is not None:
            return  # its own config.json states its context
        longest = 2 * max(self.problems.operands) + 2
        for key, tokens in {
            "sampling.max_new_tokens": self.sampling.max_new_tokens,
            **{f"lines.{name}.max_new_tokens": line.max_new_tokens for name, line in self.lines.items()},
            **{
                f"roads.{name}.max_new_tokens": road.max_new_tokens
                for name, road in self.roads.items()
                if isinstance(road, GrpoRoad)
            },
        }.items():
            if tokens + longest > self.policy.context:
                limit = self.policy.context
                raise ValueError(f"{key} ({tokens}) and a prompt of {longest} tokens exceed policy.context ({limit})")


def merged(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`overlay` laid over `base`: sections are merged key by key, anything else replaced (Snakemake's own rule)."""
    result = dict(base)
    for key, value in overlay.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return result


def read_yaml(path: str | Path) -> dict[str, Any]:
    """One config file as plain data. Raises UserError, naming file and line, where it is absent or no YAML mapping."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read config {path}: {error}") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise UserError(f"{path}{line}: not valid YAML ({getattr(error, 'problem', error)})") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} must hold `key: value` lines, not {type(data).__name__}")
    return data


def _fields_at(location: Sequence[str | int]) -> list[str]:
    """Known keys of the section that `location` (a pydantic error location without its last part) leads to."""
    kinds = {"sft": SftRoad, "dpo": DpoRoad, "grpo": GrpoRoad}
    model: Any = Settings
    for part in location:
        if part in kinds:  # of a road, said after its name
            model = kinds[part]
        elif not (isinstance(model, type) and issubclass(model, BaseModel)):
            model = Line if location[0] == "lines" else model  # below a line's name
        else:
            model = model.model_fields[str(part)].annotation
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _explained(error: Mapping[str, Any]) -> str:
    location = [part for part in error["loc"] if part != "[key]"]
    key = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        known = _fields_at(location[:-1])
        return f"{key}: unknown key{closest(str(location[-1]), known) or '; known here: ' + ', '.join(known)}"
    message = error["msg"].removeprefix("Value error, ")
    got = "" if error["type"] == "value_error" else f", not {error['input']!r}"
    return f"{key}: {message}{got}" if key else message


def validated(data: Mapping[str, Any], name: str = "config") -> Settings:
    """The settings in plain data. Raises UserError with one line per fault: key, what is wrong, a suggestion."""
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        faults = "\n".join(f"  {_explained(fault)}" for fault in error.errors())
        raise UserError(f"{name} is not valid:\n{faults}") from None


def load(path: str | Path | None = None) -> Settings:
    """The default config with the overlay file `path` (if any) laid over it, validated."""
    data = read_yaml(DEFAULT)
    if path is not None and Path(path).resolve() != DEFAULT:
        data = merged(data, read_yaml(path))
    return validated(data, str(path or DEFAULT))


def schema() -> str:
    """JSON schema of the config, as text."""
    return json.dumps(Settings.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
