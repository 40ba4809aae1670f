"""Which of a problem's openings make up its menu."""

import pandas as pd

from workflow_scripts.records.errors import UserError

SOLUTION_SETS = ("expressible", "full")


def menu(openings: pd.DataFrame, solution_set: str) -> pd.DataFrame:
    """OPENINGS whose `expressible` column marks the menu: as it is, or every opening of a solution (`full`).

    The small policy can only say whole values up to 100, which `expressible` is about; a policy that writes freely is
    measured on the full set. Raises UserError for another solution_set.
    """
    if solution_set not in SOLUTION_SETS:
        raise UserError(f"solution_set must be one of {', '.join(SOLUTION_SETS)}, not {solution_set!r}")
    return openings.assign(expressible=True) if solution_set == "full" else openings
