# Names and plain rows of policies that write programs, their rewards, and paths that go by them. No rules here.

CODE_SETS = ("evaluation", "shifted")


def code_policies(settings):
    """Names of all policies of scientific coding, the one that training starts from first."""
    lines = settings.scicode.lines.items()
    return ["base"] + [
        f"{name}-s{seed}-step{step}" for name, line in lines for seed in line.seeds for step in line.checkpoints
    ]


def code_lines(settings, engine):
    """Names of the lines that one engine trains; one that no line has where there are none."""
    return [name for name, line in settings.scicode.lines.items() if line.engine == engine] or ["-"]


def code_files(settings, folder, policies=None):
    """`rollouts` or `scores` of policies (all)."""
    return [f"<results>/scicode/{folder}/{policy}.parquet" for policy in policies or code_policies(settings)]


def code_problems(settings):
    """The evaluation sets' problem tables."""
    return [f"<results>/scicode/problems/{name}.parquet" for name in CODE_SETS]


def code_step_before(wildcards):
    """The kept step before this one, 0 for the first."""
    kept = [0, *settings.scicode.lines[wildcards.line].checkpoints]
    step = int(wildcards.step)
    if step not in kept[1:]:
        raise WorkflowError(f"scicode line {wildcards.line} keeps no step {step}; it keeps {kept[1:]}")
    return kept[kept.index(step) - 1]


def code_state_before(wildcards):
    """Full training state that a segment starts from; none for the first, which starts from the base policy."""
    step = code_step_before(wildcards)
    place = f"results/{settings.study}/scicode/training/{wildcards.line}-s{wildcards.seed}-step{step}"
    return place if step else []


def code_reward(wildcards):
    """The reward that trains a line, as it stands in the config."""
    return settings.scicode.rewards[settings.scicode.lines[wildcards.line].reward]


def code_training(wildcards):
    """Training settings of a line as plain params, without what says how long, how often kept, and where it runs."""
    line = settings.scicode.lines[wildcards.line]
    return line.model_dump(exclude={"steps", "segment", "seeds", "gpus", "reward"})


def code_metrics(settings):
    """Every line and seed with the metric files of its segments in order: plain rows."""
    return [
        {
            "line": name,
            "seed": seed,
            "files": [f"<results>/scicode/training/{name}-s{seed}-step{step}.parquet" for step in line.checkpoints],
        }
        for name, line in settings.scicode.lines.items()
        for seed in line.seeds
    ]


def code_audited(settings):
    """Rewards of the audit by name: all built-in families, then those of the config."""
    from workflow_scripts.tasks.scicode.rewards import REWARDS

    return {name: name for name in REWARDS} | settings.scicode.rewards


def code_judge(settings):
    """Endpoint of the judge as plain data; None where there is none, and rewards that need one are left out."""
    judge = settings.scicode.judge
    if judge is None:
        return None
    given = judge.model_dump(include={"base_url", "model", "replay", "concurrency"})
    return given | {
        "key_variable": judge.key_variable or "",
        "most_requests": judge.requests,
        "cache": f"results/{settings.study}/scicode/answers",
    }


CODE_RULES = ["reward_gap", "code_layers", "reward_audit", "run_diagnostics", "scicode_leakage"]


def code_line_rows(settings):
    """One plain row per line: its name, reward, number of seeds, and its policies by step."""
    return [
        {
            "name": name,
            "reward": line.reward,
            "seeds": len(line.seeds),
            "policies": {str(step): [f"{name}-s{seed}-step{step}" for seed in line.seeds] for step in line.checkpoints},
        }
        for name, line in settings.scicode.lines.items()
    ]
