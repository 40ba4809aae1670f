# Functions that rules share. No rules here.

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(str(workflow.current_basedir)).parent
sys.path.insert(0, str(ROOT))

from workflow_scripts.records.digest import of_code
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.failures import keep_to_be_done
from workflow_scripts.records.files import require_writable
from workflow_scripts.records.interpreter import hand_to_jobs
from workflow_scripts.settings import validated

hand_to_jobs(ROOT)


def checked_settings(config):
    """The validated settings; a fault stops before anything is planned, with the files, the key and a suggestion."""
    try:
        return validated(config, " over ".join(map(str, workflow.configfiles)) or "config")
    except UserError as error:
        raise WorkflowError(str(error)) from None


def checked_place(folder):
    """Stops where nothing can be written to a folder that results or Snakemake's own records go to."""
    if "--lint" in sys.argv:  # which writes nothing
        return
    try:
        require_writable(folder)
    except UserError as error:
        raise WorkflowError(str(error)) from None


def shared_cache():
    """Whether rules that clones have in common go through a cache: under --cache, since Snakemake warns of a plain True."""
    place = os.environ.get("SNAKEMAKE_OUTPUT_CACHE", "")
    if workflow.enable_cache and not Path(place or "none given").is_dir():
        raise WorkflowError(
            f"--cache needs a folder for the cache: set SNAKEMAKE_OUTPUT_CACHE to one that exists (now: {place or 'not set'})"
        )
    return workflow.enable_cache


def either(words):
    """Wildcard constraint: one of `words`."""
    return "|".join(re.escape(word) for word in words)


def checkpoint_id(line, seed, step):
    """Name of a trained policy, also of its folder."""
    return f"{line}-s{seed}-step{step}"


def policy_rows(settings):
    """One plain row per policy: its name, line, seed and step."""
    base = {"policy": "base", "line": "", "seed": 0, "step": 0}
    return [base] + [
        {"policy": checkpoint_id(name, seed, step), "line": name, "seed": seed, "step": step}
        for name, line in settings.lines.items()
        for seed in line.seeds
        for step in line.checkpoints
    ]


def policy_ids(settings):
    """Names of all policies of the study, the base first."""
    return [row["policy"] for row in policy_rows(settings)]


def line_rows(settings):
    """One plain row per line: what tables and claims need to know of it (workflow_scripts/measures/points.py)."""
    return [
        {
            "name": name,
            "algorithm": line.algorithm,
            "steps": line.checkpoints,
            "early": line.early,
            "late": line.late,
            "seeds": line.seeds,
            "policies": {
                str(step): [checkpoint_id(name, seed, step) for seed in line.seeds] for step in line.checkpoints
            },
        }
        for name, line in settings.lines.items()
    ]


def line_ends(settings):
    """line_rows without the steps between early and late: for what only reads those, and so outlives added steps."""
    ends = [[str(row[end]) for end in ("early", "late")] for row in line_rows(settings)]
    return [
        {key: value for key, value in row.items() if key != "steps"}
        | {"policies": {step: row["policies"][step] for step in steps}}
        for row, steps in zip(line_rows(settings), ends)
    ]


def previous_step(wildcards):
    """The kept step before this one, 0 for the first."""
    kept = [0, *settings.lines[wildcards.line].checkpoints]
    step = int(wildcards.step)
    if step not in kept[1:]:
        raise WorkflowError(f"line {wildcards.line} keeps no step {step}; it keeps {kept[1:]}")
    return kept[kept.index(step) - 1]


def state_before(wildcards):
    """Full training state that a segment starts from; none for the first, which starts from the base policy."""
    step = previous_step(wildcards)
    return f"results/{settings.study}/training/{checkpoint_id(wildcards.line, wildcards.seed, step)}" if step else []


def line_settings(wildcards):
    """Training settings of a line as plain params; which steps are kept is not one of them, so adding steps retrains nothing."""
    return training_settings(settings.lines[wildcards.line])


def training_settings(training):
    """What a training is made with: its keys without those that say how long, how often kept, and where it runs."""
    kept = {"steps", "segment", "early", "late", "seeds", "gpus", "kind", "start", "role"}
    return training.model_dump(exclude=kept)


def code_of_training(training):
    """Digest of what trains: the stage, and the objectives that this training adds to it, which it imports by name."""
    named = sorted(training.countermeasures)
    return of_code("stages/train_segment.py", *(f"policies/objectives/{name}.py" for name in named))


