import errno
import os
import subprocess
import sys

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file, atomic_folder, is_full_disk, require_writable, write_text


def leftovers(folder):
    return [path.name for path in folder.iterdir() if "writing" in path.name]


def test_a_file_appears_whole_with_its_folders(tmp_path):
    target = tmp_path / "a folder" / "x.txt"
    write_text(target, "één\n")
    assert target.read_bytes() == "één\n".encode()
    assert leftovers(target.parent) == []


def test_a_failing_writer_leaves_the_old_file(tmp_path):
    target = tmp_path / "x.txt"
    write_text(target, "old")
    with pytest.raises(ZeroDivisionError), atomic_file(target) as aside:
        aside.write_text("half")
        raise ZeroDivisionError
    assert target.read_text() == "old"
    assert leftovers(tmp_path) == []


def test_a_folder_replaces_the_old_one_or_nothing(tmp_path):
    target = tmp_path / "policy"
    for word in ("first", "second"):
        with atomic_folder(target) as aside:
            (aside / word).write_text(word)
    assert [path.name for path in target.iterdir()] == ["second"]
    with pytest.raises(ZeroDivisionError), atomic_folder(target) as aside:
        (aside / "third").write_text("third")
        raise ZeroDivisionError
    assert [path.name for path in target.iterdir()] == ["second"]
    assert leftovers(tmp_path) == []


def test_a_full_disk_is_explained_by_name(tmp_path):
    target = tmp_path / "x.parquet"
    with pytest.raises(UserError, match=r"x\.parquet.*free some space"), atomic_file(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder_is_explained(tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(UserError, match=r"cannot write .*results"):
        write_text(tmp_path / "results" / "x.txt", "text")


@pytest.fixture(scope="module")
def dead_process():
    """Id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_of_killed_writers_go_when_the_same_output_is_written_again(tmp_path, dead_process):
    alive, other = os.getppid(), tmp_path / f".other.txt.writing-{dead_process}"
    kept = {tmp_path / f".x.txt.writing-{alive}", tmp_path / ".x.txt.writing-note", other}
    for path in (*kept, tmp_path / f".x.txt.writing-{dead_process}", tmp_path / f".x.txt.writing-{dead_process}.html"):
        path.write_text("half")
    write_text(tmp_path / "x.txt", "whole")
    assert set(tmp_path.iterdir()) == {tmp_path / "x.txt", *kept}

    left = tmp_path / f".policy [1].writing-{dead_process}"
    left.mkdir()
    (left / "model.safetensors").write_text("half")
    with atomic_folder(tmp_path / "policy [1]") as aside:
        (aside / "x").write_text("whole")
    assert not left.exists()


def test_a_link_to_a_shared_folder_is_replaced_not_what_it_leads_to(tmp_path):
    shared, link = tmp_path / "cache", tmp_path / "policy"
    shared.mkdir()
    (shared / "model").write_text("shared")
    link.symlink_to(shared)
    with atomic_folder(link) as aside:
        (aside / "model").write_text("own")
    assert (shared / "model").read_text() == "shared"
    assert (link / "model").read_text() == "own"
    assert not link.is_symlink()


@pytest.mark.parametrize("failing", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EDQUOT, "Quota")])
def test_what_full_means(failing):
    assert is_full_disk(failing)
    assert not is_full_disk(PermissionError(errno.EACCES, "Permission denied"))


def test_a_writer_of_another_language_that_finds_the_disk_full_is_explained_too(tmp_path):
    failing = RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")
    inside = r"cannot write .*/policy/model\.safetensors: no space left on device; free some"
    with pytest.raises(UserError, match=inside), atomic_folder(tmp_path / "policy") as folder:  # noqa: SIM117
        with atomic_file(folder / "model.safetensors"):
            raise failing
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named_whether_or_not_it_exists(tmp_path, monkeypatch):
    require_writable(tmp_path / "results" / "laptop")
    (tmp_path / "results").mkdir()
    closed = tmp_path / "results"
    monkeypatch.setattr(os, "access", lambda path, mode: path != closed)
    require_writable(tmp_path)
    for folder in (closed, closed / "laptop"):
        with pytest.raises(UserError, match=r"results cannot be written.*--directory"):
            require_writable(folder)
