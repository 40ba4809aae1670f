"""Fixtures that every folder of tests uses."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def project() -> Path:
    """Root folder of the project."""
    return ROOT
