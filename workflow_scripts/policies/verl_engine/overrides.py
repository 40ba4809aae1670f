"""A training line as the Hydra overrides of `python -m verl.trainer.main_ppo`, from one kept step to the next.

Every coefficient of the objective is written out, so that a default of verl's never decides. What differs from the
built-in trainer under the same settings:

- log-probabilities are those of the sampling temperature (built in: temperature 1), the same at temperature 1;
- kl of grpo is the k3 estimate on the sampled tokens, in the loss; kl of ppo is the k1 estimate, taken off the reward
  token by token (TinyZero, verl's `use_kl_in_reward`). Built in, it is exact and in the loss for both;
- updates of a step go through the batch in its order, and must divide the prompts;
- the critic's values are clipped to 0.5 around the old ones, as TinyZero has it; this acts from the second update of a
  step on.

The trainer is verl's colocated one (`trainer.use_v1=false`): it writes the verdicts of every rollout beside its text,
which the newer one does not, and steps three times as fast on a CPU (1.1 s against 3.1 s, of which 2 s are waiting).
"""

from collections.abc import Mapping
from typing import Any

from workflow_scripts.policies.verl_engine import sections
from workflow_scripts.policies.verl_engine.hardware import Hardware, Paths
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

AVERAGES = {"token": "token-mean", "sequence": "seq-mean-token-mean", "constant": "seq-mean-token-sum-norm"}
"""verl's names of what a loss is averaged over."""

KEYS = (
    "algorithm", "prompts", "samples", "updates", "temperature", "max_new_tokens", "learning_rate", "clip", "clip_high",
    "kl", "entropy", "normalise_std", "average", "max_grad_norm", "critic_learning_rate", "gamma", "gae_lambda",
)  # fmt: skip
"""Settings of a line that shape its training here (`settings.training.Training`)."""

_NO_CLIP = 1e6
_VALUE_CLIP = 0.5
_REWARD_MANAGER = "pkg://workflow_scripts.policies.verl_engine.reward_manager"


def check_settings(settings: Mapping[str, Any], hardware: Hardware) -> None:
    """Raises UserError, naming the key, for settings that verl cannot do or that do not divide evenly."""
    missing = [key for key in KEYS if key not in settings]
    if missing:
        raise UserError(f"settings of a verl line lack {', '.join(missing)}")
    if settings.get("countermeasures"):
        named = ", ".join(settings["countermeasures"])
        raise UserError(f"countermeasures ({named}) are of the built-in trainer; with engine: verl leave them out")
    if settings["algorithm"] not in ("grpo", "ppo"):
        raise UserError(f"algorithm is {settings['algorithm']!r}; with engine: verl choose grpo or ppo")
    if settings["average"] not in AVERAGES:
        raise UserError(f"average is {settings['average']!r}; choose one of {', '.join(AVERAGES)}")
    prompts, updates, samples = (settings[key] for key in ("prompts", "updates", "samples"))
    if prompts % updates:
        raise UserError(f"updates ({updates}) must divide prompts ({prompts}) with engine: verl")
    texts = prompts // updates * samples
    if texts % hardware.world:
        raise UserError(
            f"prompts / updates x samples ({texts}) must be a multiple of the {hardware.world} workers that share them"
        )


