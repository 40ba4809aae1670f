"""A declarative family of problems, and one problem made of it.

Two solutions by different methods stand behind every answer: `value`, a function here, says what is expected; `body`, a
program, is the reference. `generation.confirmed` runs the reference in the sandbox and holds it against the checks.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from textwrap import dedent, indent
from typing import Any

import numpy as np

from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.values import Expression, encode

Parameters = Mapping[str, Any]
LEVELS = (1, 2, 3)
"""Of difficulty: larger numbers, longer lists."""
DERIVED = ("intermediates",)
"""Keys of a problem's parameters that follow from the others and are not told in the prompt."""
FILL_IN = "Fill in this template and hand in the whole program as one Python block:"


@dataclass(frozen=True)
class Family:
    """A kind of problem.

    task: the question, with every parameter as {name}. returns: what `answer` returns, in words. draw: parameters (what
    JSON holds) from a generator and a level. body: of the reference's `answer`, with the parameters as variables.
    value: the expected value by another method, from the parameters and one call's arguments. kind, tolerance: of the
    checks. arguments: names of the arguments of `answer`. calls: argument lists that are checked. intermediates:
    numbers on the way to the answer, by name.
    """

    name: str
    topic: str
    task: str
    returns: str
    draw: Callable[[np.random.Generator, int], Parameters]
    body: str
    value: Callable[..., Any]
    kind: str
    imports: str = ""
    arguments: tuple[str, ...] = ()
    calls: Callable[[Parameters], Sequence[Sequence[Any]]] = lambda parameters: [[]]
    tolerance: float = 1e-8
    intermediates: Callable[[Parameters], Mapping[str, float]] | None = None


def made(family: Family, parameters: Parameters) -> Problem:
    """The family's problem with these parameters; the reference is not run."""
    template = f"def answer({', '.join(family.arguments)}):\n    # returns {family.returns}\n    ...\n"
    core = f"{task_text(family, parameters)}\n\nReturn {family.returns}."
    further = {"intermediates": family.intermediates(parameters)} if family.intermediates else {}
    return Problem(
        problem_id=f"{family.name}-{blake2b(parameters_text(parameters).encode(), digest_size=6).hexdigest()}",
        family=family.name,
        topic=family.topic,
        prompt=f"{core}\n\n{FILL_IN}\n\n```python\n{template}```",
        template=template,
        reference=program(family, parameters),
        checks=tuple(
            Check(
                family.kind,
                encode(family.value(parameters, *(_plain(argument) for argument in call))),
                encode(list(call)),
                family.tolerance,
            )
            for call in family.calls(parameters)
        ),
        parameters={**parameters, **further},
        core=core,
    )


def program(family: Family, parameters: Parameters) -> str:
    """The reference: imports, `answer`, the parameters as variables, the body."""
    given = "".join(f"{name} = {value!r}\n" for name, value in parameters.items())
    inside = indent(given + dedent(family.body).strip("\n") + "\n", "    ")
    head = f"{family.imports}\n\n\n" if family.imports else ""
    return f"{head}def answer({', '.join(family.arguments)}):\n{inside}"


def task_text(family: Family, parameters: Parameters) -> str:
    """The question with its parameters filled in."""
    return " ".join(family.task.split()).format(**{name: shown(value) for name, value in parameters.items()})


def shown(value: Any) -> str:
    """A parameter as a prompt writes it: as a Python literal, a text without quotes."""
    return value if isinstance(value, str) else repr(value)


def drawn_parameters(parameters: Parameters) -> dict[str, Any]:
    """The parameters without what follows from them."""
    return {name: value for name, value in parameters.items() if name not in DERIVED}


def parameters_text(parameters: Parameters) -> str:
    """The drawn parameters as canonical JSON."""
    return json.dumps(drawn_parameters(parameters), sort_keys=True, separators=(",", ":"))


def _plain(argument: Any) -> Any:
    """A symbol as its name's tree: `value` works with trees."""
    return argument.tree if isinstance(argument, Expression) else argument
