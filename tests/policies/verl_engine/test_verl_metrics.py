import json
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.policies import rollouts
from workflow_scripts.policies.verl_engine.metrics import described, entrance_masses, rows
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import TRAINING

SEVERAL = {"distinct", "zero_variance", "entrance_entropy"}
"""What one sample a problem does not have."""


def sample(input="a", output="x", score=0.0, tokens=5, stopped=True, opening="4*", formula="", format_ok=True):
    return {"input": input, "output": output, "score": score, "tokens": tokens, "stopped": stopped,
            "think_opening": opening, "formula_form": formula, "format_ok": format_ok}  # fmt: skip


def test_a_step_worked_by_hand():
    samples = [
        sample("a", "p", 1.0, 4, opening="4*", formula="f"),
        sample("a", "q", 1.0, 6, opening="4+", formula="g"),
        sample("b", "r", 0.0, 9, stopped=False, opening="", format_ok=False),
        sample("b", "r", 0.0, 9, stopped=False, opening="2-", formula="h"),
    ]
    assert described(samples, 2) == pytest.approx(
        {
            "reward": 0.5,
            "format_ok": 0.75,
            "truncated": 0.5,
            "length": 7.0,
            "distinct": 0.75,
            "zero_variance": 1.0,
            "entrance_entropy": math.log(2) / 2,
            "distinct_formulas": 1.0,  # a wrong answer's formula does not count
        }
    )
    assert entrance_masses(samples) == {"": 0.25, "2-": 0.25, "4*": 0.25, "4+": 0.25}


texts = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
verdicts = st.fixed_dictionaries(
    {
        "score": st.sampled_from([0.0, 1.0]),
        "format_ok": st.booleans(),
        "think_opening": st.sampled_from(["", "4*", "4+"]),
        "formula_form": st.sampled_from(["", "f", "g"]),
    }
)


@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_equal_to_what_the_built_in_trainer_says_of_the_same_answers(data, prompts, each):
    said = [[data.draw(texts) for _ in range(each)] for _ in range(prompts)]
    judged = {(group, text): data.draw(verdicts) for group in range(prompts) for text in sorted(set(said[group]))}
    stopped = {key: data.draw(st.booleans()) for key in judged}
    batch = rollouts.Rollouts(
        texts=[((0,), text) for _, text in judged],
        groups=torch.tensor([group for group, _ in judged]),
        counts=torch.tensor([said[group].count(text) for group, text in judged]),
        rewards=torch.tensor([verdict["score"] for verdict in judged.values()]),
        stopped=torch.tensor(list(stopped.values())),
        log_probs=torch.zeros(len(judged), 3),
        verdicts=list(judged.values()),
        shape=(prompts, each),
    )
    recorded = [
        {
            "input": str(group), "output": " ".join(map(str, text)), "tokens": len(text),
            "stopped": stopped[group, text], **judged[group, text],
        }
        for group in range(prompts) for text in said[group]
    ]  # fmt: skip
    found, alike = described(recorded, each), rollouts.described(batch)
    unknown = SEVERAL if each == 1 else set()
    assert {name for name, value in found.items() if math.isnan(value)} == unknown
    assert {name: found[name] for name in found.keys() - unknown} == pytest.approx(
        {name: alike[name] for name in alike.keys() - unknown}, abs=1e-6
    )


def test_samples_of_a_problem_must_stand_together():
    with pytest.raises(UserError, match="balance_batch"):
        described([sample("a"), sample("b"), sample("a"), sample("b")], 2)
    with pytest.raises(UserError, match="no samples"):
        described([], 2)


def written(folder, steps, **extra):
    log = folder / "metrics.jsonl"
    entries = [{"step": step, "data": {"actor/loss": 0.5, "timing_s/gen": 2, **extra}} for step in steps]
    log.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    (folder / "rollouts").mkdir(exist_ok=True)
    for step in steps:
        lines = [json.dumps(sample(score=1.0, formula="f")) for _ in range(2)]
        (folder / "rollouts" / f"{step}.jsonl").write_text("\n".join(lines) + "\n")
    return log, folder / "rollouts"


def test_rows_have_every_column_and_go_on_where_the_segment_before_ended(tmp_path):
    found = list(rows(*written(tmp_path, [3, 4], **{"critic/vf_loss": 0.25, "actor/reward_kl_penalty": 0.1}), 2, 4, 2))
    assert [row["step"] for row in found] == [3, 4]
    assert set(found[0]) == set(TRAINING.names)
    assert (found[0]["loss"], found[0]["seconds_sampling"], found[0]["value_loss"], found[0]["kl"]) == (
        0.5,
        2,
        0.25,
        0.1,
    )
    assert math.isnan(found[0]["grad_norm"])  # verl said nothing of it
    assert found[0]["distinct_formulas"] == 1


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda log, kept: log.write_text(log.read_text().partition("\n")[0]), "no step 2; verl trained steps 1 to 1"),
        (lambda log, kept: log.write_text('{"step": 1\n'), "line 1"),
        (lambda log, kept: log.unlink(), "metrics.jsonl is missing"),
        (lambda log, kept: (kept / "2.jsonl").write_text("[]\n"), "2.jsonl, line 1"),
        (lambda log, kept: (kept / "1.jsonl").unlink(), "1.jsonl is missing"),
    ],
)  # fmt: skip
def test_what_is_missing_or_damaged_is_named(tmp_path, spoil, told):
    log, kept = written(tmp_path, [1, 2])
    spoil(log, kept)
    with pytest.raises(UserError, match=told):
        list(rows(log, kept, 0, 2, 2))