def end_of_line(wildcards, end, pattern):
    """`pattern` with the early or late policy of the wildcards' line and seed."""
    step = getattr(settings.lines[wildcards.line], end)
    return pattern.format(policy=checkpoint_id(wildcards.line, wildcards.seed, step))


def late_policies(wildcards, pattern):
    """`pattern` with the late policy of every seed of the wildcards' line."""
    line = settings.lines[wildcards.line]
    return [pattern.format(policy=checkpoint_id(wildcards.line, seed, line.late)) for seed in line.seeds]


def ends_of_line(wildcards, pattern):
    """`pattern` with the base and with the early and late policies of every seed of the wildcards' line."""
    return [pattern.format(policy=policy) for policy in ends_in_order(ends_row(wildcards.line))]


def survivors_of_policy(wildcards):
    """The table of lost problems of a late policy's line and seed, where only those are sampled."""
    row = next(row for row in policy_rows(settings) if row["policy"] == wildcards.policy)
    if wildcards.further != "lost":
        return []
    return f"results/{settings.study}/measures/survivors/{row['line']}-s{row['seed']}.csv"


def further_samples(sampling):
    """First and last (exclusive) sample number of each further set; no two sets share a number."""
    return {
        "lost": [sampling.samples, sampling.lost],
        "halves": [sampling.lost, sampling.lost + 2 * sampling.halves],
    }


def line_row(name):
    """The plain row of one line."""
    return next(row for row in line_rows(settings) if row["name"] == name)


def ends_row(name):
    """The plain row of one line without the steps between early and late."""
    return next(row for row in line_ends(settings) if row["name"] == name)


def policies_of(wildcards, pattern):
    """`pattern` with the base and every kept policy of the wildcards' line."""
    line = line_row(wildcards.line)
    kept = [policy for step in line["steps"] for policy in line["policies"][str(step)]]
    return [pattern.format(policy=policy) for policy in ("base", *kept)]


def trained_ends(wildcards, pattern):
    """`pattern` with the early and late policies of every seed of the wildcards' line."""
    return ends_of_line(wildcards, pattern)[1:]


def clamps_of_line(wildcards, clamped):
    """The clamps of one set of every seed of the wildcards' line."""
    seeds = settings.lines[wildcards.line].seeds
    return [f"results/{settings.study}/clamps/{wildcards.line}-s{seed}.{clamped}.parquet" for seed in seeds]


def clamps_of_set(wildcards):
    """What a policy is clamped to: the menu and its line's tail cells, its line's ladder, or the depth set."""
    row = next(row for row in policy_rows(settings) if row["policy"] == wildcards.policy)
    folder = f"results/{settings.study}/clamps"
    if wildcards.clamped == "depth":
        return [f"{folder}/depth.parquet"]
    of_line = f"{folder}/{row['line']}-s{row['seed']}"
    if wildcards.clamped == "entrances":
        return [f"{folder}/menu.parquet", *([f"{of_line}.tail.parquet"] if row["line"] else [])]
    if not row["line"]:
        raise WorkflowError(f"the ladder is climbed by trained policies, not by {wildcards.policy}")
    return [f"{of_line}.ladder.parquet"]


def problem_sets_of(clamped):
    """Problem sets that clamped samples belong to."""
    sets = {"entrances": ["evaluation", "tail"], "depth": ["depth"]}.get(clamped, ["evaluation"])
    return [f"results/{settings.study}/problems/{name}.parquet" for name in sets]


def problems_clamped(wildcards):
    """Problems of one set of clamps."""
    return problem_sets_of(wildcards.clamped)


def problems_sampled(wildcards):
    """Problems that scored samples belong to."""
    return problem_sets_of(wildcards.sampled.partition(".")[2])


def statistics(settings):
    """Params of the bootstrap, the same in every rule that needs intervals."""
    measures = settings.measures
    return {"seed": settings.seed, "draws": measures.bootstrap, "confidence": measures.confidence}


def caption_of(name):
    """Path of a caption, seen from a rule file."""
    return f"../resources/captions/{name}.rst"


def figure_files(name, label):
    """Outputs of a figure: pdf, png, svg and the data behind it as csv; svg and csv go into the report."""
    shown = {
        ending: report(
            f"<results>/figures/{name}.{ending}",
            caption=caption_of(name),
            category="Figures",
            labels={"result": f"{label}{' (csv)' if ending == 'csv' else ''}"},
        )
        for ending in ("svg", "csv")
    }
    plain = {ending: f"<results>/figures/{name}.{ending}" for ending in ("pdf", "png")}
    return plain | shown | {"manifest": f"<results>/figures/{name}.manifest.json"}


