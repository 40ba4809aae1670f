import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from verl_lines import settings

from workflow_scripts.policies.verl_engine import commands, training
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.sections import written
from workflow_scripts.policies.verl_engine.sft import SftSettings, overrides, texts_a_step, write_messages
from workflow_scripts.policies.verl_engine.training import Segment, command_of
from workflow_scripts.policies.verl_engine.verbatim import write_verbatim
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.problem_files import write_verl_rows

CPU = Hardware()


def segment(folder, **given):
    problems = folder / "training.parquet"
    write_verl_rows(pd.DataFrame([{"numbers": [1, 2, 3], "target": 6, "split": "training"}] * 64), problems)
    usual = {
        "settings": settings(), "base": Path("base"), "problems": problems, "state": folder / "state",
        "before": None, "first_step": 0, "last_step": 2, "seed": 1, "line": "grpo", "prompt_tokens": 9,
    }  # fmt: skip
    return Segment(**(usual | given))


def kept(folder, **given):
    """A state folder as a finished segment leaves it, without weights."""
    made = segment(folder, **given)
    state = folder / "before"
    (state / "actor").mkdir(parents=True)
    (state / "actor" / "model_world_size_1_rank_0.pt").write_bytes(b"-")
    commands.write_command(command_of(made, CPU), state, made.record)
    return state


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"), (True, "true"), (1e-7, "1e-07"), (3, "3"), ("cpu", "cpu"), (["a", 1.0], "[a,1.0]"),
        (Path("/a b/c=d"), "'/a b/c=d'"), ("it's", r"'it\'s'"), ("low_var_kl", "low_var_kl"),
        (Path("/a/b-1.x"), "/a/b-1.x"), ("true", "'true'"), ("2.5", "'2.5'"), ("pkg://a.b", "'pkg://a.b'"),
    ],
)  # fmt: skip
def test_values_as_hydra_reads_them(value, expected):
    assert written({"key": value}) == [f"key={expected}"]


def test_the_plug_in_is_for_cpus_alone(tmp_path):
    cpu = commands.environment(CPU, tmp_path)
    assert cpu["VERL_USE_EXTERNAL_MODULES"] == commands.PLUGIN and cpu["VERL_PLATFORM"] == "cpu"
    cuda = commands.environment(Hardware(gpus=2), tmp_path)
    assert not {"VERL_USE_EXTERNAL_MODULES", "VERL_PLATFORM", "VERL_ENGINE_DEVICE", "CUDA_VISIBLE_DEVICES"} & set(cuda)
    assert commands.environment(Hardware(gpus=1), tmp_path, critic=True)["VERL_USE_EXTERNAL_MODULES"].endswith(
        "value_model"
    )
    flash = Hardware(gpus=1, attention="flash_attention_2")
    assert "VERL_USE_EXTERNAL_MODULES" not in commands.environment(flash, tmp_path, critic=True)


def test_the_modules_that_verl_is_told_exist():
    package = Path(commands.__file__).parent
    for module in (commands.PLUGIN, commands.VALUE_MODEL, "workflow_scripts.policies.verl_engine.reward_manager"):
        assert (package / f"{module.rpartition('.')[2]}.py").is_file()


def test_a_person_can_run_the_command_file(tmp_path):
    before = kept(tmp_path)
    later = segment(tmp_path, before=before, first_step=2, last_step=4)
    command = command_of(later, CPU)
    commands.write_command(command, tmp_path, later.record)
    text = (tmp_path / "command.txt").read_text()
    assert "-m verl.trainer.main_ppo" in text.replace(" \\\n    ", " ")
    # The same file with another command in place of verl: the link is made and the variables are there.
    cut = text.index(command.arguments[0])
    run = subprocess.run(["sh", "-c", text[:cut] + 'echo "$VERL_PLATFORM"'], capture_output=True, text=True, check=True)
    assert run.stdout == "cpu\n"
    assert "WORK=/some/folder bash command.txt" in text
    link = training.working_folder(tmp_path / "state") / "before" / "global_step_2"
    assert link.resolve() == before.resolve()
    assert f"trainer.resume_from_path={link}" in command.overrides
    assert json.loads((tmp_path / "command.json").read_text())["arguments"] == command.arguments