def overrides(
    settings: Mapping[str, Any],
    paths: Paths,
    first_step: int,
    last_step: int,
    hardware: Hardware,
    *,
    seed: int,
    line: str,
    prompt_tokens: int,
    reward: Mapping[str, Any] | None = None,
) -> list[str]:
    """Overrides of main_ppo that take a line from step `first_step` to `last_step`.

    settings: of the line, as in the config (see KEYS). seed, line: key its random streams. prompt_tokens: of the
    longest prompt. reward: keyword arguments of the reward function.
    Raises UserError as `check_settings` does, and where the steps do not fit `paths.resume`.
    """
    check_settings(settings, hardware)
    if not 0 <= first_step < last_step:
        raise UserError(f"a segment goes forward: first step {first_step}, last step {last_step}")
    if (paths.resume is not None) != bool(first_step) or (
        paths.resume and paths.resume.name != f"global_step_{first_step}"
    ):
        raise UserError(f"a segment from step {first_step} cannot resume from {paths.resume}")
    ppo = settings["algorithm"] == "ppo"
    values = (
        _algorithm(settings, ppo)
        | _data(settings, paths, seed=stream(seed, line, "order", first_step), prompt_tokens=prompt_tokens)
        | sections.model("actor_rollout_ref.model", paths.base, hardware)
        | _actor(settings, hardware, ppo, seed=stream(seed, line, "updates"))
        | _reference(hardware)
        | sections.rollout(settings, hardware, prompt_tokens, _rollout_seed(seed, line, first_step, hardware))
        | (_critic(settings, paths, hardware, seed=stream(seed, line, "critic")) if ppo else {"critic.enable": False})
        | _reward(paths, reward or {})
        | _trainer(paths, line, first_step, last_step, hardware)
        | sections.processes(hardware)
    )
    return sections.written(values)


def stream(*parts: int | str) -> int:
    """A seed below 2^31, which all of verl's parts take, of the random stream that `parts` name."""
    return seeds.key("verl", *parts) >> 33


def _rollout_seed(seed: int, line: str, first_step: int, hardware: Hardware) -> int:
    # vLLM's stream starts anew with each process: with one seed, all segments would draw alike. The hf rollout's
    # streams hold the step themselves, and so give the same tokens however a line is cut.
    return stream(seed, line, "rollout", *([first_step] if hardware.engine == "vllm" else []))


def _algorithm(settings: Mapping[str, Any], ppo: bool) -> dict[str, Any]:
    return {
        "algorithm.adv_estimator": "gae" if ppo else "grpo",
        "algorithm.gamma": settings["gamma"] if ppo else 1.0,
        "algorithm.lam": settings["gae_lambda"] if ppo else 1.0,
        "algorithm.norm_adv_by_std_in_grpo": settings["normalise_std"],
        "algorithm.use_kl_in_reward": ppo and settings["kl"] > 0,
        "algorithm.kl_penalty": "kl",
        "algorithm.kl_ctrl.type": "fixed",
        "algorithm.kl_ctrl.kl_coef": settings["kl"] if ppo else 0.0,
    }


def _data(settings: Mapping[str, Any], paths: Paths, *, seed: int, prompt_tokens: int) -> dict[str, Any]:
    return {
        "data.train_files": paths.problems,
        "data.val_files": paths.problems,  # asked for; nothing is validated
        "data.val_max_samples": 1,
        "data.train_batch_size": settings["prompts"],
        "data.max_prompt_length": prompt_tokens,
        "data.max_response_length": settings["max_new_tokens"],
        "data.truncation": "error",
        "data.filter_overlong_prompts": False,  # would drop problems without a word
        "data.shuffle": True,
        # Of the epoch that begins with this segment; within an epoch the order comes from the state.
        "data.seed": seed,
        "data.dataloader_num_workers": 0,
        "data.trust_remote_code": False,
    }


def _actor(settings: Mapping[str, Any], hardware: Hardware, ppo: bool, *, seed: int) -> dict[str, Any]:
    at = "actor_rollout_ref.actor"
    high = settings["clip"] if settings["clip_high"] is None else settings["clip_high"]
    return {
        **sections.workers(f"{at}.fsdp_config", hardware),
        f"{at}.strategy": "fsdp2",
        f"{at}.use_torch_compile": bool(hardware.gpus),
        **sections.optimiser(f"{at}.optim", settings["learning_rate"], settings["max_grad_norm"]),
        **_batches(at, settings, hardware, seed),
        f"{at}.policy_loss.loss_mode": "vanilla",
        f"{at}.clip_ratio": settings["clip"],
        f"{at}.clip_ratio_low": settings["clip"],
        f"{at}.clip_ratio_high": high,
        f"{at}.clip_ratio_c": _NO_CLIP,  # verl's second clip of bad answers, which neither PPO nor GRPO states
        f"{at}.entropy_coeff": settings["entropy"],
        f"{at}.use_kl_loss": not ppo and settings["kl"] > 0,
        f"{at}.kl_loss_coef": 0.0 if ppo else settings["kl"],
        f"{at}.kl_loss_type": "low_var_kl",
    }


