"""Finished runs that tests share, in folders outside the checkout whose path holds a space.

The smoke run, which takes longest, starts when it is known that a test needs it, and goes on beside the tests before.
"""

import tempfile
from pathlib import Path

import pytest
from workspaces import TINY, Running, Workspace, copy_sources

SMOKE = pytest.StashKey[Running]()
FOLDER = pytest.StashKey[tempfile.TemporaryDirectory]()


def pytest_collection_finish(session):
    needed = any("smoke" in getattr(item, "fixturenames", ()) for item in session.items)
    if needed and not session.config.option.collectonly:
        session.config.stash[FOLDER] = tempfile.TemporaryDirectory(prefix="smoke run ", ignore_cleanup_errors=True)
        workspace = Workspace(Path(session.config.stash[FOLDER].name) / "work here")
        session.config.stash[SMOKE] = workspace.started("everything")


def pytest_unconfigure(config):
    if SMOKE in config.stash:
        config.stash[SMOKE].stop()
        config.stash[FOLDER].cleanup()


@pytest.fixture(scope="session")
def smoke(pytestconfig) -> Workspace:
    """The finished smoke study."""
    return pytestconfig.stash[SMOKE].finished()


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """A copy of the sources, so that a run of many minutes sees one state of them. Not to be edited."""
    return copy_sources(tmp_path_factory.mktemp("a copy") / "of the sources")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, sources) -> Workspace:
    """The finished tiny study. Not to be changed: `tiny.copy` gives one that may be."""
    workspace = Workspace(tmp_path_factory.mktemp("tiny run") / "work here", TINY, sources)
    workspace.snakemake()
    return workspace


@pytest.fixture
def own(tiny, tmp_path) -> Workspace:
    """A finished tiny study to spoil."""
    return tiny.copy(tmp_path / "work here")
