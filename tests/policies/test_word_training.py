"""The trainers on the word problems: what they are given, what they measure, and that pairs are what they claim."""

import numpy as np
import pytest
import torch

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import new_policy
from workflow_scripts.policies.own_samples import own_samples
from workflow_scripts.policies.preferences import preference_pairs
from workflow_scripts.policies.pretraining import Schedule, pretrain
from workflow_scripts.policies.state import new_state
from workflow_scripts.policies.supervised import encoded
from workflow_scripts.policies.tokenizer import Tokenizer, save_tokenizer
from workflow_scripts.policies.training import LineSettings, train_segment
from workflow_scripts.tasks.maths.judging import judge_completion
from workflow_scripts.tasks.maths.word_rewarded import preferred, problem_frame, rewarded
from workflow_scripts.tasks.maths.word_text import VOCABULARY, Habits, demonstrations, random_texts, think_prompt
from workflow_scripts.tasks.maths.words import problem_set

TOKENIZER = Tokenizer(tuple(VOCABULARY))


@pytest.fixture(scope="module")
def problems():
    return problem_set("training", 60, seed=1, distinct_keys=False)


@pytest.fixture(scope="module")
def policy():
    """Learns in seconds to answer in the right form, and now and then with the right number."""
    torch.set_num_threads(1)
    sizes = Architecture(vocabulary=len(VOCABULARY), hidden=32, layers=2, heads=2, head_dim=16, mlp=64, positions=64)
    made = new_policy(sizes, 1)

    def batch(step):
        texts = random_texts(1, "short", step, count=32, habits=Habits(right=1.0, begun=0.0, wide=0.0, unseen=0.0))
        return [(TOKENIZER.encode_known(p), [*TOKENIZER.encode_known(c), TOKENIZER.end_id]) for p, c in texts]

    rows = list(pretrain(made, batch, Schedule(steps=150, rate=1e-2, whole=False)))
    assert rows[-1]["loss"] < 0.6 * rows[0]["loss"]
    return made


def test_a_reinforcement_step_measures_first_calculations(policy, problems):
    asked = rewarded(problem_frame(problems, "training"))
    prompts = [TOKENIZER.encode_known(prompt) for prompt in asked.prompts]
    settings = LineSettings(seed=1, line="t", prompts=12, samples=8, max_new_tokens=40, measured=4)
    (row,) = train_segment(new_state(policy, critic=False), policy, prompts, asked.reward, TOKENIZER, settings, 1)
    assert 0 < row["entrance_entropy"] <= np.log(8)
    assert -0.1 <= row["reward"] <= 1.1 and row["format_ok"] > 0
    assert row["grad_norm"] > 0  # rewards differ within prompts


def test_pairs_prefer_right_and_boxed_answers(policy, problems):
    by_prompt = {tuple(TOKENIZER.encode_known(think_prompt(p.question))): str(p.gold) for p in problems}
    asked = preferred(problem_frame(problems, "training"))
    batch = own_samples(policy, asked.prompts, asked.reward, TOKENIZER, seed=1, samples=32, max_new_tokens=40)
    pairs = preference_pairs(batch, 4, seed=1)
    assert pairs
    for pair in pairs:
        gold = by_prompt[tuple(pair.prompt)]
        better, worse = (judge_completion(TOKENIZER.decode(said), gold) for said in (pair.chosen, pair.rejected))
        assert better.accept and better.format_ok
        assert not (worse.accept and worse.format_ok)


def test_demonstrations_are_texts_of_the_tokenizer(problems):
    shown = demonstrations(problems, 2, seed=1)
    groups = encoded(shown, {p.problem_id: think_prompt(p.question) for p in problems}, TOKENIZER)
    assert [len(group) for group in groups] == [2] * len(problems)
    prompt, completion = groups[0][0]
    assert completion[-1] == TOKENIZER.end_id
    assert TOKENIZER.decode(prompt) == think_prompt(problems[0].question)


def test_transformers_reads_the_same_ids(tmp_path, problems):
    transformers = pytest.importorskip("transformers")
    save_tokenizer(VOCABULARY, tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for problem, (_, completion) in zip(problems[:10], demonstrations(problems[:10], 1, seed=1)):
        asked = [{"role": "user", "content": problem.question}]
        text = theirs.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
        assert text == think_prompt(problem.question)
        ids = theirs(f"{text} {completion}")["input_ids"]
        assert ids == TOKENIZER.encode_known(f"{text} {completion}")
        assert theirs.decode(ids) == f"{text} {completion}"
