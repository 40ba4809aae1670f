"""In bubblewrap, where it is installed."""

import pytest
from escapes import *  # noqa: F403 - its tests
from escapes import opened


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    yield from opened("bubblewrap", tmp_path_factory.mktemp("staging"))
