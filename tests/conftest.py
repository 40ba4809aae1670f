"""Fixtures that every folder of tests uses."""

from pathlib import Path

import hypothesis
import pytest

# How long an example takes depends on what else the machine does; what must be fast is measured in benchmarks/.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def project() -> Path:
    """Root folder of the project."""
    return ROOT
