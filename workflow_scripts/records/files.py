"""Files that are whole or absent: written aside in the same folder, flushed to disk, renamed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workflow_scripts.records.errors import UserError


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.writing-{os.getpid()}")


def _explained(error: OSError, path: Path) -> UserError:
    reason = error.strerror or str(error)
    hint = "free some space and run again" if error.errno == 28 else "check that the folder exists and may be written"
    return UserError(f"cannot write {path}: {reason}; {hint}")


@contextmanager
def atomic_file(path: str | os.PathLike) -> Iterator[Path]:
    """Yields a path to write to; when the block ends well the file appears at `path`, else nothing does.

    Raises UserError naming `path` when the disk is full or the folder cannot be written.
    """
    path = Path(path)
    aside = _aside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        with aside.open("rb+") as handle:
            os.fsync(handle.fileno())
        aside.replace(path)
    except OSError as error:
        raise _explained(error, path) from error
    finally:
        with suppress(OSError):
            aside.unlink()


@contextmanager
def atomic_folder(path: str | os.PathLike) -> Iterator[Path]:
    """As atomic_file, for a folder; a folder already at `path` is replaced."""
    path = Path(path)
    aside = _aside(path)
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        yield aside
        for written in aside.rglob("*"):
            if written.is_file():
                with written.open("rb+") as handle:
                    os.fsync(handle.fileno())
        if path.exists():
            shutil.rmtree(path)
        aside.replace(path)
    except OSError as error:
        raise _explained(error, path) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Writes UTF-8 text with Unix line ends, whole or not at all."""
    with atomic_file(path) as aside:
        aside.write_bytes(text.encode())