def table_files(name, label):
    """Outputs of a table: csv, Markdown, LaTeX; the csv goes into the report, the Markdown becomes a page of it."""
    shown = report(
        f"<results>/tables/{name}.csv",
        caption=caption_of(name),
        category="Tables",
        labels={"result": f"{label} (csv)"},
    )
    plain = {ending: f"<results>/tables/{name}.{ending}" for ending in ("md", "tex")}
    return {"csv": shown} | plain | {"manifest": f"<results>/tables/{name}.manifest.json"}


def room_for_prefix(settings):
    """Words that prompt and prefix may have so that a whole continuation still fits; None where the policy is not ours."""
    return None if settings.policy.source else settings.policy.context - settings.clamps.max_new_tokens


def ends_in_order(line):
    """The base and the early and late policies of a line's row, in the order of measures.points.points_of."""
    return ["base", *(policy for end in ("early", "late") for policy in line["policies"][str(line[end])])]


def end_policies(settings):
    """The base and the early and late policies of every line and seed."""
    return list(dict.fromkeys(policy for line in line_ends(settings) for policy in ends_in_order(line)))


def shown_rules(rules):
    """The rules that make tables and figures, in the order of the report."""
    names = ["table1", "breadth", "trajectories", "coverage_curve", "table2", "token_costs", "calibration", "table3"]
    names += ["clamp_ladder", "figure1", "figure2", "recoverability_curve", "theory_test", "depth_curve"]
    names += ["table4", "partner_curve", "cost_of_loss"]
    rows = road_rows(settings)
    names += ["roads_table", "plane"] if rows else []
    names += ["dose_response"] if len({row.get("demonstrations") for row in rows if row["kind"] == "sft"}) > 1 else []
    names += ["continuation"] if any(row["kind"] == "grpo" and row["role"] == "road" for row in rows) else []
    return [getattr(rules, name) for name in (*names, "scorecard", "training_curves")]


def line_seeds(settings):
    """`{line}-s{seed}` of every chain of segments."""
    return [f"{name}-s{seed}" for name, line in settings.lines.items() for seed in line.seeds]


def of_seeds(wildcards, pattern):
    """`pattern` with every seed of the wildcards' line."""
    return [pattern.format(line=wildcards.line, seed=seed) for seed in settings.lines[wildcards.line].seeds]


def partner_steps(name):
    """Kept steps of a line before its late one."""
    line = settings.lines[name]
    return [step for step in line.checkpoints if step < line.late]


def road_rows(settings):
    """One plain row per road: what tables and claims need to know of it."""
    wanted = ("source", "demonstrations", "choice", "lora", "countermeasures")
    return [
        {"name": name, "kind": road.kind, "role": road.role, "start": road.start, "seeds": road.seeds}
        | {"policies": [f"{name}-s{seed}" for seed in road.seeds]}
        | {key: getattr(road, key) for key in wanted if hasattr(road, key)}
        | ({"samples_a_step": road.prompts * road.samples} if road.kind == "grpo" else {})
        for name, road in settings.roads.items()
    ]


def road_policies(settings, kind=None):
    """Policies that roads end at, of one kind or of all."""
    return [policy for row in road_rows(settings) if kind in (None, row["kind"]) for policy in row["policies"]]


def roads_of_kind(settings, kind):
    """Names of the roads of one kind; one that no road has where there are none, since a constraint cannot be empty."""
    return [row["name"] for row in road_rows(settings) if row["kind"] == kind] or ["-"]


def start_of_road(wildcards):
    """The policy that a road starts from, of the same seed."""
    start = settings.roads[wildcards.road].start
    return f"results/{settings.study}/policies/{start if start == 'base' else f'{start}-s{wildcards.seed}'}"


def most_demonstrations(settings):
    """Way of choosing to the most solutions a problem that any road shows."""
    shown = [road for road in settings.roads.values() if road.kind == "sft" and road.source == "solver"]
    most = {
        choice: [road.demonstrations for road in shown if road.choice == choice] for choice in ("diverse", "uniform")
    }
    return {choice: max(numbers) for choice, numbers in most.items() if numbers}


def samples_of(policy):
    """Numbers of the free samples of a policy: roads are compared at fewer than the lines have."""
    more = settings.sampling.samples if policy in policy_ids(settings) else settings.interventions.samples
    return [0, more]


def menu_set(settings):
    """Which openings make up menus: those that the small policy's text can say, whatever coverages are shares of."""
    return settings.measures.solution_set if settings.policy.source else "expressible"
