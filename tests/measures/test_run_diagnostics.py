"""Numbers by step of any run: worked by hand from small files of every kind that is read."""

import json
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.measures import run_files
from workflow_scripts.measures.run_diagnostics import COLUMNS, diagnose, not_logged, summary
from workflow_scripts.measures.run_samples import numbers_of, right_of
from workflow_scripts.measures.run_warnings import LIMITS, changed, warnings
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.scicode_schemas import SCICODE_TRAINING
from workflow_scripts.records.tables import csv_text

LOGGED = {
    "critic/score/mean": 0.25,
    "critic/score/min": -1.0,
    "critic/score/max": 1.0,
    "critic/rewards/mean": 0.2,
    "actor/entropy": 0.5,
    "actor/pg_clipfrac": 0.125,
    "actor/ppo_kl": 0.9,
    "rollout_corr/kl": 0.8,
    "actor/grad_norm": 0.75,
    "response_length/mean": 30.5,
    "response_length/max": 64,
    "response_length/clip_ratio": 0.0625,
}


def sample(prompt, score, right, **more):
    return {"input": prompt, "output": "", "score": score, "status": "OK" if right else "WRONG_VALUE", **more}


SAMPLES = [
    *[sample("a", 1.0, True, tokens=3, stopped=True) for _ in range(2)],
    *[sample("b", 0.5, False, tokens=9, stopped=True) for _ in range(2)],
    sample("c", 1.0, True, tokens=4, stopped=True),
    sample("c", 0.5, False, tokens=4, stopped=False),
    sample("d", 0.5, True, tokens=2, stopped=True),
    sample("d", 0.5, False, tokens=6, stopped=True),
]
"""Groups: all right, all wrong, mixed, and mixed in truth under one reward."""


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def state(tmp_path):
    """A state folder of verl with one step."""
    folder = tmp_path / "line-s1-step1"
    write_lines(folder / "metrics.jsonl", [{"step": 1, "data": LOGGED}])
    write_lines(folder / "rollouts" / "1.jsonl", [row | {"score": 0.25} for row in SAMPLES])
    return folder


def training(count, **columns):
    """TRAINING of some steps: every column 0.5 but for those given."""
    frame = pd.DataFrame(0.5, index=range(count), columns=TRAINING.names)
    return frame.assign(step=range(1, count + 1), **columns)


def only(frame, step=1):
    return frame[frame["step"] == step].iloc[0]


def test_a_step_s_samples_by_hand():
    assert numbers_of(SAMPLES) == {
        "reward": 0.6875, "reward_min": 0.5, "reward_max": 1.0, "correct": 0.5, "at_cap": 0.125, "length": 5.0,
        "length_max": 9.0, "prompts": 4.0, "zero_variance": 0.75, "all_right": 0.25, "all_wrong": 0.25, "mixed": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        ([{"input": "a", "score": 1.0}, {"input": "a", "score": 0.0}], {"mixed", "correct", "length", "at_cap"}),
        ([sample("a", 1.0, True), sample("b", 0.0, False)], {"zero_variance", "mixed", "all_right"}),
        ([{"score": 1.0, "acc": True}, {"score": 0.0, "acc": False}], {"prompts", "zero_variance", "mixed"}),
        ([sample("a", 1.0, True, tokens=3), sample("a", 1.0, True)], {"length", "length_max"}),
    ],
    ids=["no verdict", "no groups", "no prompts", "a length lacks"],
)
def test_what_the_samples_do_not_tell_is_missing(rows, missing):
    assert missing.isdisjoint(numbers_of(rows))
    assert numbers_of(rows)["reward_max"] == 1.0


@pytest.mark.parametrize(
    ("verdict", "right"),
    [
        ({"correct": True, "score": 0.0}, True),
        ({"correct": 0.0, "status": "OK"}, False),
        ({"acc": 1.0}, True),
        ({"status": "ok"}, True),
        ({"status": "TIMEOUT"}, False),
        ({"score": 1.0}, None),
        ({"correct": None, "status": None}, None),
    ],
)
def test_truth_comes_from_the_verdict_never_from_the_reward(verdict, right):
    assert right_of(verdict) is right


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from([0.0, 0.5, 1.0])), min_size=2))
def test_group_shares_sum_to_one(rows):
    found = numbers_of([sample(*row[:1], row[2], row[1]) for row in rows])
    if "mixed" in found:
        assert found["all_right"] + found["all_wrong"] + found["mixed"] == pytest.approx(1)
        assert found["prompts"] == len({row[0] for row in rows}) < len(rows)


