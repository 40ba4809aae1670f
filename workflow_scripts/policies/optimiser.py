"""AdamW on a policy's one flat parameter buffer: a handful of operations a step, and a state of two vectors."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from workflow_scripts.policies.model import Policy


@dataclass
class AdamW:
    """Adam with decoupled weight decay on matrices (Loshchilov and Hutter 2019), as `torch.optim.AdamW` computes it.

    mean, square: running averages of the gradient and of its square, fp32, shape of `policy.flat`. steps: updates made.
    """

    policy: Policy
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    decay: float = 0.0
    steps: int = 0
    mean: Tensor = field(init=False)
    square: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.mean = torch.zeros_like(self.policy.flat)
        self.square = torch.zeros_like(self.policy.flat)

    def step(self, rate: float, clip: float | None = None) -> float:
        """One update with the gradients in `policy.grad`, which are left as they are (clipped); returns their norm.

        rate: learning rate. clip: largest norm of the whole gradient; a longer one is shortened to it.
        """
        grad, flat = self.policy.grad, self.policy.flat
        norm = float(torch.linalg.vector_norm(grad))
        if clip is not None and norm > clip:
            grad.mul_(clip / (norm + 1e-6))
        self.steps += 1
        first, second = self.betas
        self.mean.lerp_(grad, 1 - first)
        self.square.mul_(second).addcmul_(grad, grad, value=1 - second)
        if self.decay:
            for parameter in self.policy.tensors().values():
                if parameter.ndim > 1:
                    parameter.mul_(1 - rate * self.decay)
        scale = self.square.sqrt().div_(math.sqrt(1 - second**self.steps)).add_(self.eps)
        flat.addcdiv_(self.mean, scale, value=-rate / (1 - first**self.steps))
        return norm


def cosine(step: int, steps: int, *, warmup: int = 0, floor: float = 0.0) -> float:
    """Share of the peak rate at update `step` (0 … steps - 1): linear warm-up, then half a cosine down to `floor`."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done))
