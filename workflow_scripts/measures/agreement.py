"""Verifiers beside each other on the same answers: how often they agree, and where they do not.

For maths the verifiers of tasks/maths/other_verifiers.py; for Countdown the three contracts. A completion is judged
once however often it was sampled; `samples` counts how often.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import combinations

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.judging import CONTRACTS, judge_completion
from workflow_scripts.tasks.maths.other_verifiers import VERIFIERS, opinions_on
from workflow_scripts.tasks.maths.symbolic import Symbolic

KEY = ["task", "problem_id", "gold", "completion", "samples"]
OPINIONS = [*KEY, "verifier", "accept", "decided", "status", "extracted"]
"""Columns of a frame of opinions: one row per different completion of a problem and verifier."""
FEASIBLE = "<feasible>yes</feasible>"
"""What `paper_ppo` asks of a completion and the study's texts do not hold: it is put before them."""


def maths_opinions(rollouts: pd.DataFrame, problems: pd.DataFrame) -> pd.DataFrame:
    """What every verifier of maths says of every different completion.

    rollouts: problem_id, completion.  problems: problem_id, question, gold.  Gives `OPINIONS`, sorted; `decided` is
    False for TIMEOUT, UNSUPPORTED and such.  Raises UserError for a problem that is not in `problems`.
    """
    known = {row.problem_id: (row.gold, row.question) for row in problems.itertuples()}
    rows = []
    with Symbolic() as symbolic:
        for problem, completion, samples in _distinct(rollouts, known):
            gold, question = known[problem]
            said = opinions_on(completion, gold, symbolic, question)
            key = ("maths", problem, gold, completion, samples)
            rows += [
                (*key, name, opinion.accept, opinion.decided, opinion.status.value, opinion.extracted)
                for name, opinion in said.items()
            ]
    return pd.DataFrame(rows, columns=OPINIONS)


def countdown_opinions(rollouts: pd.DataFrame, problems: pd.DataFrame) -> pd.DataFrame:
    """What every contract says of every different completion of a Countdown problem.

    rollouts: problem_id, completion.  problems: problem_id, numbers, target.  Gives `OPINIONS`, sorted.  `paper_ppo`
    sees `FEASIBLE` before a completion that holds no label.  Raises UserError for a problem that is not in `problems`.
    """
    known = {row.problem_id: ([int(n) for n in row.numbers], int(row.target)) for row in problems.itertuples()}
    rows = []
    for problem, completion, samples in _distinct(rollouts, known):
        numbers, target = known[problem]
        key = ("countdown", problem, f"{' '.join(map(str, numbers))} -> {target}", completion, samples)
        for contract in CONTRACTS:
            labelled = contract == "paper_ppo" and "<feasible>" not in completion.lower()
            verdict = judge_completion(FEASIBLE * labelled + completion, numbers, target, contract)
            rows.append((*key, contract, verdict.accept, True, verdict.status.value, verdict.extracted))
    return pd.DataFrame(rows, columns=OPINIONS)


def agreement(opinions: pd.DataFrame) -> pd.DataFrame:
    """Every pair of verifiers of a task, samples counted.

    Gives task, first, second, answers (different completions), samples, both, neither, only_first, only_second (numbers
    of samples), undecided (samples where one of the two could not tell), agreement (share of the decided samples on
    which they agree) and kappa (agreement beyond chance, Cohen; NaN where one of them never varies).
    """
    rows = []
    for task, answers in opinions.groupby("task", sort=True):
        wide = _wide(answers)
        for first, second in combinations(_in_order(answers["verifier"].unique()), 2):
            rows.append({"task": task, "first": first, "second": second, **_pair(wide, first, second)})
    return pd.DataFrame(rows)


