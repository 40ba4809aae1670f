"""A sandbox that is asked about the same programs more than once and runs each of them once."""

from collections.abc import Sequence

from workflow_scripts.tasks.scicode.sandbox import Outcome, Program, Sandbox


class Remembering:
    """Stands for a sandbox wherever programs are run; what it remembers goes with it.

    For one job that judges the same samples for several purposes: an outcome is a function of the program alone.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._known: dict[Program, Outcome] = {}

    def run(self, programs: Sequence[Program]) -> list[Outcome]:
        """As `Sandbox.run`."""
        new = [program for program in dict.fromkeys(programs) if program not in self._known]
        self._known.update(zip(new, self._sandbox.run(new), strict=True))
        return [self._known[program] for program in programs]
