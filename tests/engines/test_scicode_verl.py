"""Scientific coding by verl, for real: two steps under a programmatic reward, and rewards that ask a judge."""

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("verl")

from code_ground import JudgeServer, code_policy, problems
from one_rule import run_stage

from workflow_scripts.policies.merging import merged
from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.metrics import read_rollouts
from workflow_scripts.policies.verl_engine.questions import asked
from workflow_scripts.policies.verl_engine.training import Segment, command_of, run
from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import TRAINING
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS, SCICODE_TRAINING
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.settings.training import Training
from workflow_scripts.tasks.scicode.judging import judge
from workflow_scripts.tasks.scicode.problems import problem_frame
from workflow_scripts.tasks.scicode.rewards import REWARDS, Evidence
from workflow_scripts.tasks.scicode.sandbox import Sandbox
from workflow_scripts.tasks.scicode.verl_rows import write_verl_rows

pytestmark = pytest.mark.engines

LIMITS = {"seconds": 2.0, "memory_mb": 512, "isolation": "auto"}
SETTINGS = Training(
    engine="verl", prompts=4, samples=4, max_new_tokens=8, learning_rate=3e-3, average="sequence"
).model_dump()  # fmt: skip
MARKS = {
    "algorithmic_equivalence": 8,
    "scientific_correctness": 8,
    "exactness": 8,
    "output_contract": 8,
    "anti_guess": 8,
    "fatal_error": False,
    "tags": [],
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    folder = tmp_path_factory.mktemp("code ground")
    code_policy(folder / "base")
    write_table(problem_frame(problems(8), "training"), folder / "training.parquet", SCICODE_PROBLEMS)
    for name in ("base", "training.parquet"):
        manifests.write([str(folder / name)], [], {})
    return folder


@pytest.fixture(scope="module")
def trained(ground):
    """The folder in which the rule has taken two steps."""
    at = "training/execution-s{seed}-step2"
    run_stage(
        "scicode_verl_segment",
        ground,
        {"base": "base", "problems": "training.parquet"},
        {
            "state": at,
            "metrics": f"{at}.parquet",
            "metrics_manifest": f"{at}.manifest.json",
            "truth": f"{at}.truth.parquet",
            "truth_manifest": f"{at}.truth.manifest.json",
        },
        {
            "code": "",
            "study_seed": 3,
            "line": "execution",
            "first_step": 0,
            "last_step": 2,
            "settings": SETTINGS | {"max_prompt_tokens": None},
            "reward": "execution",
            "limits": LIMITS,
            "workers": 1,
            "endpoint": None,
            "hardware": {"workers": 1, "tokens": 2048},
        },
    )
    return ground / "training" / "execution-s1-step2"


def test_rewards_and_truth_are_those_of_the_samples(trained):
    metrics = read_table(trained.with_name(f"{trained.name}.parquet"), TRAINING)
    truth = read_table(trained.with_name(f"{trained.name}.truth.parquet"), SCICODE_TRAINING)
    assert list(metrics["step"]) == list(truth["step"]) == [1, 2]
    known = {problem.prompt: problem for problem in problems(8)}
    with Sandbox(workers=1) as sandbox:
        for step, row in truth.set_index("step").iterrows():
            samples = read_rollouts(trained / "rollouts" / f"{step}.jsonl")
            pairs = [(sample["output"], known[sample["input"].removesuffix(" <think>")]) for sample in samples]
            verdicts = judge(pairs, sandbox)
            found = [Evidence(said, verdict, problem) for (said, problem), verdict in zip(pairs, verdicts)]
            scores = [REWARDS["execution"].score(evidence) for evidence in found]
            assert [sample["score"] for sample in samples] == pytest.approx(scores)
            assert row["reward"] == pytest.approx(sum(scores) / 16)
            assert row["correct"] == sum(verdict.correct for verdict in verdicts) / 16
            assert row["runs"] == sum(verdict.runs for verdict in verdicts) / 16
    # What the policy was made for: programs that run, some of them right, and a reward that pays for running.
    assert (
        0.2 < truth["runs"].mean() <= 1
        and truth["correct"].mean() < truth["runs"].mean() < truth["reward"].mean() + 0.5
    )
    assert list(metrics["reward"]) == pytest.approx(list(truth["reward"]))
    assert metrics["grad_norm"].gt(0).all() and metrics["length"].between(1, 8).all()


def test_the_state_keeps_what_was_paid_and_no_other_continues_it(trained, ground):
    assert json.loads((trained / "paid.json").read_text()) == {"reward": "execution", "limits": LIMITS, "workers": 1}
    script = (trained / "command.txt").read_text()
    assert "workflow_scripts.tasks.scicode.verl_reward" in script and 'cp "$HERE/paid.json"' in script
    assert not (trained / "entrances.csv").exists() and not list(trained.parent.glob("*.verl"))
    later = segment(ground, "execution", "next", paid={"reward": "compact", "limits": LIMITS, "workers": 1})
    later = Segment(**vars(later) | {"before": trained, "first_step": 2, "last_step": 4})
    with pytest.raises(UserError, match="was trained with another"):
        command_of(later, Hardware(tokens=2048))


def test_the_merged_policy_is_not_the_base(trained, ground):
    merged(trained, ground / "merged", base=ground / "base")
    drawing = {"samples": 64, "temperature": 1.0, "top_p": 1.0, "max_new_tokens": 8, "study_seed": 1}
    said = [
        sample_policy(ground / name, [Prompt("p", "gap of 3 ? <think>")], policy="same", **drawing)[
            "completion"
        ].to_pylist()
        for name in ("base", "merged")
    ]
    assert said[0] != said[1]


def segment(ground, line, name, **given):
    asks = problems(8)
    write_verl_rows(asks, ground / "rows.parquet")
    return Segment(
        settings=SETTINGS,
        base=ground / "base",
        problems=ground / "rows.parquet",
        state=ground / name,
        before=None,
        first_step=0,
        last_step=1,
        seed=7,
        line=line,
        prompts=asked(ground / "base", [problem.prompt for problem in asks]),
        **given,
    )


def judged(ground, name, url):
    endpoint = {
        "base_url": url,
        "model": "judge",
        "cache": str(ground / f"{name} answers"),
        "attempts": 2,
        "backoff": 0.01,
    }
    paid = {"reward": "final_answer_judge_strict", "limits": LIMITS, "workers": 1, "judge": endpoint}
    reward = "pkg://workflow_scripts.policies.verl_engine.judged_reward"
    return segment(
        ground, name, name, reward=reward, paid=paid | {"task": "workflow_scripts.tasks.scicode.verl_reward"}
    )


def test_a_judge_s_marks_are_paid_and_the_truth_is_recorded(ground):
    with JudgeServer(MARKS) as server:
        made = judged(ground, "judged", server.url)
        (row,) = run(made, Hardware(tokens=2048))
    samples = read_rollouts(made.state / "rollouts" / "1.jsonl")
    assert math.isfinite(row["loss"]) and len(samples) == 16
    # Equal answers to one problem are one question.
    assert 0 < server.asked == len({(sample["input"], sample["output"]) for sample in samples if sample["judgement"]})
    for sample in samples:
        seen = bool(sample["judgement"])
        assert sample["score"] == pytest.approx(0.8) if seen else sample["score"] <= 0.04
        assert seen == ("return" in sample["output"])  # half a program is rejected unseen, as prose is
        assert sample["correct"] <= sample["runs"]
    assert any(sample["runs"] and not sample["correct"] for sample in samples)


def test_an_outage_of_the_judge_stops_the_run_by_name(ground):
    with JudgeServer(MARKS, out=True) as server:
        made = judged(ground, "outage", server.url)
        with pytest.raises(UserError, match=r"should have reached step 1.*failed after 2 attempts"):
            run(made, Hardware(tokens=2048))
    assert server.asked and not made.state.exists()
    assert not list(Path(f"{made.state}.verl").glob("rollouts/*"))
