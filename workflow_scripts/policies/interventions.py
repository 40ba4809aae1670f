"""Ways of sampling a trained policy that may bring breadth back: one row of settings each, many rows a job.

All settings of a policy draw from the policy's own random streams (common random numbers), so that they differ from the
plain samples, and from each other, by what they do alone: interpolation or mixing with alpha 0 is the plain policy.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pandas as pd
import pyarrow as pa

from workflow_scripts.policies import interpolation
from workflow_scripts.policies.decoding_weights import DecodeWeights
from workflow_scripts.policies.mixing import mixture
from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.sampling import Speaker, load_speaker, sample_requests
from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import ROLLOUTS

PLAIN = "plain"
"""The requests that a setting takes where it names none."""

CHANGES = ("none", "interpolation", "mixing", "checkpoints")

_KEPT = 2  # policies, and pairs of them, at hand: some are gigabytes each


@dataclass(frozen=True)
class Setting:
    """One way of sampling.

    setting: its name, the `policy` of its rollouts. intervention: what it is a setting of, one choice each. policy: who
    speaks. partner: the other checkpoint of interpolation, mixing and checkpoints. change: `interpolation` (alpha,
    blocks [start, end) or null for all weights), `mixing` (alpha, strategy), `checkpoints` (of each problem's requests,
    the share of samples, from the first on, that the partner answers under its own streams), or `none`.
    temperature, top_p, min_p: null for the study's. requests: which of the tables of requests it answers.
    """

    setting: str
    policy: str
    intervention: str = ""
    change: str = "none"
    partner: str | None = None
    alpha: float = 0.0
    blocks: Sequence[int] | None = None
    strategy: str = "global"
    share: float = 0.5
    temperature: float | None = None
    top_p: float | None = None
    min_p: float | None = None
    requests: str = PLAIN

    def __post_init__(self) -> None:
        if self.change not in CHANGES:
            raise UserError(f"setting {self.setting}: change {self.change!r} is none of {', '.join(CHANGES)}")
        if self.change != "none" and self.partner is None:
            raise UserError(f"setting {self.setting}: {self.change} needs a partner")
        if self.blocks is not None and len(self.blocks) != 2:
            raise UserError(f"setting {self.setting}: blocks are [start, end), not {list(self.blocks)}")
        if not 0 <= self.share <= 1:
            raise UserError(f"setting {self.setting}: share must be in [0, 1], not {self.share}")


def settings_of(rows: Sequence[Mapping]) -> list[Setting]:
    """Settings from plain rows; UserError for an unknown key, a name given twice, and as Setting raises."""
    known = list(Setting.__dataclass_fields__)
    settings = []
    for number, row in enumerate(rows, start=1):
        for key in row:
            if key not in known:
                raise UserError(f"row {number} of the settings: unknown key {key!r}{closest(key, known)}")
        for key in ("setting", "policy"):
            if key not in row:
                raise UserError(f"row {number} of the settings: {key} is missing")
        settings.append(Setting(**row))
    names = [setting.setting for setting in settings]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"the setting {name!r} is given twice")
    return settings


def run_settings(
    policies: Mapping[str, str | os.PathLike],
    requests: Mapping[str, pd.DataFrame],
    settings: Sequence[Setting],
    *,
    temperature: float,
    top_p: float,
    max_new_tokens: int,
    study_seed: int,
    min_p: float = 0.0,
) -> pa.Table:
    """Rollouts of every setting, in the order of settings and requests: ROLLOUTS, whose `policy` is the setting.

    policies: name to folder. requests: name to table (columns problem_id, text, prefix, sample; see
    tasks.countdown.requests). The rest: see policies.decoding.decode; the study's, where a setting has none of its own.
    Raises UserError, naming the setting, for policies or requests that are not given and as interpolation, mixing and
    sampling do.
    """
    for setting in settings:
        for kind, name, given in (
            ("policy", setting.policy, policies),
            ("partner", setting.partner, policies),
            ("requests", setting.requests, requests),
        ):
            if name is not None and name not in given:
                raise UserError(f"setting {setting.setting}: there is no {kind} {name!r}; given are {', '.join(given)}")
    load = _Loader(policies)
    study = {"temperature": temperature, "top_p": top_p, "min_p": min_p}
    tables = []
    for setting in progress(settings, title="sampling settings", unit="setting"):
        own = {name: getattr(setting, name) for name in study}
        drawing = study | {name: value for name, value in own.items() if value is not None}
        call = drawing | {"max_new_tokens": max_new_tokens, "study_seed": study_seed, "policy": setting.setting}
        try:
            for speaker, stream, asked in _parts(setting, requests[setting.requests], load):
                tables.append(sample_requests(speaker, asked, stream=stream, **call))
        except UserError as error:
            raise UserError(f"setting {setting.setting}: {error}") from error
    return pa.concat_tables(tables) if tables else ROLLOUTS.empty_table()


def _parts(setting: Setting, requests: pd.DataFrame, load: "_Loader") -> Iterator[tuple[Speaker, str, pd.DataFrame]]:
    """Who answers which requests, and under whose random streams."""
    if setting.change != "checkpoints":
        yield load.changed(setting), setting.policy, requests
        return
    interpolation.refuse_other_words(load.folders[setting.policy], load.folders[setting.partner])
    place = requests.groupby("problem_id")["sample"].rank(method="first") - 1
    partners = place < (setting.share * requests.groupby("problem_id")["sample"].transform("size")).round()
    yield load.speaker(setting.partner), setting.partner, requests[partners]
    yield load.speaker(setting.policy), setting.policy, requests[~partners]


class _Loader:
    """Policies by name; the last few stay in memory."""

    def __init__(self, folders: Mapping[str, str | os.PathLike]):
        self.folders = folders
        self.speaker = lru_cache(_KEPT)(lambda name: load_speaker(folders[name]))
        self.pair = lru_cache(_KEPT)(lambda late, early: interpolation.load_pair(folders[late], folders[early]))

    def changed(self, setting: Setting) -> Speaker:
        late = self.speaker(setting.policy)
        if setting.change == "interpolation":
            policy = interpolation.interpolated(
                *self.pair(setting.policy, setting.partner),
                setting.alpha,
                None if setting.blocks is None else tuple(setting.blocks),
            )
            if isinstance(policy, Policy):
                policy = DecodeWeights.from_tensors(policy.tensors(), policy.architecture.config())
            return replace(late, weights=policy)
        if setting.change == "mixing":
            interpolation.refuse_other_words(self.folders[setting.policy], self.folders[setting.partner])
            early = self.speaker(setting.partner).weights
            piece = getattr(late.tokenizer, "piece", None)  # of tokenizers whose tokens are parts of words
            rule = {"alpha": setting.alpha, "strategy": setting.strategy, "piece": piece}
            return replace(late, reader=mixture(early, late.tokenizer.words, **rule))
        return late
