"""Policies between two checkpoints of a line: late + alpha · (early − late), for some blocks or for all weights.

Made in memory; no folder is written. Sums are taken in fp32 and rounded to the policy's own numbers. Weights outside
the blocks stay the late policy's. Where embedding and output head are one tensor, `blocks=None` moves it once; a range
of blocks touches neither. The small policies (Policy) and any other causal language model (ForeignPolicy) alike.
"""

import os
from pathlib import Path
from typing import TypeVar

import torch

from workflow_scripts.policies.architecture import EMBEDDING
from workflow_scripts.policies.foreign_model import ForeignPolicy, built_in, load_foreign
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.model import Policy, load_policy, read_tensors
from workflow_scripts.records.errors import UserError

Either = TypeVar("Either", Policy, ForeignPolicy)


def interpolated(late: Either, early: Either, alpha: float, blocks: tuple[int, int] | None = None) -> Either:
    """A new policy with late + alpha · (early − late) in blocks [start, end), or in all weights where blocks is None.

    alpha: 0 gives the late policy and 1 (with all blocks) the early one, bit for bit. The two are left as they are.
    Paper table 4; the reference code's `layer_interpolation`, without its cast back to bfloat16.
    Raises UserError for alpha outside [0, 1], blocks outside the model and policies of other architectures.
    """
    if not 0 <= alpha <= 1:
        raise UserError(f"alpha of an interpolation must be in [0, 1], not {alpha}")
    refuse_other_architecture(late, early)
    moved = _moved(late, blocks)
    policy = late.copy()
    if alpha == 0:
        return policy
    mine, theirs = policy.tensors(), early.tensors()
    for name in moved:
        if alpha == 1:
            mine[name].copy_(theirs[name])  # late + (early - late) is not early in the last bit
        else:
            whole = mine[name].float()  # the tensor itself, where it is fp32
            whole.add_(theirs[name].float() - whole, alpha=alpha)
            mine[name].copy_(whole)
    return policy


def _moved(policy: Policy | ForeignPolicy, blocks: tuple[int, int] | None) -> list[str]:
    """Names of the tensors that an interpolation of these blocks moves."""
    if blocks is None:
        return list(policy.parameters)
    start, end = blocks
    at, layers = policy.blocks if isinstance(policy, ForeignPolicy) else ("model.layers", policy.architecture.layers)
    if not 0 <= start < end <= layers:
        raise UserError(
            f"blocks {start} to {end} (exclusive) are not a range of the policy's {layers} blocks, 0 to {layers}"
        )
    inside = tuple(f"{at}.{layer}." for layer in range(start, end))
    return [name for name in policy.parameters if name.startswith(inside)]


def refuse_other_architecture(late: Either, early: Either) -> None:
    """Raises UserError, naming the first size that differs, where two policies do not have the same weights."""
    mine, theirs = vars(late.architecture), vars(early.architecture)
    for name in [*mine, *(theirs.keys() - mine.keys())]:
        one, other = mine.get(name), theirs.get(name)
        if one != other:
            raise UserError(f"policies of other architectures cannot be interpolated: {name} is {one!r} and {other!r}")
    if late.parameters.keys() != early.parameters.keys():
        odd = sorted(late.parameters.keys() ^ early.parameters.keys())[0]
        raise UserError(f"only one of the two policies has the tensor {odd}; a critic is not a policy")


def refuse_other_words(late: str | os.PathLike, early: str | os.PathLike) -> None:
    """Raises UserError, naming the first word that differs, where two policy folders have different vocabularies, and
    where they split texts differently with the same one."""
    tokenizers = load_any_tokenizer(late), load_any_tokenizer(early)
    mine, theirs = (tokenizer.words for tokenizer in tokenizers)
    if mine == theirs:
        if tokenizers[0].fingerprint != tokenizers[1].fingerprint:
            raise UserError(f"{late} and {early} have the same vocabulary but split texts into other tokens")
        return
    place = next((i for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), min(len(mine), len(theirs)))
    said = [repr(words[place]) if place < len(words) else "nothing" for words in (mine, theirs)]
    raise UserError(
        f"{late} and {early} have different vocabularies: word {place} is {said[0]} in one and {said[1]} in the other"
    )


def load_pair(
    late: str | os.PathLike, early: str | os.PathLike
) -> tuple[Policy, Policy] | tuple[ForeignPolicy, ForeignPolicy]:
    """The policies of two folders, checked to have the same words and architecture; UserError names what differs."""
    refuse_other_words(late, early)
    if not all(built_in(folder, scoring=True) for folder in (late, early)):
        pair = load_foreign(late), load_foreign(early)
        refuse_other_architecture(*pair)
        return pair
    policies = load_policy(late), load_policy(early)
    refuse_other_architecture(*policies)
    for folder, policy in zip((late, early), policies):
        _refuse_a_head_of_its_own(folder, policy)
    return policies


def _refuse_a_head_of_its_own(folder: str | os.PathLike, policy: Policy) -> None:
    """Some writers repeat the tied embedding as an output head; one that differs would be lost unseen."""
    head = read_tensors(Path(folder) / "model.safetensors").get("lm_head.weight")
    if head is not None and not torch.equal(head, policy.tensors()[EMBEDDING]):
        raise UserError(
            f"{folder}: config.json ties embedding and output head, but lm_head.weight is another tensor; which of the "
            "two to interpolate is not defined"
        )
