"""How far a policy has moved from another one, and how sure it is of its next token, over its own samples.

Exact over the vocabulary at every sampled token, as during training (`updates.measured`), so that only the choice of
contexts is left to chance. Samples drawn at temperature 1 make both the policy's own expectations.
"""

import os
from collections import Counter
from collections.abc import Mapping

import pandas as pd
import torch

from workflow_scripts.policies.likelihood import same_tokenizer
from workflow_scripts.policies.model import Weights, load_policy
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.tokenizer import load_tokenizer
from workflow_scripts.policies.updates import measured
from workflow_scripts.records.errors import UserError


def drift(
    folder: str | os.PathLike,
    reference: str | os.PathLike,
    prompts: Mapping[str, str],
    rollouts: pd.DataFrame,
    *,
    samples: int,
) -> pd.DataFrame:
    """Of each problem: columns problem_id, samples, kl and token_entropy (nats a sampled token, end token included).

    folder, reference: policies with one tokenizer. prompts: text of each problem's prompt. rollouts: ROLLOUTS of the
    first one; the first `samples` of every problem are read.
    Raises UserError for other tokenizers, a problem without prompt and a problem with fewer samples.
    """
    same_tokenizer([folder, reference])
    tokenizer, now, start = load_tokenizer(folder), Weights(load_policy(folder)), Weights(load_policy(reference))
    rows = []
    chosen = rollouts[rollouts["sample"] < samples]
    for problem, group in chosen.groupby("problem_id", sort=True):
        if problem not in prompts:
            raise UserError(f"there is no prompt for problem {problem}")
        if len(group) != samples:
            raise UserError(f"problem {problem} has {len(group)} of the first {samples} samples")
        prompt, said = tokenizer.encode_known(prompts[problem]), Counter()
        for completion, reason in zip(group["completion"], group["finish_reason"]):
            said[(*tokenizer.encode_known(completion), *[tokenizer.end_id] * (reason == "stop"))] += 1
        found = measured(now, start, _batch(prompt, said), range(len(said)))
        rows.append({"problem_id": problem, "samples": samples} | found)
    return pd.DataFrame(rows, columns=["problem_id", "samples", "kl", "token_entropy"])


def _batch(prompt: list[int], said: Counter) -> Rollouts:
    """One prompt's samples in the form that is measured; nothing of it is judged."""
    counts = torch.tensor(list(said.values()))
    blank = torch.zeros(len(said))
    return Rollouts(
        texts=[(prompt, completion) for completion in said],
        groups=torch.zeros(len(said), dtype=torch.int64),
        counts=counts,
        rewards=blank,
        stopped=blank.bool(),
        log_probs=blank[:, None],
        verdicts=[],
        shape=(1, int(counts.sum())),
    )
