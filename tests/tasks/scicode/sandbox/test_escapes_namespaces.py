"""In the kernel's namespaces, the default."""

import pytest
from escapes import *  # noqa: F403 - its tests
from escapes import opened


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    yield from opened("namespaces", tmp_path_factory.mktemp("staging"))
