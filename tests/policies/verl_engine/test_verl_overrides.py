from dataclasses import replace
from pathlib import Path

import pytest
from verl_lines import PATHS, keyed, settings

from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.overrides import overrides
from workflow_scripts.records.errors import UserError

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"prompts": 64, "samples": 8, "learning_rate": 5e-7, "kl": 0.001, "max_new_tokens": 1024},
            {
                "algorithm.adv_estimator": "grpo",
                "algorithm.norm_adv_by_std_in_grpo": "true",
                "algorithm.use_kl_in_reward": "false",
                f"{ACTOR}.use_kl_loss": "true",
                f"{ACTOR}.kl_loss_coef": "0.001",
                f"{ACTOR}.optim.lr": "5e-07",
                f"{ACTOR}.loss_agg_mode": "token-mean",
                f"{ACTOR}.loss_scale_factor": "null",
                "data.max_response_length": "1024",
                f"{ROLLOUT}.n": "8",
                "critic.enable": "false",
            },
        ),
        (
            {
                "algorithm": "ppo", "prompts": 160, "samples": 1, "learning_rate": 1e-6, "critic_learning_rate": 1e-5,
                "kl": 0.001, "entropy": 0.001, "gamma": 0.99, "gae_lambda": 0.95, "max_grad_norm": 0.5,
            },
            {
                "algorithm.adv_estimator": "gae",
                "algorithm.gamma": "0.99",
                "algorithm.lam": "0.95",
                "algorithm.use_kl_in_reward": "true",
                "algorithm.kl_ctrl.kl_coef": "0.001",
                f"{ACTOR}.use_kl_loss": "false",
                f"{ACTOR}.entropy_coeff": "0.001",
                f"{ACTOR}.optim.lr": "1e-06",
                f"{ACTOR}.optim.clip_grad": "0.5",
                "critic.enable": "true",
                "critic.optim.lr": "1e-05",
                "critic.optim.clip_grad": "0.5",
                "critic.model.path": "/p/base",
                "data.train_batch_size": "160",
            },
        ),
        (
            {"updates": 4, "clip": 0.2, "clip_high": 0.28, "normalise_std": False, "average": "constant"},
            {
                "data.train_batch_size": "64",
                f"{ACTOR}.ppo_mini_batch_size": "16",
                f"{ACTOR}.clip_ratio_low": "0.2",
                f"{ACTOR}.clip_ratio_high": "0.28",
                f"{ACTOR}.loss_agg_mode": "seq-mean-token-sum-norm",
                f"{ACTOR}.loss_scale_factor": "64",
                "algorithm.norm_adv_by_std_in_grpo": "false",
                f"{ACTOR}.use_kl_loss": "false",
            },
        ),
        (
            {"average": "sequence", "clip": 0.1},
            {f"{ACTOR}.loss_agg_mode": "seq-mean-token-mean", f"{ACTOR}.clip_ratio_high": "0.1"},
        ),
        ({"temperature": 0.7}, {f"{ROLLOUT}.temperature": "0.7", f"{ROLLOUT}.top_p": "1.0", f"{ROLLOUT}.top_k": "-1"}),
    ],
    ids=["grpo", "ppo", "dr-grpo with clip-higher", "grpo as published", "temperature"],
)  # fmt: skip
def test_a_line_s_settings_reach_verl(given, expected):
    found = keyed(**given)
    assert {key: found[key] for key in expected} == expected


def test_steps_and_files_of_a_segment():
    later = replace(PATHS, resume=Path("/p/work/before/global_step_25"))
    found = keyed(paths=later, steps=(25, 50))
    assert found["trainer.resume_mode"] == "resume_path"
    assert found["trainer.resume_from_path"] == "/p/work/before/global_step_25"
    assert found["trainer.total_training_steps"] == found["trainer.save_freq"] == found["trainer.total_epochs"] == "50"
    assert found["trainer.rollout_data_dir"] == "/p/work/rollouts"
    assert keyed()["trainer.resume_mode"] == "disable"


def test_streams_are_those_of_the_line_and_start_anew_with_vllm_and_with_an_epoch():
    later = replace(PATHS, resume=Path("/p/work/before/global_step_25"))
    first, second = keyed(), keyed(paths=later, steps=(25, 50))
    assert first[f"{ROLLOUT}.seed"] == second[f"{ROLLOUT}.seed"]  # the step is in the key of each sample
    assert first["data.seed"] != second["data.seed"]
    with_vllm = [
        keyed(hardware=Hardware(rollout="vllm")),
        keyed(paths=later, steps=(25, 50), hardware=Hardware(rollout="vllm")),
    ]
    assert with_vllm[0][f"{ROLLOUT}.seed"] != with_vllm[1][f"{ROLLOUT}.seed"]
    assert keyed(seed=8)[f"{ROLLOUT}.seed"] != first[f"{ROLLOUT}.seed"] != keyed(line="other")[f"{ROLLOUT}.seed"]
    assert all(0 <= int(found["data.seed"]) < 2**31 for found in (first, second))


def test_devices_change_no_coefficient():
    cpu, cuda = keyed(), keyed(hardware=Hardware(gpus=2))
    different = {key for key in cpu.keys() & cuda.keys() if cpu[key] != cuda[key]}
    assert cuda["trainer.device"] == "cuda" and cuda["trainer.n_gpus_per_node"] == "2"
    assert cuda[f"{ROLLOUT}.name"] == "vllm" and cpu[f"{ROLLOUT}.name"] == "hf"
    assert not [key for key in different if key.startswith(("algorithm.", "data.", f"{ACTOR}.optim", f"{ACTOR}.clip"))]


@pytest.mark.parametrize(
    ("given", "hardware", "told"),
    [
        ({"countermeasures": {"pass_at_k": 4}}, Hardware(), "pass_at_k"),
        ({"prompts": 10, "updates": 3}, Hardware(), r"updates \(3\) must divide prompts \(10\)"),
        ({"prompts": 3, "samples": 3}, Hardware(workers=2), "multiple of the 2 workers"),
    ],
)
def test_what_verl_cannot_do_is_refused_by_name(given, hardware, told):
    with pytest.raises(UserError, match=told):
        overrides(settings(**given), PATHS, 0, 5, hardware, seed=1, line="x", prompt_tokens=9)


@pytest.mark.parametrize(
    ("steps", "resume"), [((5, 5), None), ((5, 9), None), ((0, 9), "global_step_3"), ((5, 9), "global_step_3")]
)
def test_steps_must_fit_the_state(steps, resume):
    paths = replace(PATHS, resume=resume and Path("/p") / resume)
    with pytest.raises(UserError):
        keyed(paths=paths, steps=steps)


@pytest.mark.parametrize("given", [{"rollout": "vlm"}, {"gpus": 1, "rollout": "hf"}, {"workers": 0}])
def test_hardware_that_does_not_exist(given):
    with pytest.raises(UserError):
        Hardware(**given)
