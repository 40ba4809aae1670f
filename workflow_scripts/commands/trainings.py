"""`entrances audit`, `diagnose` and `rewards`: checkpoints, runs and rewards of people who train their own."""

import argparse
import json
from pathlib import Path

from workflow_scripts.commands import command
from workflow_scripts.records.errors import UserError


def add(commands: "argparse._SubParsersAction") -> None:
    """Adds the three to the parser."""
    audit = command(
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

    diagnose = command(
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

    rewards = command(
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

    if arguments.each < 1:
        raise UserError(f"--each {arguments.each}: one problem of each family or more")
    rewards = rewards_of(load(arguments.file).scicode.rewards) if arguments.file else REWARDS
    text, means = report(rewards, each=arguments.each)
    print(means.to_json(orient="records", lines=True) if arguments.json else text, end="")
