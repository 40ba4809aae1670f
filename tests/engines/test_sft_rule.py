"""The rule of a fine-tuned road with engine: verl, for real: demonstrations in, a policy out."""

import math

import pytest

pytest.importorskip("verl")

import pandas as pd
import pyarrow.parquet as pq
from one_rule import run_stage
from verl_ground import tiny_policy

from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.model import load_policy
from workflow_scripts.policies.pretraining import mean_loss
from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.policies.tokenizer import load_tokenizer
from workflow_scripts.policies.verl_engine.sft_texts import whole_texts
from workflow_scripts.records import manifests
from workflow_scripts.records.recovery_schemas import DEMONSTRATIONS, SUPERVISED
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.demonstrations import of_problems
from workflow_scripts.tasks.countdown.problem_files import read_verl_rows, write_verl_rows
from workflow_scripts.tasks.countdown.text import think_prompt

pytestmark = pytest.mark.engines

SETTINGS = {
    "source": "solver",
    "choice": "diverse",
    "demonstrations": 4,
    "steps": 6,
    "tokens": 50,
    "learning_rate": 1e-2,
}
PARAMS = {
    "code": "",
    "study_seed": 3,
    "road": "sft",
    "wording": "laptop",
    "settings": SETTINGS,
    "hardware": {"workers": 1, "tokens": 2048},
}  # fmt: skip


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    """The folder in which the rule has run."""
    folder = tmp_path_factory.mktemp("sft rule")
    tiny_policy(folder / "base")
    asked = [((a, b, 2), a * b - 2) for a in range(3, 9) for b in range(a, 13)]
    write_verl_rows(
        pd.DataFrame([{"numbers": [*n], "target": t, "split": "training"} for n, t in asked]),
        folder / "training.parquet",
    )
    shown = pd.DataFrame(of_problems(asked, 4, choice="diverse", seed=1))
    shown = shown.assign(choice="diverse", place=shown.groupby("problem_id").cumcount())
    write_table(shown, folder / "shown.parquet", DEMONSTRATIONS)
    for name in ("base", "training.parquet", "shown.parquet"):
        manifests.write([str(folder / name)], [], {})
    run_stage(
        "road_sft_verl",
        folder,
        {"start": "base", "problems": "training.parquet", "demonstrations": "shown.parquet"},
        {
            "policy": "policies/sft-s{seed}",
            "state": "training/sft-s{seed}",
            "metrics": "training/sft-s{seed}.parquet",
            "metrics_manifest": "training/sft-s{seed}.manifest.json",
        },
        PARAMS,
    )
    return folder


def test_the_loss_falls_and_begins_as_the_base_s(road):
    rows = read_table(road / "training/sft-s1.parquet", SUPERVISED)
    assert list(rows["step"]) == [1, 2, 3, 4, 5, 6]
    assert rows["loss"].iloc[-1] < rows["loss"].iloc[0] - 0.5
    base = road / "base"
    tokenizer = load_tokenizer(base)
    ask = {
        row.problem_id: think_prompt(row.numbers, row.target)
        for row in read_verl_rows(road / "training.parquet").itertuples()
    }
    shown = read_table(road / "shown.parquet", DEMONSTRATIONS)
    texts = [
        (tokenizer.encode_known(ask[problem]), [*tokenizer.encode_known(said), tokenizer.end_id])
        for problem, said in zip(shown["problem_id"], shown["completion"])
    ]
    # A first step is a draw of the texts; the base, which knows nothing, finds them all equally likely.
    assert rows["loss"].iloc[0] == pytest.approx(mean_loss(load_policy(base), texts), abs=0.1)
    # As many texts a step as hold about 50 completion tokens.
    assert rows["tokens"].diff().dropna().between(25, 75).all() and 240 < rows["tokens"].iloc[-1] < 360


def test_what_is_held_back_is_looked_at_and_not_trained_on(road):
    rows = read_table(road / "training/sft-s1.parquet", SUPERVISED)
    assert rows["held_loss"].iloc[:-1].isna().all() and math.isfinite(rows["held_loss"].iloc[-1])
    state = road / "training/sft-s1"
    trained, held = (
        {tuple(message["content"] for message in row["messages"]) for row in pq.read_table(state / name).to_pylist()}
        for name in ("messages.parquet", "held.parquet")
    )
    assert held and not trained & held
    policy, tokenizer = load_policy(road / "policies/sft-s1"), load_tokenizer(road / "base")
    texts = [(tokenizer.encode_known(asked), tokenizer.encode_known(said)) for asked, said in held]
    assert all(said.startswith(" try ") and said.endswith(" </answer> <eos>") for _, said in held)
    assert rows["held_loss"].iloc[-1] == pytest.approx(mean_loss(policy, texts), rel=1e-2)


def test_the_policy_loads_and_says_other_things(road):
    drawing = {"samples": 8, "temperature": 1.0, "top_p": 1.0, "max_new_tokens": 20, "study_seed": 1}
    said = {
        folder: sample_policy(road / folder, [Prompt("p", "4 5 2 -> 18 <think>")], policy="same", **drawing)
        for folder in ("base", "policies/sft-s1")
    }
    texts = {folder: table.column("completion").to_pylist() for folder, table in said.items()}
    assert all(one != other for one, other in zip(*texts.values(), strict=True))


def test_the_state_says_how_it_was_made(road):
    state = road / "training/sft-s1"
    assert {"actor", "command.json", "command.txt", "messages.parquet", "held.parquet"} <= {
        p.name for p in state.iterdir()
    }
    script = (state / "command.txt").read_text()
    assert "verl.trainer.sft_trainer" in script and 'cp "$HERE/messages.parquet"' in script
    assert not list((road / "training").glob("*.verl"))
    for path in ("policies/sft-s1", "training/sft-s1", "training/sft-s1.parquet"):
        manifests.check(str(road / path))


def test_texts_are_written_out_for_either_kind_of_tokenizer(road):
    (text,) = whole_texts([("4 5 2 -> 18 <think>", "try 4 * 5 = 20")], load_any_tokenizer(road / "base"))
    assert text == ("4 5 2 -> 18 <think>", " try 4 * 5 = 20 <eos>", 6, 7)
