# Names and plain rows of maths: policies, benchmarks, pairs; paths that go by them. No rules here.


def maths_entries(settings):
    """Policy of the config to its trained policies, one a seed; those that exist, and base, are one policy."""
    roads = {name: [f"{name}-s{seed}" for seed in road.seeds] for name, road in settings.maths.roads.items()}
    return {name: roads.get(name, [name]) for name in settings.maths.names}


def maths_policies(settings, kind=None):
    """Names of maths policies, in the order of tables: all, or those that roads of one kind end at."""
    return [
        policy
        for name, policies in maths_entries(settings).items()
        for policy in policies
        if kind is None or (name in settings.maths.roads and settings.maths.roads[name].kind == kind)
    ]


def maths_roads(settings, kind):
    """Names of the roads of one kind; one that no road has where there are none, since a constraint cannot be empty."""
    return [name for name, road in settings.maths.roads.items() if road.kind == kind] or ["-"]


def maths_label(settings, name):
    """What tables call a policy: its label, or the way it was trained, `base → SFT → DPO`."""
    given = settings.maths.policies.get(name)
    if given is not None:
        return given.label or name
    if name == "base":
        return name
    road = settings.maths.roads[name]
    word = "Dr.GRPO" if road.kind == "grpo" and not road.normalise_std else road.kind.upper()
    return f"{maths_label(settings, road.start)} → {word}"


def maths_rows(settings):
    """One plain row per policy of the config: what tables and figures need to know of it."""
    rows = []
    for name, policies in maths_entries(settings).items():
        road = settings.maths.roads.get(name)
        row = {"name": name, "label": maths_label(settings, name), "policies": policies}
        row |= {"stage": road.kind if road else ("base" if name == "base" else "given")}
        rows.append(row | ({"samples_a_step": road.prompts * road.samples} if row["stage"] == "grpo" else {}))
    return rows


def maths_start(wildcards):
    """The policy that a road starts from, of the same seed where that has several."""
    start = settings.maths.roads[wildcards.road].start
    own = maths_entries(settings)[start]
    same = f"{start}-s{wildcards.seed}"
    return f"results/{settings.study}/maths/policies/{same if same in own else own[0]}"


def maths_parts(settings):
    """Name of a job's share of the benchmarks to those in it: all that are generated at once, published ones apart."""
    return {name: [name] for name in settings.maths.benchmarks} or {"generated": settings.maths.asked}


def maths_problems_of(settings, part=None):
    """Problem tables of one part, or of all."""
    asked = maths_parts(settings)[part] if part else settings.maths.asked
    return [f"<results>/maths/problems/{name}.parquet" for name in asked]


def maths_files(settings, folder, policies=None):
    """`rollouts` or `scores` of policies (all), every part."""
    chosen = maths_policies(settings) if policies is None else policies
    return [f"<results>/maths/{folder}/{policy}.{part}.parquet" for policy in chosen for part in maths_parts(settings)]


def maths_pairs(settings):
    """One plain row per pair: before and after as named in the config, and their policies of each seed."""
    entries, rows = maths_entries(settings), []
    for name, (before, after) in settings.maths.pairs.items():
        size = max(len(entries[before]), len(entries[after]))
        policies = [
            [entries[end][seed if len(entries[end]) > 1 else 0] for end in (before, after)] for seed in range(size)
        ]
        rows.append({"name": name, "before": before, "after": after, "policies": policies})
    return rows


def maths_scorers(settings):
    """Policies of pairs: those that score traces."""
    return list(dict.fromkeys(policy for row in maths_pairs(settings) for pair in row["policies"] for policy in pair))


def maths_judged(settings):
    """Policies whose traces a judge marks: those of the first pair, which claims are read on."""
    return list(
        dict.fromkeys(policy for row in maths_pairs(settings)[:1] for pair in row["policies"] for policy in pair)
    )


def maths_partners(settings, policy):
    """The policies whose traces a policy scores: its own and those of its pairs' others."""
    pairs = [pair for row in maths_pairs(settings) for pair in row["policies"] if policy in pair]
    return sorted({member for pair in pairs for member in pair} | {policy})


def maths_source(benchmark):
    """The local file of a published benchmark; nothing where it is fetched."""
    source = settings.maths.benchmarks[benchmark].source
    return source if Path(source).is_file() else []


def maths_trained(settings, kind="grpo"):
    """Plain rows of the policies that were trained in one way, for curves."""
    return [row for row in maths_rows(settings) if row["stage"] == kind]


def maths_claimed(settings, rules):
    """What claims about mathematics are read from; nothing where no policies are compared."""
    if not settings.maths.pairs:
        return []
    judged = [rules.segmentation_effect.output.claims] if settings.maths.judge else []
    return [rules.maths_measures.output.claims, rules.trace_differences.output.claims, *judged]


def maths_claim_settings(settings):
    """Which benchmarks and pairs the claims about mathematics are read on; None where no policies are compared."""
    if not settings.maths.pairs:
        return None
    straight = maths_pairs(settings)[0]
    asked = {
        "benchmarks": settings.maths.asked,
        "also": settings.maths.also,
        "pass_at": max(settings.maths.pass_at),
        "margin": settings.maths.margin,
        "depth": settings.maths.depth,
    }
    points = f"maths policies {straight['before']} → {straight['after']}"
    return {"claims": asked, "points": points}