def test_the_command_file_of_a_kept_state_makes_what_verl_reads(tmp_path):
    """Run after its working folder is gone, with `echo` in place of the interpreter."""
    base = tmp_path / "a base"
    base.mkdir()
    for name in ("config.json", "model.safetensors", "chat_template.jinja", "tokenizer.json", "manifest.json"):
        (base / name).write_text(name)
    asked = segment(tmp_path, base=base, prompts=["p"] * 64)
    command, work = command_of(asked, CPU), training.working_folder(asked.state)
    work.mkdir()
    write_verbatim(base, asked.problems, asked.prompts, work)
    made = {path.name: path.read_text() for path in (work / "base").iterdir()}
    state = tmp_path / "kept"
    state.mkdir()
    (work / "problems.parquet").replace(state / "problems.parquet")  # as training.run leaves it
    shutil.rmtree(work)
    commands.write_command(command, state, asked.record)
    script = (state / "command.txt").read_text()
    assert str(work) not in script.replace(f"WORK={work}\n", "")
    (state / "command.txt").write_text(script.replace(f"\n{command.arguments[0]} ", "\necho ", 1))
    for environment, place in (({}, work), ({"WORK": str(tmp_path / "again")}, tmp_path / "again")):
        run = subprocess.run(
            ["bash", "command.txt"], cwd=state, env=dict(os.environ) | environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        said = run.stdout.split()
        for wanted in (f"data.train_files={place}/problems.parquet", f"trainer.default_local_dir={place}"):
            assert wanted in said
        assert f"actor_rollout_ref.model.path={place}/base" in said
        assert (place / "problems.parquet").read_bytes() == (state / "problems.parquet").read_bytes()
        assert {path.name: path.read_text() for path in (place / "base").iterdir()} == made


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"settings": settings(learning_rate=1e-3)}, r"settings \(learning_rate\)"),
        ({"seed": 2}, "another seed"),
        ({"line": "ppo"}, "another line"),
        ({"contract": "paper_grpo"}, "another contract"),
        ({"before": None}, "needs the state folder of that step"),
        ({"settings": settings(prompts=65), "first_step": 0}, "holds 64 problems, a step takes 65"),
    ],
)
def test_a_state_continues_with_its_own_settings_only(tmp_path, given, told):
    later = segment(tmp_path, **{"before": kept(tmp_path), "first_step": 2, "last_step": 4, **given})
    with pytest.raises(UserError, match=told):
        command_of(later, CPU)


def test_a_state_of_other_workers_or_without_command_is_refused(tmp_path):
    before = kept(tmp_path)
    later = segment(tmp_path, before=before, first_step=2, last_step=4)
    with pytest.raises(UserError, match=r"trained by 1 worker\(s\), this job has 2"):
        command_of(later, Hardware(workers=2))
    (before / "command.json").write_text("{}")
    with pytest.raises(UserError, match=r"command.json is damaged"):
        command_of(later, CPU)
    (before / "command.json").unlink()
    with pytest.raises(UserError, match="no state of engine: verl"):
        command_of(later, CPU)


def test_ray_s_folder_is_short_and_the_work_s_own(tmp_path, monkeypatch):
    assert commands.ray_folder(tmp_path) == commands.ray_folder(tmp_path) != commands.ray_folder(tmp_path / "other")
    monkeypatch.setattr("tempfile.tempdir", "/very/" + "long/" * 20)
    assert len(commands.ray_folder(tmp_path)) <= 40


def test_without_verl_the_way_out_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "hydra", None)
    with pytest.raises(UserError, match="make env-engines"):
        commands.validate(["trainer.device=cpu"])


def test_supervised_overrides_and_their_refusals(tmp_path):
    found = dict(
        override.lstrip("+").split("=", 1)
        for override in overrides(SftSettings(30, 8, 1e-3, 64, warmup=3), Path("/b"), Path("/m"), tmp_path, CPU)
    )
    assert found["data.train_batch_size"] == "8" and found["data.max_length"] == "64"
    assert found["optim.lr_scheduler_type"] == "cosine" and found["optim.lr_warmup_steps"] == "3"
    assert found["trainer.total_training_steps"] == found["trainer.save_freq"] == "30"
    with pytest.raises(UserError, match="multiple of the 3 workers"):
        overrides(SftSettings(30, 8, 1e-3, 64), Path("/b"), Path("/m"), tmp_path, Hardware(workers=3))
    with pytest.raises(UserError, match="no demonstrations"):
        write_messages([], tmp_path / "m.parquet", seed=1)


@pytest.mark.parametrize(
    ("tokens", "lengths", "world", "texts"), [(3200, [30, 34], 1, 100), (10, [100], 1, 1), (100, [10], 4, 8)]
)
def test_tokens_of_a_step_as_texts(tokens, lengths, world, texts):
    assert texts_a_step(tokens, lengths, world) == texts


def test_demonstrations_as_messages_in_the_seed_s_order(tmp_path):
    import pyarrow.parquet as pq

    shown = [(f"asked {place}", f"answered {place}") for place in range(20)]
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        write_messages(shown, tmp_path / f"{name}.parquet", seed=seed)
    read = {name: pq.read_table(tmp_path / f"{name}.parquet").to_pylist() for name in "abc"}
    assert read["a"] == read["b"] != read["c"]
    pairs = [tuple(message["content"] for message in row["messages"]) for row in read["a"]]
    assert sorted(pairs) == sorted(shown)
    assert [message["role"] for message in read["a"][0]["messages"]] == ["user", "assistant"]
