"""Supervised fine-tuning of low-rank adapters (LoRA, Hu et al. 2021) through transformers and peft, merged at the end.

The road of the paper's supplementary code (reference protocol, sections 8.1 and 8.3: rank 32, alpha 64, no dropout, all
seven projections, merged export), on the batches, budgets and selection rules of `supervised.supervise`. It works on
any folder that transformers reads and the built-in engine can hold: safetensors, local, without code of its own.
"""

import math
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from workflow_scripts.policies.architecture import read_architecture
from workflow_scripts.policies.chunks import Chunk, teacher_forced
from workflow_scripts.policies.model import Policy
from workflow_scripts.policies.objectives.sft import negative_log_likelihood
from workflow_scripts.policies.optimiser import cosine
from workflow_scripts.policies.pretraining import Schedule, Text, check_finite
from workflow_scripts.policies.supervised import SupervisedSettings, token_batches
from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError

if TYPE_CHECKING:
    from peft import PeftModel

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Matrices of every layer that get an adapter; embeddings, head and norms stay as they are."""


def adapted(folder: str | os.PathLike, *, rank: int, alpha: float, seed: int | str) -> "PeftModel":
    """The policy in `folder`, frozen, fp32, on the CPU, with a fresh adapter at each of `PROJECTIONS`.

    A projection W becomes W + (alpha / rank) B A, with A [rank, in] drawn from `seed` alone and B [out, rank] zero.
    Raises UserError for a rank below 1, an alpha that is not a positive number, and, naming the folder, where
    transformers cannot read it or finds tensors that are missing, left over or not finite.
    """
    if rank < 1:
        raise UserError(f"the rank of the adapters is {rank}; it must be at least 1")
    if not 0 < alpha < math.inf:
        raise UserError(f"alpha of the adapters is {alpha}; it must be a number above 0")
    model = _read(folder)

    from peft import LoraConfig, TaskType, get_peft_model

    config = LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=rank,
        lora_alpha=alpha,
        lora_dropout=0.0,
        target_modules=list(PROJECTIONS),
        bias="none",
    )
    with torch.random.fork_rng(devices=[]):  # the caller's stream goes on as if nothing had been drawn
        torch.manual_seed(seeds.key(seed, "adapters") >> 1)
        return get_peft_model(model, config)


def _read(folder: str | os.PathLike) -> torch.nn.Module:
    """The causal language model in `folder`, never fetched, never running code or pickles that lie there."""
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=torch.float32,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"transformers cannot read the policy folder {folder}: {reason}") from error
    odd = sorted({*report["missing_keys"], *report["unexpected_keys"]})
    if odd:  # a missing tensor would be made up at random
        raise UserError(f"{folder}: its weights and config.json disagree about the tensor {odd[0]!r}")
    broken = next((name for name, value in model.named_parameters() if not torch.isfinite(value).all()), None)
    if broken:
        raise UserError(f"{folder}: {broken} holds NaN or infinite values; delete the folder and train it again")
    return model


def merged(model: "PeftModel", folder: str | os.PathLike) -> Policy:
    """The adapters added to the projections that they belong to, as a policy under the names of `load_policy`.

    folder: what `adapted` read; its config states the sizes. Nothing but the projections differs from it, and the head
    stays the embedding. Uses `model` up.
    """
    policy = Policy(read_architecture(folder))
    found = model.merge_and_unload().state_dict()
    with torch.no_grad():
        for name, tensor in policy.tensors().items():
            tensor.copy_(found[name])
    return policy


def supervise_lora(
    folder: str | os.PathLike,
    groups: Sequence[Sequence[Text]],
    settings: SupervisedSettings,
    *,
    rank: int,
    alpha: float,
    held: Sequence[Text] = (),
) -> tuple[Policy, list[dict]]:
    """Fine-tunes adapters on the policy in `folder`; returns the merged policy that the selection rule names, and rows.

    groups: see `supervised.token_batches`. held: demonstrations that are not trained on, looked at only for
    `held_loss`. rank, alpha: see `adapted`. Only completion tokens are learnt; AdamW, the cosine, clipping, the order
    of texts and the columns of the rows are those of `supervise` (losses in nats a completion token). The folder is
    left alone; write the policy with `save_policy`, its tokenizer with `save_tokenizer`.
    The same arguments give the same bytes; A is drawn from `settings.seed`. The number of threads is the caller's
    affair.
    Raises UserError as `supervise`, `read_architecture` and `adapted` do.
    """
    settings.check_held(held)
    policy = Policy(read_architecture(folder))
    batches = token_batches(groups, seed=settings.seed, steps=settings.steps, tokens=settings.tokens)
    _check_lengths([*(text for batch in batches for text in batch), *held], policy.architecture.positions)
    model = adapted(folder, rank=rank, alpha=alpha, seed=settings.seed)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(trained, betas=Schedule.betas, weight_decay=settings.decay)
    lowest, kept = math.inf, None
    rows: list[dict] = []
    for index, batch in enumerate(batches):
        began, step = time.perf_counter(), index + 1
        rate = settings.rate * cosine(index, settings.steps, warmup=settings.warmup)
        loss = _gradient(model, optimiser, batch, settings.tokens)
        check_finite(policy, loss, f"fine-tuning step {step}")  # broken adapters show in the next loss
        norm = float(torch.nn.utils.clip_grad_norm_(trained, settings.clip))
        optimiser.param_groups[0]["lr"] = rate
        optimiser.step()
        row = {"step": step, "loss": loss, "rate": rate, "grad_norm": norm, "seconds": time.perf_counter() - began}
        held_loss = math.nan
        if held and (step % settings.every == 0 or step == settings.steps):
            held_loss = _mean_loss(model, held)
            if settings.selection == "lowest_held_loss" and held_loss < lowest:
                lowest, kept = held_loss, [parameter.detach().clone() for parameter in trained]
        rows.append(row | {"tokens": step * settings.tokens, "held_loss": held_loss})
    if kept is not None:
        with torch.no_grad():
            for parameter, value in zip(trained, kept, strict=True):
                parameter.copy_(value)
    policy = merged(model, folder)
    check_finite(policy, rows[-1]["loss"], f"fine-tuning step {settings.steps}")
    return policy, rows


def _check_lengths(texts: Sequence[Text], positions: int) -> None:
    """transformers would go on past the last position without a word."""
    longest = max(len(prompt) + len(completion) for prompt, completion in texts)
    if longest > positions:
        raise UserError(f"a text of {longest} tokens is longer than the policy's {positions} positions")


def _losses(model: "PeftModel", chunk: Chunk) -> Tensor:
    """Nats, fp32 [N], of each token of `chunk` that is predicted."""
    inner = model.get_base_model()
    # A mask of ones: padding is on the right, where causal attention never looks
    states = inner.base_model(input_ids=chunk.tokens, attention_mask=torch.ones_like(chunk.tokens), use_cache=False)
    wanted = states.last_hidden_state.flatten(0, 1)[chunk.rows]
    return negative_log_likelihood(inner.get_output_embeddings()(wanted), chunk.targets)


def _gradient(model: "PeftModel", optimiser: torch.optim.Optimizer, batch: Sequence[Text], tokens: int) -> float:
    """Leaves the gradient of the mean loss over the batch's `tokens` completion tokens; returns that loss."""
    optimiser.zero_grad()
    total = 0.0
    for chunk in teacher_forced(batch):
        loss = _losses(model, chunk).sum() / tokens
        loss.backward()
        total += float(loss.detach())
    return total


def _mean_loss(model: "PeftModel", texts: Sequence[Text]) -> float:
    """Nats a completion token over `texts`, without training."""
    total = 0.0
    with torch.no_grad():
        for chunk in teacher_forced(texts):
            total += float(_losses(model, chunk).double().sum())
    return total / sum(len(completion) for _, completion in texts)
