"""Policies and data files from a folder, or from the hub at a pinned commit; their digests are checked.

Weights are read from safetensors alone; no code of a repository is fetched or run.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from glob import escape
from pathlib import Path, PurePosixPath

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.records.files import atomic_file, atomic_folder
from workflow_scripts.records.hub import from_hub, matches
from workflow_scripts.records.manifests import sha256 as sha256_of

POLICY_FILES = ("*.safetensors", "*.json", "*.jinja", "merges.txt", "vocab.txt", "tokenizer.model")
"""What a policy consists of: weights, configs, tokenizer."""

_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".msgpack")
_INDEX = "model.safetensors.index.json"


def fetch(
    source: str | os.PathLike,
    *,
    revision: str | None,
    subfolder: str | None = None,
    files: Iterable[str] = POLICY_FILES,
    sha256: Mapping[str, str] | None = None,
    target: str | os.PathLike,
    offline: bool = False,
    cache: str | os.PathLike | None = None,
) -> Path:
    """Brings a policy's files to the folder `target`, whole or not at all, and returns it.

    source: a folder, or a hub id (`owner/name`), which needs `revision`, its 40-digit commit.  subfolder: folder inside
    the source that holds the policy.  files: patterns of the names that are wanted.  sha256: digests that files must
    have, by name.  offline: refuse any connection, as HF_HUB_OFFLINE=1 does.  cache: the hub's cache, if not its own.
    Weights of the hub's cache are linked where it shares the target's file system, everything else is copied.

    Raises UserError for a source that is neither folder nor hub id, an unpinned one, a network that is needed and
    missing or not allowed, a full disk, weights that are absent, incomplete or of another kind, and a wrong digest
    (naming file, expected and found).
    """
    wanted, label = tuple(files), _label(source, revision, subfolder)
    local = Path(source).is_dir()
    if local:
        folder = Path(source) / (subfolder or "")
        if not folder.is_dir():
            raise UserError(f"{source} has no folder {subfolder}")
        names = [path.name for path in folder.iterdir() if path.is_file()]
    else:
        folder, names = from_hub(str(source), revision, subfolder, wanted, offline, cache)
    chosen = sorted(name for name in names if matches(name, wanted) and name != "manifest.json")
    _require_weights(folder, chosen, names, label)
    _require_digests({name: folder / name for name in chosen}, sha256 or {}, label)
    with atomic_folder(target) as aside:
        for name in chosen:
            _place(folder / name, aside / name, may_link=not local)
    return Path(target)


def fetch_dataset_file(
    repo: str,
    file: str,
    *,
    revision: str | None,
    sha256: str | None = None,
    target: str | os.PathLike,
    offline: bool = False,
    cache: str | os.PathLike | None = None,
) -> Path:
    """Brings one file of a hub data set to `target`, whole or not at all, and returns it. Arguments as in `fetch`.

    Raises UserError as `fetch` does.
    """
    label = _label(repo, revision, None)
    path = PurePosixPath(file)
    parent = None if path.parent == PurePosixPath() else path.parent.as_posix()
    folder, names = from_hub(repo, revision, parent, (escape(path.name),), offline, cache, kind="dataset")
    if path.name not in names:
        raise UserError(f"{label} holds no file {file}{closest(path.name, names)}")
    found = folder / path.name
    _require_digests({file: found}, {file: sha256} if sha256 else {}, label)
    with atomic_file(target) as aside:
        shutil.copyfile(found, aside)
    return Path(target)


def _label(source: str | os.PathLike, revision: str | None, subfolder: str | None) -> str:
    at = f" at {revision[:12]}" if revision and not Path(source).is_dir() else ""
    return f"{source}{f'/{subfolder}' if subfolder else ''}{at}"


def _place(origin: Path, target: Path, *, may_link: bool) -> None:
    """Links weights, which are large, where they may be; copies the rest, and what cannot be linked.

    may_link: only for the hub's cache, whose files never change. A trainer may write its next checkpoint into the
    files of a folder.
    """
    weights = origin.suffix == ".safetensors"
    origin = origin.resolve()  # files of the hub's cache are symbolic links
    if may_link and weights and os.access(origin, os.W_OK):
        try:
            os.link(origin, target)
            return
        except OSError:
            pass  # another file system, or one without links
    shutil.copyfile(origin, target)


def _require_weights(folder: Path, chosen: list[str], names: list[str], label: str) -> None:
    if not any(name.endswith(".safetensors") for name in chosen):
        others = sorted(name for name in names if name.endswith(_OTHER_WEIGHTS))
        seen = f" (it has {', '.join(others[:3])}; convert them with save_pretrained)" if others else ""
        raise UserError(f"{label} holds no *.safetensors weights, the only kind that is read{seen}")
    if "config.json" not in chosen:
        adapter = " (an adapter: merge it into its base first)" if "adapter_config.json" in names else ""
        raise UserError(f"{label} holds no config.json, so it is no whole policy{adapter}")
    if _INDEX in chosen:
        try:
            shards = set(json.loads((folder / _INDEX).read_text())["weight_map"].values())
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise UserError(f"{label}: {_INDEX} is damaged ({error})") from error
        missing = sorted(shards - set(chosen))
        if missing:
            raise UserError(f"{label}: {missing[0]} is missing although {_INDEX} lists it; fetch the source again")


def _require_digests(paths: Mapping[str, Path], expected: Mapping[str, str], label: str) -> None:
    for name, digest in expected.items():
        if name not in paths:
            raise UserError(f"{label} has no file {name}, of which a SHA-256 is given{closest(name, list(paths))}")
        found = sha256_of(paths[name])
        if found != digest:
            raise UserError(
                f"{label}: SHA-256 of {name} is {found}, expected {digest}; the file is damaged or not the one that "
                f"was meant. Delete {paths[name].resolve()} to fetch it again, or correct the digest in the config"
            )
