"""Problems that stand in two places: twice in a benchmark, in two benchmarks, or among the texts of training.

Two texts are the same when they agree in their words (any case, without punctuation and marks of LaTeX); they overlap
when they share runs of eight words. What they share is given as a part of the shorter one.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import blake2b

import pandas as pd

WORDS = 8
"""Length of a run of words."""

COLUMNS = ("benchmark", "problem_id", "other_benchmark", "other_problem_id", "kind", "overlap")
"""Of the report. kind: `same` or `overlap`. overlap: shared runs as a part of the shorter text's, 1 for the same."""

_WORD = re.compile(r"[^\W_]+(?:\.[0-9]+)?|[-+*/^=<>]")
_MARK = re.compile(r"\\(?:left|right|text|mathrm|displaystyle|[,;:!])|[$]")
_MOST_OWNERS = 50
"""A run that more texts share is a phrase of the benchmark (`where m and n are relatively prime positive integers`)."""


def normalised(text: str) -> str:
    """Words and signs of arithmetic of a text, in lower case with one space between them."""
    return " ".join(_WORD.findall(_MARK.sub(" ", unicodedata.normalize("NFKC", text)).lower()))


def overlaps(problems: pd.DataFrame, *, threshold: float = 0.5, words: int = WORDS) -> pd.DataFrame:
    """Pairs of problems that are the same or overlap: columns COLUMNS, sorted.

    problems: columns benchmark, problem_id, question; texts of training go in as one more `benchmark`, whose pairs
    within are as good as others. threshold: least part of the shorter text's runs, in (0, 1]. Each pair stands once,
    the smaller (benchmark, problem_id) first. A text with fewer than `words` words can be the same, not overlap.
    """
    problems = problems.sort_values(["benchmark", "problem_id"], ignore_index=True)
    texts = [normalised(question) for question in problems["question"]]
    alike: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        alike[text].append(index)
    found = {(a, b): ("same", 1.0) for group in alike.values() for i, a in enumerate(group) for b in group[i + 1 :]}
    grams = [_grams(text.split(), words) for text in texts]
    owners: dict[bytes, list[int]] = defaultdict(list)
    for index, own in enumerate(grams):
        for gram in own:
            owners[gram].append(index)
    shared: Counter = Counter()
    for group in owners.values():
        if 2 <= len(group) <= _MOST_OWNERS:
            shared.update((a, b) for i, a in enumerate(group) for b in group[i + 1 :])
    for (a, b), count in shared.items():
        part = count / min(len(grams[a]), len(grams[b]))
        if part >= threshold:
            found.setdefault((a, b), ("overlap", part))
    names = list(problems[["benchmark", "problem_id"]].itertuples(index=False, name=None))
    rows = [(*names[a], *names[b], kind, part) for (a, b), (kind, part) in sorted(found.items())]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def counted(report: pd.DataFrame, problems: pd.DataFrame) -> pd.DataFrame:
    """How many problems of each benchmark stand elsewhere: columns benchmark, other_benchmark, problems, of, same,
    overlap; every ordered pair of benchmarks, the pair of one with itself for repeats within."""
    names: Sequence[str] = sorted(problems["benchmark"].unique())
    swapped = report.rename(
        columns={
            "benchmark": "other_benchmark",
            "problem_id": "other_problem_id",
            "other_benchmark": "benchmark",
            "other_problem_id": "problem_id",
        }
    )
    both = pd.concat([report, swapped], ignore_index=True)
    sizes = problems.groupby("benchmark").size()
    rows = []
    for name in names:
        for other in names:
            pairs = both[(both["benchmark"] == name) & (both["other_benchmark"] == other)]
            kinds = [pairs.loc[pairs["kind"] == kind, "problem_id"].nunique() for kind in ("same", "overlap")]
            rows.append((name, other, pairs["problem_id"].nunique(), int(sizes[name]), *kinds))
    return pd.DataFrame(rows, columns=["benchmark", "other_benchmark", "problems", "of", "same", "overlap"])


def _grams(words: list[str], length: int) -> set[bytes]:
    runs = (" ".join(words[i : i + length]) for i in range(len(words) - length + 1))
    return {blake2b(run.encode(), digest_size=8).digest() for run in runs}