def test_a_state_folder_joins_its_log_and_its_samples(state):
    row = only(diagnose([state]))
    assert row["run"] == "line-s1"
    assert row[["reward", "reward_min", "reward_max", "entropy", "clipped", "at_cap"]].tolist() == [
        0.25, -1.0, 1.0, 0.5, 0.125, 0.0625,
    ]  # fmt: skip
    assert row[["all_right", "mixed", "effective", "effective_prompts", "prompts"]].tolist() == [0.25, 0.5, 0, 0, 4]
    assert row["length"] == 30.5 and row["no_gradient"] == 0


def test_kl_between_engines_or_updates_is_no_kl_from_the_reference(state):
    assert math.isnan(only(diagnose([state / "metrics.jsonl"]))["kl"])
    write_lines(state / "metrics.jsonl", [{"step": 1, "data": LOGGED | {"actor/kl_loss": 0.01}}])
    assert only(diagnose([state / "metrics.jsonl"]))["kl"] == 0.01


def test_the_console_says_what_the_log_says(tmp_path, state):
    said = " - ".join(["step:1", *(f"{key}:{value!r}" for key, value in LOGGED.items())])
    said = said.replace("actor/entropy:0.5", "actor/entropy:np.float64(0.5) - note:text: more")
    (tmp_path / "line-s1.log").write_text(f"(pid=7) loading\n\x1b[36m(TaskRunner pid=7)\x1b[0m {said}\nend step:x\n")
    console, log = diagnose([tmp_path / "line-s1.log"]), diagnose([state / "metrics.jsonl"])
    pd.testing.assert_frame_equal(console, log)


def test_segments_are_one_run_and_a_resumed_step_counts_once(tmp_path):
    for steps, name in [((1, 2), "line-s1-step2"), ((3, 4), "line-s1-step4")]:
        rows = [{"step": step, "data": {"critic/score/mean": step / 10}} for step in (*steps, steps[-1])]
        write_lines(tmp_path / name / "metrics.jsonl", rows)
    frame = diagnose([tmp_path / "line-s1-step4", tmp_path / "line-s1-step2"])
    assert frame["step"].tolist() == [1, 2, 3, 4]
    assert frame["reward"].tolist() == [0.1, 0.2, 0.3, 0.4] and set(frame["run"]) == {"line-s1"}


def test_tables_of_the_built_in_trainer(tmp_path):
    path = tmp_path / "grpo-s1-step3.parquet"
    training(3, zero_variance=[0.25, 1.0, 0.5], grad_norm=[0.1, 0.0, 0.2]).to_parquet(path)
    truth = pd.DataFrame(0.25, index=range(3), columns=SCICODE_TRAINING.names)
    truth.assign(step=[1, 2, 3], reward=0.5, zero_variance=[0.25, 1, 0.5]).to_parquet(
        tmp_path / "grpo-s1-step3.truth.parquet"
    )
    frame = diagnose([path, tmp_path / "grpo-s1-step3.truth.parquet"])
    assert frame["effective"].tolist() == [0.75, 0, 0.5] and frame["no_gradient"].tolist() == [0, 1, 0]
    assert frame["mixed"].tolist() == frame["correct"].tolist() == [0.25] * 3
    assert frame[["entropy", "at_cap", "kl", "length"]].eq(0.5).all(axis=None)
    assert frame[["reward_min", "length_max", "prompts", "effective_prompts"]].isna().all(axis=None)


def test_the_manifest_beside_a_table_tells_prompts_and_samples(tmp_path):
    path = tmp_path / "grpo-s1.parquet"
    training(2, zero_variance=0.75).to_parquet(path)
    manifest = path.with_suffix(".manifest.json")
    manifest.write_text(json.dumps({"params": {"settings": {"prompts": 64, "samples": 8}}}))
    assert diagnose([path])["effective_prompts"].tolist() == [16, 16]
    manifest.write_text(json.dumps({"params": {"settings": {"prompts": 64, "samples": 1}}}))
    assert diagnose([path])["zero_variance"].isna().all() and diagnose([path])["prompts"].eq(64).all()


def test_one_sample_a_prompt_under_a_critic_is_no_group(tmp_path):
    training(2, zero_variance=1.0, value_loss=0.1).to_parquet(tmp_path / "ppo-s1.parquet")
    frame = diagnose([tmp_path / "ppo-s1.parquet"])
    assert frame[["zero_variance", "effective"]].isna().all(axis=None) and frame["no_gradient"].eq(0).all()


