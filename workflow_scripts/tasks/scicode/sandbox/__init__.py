"""Run programs that a model wrote: another interpreter, another user, no network, no files, little time and memory.

    with Sandbox() as sandbox:
        outcomes = sandbox.run([Program("def answer(n):\\n    return n + 1\\n", ("[1]", "[2]"))])

What a program should return never goes in. `Sandbox.isolation` says what is in force; see `isolation` for the choices.
"""

from workflow_scripts.tasks.scicode.sandbox.isolation import Isolation
from workflow_scripts.tasks.scicode.sandbox.outcomes import Limits, Outcome, Program, Returned, Status
from workflow_scripts.tasks.scicode.sandbox.pool import Sandbox, limited

__all__ = ["Isolation", "Limits", "Outcome", "Program", "Returned", "Sandbox", "Status", "limited"]
