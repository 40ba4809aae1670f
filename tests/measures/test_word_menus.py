"""Use of the menus of word problems, on one problem worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.measures.word_menus import MEASURES, menu_values

# (3 + 5) * 4 = 32 can be opened by 3 + 5, 3 * 4 and 5 * 4
PROBLEMS = pd.DataFrame({"problem_id": ["words-0", "words-1"], "family": "groups", "numbers": [[3, 5, 4], [2, 6, 5]]})
SAMPLES = [
    ("words-0", "3 + 5", True),
    ("words-0", "5 + 3", True),  # the same
    ("words-0", "4 * 3", False),  # on the menu, not right
    ("words-0", "3 * 5", False),
    ("words-0", "8 * 4", True),  # right, but opens no declared route
    ("words-0", None, False),
    ("words-1", None, False),
    ("gsm8k-1", "1 + 1", True),
]


@pytest.fixture
def scores():
    frame = pd.DataFrame(SAMPLES, columns=["problem_id", "first_calculation", "correct"])
    return frame.assign(policy="base", benchmark="words", sample=range(len(SAMPLES)))


def test_shares_of_the_menu(scores):
    found = menu_values(scores, PROBLEMS).set_index(["problem_id", "measure"])["value"]
    assert set(found.index.get_level_values("measure")) == set(MEASURES)
    assert found["words-0", "on_menu"] == pytest.approx(3 / 5)
    assert found["words-0", "menu_coverage"] == pytest.approx(1 / 3)
    assert found["words-0", "menu_visited"] == pytest.approx(2 / 3)
    assert found["words-0", "off_menu_correct"] == pytest.approx(1 / 6)
    assert np.isnan(found["words-1", "on_menu"]) and found["words-1", "menu_coverage"] == 0


def test_other_benchmarks_have_no_menu(scores):
    assert "gsm8k-1" not in set(menu_values(scores, PROBLEMS)["problem_id"])
