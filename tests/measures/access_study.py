"""Made-up access studies: the tables that measures/access.py reads, from cells whose q and μ are known."""

import numpy as np
import pandas as pd

from workflow_scripts.records.schemas import CLAMPS, MASSES


def mass_rows(policy, problem, cells, outside):
    """cells: opening to (feasible, probability, decoded); outside: (probability, decoded)."""
    rows = [(policy, problem, opening, *cell) for opening, cell in cells.items()]
    return pd.DataFrame([*rows, (policy, problem, "outside", False, *outside)], columns=MASSES.names)


def clamp_rows(problem, openings):
    rows = [(problem, o, "neutral", 0, "entrance", f"try {o[:-1]} {o[-1]}", 0.1) for o in openings]
    return pd.DataFrame(rows, columns=CLAMPS.names)


def free_rows(policy, problem, counts):
    """free_counts of one problem. counts: opening to (samples, correct)."""
    rows = [(policy, problem, opening, *count) for opening, count in counts.items()]
    return pd.DataFrame(rows, columns=["policy", "problem_id", "opening", "samples", "correct"])


def synthetic(policies, *, problems=60, continuations=16, samples=320):
    """A made-up study: true cells (with q and μ) of each policy, and the tables that sampling from them gives."""
    truth, tables = [], {name: [] for name in ("masses", "clamps", "scores", "free")}
    menus = {f"p{p:02}": [f"{n}*" for n in range(1 + p % 5)] for p in range(problems)}
    for problem, menu in menus.items():
        tables["clamps"].append(clamp_rows(problem, menu))
    for number, (policy, (peak, skill)) in enumerate(policies.items()):
        stream = np.random.default_rng(number)
        for problem, menu in menus.items():
            q = stream.dirichlet(np.full(len(menu) + 1, peak))
            mu = stream.beta(4 * skill, 4 * (1 - skill), len(menu) + 1)
            mu[-1] /= 4
            cells = pd.DataFrame({"opening": [*menu, "outside"], "probability": q, "decoded": q, "any_valid": mu})
            truth.append(cells.assign(policy=policy, problem_id=problem))
            tables["masses"].append(
                mass_rows(policy, problem, {o: (True, v, v) for o, v in zip(menu, q)}, (q[-1],) * 2)
            )
            for o, m in zip(menu, mu):
                valid = pd.DataFrame({"correct": stream.random(continuations) < m, "answer_opening": o})
                tables["scores"].append(valid.assign(policy=policy, problem_id=problem, prefix=f"try {o[:-1]} *"))
            counts = stream.multinomial(samples, q)
            hits = stream.binomial(counts, mu)
            seen = {o: (n, h) for o, n, h in zip([*menu, "9/"], counts, hits)}
            tables["free"].append(free_rows(policy, problem, seen))
    frames = {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
    return pd.concat(truth, ignore_index=True), sorted(menus), frames
