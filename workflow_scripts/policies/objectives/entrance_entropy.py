"""Entropy bonus where the entrance is chosen, and nowhere else."""

import torch
from torch import Tensor

from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records.errors import UserError


def entropy_bonus(rollouts: Rollouts, weights: Tensor, tokenizer: Tokenizer, coefficient: float) -> Tensor:
    """Coefficient of each token's entropy: c on the tokens of the entrance, else 0; fp32 [texts, longest].

    The loss holds −c Σ_E w_t H_t: E the entrance tokens, w_t what a token weighs in the loss (`weights`, not looked at
    here), H_t the policy's entropy, in nats, where it chose token t. Entropy as a term of the loss: PPO (1707.06347)
    equation 9; only on the tokens that fork: 2506.01939.
    """
    return coefficient * entrance_tokens(rollouts, tokenizer).to(torch.float32)


def entrance_tokens(rollouts: Rollouts, tokenizer: Tokenizer) -> Tensor:
    """Whether a token is the first operand or the operator of a text's first step: bool [texts, longest].

    They are the first tokens that spell the verdict's `think_opening` (`4*` is `4`, `*`); a text without one has none.
    Raises UserError where a verdict lacks that key.
    """
    if any("think_opening" not in verdict for verdict in rollouts.verdicts):
        raise UserError("the bonus on entrances needs a reward function that gives think_opening")
    marked = torch.zeros(len(rollouts.texts), int(rollouts.lengths.max()), dtype=torch.bool)
    for place, ((_, completion), verdict) in enumerate(zip(rollouts.texts, rollouts.verdicts, strict=True)):
        span = _span([tokenizer.words[token] for token in completion], verdict["think_opening"] or "")
        marked[place, span] = True
    return marked


def _span(words: list[str], spelled: str) -> slice:
    """The first neighbours among `words` that make up `spelled` when joined."""
    for first in range(len(words) if spelled else 0):
        last, joined = first, ""
        while last < len(words) and len(joined) < len(spelled):
            joined += words[last]
            last += 1
        if joined == spelled:
            return slice(first, last)
    return slice(0, 0)
