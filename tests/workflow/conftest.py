"""Finished runs that tests share, in folders outside the checkout whose path holds a space."""

import pytest
from workspaces import TINY, Workspace, copy_sources


@pytest.fixture(scope="session")
def smoke(tmp_path_factory) -> Workspace:
    """The finished smoke study."""
    workspace = Workspace(tmp_path_factory.mktemp("smoke run") / "work here")
    workspace.snakemake()
    return workspace


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
