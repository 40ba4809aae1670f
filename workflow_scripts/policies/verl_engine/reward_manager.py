"""What verl records of every rollout: the judge's verdict, and the completion's length and end.

Named in the command as `reward.reward_manager` (verl's own plug-in point). The verdict is a dict of `score` and other
keys; verl trains on the score and writes all keys into `trainer.rollout_data_dir`, one file a step, from which
`metrics` reads the breadth of the samples. verl's own manager judges; tokens are counted here, since a reward function
is given text without the end token.
"""

from typing import Any

from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager


class RecordingRewardManager(NaiveRewardManager):
    """verl's manager for reward functions, with two more keys a sample: `tokens` and `stopped`."""

    async def run_single(self, data: Any) -> dict:
        """One sample's reward_score and reward_extra_info.

        tokens: generated, the end token included. stopped: it ended by itself, before the limit or with the last token.
        """
        judged = await super().run_single(data)
        sample = data[-1:][0].batch
        limit = sample["responses"].shape[-1]
        tokens = int(sample["attention_mask"][-limit:].sum())
        ended = tokens > 0 and int(sample["responses"][tokens - 1]) == self.tokenizer.eos_token_id
        longest = int(self.config.data.max_response_length)
        judged["reward_extra_info"] |= {"tokens": tokens, "stopped": bool(ended or tokens < longest)}
        return judged
