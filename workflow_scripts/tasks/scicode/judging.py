"""Judge programs: of completions, bare, or from a file. The layers and reasons of a verdict are in `verdicts`."""

from workflow_scripts.tasks.scicode.execution import judge, judge_code
from workflow_scripts.tasks.scicode.rows import judge_rows
from workflow_scripts.tasks.scicode.verdicts import LAYERS, Status, Verdict

__all__ = ["LAYERS", "Status", "Verdict", "judge", "judge_code", "judge_rows"]