def disagreements(opinions: pd.DataFrame, *, limit: int) -> pd.DataFrame:
    """Completions on which two verifiers that could tell differ: at most `limit` of each pattern, the commonest first.

    Gives task, pattern ("ours, math_verify | lab_rules": who accepts, who rejects; "?" before who could not tell),
    total (samples of the pattern), KEY's other columns, and a status and an extracted column per verifier. Sorted, so
    that the same opinions give the same rows.
    """
    frames = []
    for task, answers in opinions.groupby("task", sort=True):
        wide, names = _wide(answers), _in_order(answers["verifier"].unique())
        wide["pattern"] = [_pattern(row, names) for row in wide.to_dict("records")]
        wide = wide[wide["pattern"] != ""]
        total = wide.groupby("pattern")["samples"].transform("sum")
        wide = wide.assign(task=task, total=total).sort_values(
            ["total", "pattern", "samples", "problem_id", "completion"], ascending=[False, True, False, True, True]
        )
        wide = wide.groupby("pattern", sort=False).head(limit)
        columns = [f"{kind}_{name}" for name in names for kind in ("status", "extracted")]
        frames.append(wide[["task", "pattern", "total", *KEY[1:], *columns]])
    return (
        pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["task", "pattern", "total", *KEY[1:]])
    )


def excerpt(text: str, length: int = 160) -> str:
    """The end of a text on one line, for a table that people read."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= length else "…" + line[-length:]


def _distinct(rollouts: pd.DataFrame, known: Mapping[str, object]) -> Iterable[tuple[str, str, int]]:
    unknown = sorted(set(rollouts["problem_id"]) - set(known))
    if unknown:
        raise UserError(f"{len(unknown)} problems of the rollouts are not in the problem set, {unknown[0]} among them")
    counted = rollouts.groupby(["problem_id", "completion"], sort=True).size()
    return [(problem, completion, int(samples)) for (problem, completion), samples in counted.items()]


def _in_order(names: Iterable[str]) -> list[str]:
    known = [*VERIFIERS, *CONTRACTS]
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def _wide(opinions: pd.DataFrame) -> pd.DataFrame:
    """One row per completion, with accept_, decided_, status_ and extracted_ columns per verifier."""
    index = ["problem_id", "gold", "completion", "samples"]
    parts = [
        part.set_index(index)[["accept", "decided", "status", "extracted"]].add_suffix(f"_{name}")
        for name, part in opinions.groupby("verifier", sort=True)
    ]
    return pd.concat(parts, axis=1).reset_index()


def _pair(wide: pd.DataFrame, first: str, second: str) -> dict[str, float]:
    decided = wide[f"decided_{first}"].astype(bool) & wide[f"decided_{second}"].astype(bool)
    one, other = wide[f"accept_{first}"].astype(bool), wide[f"accept_{second}"].astype(bool)
    samples = wide["samples"]

    def count(which: pd.Series) -> int:
        return int(samples[which & decided].sum())

    both, neither = count(one & other), count(~one & ~other)
    only_first, only_second = count(one & ~other), count(~one & other)
    told = both + neither + only_first + only_second
    share = (both + neither) / told if told else float("nan")
    by_chance = (
        ((both + only_first) * (both + only_second) + (neither + only_first) * (neither + only_second)) / told**2
        if told
        else float("nan")
    )
    return {
        "answers": len(wide),
        "samples": int(samples.sum()),
        "both": both,
        "neither": neither,
        "only_first": only_first,
        "only_second": only_second,
        "undecided": int(samples.sum()) - told,
        "agreement": share,
        "kappa": (share - by_chance) / (1 - by_chance) if told and by_chance < 1 else float("nan"),
    }


def _pattern(row: Mapping, names: list[str]) -> str:
    """Who accepts and who rejects, '' where all who could tell agree."""
    told = [name for name in names if row[f"decided_{name}"]]
    accept = [name for name in told if row[f"accept_{name}"]]
    reject = [name for name in told if name not in accept]
    if not accept or not reject:
        return ""
    unsure = "".join(f" ?{name}" for name in names if name not in told)
    return f"{', '.join(accept)} | {', '.join(reject)}{unsure}"
