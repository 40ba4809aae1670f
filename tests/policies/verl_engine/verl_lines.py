"""Settings and paths of verl lines that several test files use."""

from pathlib import Path

from workflow_scripts.policies.verl_engine.hardware import Hardware, Paths
from workflow_scripts.policies.verl_engine.overrides import overrides
from workflow_scripts.settings.training import Training

CPU = Hardware()
PATHS = Paths(Path("/p/base"), Path("/p/training.parquet"), Path("/p/work"), None, "pkg://tasks.reward")


def settings(**given) -> dict:
    """A line's settings with the config's defaults."""
    return Training(engine="verl", **given).model_dump()


def keyed(*, paths=PATHS, steps=(0, 25), hardware=CPU, seed=7, line="grpo", **given) -> dict[str, str]:
    """Overrides of a line by key, without the `+` of keys that verl's defaults lack."""
    found = overrides(settings(**given), paths, *steps, hardware, seed=seed, line=line, prompt_tokens=12)
    pairs = [override.lstrip("+").split("=", 1) for override in found]
    assert len(dict(pairs)) == len(pairs), "a key stands there twice"
    return dict(pairs)
