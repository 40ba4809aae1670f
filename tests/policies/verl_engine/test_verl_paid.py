"""Segments whose reward is told what to pay, and rewards that ask a judge."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from verl_lines import settings

from workflow_scripts.policies.verl_engine import commands
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.judged_reward import compute_score
from workflow_scripts.policies.verl_engine.training import Segment, command_of, working_folder
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.problem_files import write_verl_rows

CPU = Hardware()
PAID = {"reward": {"terms": {"phrases >= 8": 0.5}}, "limits": {"seconds": 2.0}, "workers": 2}


def segment(folder, **given):
    problems = folder / "training.parquet"
    write_verl_rows(pd.DataFrame([{"numbers": [1, 2, 3], "target": 6, "split": "training"}] * 64), problems)
    usual = {
        "settings": settings(), "base": Path("base"), "problems": problems, "state": folder / "state", "before": None,
        "first_step": 0, "last_step": 2, "seed": 1, "line": "code", "prompt_tokens": 9, "reward": "pkg://a.reward",
        "paid": PAID,
    }  # fmt: skip
    return Segment(**(usual | given))


def continued(folder, **given):
    """The segment after one that was paid PAID."""
    made = segment(folder, paid=PAID | {"judge": {"model": "m", "base_url": "http://one/v1"}})
    state = folder / "before"
    (state / "actor").mkdir(parents=True)
    (state / "actor" / "model_world_size_1_rank_0.pt").write_bytes(b"-")
    commands.write_command(command_of(made, CPU), state, made.record)
    return segment(folder, before=state, first_step=2, last_step=4, **given)


def test_the_reward_is_told_by_a_file_and_nothing_else(tmp_path):
    command = command_of(segment(tmp_path), CPU)
    told = [override for override in command.overrides if "reward_kwargs" in override]
    file = working_folder(tmp_path / "state") / "paid.json"
    assert [text.replace("'", "") for text in told] == [f"+reward.custom_reward_function.reward_kwargs.paid={file}"]
    assert "reward.custom_reward_function.path='pkg://a.reward'" in command.overrides
    assert command.texts == ["paid.json"]


def test_the_command_file_puts_back_what_is_paid(tmp_path):
    command = command_of(segment(tmp_path), CPU)
    state = tmp_path / "kept"
    state.mkdir()
    (state / "paid.json").write_text("{}")
    commands.write_command(command, state, {})
    script = (state / "command.txt").read_text()
    (state / "command.txt").write_text(script[: script.index(command.arguments[0])])
    again = dict(os.environ) | {"WORK": str(tmp_path / "again")}
    subprocess.run(["bash", "command.txt"], cwd=state, env=again, check=True)
    assert (tmp_path / "again/paid.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, None),
        ({"workers": 7, "judge": {"model": "m", "base_url": "http://two/v1", "concurrency": 3}}, None),
        ({"judge": {"model": "other"}}, "another paid"),
        ({"judge": None}, "another paid"),
        ({"reward": "strict"}, "another paid"),
        ({"limits": {"seconds": 3.0}}, "another paid"),
    ],
)
def test_a_line_is_held_to_what_it_was_paid_for_and_to_the_judge_s_model(tmp_path, more, told):
    later = continued(tmp_path, paid=PAID | {"judge": {"model": "m"}} | more)
    if told is None:
        assert command_of(later, CPU).links
        return
    with pytest.raises(UserError, match=told):
        command_of(later, CPU)


def test_another_reward_function_does_not_continue_a_line(tmp_path):
    later = continued(tmp_path, reward="pkg://b.reward", paid=PAID | {"judge": {"model": "m"}})
    with pytest.raises(UserError, match="another reward"):
        command_of(later, CPU)


TASK = """
async def compute_score(*, paid, ask, solution_str, **_):
    (reply,) = ask([{"messages": [{"role": "user", "content": solution_str}], "schema": None}], 0)
    return {"score": float(len(reply.text))}
"""


def test_the_task_s_reward_is_given_somebody_to_ask(tmp_path, monkeypatch):
    """Offline, from a cache that another run left."""
    from workflow_scripts.policies.endpoint import Endpoint, Request, request_key

    (tmp_path / "a_task_with_a_judge.py").write_text(TASK)
    monkeypatch.syspath_prepend(tmp_path)
    endpoint = {"base_url": "http://nowhere/v1", "model": "m", "cache": str(tmp_path / "answers"), "replay": True}
    key = request_key(Endpoint(**endpoint), Request([{"role": "user", "content": "said"}]))
    kept = tmp_path / "answers" / key[:2] / f"{key}.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps({"answer": "four", "tokens": 3}))
    paid = tmp_path / "paid.json"
    paid.write_text(json.dumps({"task": "a_task_with_a_judge", "judge": endpoint}))
    score = asyncio.run(
        compute_score(paid=str(paid), data_source="x", solution_str="said", ground_truth="", extra_info={})
    )
    assert score == {"score": 4.0}
    with pytest.raises(UserError, match="replay: 1 of 1 answers are not in"):
        asyncio.run(compute_score(paid=str(paid), data_source="x", solution_str="new", ground_truth="", extra_info={}))
    sys.modules.pop("a_task_with_a_judge")


@pytest.mark.parametrize("text", ["", "{}", '{"task": "json"}', '{"task": "json", "judge": {"odd": 1}}'])
def test_a_file_that_names_no_judge_is_refused(tmp_path, text):
    (tmp_path / "paid.json").write_text(text)
    with pytest.raises(UserError, match=r"paid\.json does not say who judges"):
        asyncio.run(compute_score(paid=str(tmp_path / "paid.json")))
