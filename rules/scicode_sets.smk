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


def code_ends(settings):
    """The policy that training starts from, and the last one of every line and seed."""
    lines = settings.scicode.lines.items()
    return ["base"] + [f"{name}-s{seed}-step{line.checkpoints[-1]}" for name, line in lines for seed in line.seeds]


def code_shown(settings):
    """Policies that figures show one by one: all, or where they are many the ends of the lines."""
    policies = code_policies(settings)
    return policies if len(policies) <= 16 else code_ends(settings)


def code_files(settings, folder, policies=None):
    """`rollouts`, `scores`, `rewards` or `judged` of policies (all)."""
    return [f"<results>/scicode/{folder}/{policy}.parquet" for policy in policies or code_policies(settings)]


def code_problems(settings):
    """The evaluation sets' problem tables."""
    return [f"<results>/scicode/problems/{name}.parquet" for name in CODE_SETS]


def code_sampled(settings):
    """Wildcard constraint: a policy, which answers both evaluation sets, or one with what it answers besides."""
    benchmark = settings.scicode.benchmark
    besides = ["training", *(f"critpt-{wrapping}" for wrapping in (benchmark.wrappings if benchmark else []))]
    return rf"({either(code_policies(settings))})(\.({either(besides)}))?"


def code_answered(wildcards):
    """Problem tables that a sampled policy answers."""
    besides = wildcards.sampled.partition(".")[2]
    return [
        f"results/{settings.study}/scicode/problems/{name}.parquet" for name in ([besides] if besides else CODE_SETS)
    ]


def code_sampling(wildcards):
    """Engine and settings of sampling; a benchmark has its own temperature and longest answer, and no nucleus."""
    given = settings.scicode.sampling.model_dump(include={"engine", "temperature", "top_p", "max_new_tokens"})
    if wildcards.sampled.partition(".")[2].startswith("critpt-"):
        given |= settings.scicode.benchmark.model_dump(include={"temperature", "max_new_tokens"}) | {"top_p": 1.0}
    return given


def code_samples(wildcards):
    """Completions a problem."""
    besides = wildcards.sampled.partition(".")[2]
    if besides == "training":
        return settings.scicode.mining.samples if settings.scicode.mining else settings.scicode.sampling.samples
    return 1 if besides else settings.scicode.sampling.samples


def code_trained_on(wildcards):
    """The problems of a line."""
    return f"results/{settings.study}/scicode/problems/{settings.scicode.lines[wildcards.line].problems}.parquet"


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
    return line.model_dump(exclude={"steps", "segment", "seeds", "gpus", "reward", "problems"})


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
    """Rewards of the audit by name: the built-in families that ask no judge, then those of the config."""
    from workflow_scripts.tasks.scicode.rewards import REWARDS

    return {name: name for name, reward in REWARDS.items() if not reward.needs_judge} | settings.scicode.rewards


def code_endpoint(settings, given):
    """What decides the answers of an endpoint, and where they are kept; None where there is none."""
    if given is None:
        return None
    return {
        "model": given.model if hasattr(given, "model") else given.endpoint.model,
        "parameters": given.model_dump(include={"temperature", "max_tokens"}),
        "cache": f"results/{settings.study}/scicode/answers",
    }


def code_judge(settings):
    """Endpoint of the judge; None where there is none, and rewards that need one are left out."""
    return code_endpoint(settings, settings.scicode.judge)


def code_judged(settings):
    """Names of the config's rewards that ask a judge."""
    from workflow_scripts.tasks.scicode.rewards import rewards_of

    return [name for name, reward in rewards_of(settings.scicode.rewards).items() if reward.needs_judge]


def checked_code(settings):
    """Stops before anything is planned where a family is unknown, a reward cannot be read, or its line cannot pay it."""
    faults = faults_of_scicode(settings.scicode)
    if faults:
        raise WorkflowError("\n".join(faults))


def code_rewarded(settings):
    """Tables of what samples earn: by every reward that is computed, and by judges where a line trains on one."""
    trained = {line.reward for line in settings.scicode.lines.values()}
    return code_files(settings, "rewards") + (
        code_files(settings, "judged") if trained & set(code_judged(settings)) else []
    )


def code_rules(settings):
    """Names of the rules that make tables and figures of scientific coding, in the order of the report."""
    names = ["reward_gap", "code_layers", "reward_audit", "run_diagnostics", "scicode_leakage"]
    names += ["judge_calibration"] if settings.scicode.judge and code_judged(settings) else []
    names += ["critpt_outputs"] if settings.scicode.benchmark else []
    return names if settings.scicode.lines else []


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
