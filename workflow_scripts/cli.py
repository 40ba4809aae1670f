"""The command line `entrances`, for people without a workflow at hand. `--json` writes for machines."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.records.errors import UserError


def _command(group: Any, name: str, does: str, example: str, run: Any) -> argparse.ArgumentParser:
    parser = group.add_parser(
        name,
        help=does,
        description=does,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="entrances",
        description="Solve and judge the tasks of the study, and check its configs.",
        epilog="example:\n  entrances solve 4 5 7 9 --target 24",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    solve = _command(
        commands,
        "solve",
        "All solutions of a Countdown instance, their families and openings.",
        "entrances solve 4 5 7 9 --target 24 --json",
        _solve,
    )
    solve.add_argument("numbers", nargs="+", type=int, help="the numbers, each used exactly once")
    solve.add_argument("--target", type=int, required=True, help="the value to reach")
    solve.add_argument("--json", action="store_true", help="one JSON object instead of text")

    diagram = _command(
        commands,
        "diagram",
        "Draws a Countdown instance from its numbers through its openings to its solutions: pdf, png, svg, csv.",
        "entrances diagram 4 5 7 9 --target 24 --out drawings",
        _diagram,
    )
    diagram.add_argument("numbers", nargs="+", type=int, help="the numbers, each used exactly once")
    diagram.add_argument("--target", type=int, required=True, help="the value to reach")
    diagram.add_argument("--out", type=Path, default=Path(), help="folder for the files (default: this one)")
    diagram.add_argument("--json", action="store_true", help="the files' paths as JSON")

    judge = commands.add_parser("judge", help="Judge answers or completions from a file.")
    tasks = judge.add_subparsers(required=True, metavar="TASK")
    countdown = _command(
        tasks,
        "countdown",
        "One JSON verdict a line, in the order of the rows. A row has `numbers`, `target` and either `answer` "
        "(the bare text) or `completion`.",
        "entrances judge countdown completions.jsonl --contract strict",
        _judge_countdown,
    )
    countdown.add_argument("file", type=Path, help="jsonl or parquet")
    countdown.add_argument("--contract", default="strict", help="strict (default), paper_ppo or paper_grpo")
    countdown.add_argument("--json", action="store_true", help="accepted for symmetry: verdicts are always JSON lines")

    maths = _command(
        tasks,
        "maths",
        "One JSON verdict a line, in the order of the rows. A row has `gold` and either `answer` or `completion`; "
        "`question` (does it ask for a percentage?) and `tolerance` if wanted.",
        "entrances judge maths answers.jsonl",
        _judge_maths,
    )
    maths.add_argument("file", type=Path, help="jsonl or parquet")
    maths.add_argument("--exact", action="store_true", help="exact comparison alone, without the symbolic worker")
    maths.add_argument("--json", action="store_true", help="accepted for symmetry: verdicts are always JSON lines")

    scicode = _command(
        tasks,
        "scicode",
        "One JSON verdict a line, in the order of the rows: extracted, parses, defines, runs, typed, correct. A row "
        "has `completion` or `code`, and `checks` (a list of {kind, expected, args, tolerance}) or a `reference` "
        "program. Programs run in the sandbox, which a line on stderr describes.",
        "entrances judge scicode programs.jsonl",
        _judge_scicode,
    )
    scicode.add_argument("file", type=Path, help="jsonl or parquet")
    scicode.add_argument("--seconds", type=float, default=2.0, help="processor time of one program (default: 2)")
    scicode.add_argument(
        "--isolation", default="auto", help="auto (default: the strongest that works), namespaces, bubblewrap, process"
    )
    scicode.add_argument("--json", action="store_true", help="accepted for symmetry: verdicts are always JSON lines")

    audit = _command(
        commands,
        "audit",
        "Measures where your own checkpoints narrowed: checks the folders, writes a config, runs the workflow. "
        "The first is the base; in the order given they are steps 1, 2, … of one line. One folder: a base alone. "
        "Ends in results/STUDY/report.html; nothing is trained.",
        "entrances audit runs/step-0 runs/step-200 --study mine --cores 4",
        _audit,
    )
    audit.add_argument("checkpoints", nargs="+", metavar="DIR_OR_HUB_ID", help="folder, or owner/name@commit[/folder]")
    audit.add_argument("--study", default="audit", help="name; results go to results/STUDY (default: audit)")
    audit.add_argument("--prompt-template", metavar="NAME_OR_FILE", help="laptop, native, feasible, or a yaml file")
    audit.add_argument("--contract", help="strict, paper_ppo or paper_grpo (default: goes with the template)")
    audit.add_argument("--problems", metavar="FILE", help="parquet, jsonl, csv: nums, target (default: generated)")
    audit.add_argument("--evaluation", type=int, default=20, help="evaluation problems (default: 20)")
    audit.add_argument("--samples", type=int, default=16, help="completions a problem (default: 16)")
    audit.add_argument("--max-new-tokens", type=int, help="longest completion (default: 64 laptop, else 256)")
    audit.add_argument("--paper-sizes", action="store_true", help="150 problems, 320 samples and so on; for GPUs")
    audit.add_argument("--engine", choices=["built_in", "vllm"], default="built_in", help="what samples")
    audit.add_argument("--cores", type=int, default=2, help="jobs at a time (default: 2)")
    audit.add_argument("--dry-run", action="store_true", help="check, write the config, show the plan")
    audit.add_argument("--json", action="store_true", help="what was checked as JSON, before the run")

    diagnose = _command(
        commands,
        "diagnose",
        "Is a reinforcement run healthy? Numbers by step, warnings, figures from its metric files: parquet or csv of "
        "this workflow, verl's jsonl or console log, or a state folder of verl. What was not logged is left empty.",
        "entrances diagnose runs/grpo/metrics.jsonl other=runs/ppo --out diagnosis",
        _diagnose,
    )
    diagnose.add_argument("runs", nargs="+", metavar="RUN", help="file or folder, also as NAME=PATH")
    diagnose.add_argument(
        "--out", type=Path, default=Path("diagnosis"), help="folder for the files (default: diagnosis)"
    )
    diagnose.add_argument("--json", action="store_true", help="one JSON object instead of text")

    rewards = _command(
        commands,
        "rewards",
        "What right answers, near misses and answers without science earn under each reward, on generated problems, "
        "and where a reward pays the worse answer. FILE: a config, whose scicode.rewards are audited.",
        "entrances rewards my_study.yaml",
        _rewards,
    )
    rewards.add_argument("file", nargs="?", type=Path, help="config file (default: the built-in rewards)")
    rewards.add_argument("--each", type=int, default=1, help="problems of each family (default: 1)")
    rewards.add_argument("--terms", action="store_true", help="list the terms that rewards are composed of, and stop")
    rewards.add_argument("--json", action="store_true", help="one JSON object a policy, reward and family")

    doctor = _command(
        commands,
        "doctor",
        "Says what is installed here, what does not go together, and which rules of a config can run "
        "(status 1: some cannot).",
        "entrances doctor --config config/paper.yaml",
        _doctor,
    )
    doctor.add_argument("--config", type=Path, help="config file (default: the laptop study)")
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of text")

    unlock = _command(
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
    check = _command(
        actions,
        "check",
        "Checks FILE, laid over the default config, without planning anything.",
        "entrances config check my_study.yaml",
        _check_config,
    )
    check.add_argument("file", type=Path, help="config file")
    check.add_argument("--json", action="store_true", help="print the resolved config as JSON")
    schema = _command(
        actions,
        "schema",
        "Prints the JSON schema of the config.",
        "entrances config schema > config/schema.json",
        _print_schema,
    )
    schema.add_argument("--json", action="store_true", help="accepted for symmetry: the schema is always JSON")
    return parser


def _solve(arguments: argparse.Namespace) -> None:
    from workflow_scripts.tasks.countdown.solver import solve

    found = solve(arguments.numbers, arguments.target).to_json()
    if arguments.json:
        print(json.dumps(found))
        return
    counts = found["counts"]
    print(f"{' '.join(map(str, arguments.numbers))} -> {arguments.target}")
    print(
        f"{counts['paper']} solutions as the paper counts them, {counts['formula']} formulas, "
        f"{counts['families']} entrance families, {counts['openings']} openings"
    )
    for family, solutions in found["families"].items():
        print(f"\n{family}  ({solutions})")
        for row in found["solutions"]:
            if row["family"] == family:
                note = "" if row["expressible"] else "not expressible in the laptop text"
                print(f"  {row['rendering']:<32} {note}".rstrip())


def _diagram(arguments: argparse.Namespace) -> None:
    from workflow_scripts.figures.entrance_diagram import draw_instance

    paths = [str(path) for path in draw_instance(arguments.numbers, arguments.target, arguments.out)]
    print(json.dumps(paths) if arguments.json else "\n".join(paths))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a jsonl or parquet file as plain dicts. Raises UserError naming file and line."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            for batch in pq.ParquetFile(path).iter_batches():
                yield from batch.to_pylist()
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{path} is not a readable parquet file: {error}") from error
        return
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}, line {number}: not valid JSON ({error})") from error
            if not isinstance(row, dict):
                raise UserError(f"{path}, line {number}: a JSON object is needed, not {type(row).__name__}")
            yield row


def _judge_countdown(arguments: argparse.Namespace) -> None:
    from workflow_scripts.tasks.countdown.judging import judge_rows

    for verdict in judge_rows(_rows(arguments.file), contract=arguments.contract):
        print(json.dumps(verdict, ensure_ascii=False))


def _judge_maths(arguments: argparse.Namespace) -> None:
    from workflow_scripts.tasks.maths.judging import judge_rows

    for verdict in judge_rows(_rows(arguments.file), symbolic=not arguments.exact):
        print(json.dumps(verdict, ensure_ascii=False))


def _judge_scicode(arguments: argparse.Namespace) -> None:
    from workflow_scripts.tasks.scicode.rows import judge_rows
    from workflow_scripts.tasks.scicode.sandbox import Limits, Sandbox

    with Sandbox(Limits(cpu_seconds=arguments.seconds), isolation=arguments.isolation) as sandbox:
        print(f"sandbox: {sandbox.isolation.name}, open to: {', '.join(sandbox.isolation.leaves)}", file=sys.stderr)
        for verdict in judge_rows(_rows(arguments.file), sandbox):
            print(json.dumps(verdict, ensure_ascii=False))


def _audit(arguments: argparse.Namespace) -> int:
    from workflow_scripts import audit

    found = audit.prepared(
        arguments.checkpoints,
        study=arguments.study,
        template=arguments.prompt_template,
        contract=arguments.contract,
        engine=arguments.engine,
        sizes=audit.Sizes(
            arguments.evaluation, arguments.samples, arguments.max_new_tokens, full=arguments.paper_sizes
        ),
        problems=arguments.problems,
        cores=arguments.cores,
        dry_run=arguments.dry_run,
    )
    if arguments.json:
        print(json.dumps({"config": str(found.config), "checkpoints": found.found, "command": found.call}))
    else:
        print(found.config.read_text(encoding="utf-8"))
        for row in found.found:
            print(f"{row['folder']}: {row['longest_prompt']} tokens in the longest prompt, context {row['context']}")
        print(f"\n{' '.join(found.call[1:])}", flush=True)
    return audit.run(found.call)


def _diagnose(arguments: argparse.Namespace) -> None:
    from workflow_scripts.figures.run_diagnostics import diagnosed

    found = diagnosed(arguments.runs, arguments.out)
    files = [str(path) for path in found.files]
    if arguments.json:
        frames = {"summary": found.summary, "warnings": found.warnings, "buckets": found.buckets}
        # By way of pandas, which writes null for what is missing
        tables = {name: json.loads(frame.to_json(orient="records")) for name, frame in frames.items()}
        print(json.dumps({"files": files, **tables}))
        return
    shown = found.summary[["run", "measure", "steps", "first", "last", "lowest", "highest"]]
    print(shown.to_string(index=False, float_format="{:.4g}".format))
    for row in found.warnings.itertuples():
        print(f"{row.run}: {row.text}")
    print("\n".join(files))


def _rewards(arguments: argparse.Namespace) -> None:
    from workflow_scripts.tasks.scicode.rewards import REWARDS, TERMS, rewards_of

    if arguments.terms:
        rows = [{"term": name, "does": term.does} for name, term in TERMS.items()]
        print("\n".join(json.dumps(row) if arguments.json else f"{row['term']:<34}{row['does']}" for row in rows))
        return
    from workflow_scripts.figures.reward_audit import report
    from workflow_scripts.settings import load

    rewards = rewards_of(load(arguments.file).scicode.rewards) if arguments.file else REWARDS
    text, means = report(rewards, each=arguments.each)
    print(means.to_json(orient="records", lines=True) if arguments.json else text, end="")


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
    from workflow_scripts.settings import load, read_yaml

    settings = load(arguments.file)
    if arguments.json:
        print(settings.model_dump_json())
    else:
        print(f"{arguments.file} is valid: study {settings.study}, results in results/{settings.study}/")
        if "study" not in read_yaml(arguments.file):
            print(f"note: it names no study of its own, so a run changes results/{settings.study}/")


def _print_schema(_arguments: argparse.Namespace) -> None:
    from workflow_scripts.settings import schema

    sys.stdout.write(schema())


def main(argv: list[str] | None = None) -> int:
    """Entry point. Returns 0, or 2 after an error that the user can mend (its message on stderr)."""
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
