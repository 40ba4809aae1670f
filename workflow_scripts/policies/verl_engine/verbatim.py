"""Prompts that verl gives to a policy as they are: a think part opened for it, or no chat template at all.

verl makes a prompt of messages with the chat template of the policy's tokenizer. So the whole prompt is written as one
message, and the policy is read from a folder of links whose template writes a message as it stands.
"""

from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.records.errors import UserError

BASE, PROBLEMS, MESSAGES, HELD = "base", "problems.parquet", "messages.parquet", "held.parquet"
"""What is written into verl's working folder: a policy, and what it is trained on."""

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def write_verbatim(base: Path, problems: Path, prompts: Sequence[str], work: Path) -> None:
    """Writes `base`, links to a policy's files under TEMPLATE, and `problems.parquet`, the rows with these prompts.

    base: policy folder, absolute. problems: parquet in verl's form. prompts: one for each of its rows.
    Raises UserError where there are more or fewer.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pq.read_table(problems).to_pylist()
    if len(rows) != len(prompts):
        raise UserError(f"{problems} has {len(rows)} problems, and {len(prompts)} prompts are given")
    for row, prompt in zip(rows, prompts, strict=True):
        row["prompt"] = [{"role": "user", "content": prompt}]
    pq.write_table(pa.Table.from_pylist(rows), work / PROBLEMS)
    link_policy(base, work / BASE)


def link_policy(base: Path, folder: Path) -> None:
    """Makes `folder`: links to the files of the policy `base` (absolute), and TEMPLATE for its chat template."""
    folder.mkdir()
    for path in sorted(base.iterdir()):
        if path.name not in ("chat_template.jinja", "chat_template.json", "manifest.json"):
            (folder / path.name).symlink_to(path)
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")


def most_tokens(base: Path, prompts: Sequence[str]) -> int:
    """Tokens of the longest prompt, special ones as written."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    return max(len(ids) for ids in tokenizer(list(prompts), add_special_tokens=False)["input_ids"])
