"""A reward that asks a language model: a task's own reward function, given a client of an endpoint.

Policies know no tasks, so the reward is named by its import path. The file of what is paid holds, beside what the task
reads: {"task": module with `compute_score`, "judge": the fields of `endpoint.Endpoint`}. Answers are kept in the
endpoint's cache; the key stays in its environment variable. Where the endpoint is out, the client tries again and then
the run stops: verl passes the error on.
"""

import importlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from workflow_scripts.policies.endpoint import asking
from workflow_scripts.policies.endpoint_replies import Reply
from workflow_scripts.records.errors import UserError


async def compute_score(*arguments: Any, paid: str, **named: Any) -> dict[str, Any]:
    """As the task's own `compute_score`, with somebody to ask. paid: path of the file of what is paid.

    Raises UserError, naming the file, where it is damaged, and where the endpoint refuses, is out or out of budget.
    """
    score, ask = judging(paid)
    return await score(*arguments, paid=paid, ask=ask, **named)


@cache
def judging(paid: str) -> tuple[Callable[..., Any], Callable[..., Sequence[Reply]]]:
    """(the task's reward function, what asks the judge), one pair for each process and file."""
    try:
        told = json.loads(Path(paid).read_text(encoding="utf-8"))
        task, ask = told["task"], asking(told["judge"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{paid} does not say who judges ({error!r})") from error
    return importlib.import_module(task).compute_score, ask
