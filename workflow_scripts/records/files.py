"""Files that are whole or absent: written aside in the same folder, flushed to disk, renamed.

What a killed writer left aside is removed when the same output is written again.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from workflow_scripts.records.errors import UserError

_WRITTEN_ASIDE = re.compile(r"\.([^/]+)\.writing-\d+(?=/)")
"""A folder that is not in its place yet, within a path."""


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.writing-{os.getpid()}")


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # someone else's
    return True


def _sweep(path: Path) -> None:
    """Removes what writers of `path` left that were killed."""
    for left in path.parent.glob(f".{escape(path.name)}.writing-*"):
        process = left.name.removeprefix(f".{path.name}.writing-").partition(".")[0]
        if process.isdecimal() and not _is_alive(process):
            _remove(left)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def is_full_disk(error: BaseException) -> bool:
    """Whether an error says that nothing more fits on the disk, or in the user's share of it."""
    # Writers of other languages (safetensors) do not raise OSError.
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)


def explained(error: BaseException, path: str | os.PathLike) -> UserError:
    """What to tell when `path` could not be written."""
    path = _WRITTEN_ASIDE.sub(r"\1", os.fspath(path))
    if is_full_disk(error):
        return UserError(f"cannot write {path}: no space left on device; free some space and run again")
    reason = getattr(error, "strerror", None) or str(error)
    return UserError(f"cannot write {path}: {reason}; check that its folder exists and may be written")


def require_writable(folder: str | os.PathLike) -> None:
    """Raises UserError, naming the folder, unless `folder` exists and may be written, or may be made."""
    folder = Path(folder).absolute()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(
            f"{nearest} cannot be written, so no results can be made in it; change its permissions, or work in another "
            "folder (snakemake --directory FOLDER)"
        )


@contextmanager
def _written_aside(path: Path) -> Iterator[Path]:
    """The place beside `path` to write to: gone afterwards, whatever happens; what cannot be written is explained."""
    aside = _aside(path)
    try:
        yield aside
    except Exception as error:
        if isinstance(error, OSError) or is_full_disk(error):
            raise explained(error, path) from error
        raise
    finally:
        _remove(aside)


@contextmanager
def atomic_file(path: str | os.PathLike) -> Iterator[Path]:
    """Yields a path to write to; when the block ends well the file appears at `path`, else nothing does.

    Raises UserError naming `path` when the disk is full or the folder cannot be written.
    """
    path = Path(path)
    with _written_aside(path) as aside:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        yield aside
        with aside.open("rb+") as handle:
            os.fsync(handle.fileno())
        aside.replace(path)


@contextmanager
def atomic_folder(path: str | os.PathLike) -> Iterator[Path]:
    """As atomic_file, for a folder; a folder already at `path` is replaced."""
    path = Path(path)
    with _written_aside(path) as aside:
        _sweep(path)
        _remove(aside)
        aside.mkdir(parents=True)
        yield aside
        for written in aside.rglob("*"):
            if written.is_file():
                with written.open("rb+") as handle:
                    os.fsync(handle.fileno())
        if path.is_symlink():
            path.unlink()  # a folder of a shared cache, which others use
        elif path.exists():
            shutil.rmtree(path)
        aside.replace(path)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Writes UTF-8 text with Unix line ends, whole or not at all."""
    with atomic_file(path) as aside:
        aside.write_bytes(text.encode())
