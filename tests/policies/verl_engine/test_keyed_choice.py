import numpy as np
import pytest
import torch

from workflow_scripts.policies.verl_engine.keyed_choice import KeyedChoice, check_sampling
from workflow_scripts.records import seeds


def chosen(keys, logits, temperature=1.0):
    choice = KeyedChoice(keys, temperature)
    scores = choice(torch.zeros(len(keys), 1, dtype=torch.long), logits)
    return scores.argmax(1), choice


def test_frequencies_are_the_softmax_at_the_temperature():
    logits, samples = torch.tensor([0.0, 1.0, 2.0, -1.0, float("-inf")]), 20_000
    keys = seeds.sample_keys("frequencies", samples=range(samples))
    tokens, choice = chosen(keys, logits.expand(samples, -1), temperature=0.7)
    expected = torch.softmax(logits.double() / 0.7, 0)
    found = torch.bincount(tokens, minlength=5) / samples
    assert torch.allclose(found.double(), expected, atol=0.01) and found[4] == 0
    assert np.allclose(choice.log_probs[0], torch.log(expected)[tokens].numpy())


def test_a_text_s_tokens_do_not_depend_on_its_company():
    keys = seeds.sample_keys("company", samples=range(6))
    logits = torch.randn(3, 6, 9, generator=torch.Generator().manual_seed(0))
    together, alone = KeyedChoice(keys, 1.0), KeyedChoice(keys[4:5], 1.0)
    for step in logits:
        both = together(torch.zeros(6, 1), step), alone(torch.zeros(1, 1), step[4:5])
        assert torch.equal(both[0][4:5], both[1])


@pytest.mark.parametrize("odd", [{"top_p": 0.9}, {"top_k": 5}, {"repetition_penalty": 1.1}, {"temperature": 0}])
def test_other_ways_to_sample_are_refused_by_name(odd):
    with pytest.raises(ValueError, match=next(iter(odd))):
        check_sampling(odd)


def test_the_usual_parameters_pass():
    assert check_sampling({"temperature": 0.5, "top_p": 1, "top_k": -1, "logprobs": True}) == 0.5
