# Names and plain rows of lines, their policies and their seeds; paths that go by them. No rules here.


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


def trained_ids(settings):
    """Names of the policies that lines of this study train, in order: those whose metrics there are."""
    return [row["policy"] for row in policy_rows(settings) if row["line"] and not settings.lines[row["line"]].source]


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


def line_row(name):
    """The plain row of one line."""
    return next(row for row in line_rows(settings) if row["name"] == name)


def ends_row(name):
    """The plain row of one line without the steps between early and late."""
    return next(row for row in line_ends(settings) if row["name"] == name)


def ends_in_order(line):
    """The base and the early and late policies of a line's row, in the order of measures.points.points_of."""
    return ["base", *(policy for end in ("early", "late") for policy in line["policies"][str(line[end])])]


def end_policies(settings):
    """The base and the early and late policies of every line and seed."""
    return list(dict.fromkeys(policy for line in line_ends(settings) for policy in ends_in_order(line)))


def line_seeds(settings):
    """`{line}-s{seed}` of every line and seed."""
    return [f"{name}-s{seed}" for name, line in settings.lines.items() for seed in line.seeds]


def lines_made_by(settings, maker):
    """Names of the lines that one engine trains, or that are `given`; one that no line has where there are none."""
    made = {name: "given" if line.source else line.engine for name, line in settings.lines.items()}
    return [name for name, by in made.items() if by == maker] or ["-"]


def given_checkpoint(wildcards, key):
    """Where a checkpoint that exists lies: its source, revision or folder."""
    previous_step(wildcards)
    return settings.lines[wildcards.line].given(int(wildcards.step))[key]


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
    kept = {
        "steps",
        "segment",
        "early",
        "late",
        "seeds",
        "gpus",
        "kind",
        "start",
        "role",
        "source",
        "revision",
        "folder",
        "sha256",
    }
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


def policies_of(wildcards, pattern):
    """`pattern` with the base and every kept policy of the wildcards' line."""
    line = line_row(wildcards.line)
    kept = [policy for step in line["steps"] for policy in line["policies"][str(step)]]
    return [pattern.format(policy=policy) for policy in ("base", *kept)]


def trained_ends(wildcards, pattern):
    """`pattern` with the early and late policies of every seed of the wildcards' line."""
    return ends_of_line(wildcards, pattern)[1:]


def of_seeds(wildcards, pattern):
    """`pattern` with every seed of the wildcards' line."""
    return [pattern.format(line=wildcards.line, seed=seed) for seed in settings.lines[wildcards.line].seeds]


def partner_steps(name):
    """Kept steps of a line before its late one."""
    line = settings.lines[name]
    return [step for step in line.checkpoints if step < line.late]