def _reference(hardware: Hardware) -> dict[str, Any]:
    """The policy at the start of the line; loaded where kl is above 0."""
    at = "actor_rollout_ref.ref"
    return {
        **sections.workers(f"{at}.fsdp_config", hardware),
        f"{at}.strategy": "fsdp2",
        f"{at}.use_torch_compile": bool(hardware.gpus),
        f"{at}.log_prob_use_dynamic_bsz": True,
        f"{at}.log_prob_max_token_len_per_gpu": hardware.tokens,
    }


def _critic(settings: Mapping[str, Any], paths: Paths, hardware: Hardware, *, seed: int) -> dict[str, Any]:
    """A copy of the starting policy with a value head drawn at random."""
    return {
        "critic.enable": True,
        "critic.strategy": "fsdp2",
        **sections.workers("critic.fsdp", hardware),
        **sections.model("critic.model", paths.base, hardware),
        **sections.optimiser("critic.optim", settings["critic_learning_rate"], settings["max_grad_norm"]),
        **_batches("critic", settings, hardware, seed),
        "critic.forward_max_token_len_per_gpu": hardware.tokens,
        "critic.cliprange_value": _VALUE_CLIP,
    }


def _batches(at: str, settings: Mapping[str, Any], hardware: Hardware, seed: int) -> dict[str, Any]:
    return {
        f"{at}.ppo_mini_batch_size": settings["prompts"] // settings["updates"],
        f"{at}.ppo_epochs": 1,
        f"{at}.shuffle": False,
        f"{at}.data_loader_seed": seed,
        f"{at}.use_dynamic_bsz": True,
        f"{at}.ppo_max_token_len_per_gpu": hardware.tokens,
        f"{at}.loss_agg_mode": AVERAGES[settings["average"]],
        f"{at}.loss_scale_factor": settings["max_new_tokens"] if settings["average"] == "constant" else None,
    }


def _reward(paths: Paths, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "reward.num_workers": 1,
        "reward.reward_model.enable": False,
        "reward.custom_reward_function.path": paths.reward,
        "reward.custom_reward_function.name": "compute_score",
        **{f"+reward.custom_reward_function.reward_kwargs.{key}": value for key, value in arguments.items()},
        "reward.reward_manager.source": "importlib",
        "reward.reward_manager.name": "RecordingRewardManager",
        "reward.reward_manager.module.path": _REWARD_MANAGER,
    }


def _trainer(paths: Paths, line: str, first_step: int, last_step: int, hardware: Hardware) -> dict[str, Any]:
    return {
        "trainer.use_v1": False,
        "trainer.device": hardware.device,
        "trainer.nnodes": 1,
        "trainer.n_gpus_per_node": hardware.world,
        "trainer.project_name": "rlvr-entrances",
        "trainer.experiment_name": line,
        "trainer.logger": ["console", "file"],
        "trainer.total_training_steps": last_step,
        # verl counts epochs too, and without a word does nothing where a state lies beyond the last one. An epoch has
        # at least one step.
        "trainer.total_epochs": last_step,
        "trainer.save_freq": last_step,
        "trainer.test_freq": -1,
        "trainer.val_before_train": False,
        "trainer.critic_warmup": 0,
        # Else samples of a problem are dealt to workers by length, and no longer stand together in the records.
        "trainer.balance_batch": False,
        "trainer.default_local_dir": paths.work,
        "trainer.rollout_data_dir": paths.rollouts,
        "trainer.resume_mode": "resume_path" if paths.resume else "disable",
        "trainer.resume_from_path": paths.resume,
    }
