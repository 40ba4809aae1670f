"""Problems and hand-made evidence for tests of rewards."""

from workflow_scripts.tasks.scicode.problems import Check, Problem
from workflow_scripts.tasks.scicode.rewards import Evidence
from workflow_scripts.tasks.scicode.verdicts import LAYERS, Status, Verdict

REFERENCE = "def answer():\n    return [1, 2, 3]"
PROBLEM = Problem("p1", "lists", "lattice", "Return the first 3.", "def answer(): ...", REFERENCE,
                  (Check("sequence", "[1,2,3]"),))  # fmt: skip

LADDER = ["nothing", *LAYERS]
"""How far a program comes, from nothing on."""


def verdict(reached, *, passed=None, total=1, code="def answer():\n    return []", format_ok=True):
    """A verdict whose layers hold up to `reached` (of LADDER)."""
    flags = {layer: LADDER.index(reached) > place for place, layer in enumerate(LAYERS)}
    passed = total if passed is None and reached == "correct" else passed or 0
    given = {**flags, "passed": passed, "total": total, "format_ok": format_ok and flags["defines"]}
    status = Status.OK if reached == "correct" else next(status for status in Status if status is not Status.OK)
    return Verdict(status, **given, code=code if flags["extracted"] else None, value=None, error="")


def evidence(completion, reached, *, problem=PROBLEM, judgement=None, code=None, **given):
    program = completion.replace("```python\n", "").replace("```", "").strip() if code is None else code
    return Evidence(completion, verdict(reached, code=program, **given), problem, judgement)


def block(program):
    return f"```python\n{program}\n```"
