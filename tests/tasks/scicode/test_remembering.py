"""A program that was run before is not run again, and its outcome is the same."""

from workflow_scripts.tasks.scicode.remembering import Remembering
from workflow_scripts.tasks.scicode.sandbox import Program, Sandbox, Status


class Counted:
    def __init__(self, sandbox):
        self.sandbox, self.ran = sandbox, []

    def run(self, programs):
        self.ran += programs
        return self.sandbox.run(programs)


def test_each_program_runs_once_and_every_asker_gets_its_outcome():
    one, two = Program("def answer():\n    return 1"), Program("def answer():\n    return 2")
    other_call = Program("def answer(n):\n    return n", ("[3]",))
    broken = Program("def answer(:")
    with Sandbox(workers=1) as sandbox:
        counted = Counted(sandbox)
        once = Remembering(counted)
        first = once.run([one, broken, one])
        second = once.run([two, other_call, one, broken])
        assert once.run([]) == []
    assert counted.ran == [one, broken, two, other_call]
    assert [outcome.calls[0].value for outcome in (*second[:3], first[2])] == ["2", "3", "1", "1"]
    assert first[0] == first[2] == second[2] and first[1].status is second[3].status is Status.SYNTAX
