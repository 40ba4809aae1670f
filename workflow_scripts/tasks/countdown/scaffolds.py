"""Text around a rung that the policy wrote itself: its own failed attempts, and prefixes of its own successes.

A retry scaffold is a first attempt that missed, closed by `no .`: by the policy itself (`retry`) or, where it answered
all the same, by us (`retry_closed`). In English it is the text up to where the policy gives its first attempt up
(english.failed_attempt); where it never does in so many words there are no retry scaffolds. Run cuts are what the study
must not use, since they carry the plan along; they are made so that the leak screen has something to find (protocol,
sections 4.1 and 4.6).
"""

import re
from collections import Counter

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown import english
from workflow_scripts.tasks.countdown.appraisal import think_opening
from workflow_scripts.tasks.countdown.chance import chances
from workflow_scripts.tasks.countdown.clamps import Problem, clamp_frame, problems_of
from workflow_scripts.tasks.countdown.expressions import evaluate, parse
from workflow_scripts.tasks.countdown.verdicts import Rejected
from workflow_scripts.tasks.countdown.wording import LAPTOP, Wording

RETRY, RETRY_CLOSED, RUN_CUT = "retry", "retry_closed", "run_cut"

RUN_RUNGS = ("before_last_step", "before_answer")

_STEP = r"\d+ [-+*/] \d+ = \d+"
_ATTEMPT = rf"try {_STEP}(?: , {_STEP})*"
_FIRST_ATTEMPT = re.compile(rf"(?P<attempt>{_ATTEMPT}) (?P<end>no \.|</think>)(?: |$)")
_RUN = re.compile(rf"(?P<before>(?:.* )?)(?P<attempt>{_ATTEMPT}) </think> <answer> ")

_SPARE = 6
"""Words of the longest rung, `try 4 * 7 = 28`."""

_KEY = ["policy", "problem_id", "prefix", "sample"]


