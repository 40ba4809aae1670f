"""The subcommands of `entrances`, one module a subject: it adds them to the parser, and runs what they name.

What a command needs is imported when it runs, so that `--help` and the light commands answer at once.
"""

import argparse
from collections.abc import Callable


def command(
    group: "argparse._SubParsersAction", name: str, does: str, example: str, run: Callable[[argparse.Namespace], object]
) -> argparse.ArgumentParser:
    """The parser of a new subcommand of `group`. run: takes what was parsed; an exit status, or None for 0."""
    parser = group.add_parser(
        name,
        help=does,
        description=does,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser
