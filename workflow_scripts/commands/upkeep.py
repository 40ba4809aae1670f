"""`entrances doctor`, `unlock` and `config`: whether a study can run here, and what a killed run left behind."""

import argparse
import json
import sys
from pathlib import Path

from workflow_scripts.commands import command
from workflow_scripts.records.errors import UserError


def add(commands: "argparse._SubParsersAction") -> None:
    """Adds the three to the parser."""
    doctor = command(
        commands,
        "doctor",
        "Says what is installed here, what does not go together, and which rules of a config can run "
        "(status 1: some cannot).",
        "entrances doctor --config config/paper.yaml",
        _doctor,
    )
    doctor.add_argument("--config", type=Path, help="config file (default: the laptop study)")
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of text")

    unlock = command(
        commands,
        "unlock",
        "Clears the lock that a killed run left in FOLDER, unless a live process still works there.",
        "entrances unlock",
        _unlock,
    )
    unlock.add_argument("folder", nargs="?", type=Path, default=Path(), help="working directory (default: this one)")
    unlock.add_argument("--json", action="store_true", help="say what was done as JSON")

    config = commands.add_parser("config", help="Check a config, or print its schema.")
    actions = config.add_subparsers(required=True, metavar="ACTION")
    check = command(
        actions,
        "check",
        "Checks FILE, laid over the default config, without planning anything.",
        "entrances config check my_study.yaml",
        _check_config,
    )
    check.add_argument("file", type=Path, help="config file")
    check.add_argument("--json", action="store_true", help="print the resolved config as JSON")
    schema = command(
        actions,
        "schema",
        "Prints the JSON schema of the config.",
        "entrances config schema > config/schema.json",
        _print_schema,
    )
    schema.add_argument("--json", action="store_true", help="accepted for symmetry: the schema is always JSON")


def _doctor(arguments: argparse.Namespace) -> int:
    from workflow_scripts.doctor import diagnose

    diagnosis = diagnose(arguments.config)
    sys.stdout.write(json.dumps(diagnosis.to_json()) + "\n" if arguments.json else diagnosis.text())
    return diagnosis.code


def _unlock(arguments: argparse.Namespace) -> None:
    from workflow_scripts.records.locks import clear_stale_lock

    cleared = clear_stale_lock(arguments.folder)
    if arguments.json:
        print(json.dumps({"cleared": cleared}))
    elif cleared:
        print("cleared the lock of a run that is dead; finished files are kept, unfinished jobs will be repeated")


def _check_config(arguments: argparse.Namespace) -> None:
    from workflow_scripts.doctor.rewards import faults_of_scicode
    from workflow_scripts.settings import load, read_yaml

    settings = load(arguments.file)
    if faults := faults_of_scicode(settings.scicode):
        raise UserError("\n".join([f"{arguments.file} is not valid:", *(f"  {fault}" for fault in faults)]))
    if arguments.json:
        print(settings.model_dump_json())
    else:
        print(f"{arguments.file} is valid: study {settings.study}, results in results/{settings.study}/")
        if "study" not in read_yaml(arguments.file):
            print(f"note: it names no study of its own, so a run changes results/{settings.study}/")


def _print_schema(_arguments: argparse.Namespace) -> None:
    from workflow_scripts.settings import schema

    sys.stdout.write(schema())
