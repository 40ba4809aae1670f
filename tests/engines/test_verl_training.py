"""verl's trainer on CPU, for real: segments of a line that continue each other, GRPO and PPO with a critic."""

import math

import pytest

pytest.importorskip("verl")

from verl_ground import problem_file, tiny_policy

from workflow_scripts.policies.verl_engine.commands import validate
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.metrics import read_log, read_rollouts
from workflow_scripts.policies.verl_engine.training import Segment, command_of, longest_prompt, run
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.settings.training import Training

pytestmark = pytest.mark.engines

CPU = Hardware(tokens=2048)
SIZES = {"engine": "verl", "prompts": 8, "samples": 4, "max_new_tokens": 12, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verl ground")
    tiny_policy(folder / "base")
    return folder


def segment(ground, name, first_step, last_step, *, problems, **given):
    state = ground / f"{name}-step{last_step}"
    return Segment(
        settings=Training(**(SIZES | given)).model_dump(),
        base=ground / "base",
        problems=problem_file(ground / f"{problems}.parquet", problems),
        state=state,
        before=ground / f"{name}-step{first_step}" if first_step else None,
        first_step=first_step,
        last_step=last_step,
        seed=5,
        line=name,
    )


def updates_made(state, part):
    """How often the optimiser of a state has been stepped."""
    import torch
    import torch.distributed.tensor  # the shards' class

    kept = torch.load(state / part / "optim_world_size_1_rank_0.pt", weights_only=False)  # made by this test
    (steps,) = {int(moments["step"]) for moments in kept["state"].values()}
    return steps


def asked(state, step):
    return {sample["input"] for sample in read_rollouts(state / "rollouts" / f"{step}.jsonl")}


def check_rows(rows, steps, *, one_sample=False):
    assert [row["step"] for row in rows] == steps
    for row in rows:
        assert set(row) == set(TRAINING.names)
        unknown = {"kl"} if math.isnan(row["kl"]) else set()
        if one_sample:
            unknown |= {"distinct", "zero_variance", "entrance_entropy"}
            assert math.isnan(row["distinct"])
        assert all(math.isfinite(row[name]) for name in row.keys() - unknown), row
        assert 0 < row["length"] <= SIZES["max_new_tokens"] and 0 <= row["truncated"] <= 1
        assert (one_sample or 0 < row["distinct"] <= 1) and row["grad_norm"] >= 0 and row["token_entropy"] > 0


def test_grpo_segments_continue_step_data_and_optimiser(ground):
    """Three steps an epoch: the second segment starts within one and ends in the next."""
    line = {"problems": 24, "updates": 2, "kl": 0.01, "entropy": 0.01}
    first, second = (segment(ground, "grpo", *steps, **line) for steps in ((0, 2), (2, 4)))
    rows = run(first, CPU)
    check_rows(rows, [1, 2])
    assert 0 <= rows[0]["kl"] < rows[1]["kl"] < 1  # from the base, at which the line starts
    gaps = [numbers["training/rollout_probs_diff_max"] for numbers in read_log(first.state / "metrics.jsonl").values()]
    assert len(gaps) == 2 and max(gaps) < 1e-4  # the rollouts are sampled from the weights that are trained
    assert updates_made(first.state, "actor") == 4
    check_rows(run(second, CPU), [3, 4])
    assert updates_made(second.state, "actor") == 8
    epoch = [asked(first.state, 1), asked(first.state, 2), asked(second.state, 3)]
    assert [len(prompts) for prompts in epoch] == [8, 8, 8]
    assert len(set.union(*epoch)) == 24  # each problem once: the cursor went on
    assert asked(second.state, 4) <= set.union(*epoch)
    assert not list(ground.glob("*.verl"))
    script = (second.state / "command.txt").read_text()
    assert "verl.trainer.main_ppo" in script and "VERL_USE_EXTERNAL_MODULES" in script
    masses = [line.split(",") for line in (second.state / "entrances.csv").read_text().splitlines()[1:]]
    assert sum(float(mass) for step, _, mass in masses if step == "3") == pytest.approx(1)


def test_ppo_with_critic_goes_on_where_an_epoch_ends(ground):
    """One step an epoch, so that the second segment starts at the boundary."""
    line = {"problems": 8, "algorithm": "ppo", "samples": 1, "kl": 0.01, "critic_learning_rate": 1e-3}
    first, second = (segment(ground, "ppo", *steps, **line) for steps in ((0, 1), (1, 2)))
    for made, step in ((first, 1), (second, 2)):
        (row,) = run(made, CPU)
        check_rows([row], [step], one_sample=True)
        assert row["value_loss"] > 0
        assert updates_made(made.state, "actor") == updates_made(made.state, "critic") == step
    assert asked(first.state, 1) == asked(second.state, 2)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("actor_rollout_ref.actor.clip_ration=0.2", "actor_rollout_ref.actor.clip_ration"),
        ("+critic.optim.no_such=1", "no_such"),
        ("actor_rollout_ref.actor.loss_agg_mode=median", "loss_agg_mode: median"),
        ("algorithm.adv_estimator=grpoo", "grpoo"),
        ("trainer.n_gpus_per_node=null", "NoneType"),
    ],
)
def test_verl_checks_its_config_and_names_the_key(ground, override, told):
    good = command_of(segment(ground, "checked", 0, 2, problems=24, algorithm="ppo"), CPU).overrides
    validate(good)
    with pytest.raises(UserError, match=told):
        validate([*good, override])


def test_the_longest_prompt_is_counted_as_the_policy_reads_it(ground):
    problem_file(ground / "24.parquet", 24)
    assert longest_prompt(ground / "base", ground / "24.parquet") == len(["1", "2", "3", "->", "5", "<think>"])
