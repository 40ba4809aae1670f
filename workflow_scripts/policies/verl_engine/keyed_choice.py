"""Sampling in which a text's tokens depend on the text's own key alone, for Hugging Face `generate`."""

from typing import Any

import numpy as np
import torch

from workflow_scripts.records import seeds


class KeyedChoice:
    """A logits processor that has drawn the next token of each text from the text's own stream.

    keys: uint64 [texts]. temperature: of the draw. After a run, `log_probs` holds one fp64 array [texts] a token, at
    this temperature. Token t of a text is a pure function of its key, t and the logits: the inverse of the cumulative
    distribution at `records.seeds.uniforms`.
    """

    def __init__(self, keys: np.ndarray, temperature: float) -> None:
        self.keys, self.temperature = keys, temperature
        self.log_probs: list[np.ndarray] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """scores: logits [texts, vocabulary] → the same shape, -inf but for the token that was drawn."""
        log_probs = torch.log_softmax(scores.double() / self.temperature, dim=-1)
        up_to = torch.cumsum(log_probs.exp(), dim=-1)
        draws = torch.from_numpy(seeds.uniforms(self.keys, len(self.log_probs)))[:, None] * up_to[:, -1:]
        chosen = torch.searchsorted(up_to, draws, right=True).clamp(max=scores.shape[1] - 1)
        self.log_probs.append(log_probs.gather(1, chosen).squeeze(1).numpy())
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)


def check_sampling(parameters: dict[str, Any]) -> float:
    """The temperature of a request's sampling parameters; ValueError, naming it, for any other way to sample."""
    plain = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
    for name, usual in plain.items():
        if parameters.get(name) not in (None, usual, *((0,) if name == "top_k" else ())):
            raise ValueError(f"the hf rollout samples from the whole distribution: {name} is {parameters[name]!r}")
    temperature = float(parameters.get("temperature", 1.0))
    if temperature <= 0:
        raise ValueError("the hf rollout samples: temperature must be above 0")
    return temperature
