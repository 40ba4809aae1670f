"""The base policy of the config: a copy of a Hugging Face folder, or of a hub id at its pinned revision.

Weights in safetensors only; no code of the repository is fetched or run.
"""

import shutil
from pathlib import Path

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_folder
from workflow_scripts.records.stage import run

WANTED = ("*.safetensors", "*.json", "*.jinja", "merges.txt", "vocab.txt", "tokenizer.model")


def fetched(source, revision):
    """Folder that holds the policy's files."""
    if Path(source).is_dir():
        return Path(source)
    if revision is None:
        raise UserError(f"policy.source {source!r} is no folder; a hub id needs policy.revision, its 40-digit commit")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, revision=revision, allow_patterns=list(WANTED)))
    except Exception as error:
        raise UserError(f"cannot fetch {source} at {revision}: {error}; download it and name its folder") from error


def main(input, output, params, wildcards):
    folder = fetched(params.source, params.revision)
    files = sorted({path for pattern in WANTED for path in folder.glob(pattern) if path.name != "manifest.json"})
    if not any(path.suffix == ".safetensors" for path in files):
        raise UserError(f"{folder} holds no *.safetensors weights, the only kind that is read")
    with atomic_folder(output.policy) as aside:
        for path in files:
            shutil.copyfile(path, aside / path.name)


run(main, snakemake)
