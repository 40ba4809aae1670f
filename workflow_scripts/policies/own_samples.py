"""Judged samples of a policy on training problems: what it can teach itself from."""

from collections.abc import Sequence

import numpy as np

from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.rollouts import Reward, Rollouts, collect
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records import seeds


def own_samples(
    policy: Policy,
    prompts: Sequence[str],
    reward: Reward,
    tokenizer: Tokenizer,
    *,
    seed: int | str,
    samples: int,
    max_new_tokens: int,
) -> Rollouts:
    """`samples` completions of every prompt at temperature 1, judged; each sample's stream is keyed by (seed, prompt,
    sample). prompts: as the policy reads them; `reward` knows each by its place."""
    places = range(len(prompts))
    keys = [[seeds.key("own samples", seed, place, sample) for sample in range(samples)] for place in places]
    return collect(
        policy,
        [tokenizer.encode_known(prompt) for prompt in prompts],
        list(places),
        np.array(keys, dtype=np.uint64),
        reward,
        tokenizer,
        temperature=1.0,
        top_p=1.0,
        max_new_tokens=max_new_tokens,
    )
