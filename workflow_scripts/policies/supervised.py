"""Supervised fine-tuning on demonstrations: likelihood of their completions, with budgets counted to the token.

Every update trains on the same number of completion tokens, end tokens included, whatever the demonstrations are: a
text that crosses the end of a batch is cut there, and its rest is predicted in the next one from all that stands before
it. Arms with equal `steps` and `tokens` have therefore seen equally many tokens in equally many updates.

Data × objective factorial. A data source is a table of demonstrations; its problems are those that it demonstrates.
Likelihood on a source: `supervise` from the base. Reinforcement learning on a source: a short `supervise` on the same
table (the warm start), then `train_segment` on the prompts of the table's problems alone. Sources differ in the
solutions that they show (the solver's, spread over openings; or the base's own correct samples, `correct_samples`) and,
unless both are cut down to the problems that both hold, in their problems. So the data matter in both columns; in the
public code (reference protocol, section 8.5) both sources give reinforcement learning the same rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.pretraining import Schedule, Text, mean_loss, pretrain
from workflow_scripts.policies.rollouts import Rollouts
from workflow_scripts.policies.tokenizer import Tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import generator

SELECTIONS = ("last", "lowest_held_loss")
"""Rules that choose a run's policy; see `SupervisedSettings`."""


@dataclass(frozen=True)
class SupervisedSettings:
    """How a policy is fine-tuned on demonstrations.

    seed: of the order. steps: updates. tokens: completion tokens an update. rate: peak of the cosine (AdamW). warmup:
    updates. decay: of AdamW, on matrices. clip: largest gradient norm.
    selection: which policy the run gives, fixed beforehand: `last`, or `lowest_held_loss`, the first with the lowest
    loss on held-back demonstrations among those after every `every` updates and the last.
    """

    seed: int | str
    steps: int = 450
    tokens: int = 3200
    rate: float = 5e-3
    warmup: int = 10
    decay: float = 0.0
    clip: float = 1.0
    selection: str = "last"
    every: int = 50

    def __post_init__(self) -> None:
        if self.selection not in SELECTIONS:
            raise UserError(f"selection is {self.selection!r}; choose {' or '.join(SELECTIONS)}")
        if min(self.steps, self.tokens, self.every) < 1:
            raise UserError("steps, tokens and every must be at least 1")

    def check_held(self, held: Sequence[Text]) -> None:
        """Raises UserError where the selection rule needs held-back demonstrations and there are none."""
        if self.selection == "lowest_held_loss" and not held:
            raise UserError("the rule lowest_held_loss needs demonstrations that are held back from training")

    @property
    def budget(self) -> int:
        """Completion tokens that the whole run trains on."""
        return self.steps * self.tokens


def encoded(
    demonstrations: Sequence[tuple[str, str]], prompts: Mapping[str, str], tokenizer: Tokenizer
) -> list[list[Text]]:
    """Token ids of demonstrations by problem, in the order in which the problems first appear; end tokens added.

    demonstrations: (problem_id, completion). prompts: text of each problem's prompt.
    Raises UserError for a problem without prompt, and for words outside the vocabulary.
    """
    groups: dict[str, list[Text]] = {}
    for problem, completion in demonstrations:
        if problem not in prompts:
            raise UserError(f"there is no prompt for the demonstrated problem {problem}")
        text = (tokenizer.encode_known(prompts[problem]), [*tokenizer.encode_known(completion), tokenizer.end_id])
        groups.setdefault(problem, []).append(text)
    return list(groups.values())


