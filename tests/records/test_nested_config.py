"""The config that Snakemake is given from inside a job: laid over its own, it must be the study's, nothing more."""

import pytest
import yaml

from workflow_scripts.records.nested import DEFAULT, over_default
from workflow_scripts.settings import merged, read_yaml, validated

OWN = {
    "policy": {"source": "runs/0", "wording": "native"},
    "maths": {"roads": None, "pairs": None},
    "roads": dict.fromkeys(read_yaml(DEFAULT)["roads"]),
}
LINE = {"source": ["a", "b"], "steps": 2, "segment": 1, "early": 1, "late": 2}


def study(**overlay):
    default = read_yaml(DEFAULT)
    return validated(merged(default, overlay), "test")


@pytest.mark.parametrize(
    "overlay",
    [
        {},
        {"seed": 2, "lines": {"ppo": None}},
        OWN | {"lines": {"ppo": None, "grpo": None, "own": LINE}},
    ],
    ids=["default", "a line dropped", "own checkpoints"],
)
def test_what_a_study_dropped_stays_dropped(overlay):
    settings = study(**overlay)
    given = yaml.safe_load(yaml.safe_dump(over_default(settings.model_dump(mode="json"), read_yaml(DEFAULT))))
    again = validated(merged(read_yaml(DEFAULT), given), "again")
    assert again == settings


def test_names_of_the_default_alone_are_null():
    assert over_default({"a": {"x": 1}, "b": 2}, {"a": {"x": 0, "y": 0}, "c": 3}) == {
        "a": {"x": 1, "y": None},
        "b": 2,
        "c": None,
    }
