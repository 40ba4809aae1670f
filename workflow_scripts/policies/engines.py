"""Which module samples and scores under each engine of the config, by name: a study that uses one engine does not
depend on the code of the other. Same arguments, same tables."""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from workflow_scripts.records.errors import UserError, closest

_MODULES = {
    "built_in": {"sample": "sampling.sample_policy", "score": "likelihood.token_log_probs"},
    "vllm": {"sample": "vllm_sampling.sample_vllm", "score": "vllm_likelihood.token_log_probs_vllm"},
}


def sample(
    engine: str, folder: str | os.PathLike, prompts: Sequence[Any], *, parts: str | os.PathLike, **settings: Any
) -> Any:
    """ROLLOUTS of a policy folder, see policies.sampling.sample_policy; UserError for an unknown engine.

    parts: folder in which vllm keeps finished parts (records.parts), for the caller to remove once the table is
    written. The built-in engine, whose jobs are short, keeps none.
    """
    kept = {"parts": parts} if engine == "vllm" else {}
    return _function(engine, "sample")(folder, prompts, **settings, **kept)


def token_log_probs(engine: str, folder: str | os.PathLike, texts: Sequence[tuple[str, str]], **settings: Any) -> Any:
    """Log-probabilities of continuations, see policies.likelihood.token_log_probs; UserError for an unknown engine."""
    return _function(engine, "score")(folder, texts, **settings)


def _function(engine: str, work: str) -> Any:
    if engine not in _MODULES:
        raise UserError(f"there is no engine {engine!r}{closest(engine, list(_MODULES))}; choose built_in or vllm")
    module, _, function = _MODULES[engine][work].partition(".")
    return getattr(import_module(f"workflow_scripts.policies.{module}"), function)
