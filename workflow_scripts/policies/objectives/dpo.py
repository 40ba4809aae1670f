"""Direct preference optimisation: the likelihood of preferences under the reward that a policy implies."""

import torch
from torch import Tensor


def implied_margin(
    chosen: Tensor, rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float
) -> Tensor:
    """How much more reward the policy implies for the chosen completion: fp32 [pairs].

    beta ((log π - log π_ref)(chosen) - (log π - log π_ref)(rejected)), where each argument is the sum of a completion's
    log-probabilities, nats, [pairs]. beta: strength of the pull to the reference. DPO (2305.18290) equation 5.
    """
    return beta * ((chosen - reference_chosen) - (rejected - reference_rejected))


def dpo_loss(margin: Tensor) -> Tensor:
    """-log σ(margin) of each pair, nats: fp32 [pairs], of `implied_margin`. DPO (2305.18290) equation 7."""
    return -torch.nn.functional.logsigmoid(margin)
