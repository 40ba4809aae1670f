"""The command line `entrances`, for people without a workflow at hand. `--json` writes for machines."""

import argparse
import sys

from workflow_scripts.commands import instances, judges, trainings, upkeep
from workflow_scripts.records.errors import UserError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="entrances",
        description="Solve and judge the tasks of the study, and check its configs.",
        epilog="example:\n  entrances solve 4 5 7 9 --target 24",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for subject in (instances, judges, trainings, upkeep):
        subject.add(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point. Returns the command's status, or 2 after an error that the user can mend (its message on stderr)."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments) or 0
    except UserError as error:
        print(f"entrances: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader (`head`, say) has seen enough; stdout now leads nowhere, so that the last flush is quiet.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
