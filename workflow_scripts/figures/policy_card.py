"""What policies are and how they are asked: one row a policy, for the head of the report."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from workflow_scripts.records.errors import UserError

ROWS = {
    "engine": "read by",
    "sampled_by": "sampled by",
    "model_type": "model type",
    "architecture": "architecture",
    "parameters": "parameters",
    "dtype": "numbers of the weights",
    "tied": "embedding is the output head",
    "context": "longest sequence, tokens",
    "vocabulary": "vocabulary, rows of the embedding",
    "tokenizer_class": "tokenizer",
    "tokenizer_words": "tokens of the tokenizer",
    "chat_template": "chat template, SHA-256",
    "asked_by": "prompts are made by",
    "think_opened_by": "think part opened by",
    "bos_token": "beginning token",
    "bos_added": "beginning token put before prompts",
    "end_tokens": "tokens that end a sample",
    "pad_token": "padding token (nothing is padded)",
    "padding_side": "padding side (not used)",
    "generation_defaults_unused": "generation defaults that are not used",
    "longest_prompt": "longest prompt, tokens",
    "entrances": "scored continuations",
    "straddling": "continuations whose entrance ends inside a token",
}
"""What is told of a policy, in order, and the words for it."""


def card(facts: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """One row per policy: columns policy and ROWS, all of them text.

    facts: policy to what is known of it (policies' describe, rendering, and counts). A chat template that prompts were
    not made with is said to be unused. Raises UserError, naming it, for a fact that is missing.
    """
    rows = []
    for policy, known in facts.items():
        missing = [key for key in ROWS if key not in known]
        if missing:
            raise UserError(f"nothing is known of the {ROWS[missing[0]]} ({missing[0]}) of {policy}")
        if known["chat_template"] and known["asked_by"] != "chat template":
            known = {**known, "chat_template": f"not used ({known['chat_template']})"}
        rows.append([policy, *(_said(known[key]) for key in ROWS)])
    return pd.DataFrame(rows, columns=["policy", *ROWS])


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) or value is None:
        return value or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {json.dumps(value[key])}" for key in sorted(value)) or "none"
    return ", ".join(map(str, value)) or "none"


def markdown(table: pd.DataFrame, *, prompt: str, completion: str, sampling: Mapping[str, Any]) -> str:
    """The card as GitHub Markdown: a column for each set of policies that differ in nothing.

    table: from `card`. prompt, completion: an example of what the first policy reads, and of a solver-built answer.
    sampling: the study's engine, and settings of the sampler, all of which are given explicitly.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for row in table.itertuples(index=False, name=None):
        alike.setdefault(row[1:], []).append(row[0])
    lines = ["**Policies and how they are asked**", ""]
    lines += ["| | " + " | ".join(_cell(_names(names)) for names in alike.values()) + " |"]
    lines += ["|" + "---|" * (len(alike) + 1)]
    for place, words in enumerate(ROWS.values()):
        lines.append(f"| {words} | " + " | ".join(_cell(values[place]) for values in alike) + " |")
    drawn = ", ".join(f"{key} {value}" for key, value in sampling.items() if key != "engine")
    vllm = [
        "* vllm draws the samples of the study and scores its continuations; masses, interventions and Figure 1 are "
        "computed by what each policy is read by."
    ]
    lines += [
        "",
        f"* Sampled with {drawn}; nothing is taken from a folder's generation defaults but its end tokens.",
        *(vllm if sampling.get("engine") == "vllm" else []),
        "* A beginning token is put before a prompt where the tokenizer itself does so, and once where the chat "
        "template writes it too. Nothing is padded.",
        "* An entrance ends with its operator; a token that holds more than that counts to the entrance as a whole.",
        "",
        f"The first problem as {table['policy'].iloc[0]} reads it, and a solver-built answer, ‖ between them:",
        "",
        "```",
        *f"{prompt}‖{completion}".splitlines(),
        "```",
    ]
    return "\n".join(lines) + "\n"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} … {names[-1]} ({len(names)} policies)"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
