"""The one door to the network: files of the hub, at a pinned commit.

They pass through the hub's own cache (HF_HOME), so that an interrupted download goes on where it stopped and studies
share one copy. What lies in the cache at the pinned commit is taken without any connection when the study is offline;
anything else is then refused before a connection is tried. HF_ENDPOINT names another hub.
"""

import os
import re
import shutil
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.manifests import sha256 as sha256_of

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LEFT_FREE = 1 << 30


def hub_is_off(offline: bool = False) -> bool:
    """Whether connections are refused: by the config's `offline`, or by HF_HUB_OFFLINE in the environment."""
    return offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}


def is_hub_id(source: str | os.PathLike | None) -> bool:
    """Whether a source is to be fetched: `owner/name`, and no folder or file of that name is here."""
    return source is not None and not Path(source).exists() and bool(_HUB_ID.fullmatch(str(source)))


def hub_address() -> str:
    """Where the hub is: HF_ENDPOINT, or the public one."""
    from huggingface_hub import constants

    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or constants.ENDPOINT


def hub_answers(seconds: float = 10) -> bool:
    """Whether anything answers at the hub's address within some seconds (its own client tries for half a minute)."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        urlopen(Request(hub_address(), method="HEAD"), timeout=seconds).close()
    except HTTPError:
        return True  # a refusal is an answer
    except (OSError, ValueError):
        return False
    return True


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a file name matches one of several shell patterns."""
    return any(fnmatch(name, pattern) for pattern in patterns)


def from_hub(
    repo: str,
    revision: str | None,
    subfolder: str | None,
    wanted: tuple[str, ...],
    offline: bool,
    cache: str | os.PathLike | None = None,
    kind: str = "model",
    recursive: bool = False,
) -> tuple[Path, list[str]]:
    """Folder of the hub's cache that now holds the wanted files, and the names of all files of the repository there.

    repo: `owner/name`.  revision: its 40-digit commit.  subfolder: where in it to look.  wanted: patterns of names.
    offline: refuse connections.  cache: the hub's cache, if not its own.  kind: model or dataset.  recursive: look in
    folders below, too; names are then paths.

    Raises UserError for another spelling of repo or revision, a network that is needed and missing or not allowed, a
    repository, commit or folder that the hub lacks or does not give, a full disk, and files that arrive damaged.
    """
    if not _HUB_ID.fullmatch(repo):
        raise UserError(f"{repo} is neither a folder nor a hub id (owner/name)")
    if revision is None or not _COMMIT.fullmatch(revision):
        raise UserError(
            f"{repo} is no folder, and a hub id needs its revision: a 40-digit commit, not {revision!r} (a branch or "
            "tag may move)"
        )
    if hub_is_off(offline):
        folder = _cached(repo, revision, subfolder, wanted, cache, kind)
        inside = folder.rglob("*") if recursive else folder.iterdir()
        return folder, [path.relative_to(folder).as_posix() for path in inside if path.is_file()]
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    if not hub_answers():
        raise UserError(f"cannot reach {hub_address()}. {_elsewhere(repo, revision, subfolder, wanted, kind)}")
    api = HfApi(endpoint=hub_address())
    place = {"repo_type": kind, "revision": revision}
    prefix = f"{subfolder}/" if subfolder else ""
    try:
        listing = api.list_repo_tree(repo, subfolder, recursive=recursive, **place)
        tree = [entry for entry in listing if isinstance(entry, RepoFile)]
        needed = [entry for entry in tree if matches(entry.path.removeprefix(prefix), wanted)]
        _require_room(api, needed, repo, place, cache)
        for entry in needed:
            got = Path(api.hf_hub_download(repo, entry.path, **place, cache_dir=cache))
            _require_intact(got, entry, f"{repo} at {revision[:12]}")
    except UserError:
        raise
    except Exception as error:
        raise UserError(_explained(error, repo, revision, subfolder, wanted, kind)) from error
    return _snapshot(repo, revision, subfolder, cache, kind), [entry.path.removeprefix(prefix) for entry in tree]


def _snapshot(repo: str, revision: str, subfolder: str | None, cache: str | os.PathLike | None, kind: str) -> Path:
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    name = repo_folder_name(repo_id=repo, repo_type=kind)
    return Path(cache or constants.HF_HUB_CACHE) / name / "snapshots" / revision / (subfolder or "")


def _cached(
    repo: str,
    revision: str,
    subfolder: str | None,
    wanted: tuple[str, ...],
    cache: str | os.PathLike | None,
    kind: str,
) -> Path:
    """Folder of the cache with a revision fetched before; nothing is asked of the network."""
    folder = _snapshot(repo, revision, subfolder, cache, kind)
    if not folder.is_dir() or not any(matches(path.name, wanted) for path in folder.rglob("*")):
        raise UserError(
            f"{repo} at {revision[:12]} is not in the hub's cache on this machine, and nothing may be fetched here "
            f"(offline: true or HF_HUB_OFFLINE). {_elsewhere(repo, revision, subfolder, wanted, kind)}"
        )
    return folder


def _elsewhere(repo: str, revision: str, subfolder: str | None, wanted: Iterable[str], kind: str) -> str:
    """The command that fetches the same on another machine."""
    prefix = f"{subfolder}/" if subfolder else ""
    chosen = " ".join(f"--include '{prefix}{pattern}'" for pattern in wanted)
    typed = "" if kind == "model" else f"--type {kind} "
    return (
        f"On a machine with a network run\n    hf download {repo} {typed}--revision {revision} {chosen} --local-dir "
        f"{repo.split('/')[1]}\nthen bring that folder here and name it as the source"
    )


def _require_room(api: Any, needed: list[Any], repo: str, place: dict[str, str], cache: Any) -> None:
    """Refuses before the first byte when what is not in the cache yet does not fit on its disk."""
    from huggingface_hub import constants, try_to_load_from_cache

    missing = [
        entry for entry in needed if not isinstance(try_to_load_from_cache(repo, entry.path, cache, **place), str)
    ]
    size = sum(entry.size for entry in missing)
    where = Path(cache or constants.HF_HUB_CACHE).absolute()
    free = shutil.disk_usage(next(path for path in (where, *where.parents) if path.exists())).free
    if size and size + _LEFT_FREE > free:
        raise UserError(
            f"{repo} needs {size / 1e9:.1f} GB and 1 GB to spare in {where}, where {free / 1e9:.1f} GB are free; free "
            "some, or set HF_HOME to a larger disk"
        )


def _require_intact(path: Path, entry: Any, label: str) -> None:
    """Compares a large file with the digest that the hub states; a damaged one leaves the cache."""
    digest = entry.lfs.sha256 if entry.lfs else None
    if digest and sha256_of(path) != digest:
        damaged = path.resolve()
        found = sha256_of(damaged)
        path.unlink()
        damaged.unlink(missing_ok=True)
        raise UserError(f"{label}: {entry.path} arrived damaged (SHA-256 {found}, the hub says {digest}); run again")


def _explained(
    error: Exception, repo: str, revision: str, subfolder: str | None, wanted: Iterable[str], kind: str
) -> str:
    """What to tell when the hub did not give the files."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return f"{repo} is gated: accept its terms on its page, then `hf auth login` here"
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"the hub has no public {kind} {repo}; check its name, or `hf auth login` if it is private"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{repo} has no commit {revision}; copy it from the repository's history"
    if isinstance(error, errors.EntryNotFoundError):
        return f"{repo} at {revision[:12]} has no folder {subfolder}"
    return f"cannot fetch {repo}: {error}. {_elsewhere(repo, revision, subfolder, wanted, kind)}"
