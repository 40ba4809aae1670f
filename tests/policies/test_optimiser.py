import pytest
import torch

from workflow_scripts.policies.model import Architecture, new_policy
from workflow_scripts.policies.optimiser import AdamW, cosine

SMALL = Architecture(11, hidden=8, layers=1, heads=1, head_dim=8, mlp=8, positions=16)


@pytest.mark.parametrize(("decay", "clip"), [(0.0, None), (0.1, None), (0.0, 0.5)])
def test_updates_equal_those_of_torch(decay, clip):
    ours, theirs = new_policy(SMALL, 1), new_policy(SMALL, 1)
    optimiser = AdamW(ours, betas=(0.9, 0.99), decay=decay)
    matrices = [p for p in theirs.parameters.values() if p.ndim > 1]
    vectors = [p for p in theirs.parameters.values() if p.ndim == 1]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    reference = torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.99), eps=1e-8)
    draw = torch.Generator().manual_seed(0)
    for rate in (1e-2, 3e-3, 1e-3):
        gradient = torch.randn(ours.grad.shape, generator=draw)
        ours.grad.copy_(gradient)
        theirs.grad.copy_(gradient)
        norm = optimiser.step(rate, clip)
        assert norm == pytest.approx(gradient.norm().item(), rel=1e-5)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([*theirs.parameters.values()], clip)
        for group in reference.param_groups:
            group["lr"] = rate
        reference.step()
    assert torch.allclose(ours.flat, theirs.flat, atol=1e-6, rtol=1e-5)
    assert not torch.equal(ours.flat, new_policy(SMALL, 1).flat)


def test_cosine_schedule():
    rates = [cosine(step, 10, warmup=2, floor=0.1) for step in range(10)]
    assert rates[0] == 0.5 and rates[1] == rates[2] == 1.0
    assert rates[6] == pytest.approx(0.55)
    assert rates[2:] == sorted(rates[2:], reverse=True) and rates[-1] > 0.1
