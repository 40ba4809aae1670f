"""A given policy through all of scientific coding by the workflow: verl, merging, mining, a judge, CritPt files."""

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("verl")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("policies", "workflow")]

import yaml
from code_ground import JudgeServer
from foreign_folders import save, tokenizer
from workspaces import Workspace

from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_REWARDS, SCICODE_SCORES
from workflow_scripts.records.tables import read_table

pytestmark = pytest.mark.engines

CHAT = (
    "{% for message in messages %}<|user|>{{ message['content'] }}<|stop|>{% endfor %}"
    "{% if add_generation_prompt %}<|end|>{% endif %}"
)
MARKS = {
    "semantic": 4,
    "contract": 6,
    "grounded": 5,
    "consistency": 5,
    "overgeneration": 0,
    "fatal_error": False,
    "tags": [],
}
LINE = {
    "engine": "verl", "steps": 1, "segment": 1, "prompts": 2, "samples": 2, "updates": 1, "max_new_tokens": 8,
    "learning_rate": 0.01, "seeds": [1],
}  # fmt: skip
CELLS = [
    {"cell_type": "markdown", "source": "# Problem setup:\nA box.\n\n# Main problem:\nFind f."},
    {"cell_type": "code", "source": "def answer():\n    return ..."},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The results of the finished study, and how often its judge was asked."""
    folder = tmp_path_factory.mktemp("given policy")
    words = tokenizer(folder / "base", chat_template=CHAT)
    save(folder / "base", "llama", words=words, max_position_embeddings=4096)
    (folder / "notebooks").mkdir()
    for number in (1, 2):
        path = folder / f"notebooks/Challenge_{number}.ipynb"
        path.write_text(json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4}))
    with JudgeServer(MARKS) as server:
        scicode = {
            "policy": {"source": str(folder / "base"), "label": "tiny"},
            "sets": {"training": 6, "evaluation": 4, "shifted": 4, "audited": 1},
            "rewards": {"execution": "execution", "length": None, "strict": None, "judged": "semantic_judge"},
            "lines": {
                "execution": None, "length": None, "strict": None,
                "mined": {"reward": "execution", "problems": "mined"} | LINE,
                "judged": {"reward": "judged"} | LINE,
            },
            "judge": {"base_url": server.url, "model": "judge", "items": 1},
            "mining": {"problems": 4, "samples": 2, "share": 0.5},
            "sampling": {"samples": 2, "max_new_tokens": 8},
            "pass_at": [1, 2],
            "benchmark": {"source": str(folder / "notebooks"), "max_new_tokens": 8},
        }  # fmt: skip
        config = folder / "study.yaml"
        config.write_text(yaml.safe_dump({"study": "given", "scicode": scicode}))
        workspace = Workspace(folder / "work", config)
        wanted = [
            "reward_gap",
            "code_layers",
            "run_diagnostics",
            "scicode_leakage",
            "judge_calibration",
            "critpt_outputs",
        ]
        workspace.snakemake(*wanted)
        asked = server.asked
        again = [workspace.planned(*wanted)]
    # Where it runs and who is asked how decides nothing.
    scicode["judge"] |= {"base_url": "http://localhost:1/v1", "replay": True, "concurrency": 1, "requests": 5}
    scicode["lines"]["judged"]["gpus"] = scicode["lines"]["mined"]["gpus"] = 2
    config.write_text(yaml.safe_dump({"study": "given", "scicode": scicode}))
    again.append(workspace.planned(*wanted))
    return folder / "work/results/given", asked, again


def test_nothing_is_left_to_do_wherever_it_would_run(made):
    assert ["Nothing to be done" in said for said in made[2]] == [True, True]


def test_every_policy_answers_both_sets_and_the_base_what_it_trains_on(made):
    results, _, _ = made
    problems = {
        name: set(read_table(results / f"scicode/problems/{name}.parquet", SCICODE_PROBLEMS)["problem_id"])
        for name in ("evaluation", "shifted", "training")
    }
    asked = problems["evaluation"] | problems["shifted"]
    for sampled, wanted in (("base", asked), ("mined-s1-step1", asked), ("base.training", problems["training"])):
        rollouts = read_table(results / f"scicode/rollouts/{sampled}.parquet", ROLLOUTS)
        assert rollouts.groupby("problem_id").size().to_dict() == dict.fromkeys(wanted, 2), sampled


def test_the_shifted_set_is_of_families_that_training_lacks(made):
    results, _, _ = made
    families = {
        name: set(read_table(results / f"scicode/problems/{name}.parquet", SCICODE_PROBLEMS)["family"])
        for name in ("training", "evaluation", "shifted", "mined")
    }
    assert families["shifted"].isdisjoint(families["training"] | families["evaluation"] | families["mined"])


def test_the_mined_set_holds_failed_and_fresh_problems(made):
    results, _, _ = made
    mined, training = (
        read_table(results / f"scicode/problems/{name}.parquet", SCICODE_PROBLEMS) for name in ("mined", "training")
    )
    kept = set(mined["problem_id"]) & set(training["problem_id"])
    assert len(mined) == 4 and len(kept) == 2
    candidates = pd.read_csv(results / "measures/scicode/mining.csv").set_index("problem_id")
    assert candidates.loc[sorted(kept), "selected"].all() and len(candidates) == 6


def test_the_judge_marks_the_first_sample_of_every_problem(made):
    results, asked, _ = made
    judged = read_table(results / "scicode/judged/judged-s1-step1.parquet", SCICODE_REWARDS)
    assert set(judged["reward"]) == {"judged"}
    assert len(judged) == 8 and set(judged["sample"]) == {0} and asked > 0
    # .55 × .4 + .2 × .6 + .1 × .5 + .15 × .5; an empty completion is rejected unseen
    assert set(judged["score"].round(6)) <= {0.465, 0.0} and judged["score"].gt(0).any()
    table = pd.read_csv(results / "tables/judge_calibration.csv")
    assert len(table) == 2 * 3


def test_every_policy_s_answers_are_a_submission(made):
    results, _, _ = made
    for policy in ("base", "mined-s1-step1", "judged-s1-step1"):
        batch = json.loads((results / f"scicode/submissions/{policy}.raw-compact.json").read_text())
        assert [entry["problem_id"] for entry in batch["submissions"]] == ["Challenge_1_main", "Challenge_2_main"]
        assert {entry["model"] for entry in batch["submissions"]} == {f"tiny {policy}"}
    answers = [
        read_table(results / f"scicode/rollouts/{policy}.critpt-raw-compact.parquet", ROLLOUTS)["completion"]
        for policy in ("base", "mined-s1-step1")
    ]
    assert all(len(said) == 2 for said in answers)
    table = pd.read_csv(results / "tables/critpt_outputs.csv")
    assert len(table) == 3


def test_layers_are_told_of_every_policy(made):
    results, _, _ = made
    scores = read_table(results / "scicode/scores/judged-s1-step1.parquet", SCICODE_SCORES)
    assert len(scores) == 16 and scores["finish_reason"].isin(["stop", "length"]).all()
    layers = (results / "tables/code_layers.md").read_text()
    assert all(f": {name}" in layers for name in ("base", "mined", "judged"))