def _free_samples(rollouts: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Distinct completions without a prefix: problem_id, completion, correct, answer_opening, count."""
    free = rollouts[rollouts["prefix"] == ""]
    judged = free[[*_KEY, "completion"]].merge(scores[[*_KEY, "correct", "answer_opening"]], on=_KEY)
    if len(judged) != len(free):
        raise UserError(
            f"{len(free)} free samples have {len(judged)} scores: rollouts and scores are not of the same run"
        )
    columns = ["problem_id", "completion", "correct", "answer_opening"]
    # Equal texts of one problem have one verdict, so this counts texts
    return judged.groupby(columns, dropna=False, sort=True).size().rename("count").reset_index()


def failed_attempt(completion: str, target: int, words: Wording = LAPTOP) -> tuple[str, str] | None:
    """(kind, scaffold) of a completion whose first attempt is written in right steps and never meets the target.

    `try 4 * 9 = 36 , 36 + 5 = 41 no . try …` gives (`retry`, its first attempt with `no .`); an attempt that `</think>`
    ends is closed by ` no .` and `retry_closed`. None where the text begins otherwise. English: as
    english.failed_attempt, always `retry`.
    """
    if not words.words:
        given_up = english.failed_attempt(completion, target)
        return None if given_up is None else (RETRY, given_up)
    found = _FIRST_ATTEMPT.match(completion)
    if not found:
        return None
    for step in found["attempt"].removeprefix("try ").split(" , "):
        calculation, value = step.split(" = ")
        try:
            right = evaluate(parse(calculation)) == int(value)
        except Rejected:
            right = False
        if not right or int(value) == target:
            return None
    return RETRY if found["end"] == "no ." else RETRY_CLOSED, f"{found['attempt']} no ."


def _fits(problem: Problem, text: str, room: int | None) -> bool:
    """Whether the prompt (`4 5 7 9 -> 24 <think>`), a text and a rung stay within `room` words."""
    return room is None or len(problem.numbers) + 3 + len(text.split()) + _SPARE <= room


def retry_scaffolds(
    rollouts: pd.DataFrame,
    scores: pd.DataFrame,
    problems: pd.DataFrame,
    openings: pd.DataFrame,
    *,
    per_family: int = 2,
    room: int | None = None,
    words: Wording = LAPTOP,
) -> pd.DataFrame:
    """Failed first attempts that a designated opening can be put behind.

    rollouts, scores: ROLLOUTS and SCORES of one or more policies; samples without a prefix are read. An attempt that
    the policy closed itself counts whatever came after; one that we close must have led to a wrong answer.
    per_family: attempts for each expressible opening, the most frequent first, then the shorter, then alphabetical. An
    attempt that has the opening's number and operator side by side anywhere is not used for that opening.
    room: words that prompt, scaffold and rung may take together, the context less the new tokens (None: no limit).
    Returns columns problem_id, family, scaffold (`retry` where any sample closed the text itself, or `retry_closed`),
    scaffold_id (of the text among the problem's of that kind), text; none where an opening has no such attempt.
    """
    known = problems_of(problems, openings)
    counts: dict[str, Counter[str]] = {}
    own: set[tuple[str, str]] = set()
    for row in _free_samples(rollouts, scores).itertuples(index=False):
        found = failed_attempt(row.completion, _problem(known, row.problem_id).target, words)
        if found and (found[0] == RETRY or not row.correct):
            kind, text = found
            counts.setdefault(row.problem_id, Counter())[text] += row.count
            if kind == RETRY:
                own.add((row.problem_id, text))
    rows = []
    for name in sorted(counts):
        fitting = [text for text in counts[name] if _fits(known[name], text, room)]
        ranked = sorted(fitting, key=lambda text: (-counts[name][text], len(text.split()), text))
        kinds = {text: RETRY if (name, text) in own else RETRY_CLOSED for text in ranked}
        rows += _chosen(known[name], kinds, per_family, words)
    frame = pd.DataFrame(rows, columns=["problem_id", "family", "scaffold", "scaffold_id", "text"])
    return frame.sort_values(["problem_id", "family", "scaffold", "scaffold_id"], ignore_index=True)


def _chosen(problem: Problem, kinds: dict[str, str], per_family: int, words: Wording) -> list[tuple]:
    """Rows of one problem. kinds: of its texts, which stand in the order of preference."""
    usable = [text for text in kinds if not words.holds_answer(text, problem.target, problem.forms)]
    spread = {text: f" {words.in_words(text)} " for text in usable}
    chosen = []
    for family, entry in problem.menu.items():
        if entry.expressible:
            fit = [text for text in usable if f" {family[:-1]} {family[-1]} " not in spread[text]]
            chosen += [(family, text) for text in fit[:per_family]]
    needed = {text for _, text in chosen}
    places = {
        text: number
        for kind in (RETRY, RETRY_CLOSED)
        for number, text in enumerate(text for text in usable if text in needed and kinds[text] == kind)
    }
    return [(problem.problem_id, family, kinds[text], places[text], text) for family, text in chosen]


def _problem(known: dict[str, Problem], name: str) -> Problem:
    if name not in known:
        raise UserError(f"the rollouts have a problem {name} that is not among the {len(known)} problems")
    return known[name]


def run_cuts(
    rollouts: pd.DataFrame,
    scores: pd.DataFrame,
    problems: pd.DataFrame,
    openings: pd.DataFrame,
    *,
    per_problem: int = 4,
    room: int | None = None,
    words: Wording = LAPTOP,
) -> pd.DataFrame:
    """CLAMPS cut from successful runs: the think part up to its last step, and the whole of it.

    Arguments as in `retry_scaffolds`. per_problem: runs with different think parts, the most frequent first, then the
    shorter, then alphabetical. A run counts where its answer is correct, opens as its last attempt does, and took two
    steps or more; its family is that opening. scaffold `run_cut`, scaffold_id the run, rungs RUN_RUNGS.
    """
    known = problems_of(problems, openings)
    counts: dict[str, dict[tuple[str, str, str], int]] = {}
    samples = _free_samples(rollouts, scores)
    for row in samples[samples["correct"]].itertuples(index=False):
        problem, found = _problem(known, row.problem_id), _cut(row.completion, words)
        entry = problem.menu.get(row.answer_opening)
        opens = found and found[0] == row.answer_opening and entry is not None and entry.expressible
        if opens and _fits(problem, found[2], room):
            runs = counts.setdefault(row.problem_id, {})
            runs[found] = runs.get(found, 0) + row.count
    rows = []
    for name, runs in counts.items():
        share = chances(known[name].numbers, known[name].target)
        ranked = sorted(runs, key=lambda run: (-runs[run], len(run[2].split()), run[2]))
        for number, (family, *cuts) in enumerate(ranked[:per_problem]):
            rows += [(name, family, RUN_CUT, number, rung, cut, share[family]) for rung, cut in zip(RUN_RUNGS, cuts)]
    return clamp_frame(rows)


def _cut(completion: str, words: Wording) -> tuple[str, str, str] | None:
    """(opening of the last attempt, think part before its last step, whole think part) of a run; None for others."""
    if not words.words:
        # Where an English attempt ends is not marked, so that only a run's first step tells its opening.
        cuts, opening = english.cuts_of_run(completion), think_opening(completion)
        return (opening, *cuts) if cuts and opening else None
    found = _RUN.match(completion)
    if not found or " , " not in found["attempt"]:
        return None
    _, first, operator, *_ = found["attempt"].split()
    whole = found["before"] + found["attempt"]
    return f"{first}{operator}", whole.rpartition(" , ")[0], f"{whole} </think>"