def test_a_published_table_holds_several_runs(tmp_path):
    rows = pd.concat([training(2).assign(line="ppo", seed=1), training(3, reward=0.1).assign(line="grpo", seed=2)])
    rows.to_csv(tmp_path / "training_curves.csv", index=False)
    frame = diagnose([tmp_path / "training_curves.csv"])
    assert frame.groupby("run", sort=False).size().to_dict() == {"ppo-s1": 2, "grpo-s2": 3}
    named = diagnose({"old": [tmp_path / "training_curves.csv"]})
    assert list(named["run"].unique()) == ["old ppo-s1", "old grpo-s2"]


def test_the_table_of_numbers_by_step_reads_back(tmp_path, state):
    frame = diagnose([state, f"bare={state / 'metrics.jsonl'}"])
    (tmp_path / "steps.csv").write_text(csv_text(frame))
    pd.testing.assert_frame_equal(diagnose([tmp_path / "steps.csv"]), frame)


def test_without_a_norm_no_effective_prompt_is_no_gradient(tmp_path):
    training(2, zero_variance=[1.0, 0.5]).drop(columns="grad_norm").to_parquet(tmp_path / "a.parquet")
    assert diagnose([tmp_path / "a.parquet"])["no_gradient"].tolist() == [1, 0]
    training(1).drop(columns=["grad_norm", "zero_variance"]).to_parquet(tmp_path / "a.parquet")
    assert diagnose([tmp_path / "a.parquet"])["no_gradient"].isna().all()


