"""The control of `entrance_entropy`: the same total bonus, spread over all tokens."""

import torch
from torch import Tensor

from workflow_scripts.policies.objectives.entrance_entropy import entrance_tokens
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.tokenizer import Tokenizer


def entropy_bonus(rollouts: Rollouts, weights: Tensor, tokenizer: Tokenizer, coefficient: float) -> Tensor:
    """Coefficient of each token's entropy: c m on every token; fp32 [texts, longest], 0 after a text's end.

    m = Σ_E w_t / Σ w_t, E the entrance tokens and w_t what a token weighs in the loss. So Σ c m w_t over all tokens is
    Σ_E c w_t: the weights that `entrance_entropy` with the same c puts on its few tokens, in sum.
    """
    entrance = entrance_tokens(rollouts, tokenizer)
    inside = torch.arange(entrance.shape[1])[None, :] < rollouts.lengths[:, None]
    spent, total = weights @ entrance.sum(dim=1).float(), weights @ inside.sum(dim=1).float()
    return coefficient * spent / total * inside
