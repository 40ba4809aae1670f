"""Demonstrations as verl's supervised trainer reads them: whole texts, so that no chat template decides what is said.

A prompt is the one that the policy is asked with in every other rule; the answer ends in the policy's end token.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.policies.foreign_tokenizer import AnyTokenizer, WordLevel
from workflow_scripts.policies.tokenizer import END
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file
from workflow_scripts.records.seeds import generator


class Whole(NamedTuple):
    """A demonstration, written out. asked: the prompt. answered: what is trained on, space and end token included.
    prompt_tokens, tokens: of the two."""

    asked: str
    answered: str
    prompt_tokens: int
    tokens: int


def whole_texts(demonstrations: Sequence[tuple[str, str]], tokenizer: AnyTokenizer) -> list[Whole]:
    """(prompt, completion) pairs, written out. Raises UserError where the tokenizer cannot join the two."""
    words = isinstance(tokenizer, WordLevel)
    gap, end = (" ", f" {END}") if words else ("", tokenizer.piece(tokenizer.end_id))
    found = []
    for asked, answered in demonstrations:
        asked = tokenizer.begun(asked)
        given, said = tokenizer.join(asked, answered)
        found.append(Whole(asked, f"{gap}{answered}{end}", len(given), len(said) + 1))
    return found


def write_messages(demonstrations: Sequence[tuple[str, str]], path: Path, *, seed: int | str) -> None:
    """Writes (user's message, assistant's message) pairs as the parquet that verl reads, in an order drawn by `seed`.

    Raises UserError where there are none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not demonstrations:
        raise UserError("there are no demonstrations to train on")
    order = generator("verl sft", seed).permutation(len(demonstrations)).tolist()
    said = [
        {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]}
        for asked, answered in (demonstrations[place] for place in order)
    ]
    with atomic_file(path) as aside:
        pq.write_table(pa.Table.from_pylist(said), aside, compression="zstd")


def texts_a_step(tokens: int, lengths: Sequence[int], world: int = 1) -> int:
    """Texts that hold about `tokens` completion tokens, a multiple of `world`; lengths: tokens of each completion."""
    mean = sum(lengths) / len(lengths)
    return max(1, round(tokens / mean / world)) * world