def test_two_runs_under_one_name_are_refused(tmp_path):
    for folder, reward in (("one", 0.1), ("two", 0.2)):
        (tmp_path / folder).mkdir()
        training(2, reward=reward).to_parquet(tmp_path / folder / "grpo-s1.parquet")
    paths = [tmp_path / folder / "grpo-s1.parquet" for folder in ("one", "two")]
    with pytest.raises(UserError, match=r"two.grpo-s1.parquet: step 1 of grpo-s1 has reward 0.2.*NAME=PATH"):
        diagnose(paths)
    assert list(diagnose([paths[0], f"other={paths[1]}"])["run"].unique()) == ["grpo-s1", "other"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.parquet", None, "no such file"),
        ("a.parquet", b"PAR1", "not a readable parquet"),
        ("a.csv", b"epoch,reward\n1,2\n", "needs a column `step`"),
        ("a.csv", b"step,other\n1,2\n", "one of token_entropy"),
        ("a.jsonl", b"", "is empty"),
        ("a.jsonl", b'{"step": 1, "data": {"actor/entropy": 1}}\n{"x": 1}\n{"step": 2, "data": {}}\n', "line 2"),
        ("a.jsonl", b'{"output": "no score"}\n', "line 1"),
        ("a.jsonl", b"[1, 2]\n", "line 1"),
        ("a.log", b"epoch 1 loss 2\n", "no line of verl's metrics"),
    ],
)
def test_what_is_no_run_is_named(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as told:
        diagnose([tmp_path / name])
    assert name in str(told.value)


def test_an_empty_folder_and_no_files_are_named(tmp_path):
    with pytest.raises(UserError, match="holds neither"):
        diagnose([tmp_path])
    with pytest.raises(UserError, match="no metric files"):
        diagnose([])


def test_half_a_last_line_of_a_live_run_is_left_out(tmp_path):
    path = write_lines(tmp_path / "run" / "metrics.jsonl", [{"step": 1, "data": LOGGED}])
    path.write_text(path.read_text() + '{"step": 2, "da')
    assert diagnose([path])["step"].tolist() == [1]


@given(st.text(max_size=200))
def test_any_line_of_a_console_is_read_or_left_out(text):
    told = run_files.of_console(text)
    assert told is None or set(told[1]) <= set(COLUMNS)
    step, numbers = run_files.of_console(f"\x1b[36m(pid=1)\x1b[0m step:12 - actor/entropy:0.5 - {text!a}")
    assert step == 12 and (numbers["entropy"] == 0.5 or "actor/entropy" in text)


def ramp(first, last, steps=40):
    return [first] * (steps // 2) + [last] * (steps // 2)


def wavy(first, last, steps=40):
    return [value + 0.01 * (-1) ** i for i, value in enumerate(ramp(first, last, steps))]


def run_of(**columns):
    """A run of 40 steps that logged these columns alone."""
    frame = pd.DataFrame(float("nan"), index=range(40), columns=list(COLUMNS)).assign(**columns)
    frame.insert(0, "run", "run")
    frame.insert(1, "step", range(1, 41))
    return frame


def test_a_run_s_ends_by_hand():
    row = summary(run_of(reward=[0.0, 1.0] * 20)).iloc[0]
    assert row[["steps", "first", "last", "mean", "lowest", "highest"]].tolist() == [40, 0.5, 0.5, 0.5, 0, 1]
    assert row["change_se"] == pytest.approx(math.sqrt(2 * (10 * 0.25 / 9) / 10))
    short = summary(run_of(reward=[float(i) for i in range(40)]).head(3)).iloc[0]
    assert short[["first", "last"]].tolist() == [0, 2] and math.isnan(short["change_se"])


def test_a_measure_that_nobody_logged_has_no_row():
    assert summary(run_of(reward=0.5))["measure"].tolist() == ["reward"]
    assert "kl" in set(not_logged(run_of(reward=0.5))["measure"])


@pytest.mark.parametrize(
    ("columns", "kind", "text"),
    [
        ({"reward": wavy(0.9, 0.96), "reward_max": 1.0}, "saturated", "96.0% of the largest (1)"),
        ({"reward": wavy(0.9, 0.5)}, "reward_fell", "0.9 to 0.5"),
        ({"reward": wavy(0.2, 0.6), "correct": wavy(0.1, 0.1)}, "reward_without_truth", "did not rise, 0.1 to 0.1"),
        ({"reward": wavy(0.2, 0.6), "correct": wavy(0.3, 0.1)}, "reward_without_truth", "fell, 0.3 to 0.1"),
        ({"hacking": ramp(0.0, 0.4)}, "hacking", "40% of the samples"),
        ({"no_gradient": ramp(0.0, 1.0)}, "no_gradient", "20 of 40 steps had no gradient (50%)"),
        ({"effective": ramp(0.5, 0.1)}, "few_effective", "10% of the prompts"),
        ({"entropy": ramp(0.035, 0.28)}, "entropy_rose", "rose 8.0×, 0.035 to 0.28"),
        ({"entropy": ramp(1.0, 0.125)}, "entropy_fell", "to 12% of its start"),
        ({"at_cap": ramp(0.0, 0.2)}, "at_cap", "20% of the samples are cut off at the end, 20%"),
        ({"at_cap": [1.0] + [0.0] * 39}, "at_cap", "100% in the worst step"),
        ({"clipped": ramp(0.0, 0.25)}, "clipped", "25% of the tokens"),
    ],
)
def test_warnings_are_computed(columns, kind, text):
    found = warnings(run_of(**columns)).set_index("warning")
    assert text in found.loc[kind, "text"]
    assert set(found.index) <= {kind, "not_logged"}


@pytest.mark.parametrize(
    "columns",
    [
        {"reward": wavy(0.2, 0.6), "correct": wavy(0.1, 0.4), "reward_max": 1.0},
        {"reward": wavy(0.5, 0.501), "correct": wavy(0.5, 0.5)},
        {"entropy": ramp(0.3, 0.2), "at_cap": 0.01, "clipped": 0.1, "effective": 0.5, "no_gradient": 0.0},
        {"reward": wavy(0.9, 0.99)},
    ],
    ids=["both rise", "noise", "all is well", "no largest reward known"],
)
def test_a_healthy_run_is_not_warned_of(columns):
    assert set(warnings(run_of(**columns))["warning"]) == {"not_logged"}


def test_the_largest_reward_can_be_given():
    frame = run_of(reward=wavy(0.9, 0.99))
    assert "saturated" in set(warnings(frame, largest=1.0)["warning"])
    assert "saturated" in set(warnings(frame, largest={"run": 1.0})["warning"])
    assert "saturated" not in set(warnings(frame, largest={"run": 2.0})["warning"])


def test_gaps_and_silence_are_told():
    found = warnings(run_of(reward=0.5).drop(index=[3, 7])).set_index("warning")["text"]
    assert found["missing_steps"].endswith("2 steps between the first and the last are not logged: 4, 8")
    assert "kl" in found["not_logged"] and "gradient norm" in found["not_logged"]


@given(st.floats(0.05, 0.9), st.integers(-50, 50))
def test_a_change_has_a_sign_beyond_its_noise(start, cents):
    ends = summary(run_of(reward=wavy(start, start + cents / 100))).set_index("measure")
    expected = 0 if abs(cents / 100) <= LIMITS["errors"] * ends.loc["reward", "change_se"] else (1, -1)[cents < 0]
    assert changed(ends, "reward") == expected
    assert changed(ends, "kl") == 0