def token_batches(groups: Sequence[Sequence[Text]], *, seed: int | str, steps: int, tokens: int) -> list[list[Text]]:
    """Batches of exactly `tokens` completion tokens each.

    groups: the demonstrations of each problem. Problems come in an order drawn for each epoch from the seed alone, the
    same whatever is demonstrated; a problem shows its demonstrations in turn, in an order drawn for each round through
    them. A text cut by the end of a batch goes on in the next, its said part then belonging to the prompt.
    Raises UserError where a problem has no demonstration or a text no completion.
    """
    if not groups or not all(groups) or not all(completion for group in groups for _, completion in group):
        raise UserError("there is nothing to train on: every problem needs a demonstration, every text a completion")
    texts = _in_order(groups, seed)
    batches: list[list[Text]] = []
    prompt, rest = next(texts)
    for _ in range(steps):
        batch: list[Text] = []
        missing = tokens
        while missing:
            taken = rest[:missing]
            batch.append((prompt, taken))
            missing -= len(taken)
            prompt, rest = (*prompt, *taken), rest[len(taken) :]
            if not rest:
                prompt, rest = next(texts)
        batches.append(batch)
    return batches


def _in_order(groups: Sequence[Sequence[Text]], seed: int | str) -> Iterator[Text]:
    """Endless: one text of each problem an epoch."""
    rounds: list[list[int]] = [[] for _ in groups]
    epoch = 0
    while True:
        for place in generator("demonstrated problems", seed, epoch).permutation(len(groups)).tolist():
            group, left = groups[place], rounds[place]
            if not left:  # reversed, for pop takes the last
                left += generator("demonstrations shown", seed, place, epoch).permutation(len(group)).tolist()[::-1]
            yield group[left.pop()]
        epoch += 1


def supervise(
    policy: Policy,
    groups: Sequence[Sequence[Text]],
    settings: SupervisedSettings,
    *,
    held: Sequence[Text] = (),
) -> Iterator[dict]:
    """Fine-tunes `policy` in place; when all rows are drawn it is the one that the selection rule names.

    groups: see `token_batches`. held: demonstrations that are not trained on, looked at only for `held_loss`.
    Rows, one an update: those of `pretraining.pretrain`, `tokens` (trained on so far) and `held_loss` (nats a
    completion token after the update, NaN where it was not measured).
    Raises UserError where the rule needs held-back demonstrations and there are none, and as `pretrain`.
    """
    settings.check_held(held)
    batches = token_batches(groups, seed=settings.seed, steps=settings.steps, tokens=settings.tokens)
    schedule = Schedule(
        steps=settings.steps,
        rate=settings.rate,
        warmup=settings.warmup,
        decay=settings.decay,
        clip=settings.clip,
        whole=False,
    )
    lowest, kept = float("inf"), None
    for row in pretrain(policy, batches.__getitem__, schedule):
        held_loss = float("nan")
        if held and (row["step"] % settings.every == 0 or row["step"] == settings.steps):
            held_loss = mean_loss(policy, held)
            if settings.selection == "lowest_held_loss" and held_loss < lowest:
                lowest, kept = held_loss, policy.flat.clone()
        if kept is not None and row["step"] == settings.steps:
            policy.flat.copy_(kept)
        yield row | {"tokens": row["step"] * settings.tokens, "held_loss": held_loss}


def correct_samples(batch: Rollouts, most: int, *, seed: int | str) -> list[list[int]]:
    """Places, in `batch.texts`, of up to `most` different correct completions of each prompt (rejection sampling).

    Prompts without a correct sample get an empty list. Drawn one after the other without replacement, each in
    proportion to how often it was sampled, so that the choice is as narrow or broad as the policy that sampled.
    Completions that did not end count as wrong, whatever their reward. The first k of 2k are the k.
    """
    chosen: list[list[int]] = []
    right = (batch.rewards > 0) & batch.stopped
    for group in range(batch.shape[0]):
        places = torch.nonzero(right & (batch.groups == group)).flatten()
        # Exponential races: the fastest of rate `count` come first, which is drawing without replacement
        times = generator("correct samples", seed, group).exponential(size=len(places)) / batch.counts[places].numpy()
        chosen.append(places[torch.from_numpy(times.argsort(kind="stable"))].tolist()[:most])
    return chosen
