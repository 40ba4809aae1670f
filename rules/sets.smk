# Names and plain rows of roads; which samples, clamps and problem sets belong to a policy. No rules here.


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


def roads_of_kind(settings, kind, engine="built_in"):
    """Names of the roads of one kind by one engine; one that no road has where there are none: no constraint is empty."""
    by = {name: getattr(road, "engine", "built_in") for name, road in settings.roads.items()}
    return [row["name"] for row in road_rows(settings) if row["kind"] == kind and by[row["name"]] == engine] or ["-"]


def road_settings(wildcards):
    """Training settings of a road without reinforcement as plain params: what it is trained with, not where."""
    away = {"seeds", "role", "start", "kind", "engine", "gpus"}
    return settings.roads[wildcards.road].model_dump(exclude=away)


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


def samples_of(policy):
    """Numbers of the free samples of a policy: roads are compared at fewer than the lines have."""
    more = settings.sampling.samples if policy in policy_ids(settings) else settings.interventions.samples
    return [0, more]


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


def room_for_prefix(settings):
    """Words that prompt and prefix may have so that a whole continuation still fits; None where tokens are no words."""
    return settings.policy.context - settings.clamps.max_new_tokens if WORDING == "laptop" else None


def menu_set(settings):
    """Which openings make up menus: those that the small policy's text can say, whatever coverages are shares of."""
    return "expressible" if WORDING == "laptop" else settings.measures.solution_set
