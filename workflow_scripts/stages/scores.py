"""The verdict on every sample of one policy. Equal answers to one problem are judged once."""

import pandas as pd

from workflow_scripts.records.progress import progress
from workflow_scripts.records.schemas import PROBLEMS, ROLLOUTS, SCORES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown.judging import judge_completion

_VERDICT = [
    "status", "accept", "format_ok", "extracted", "paper_form", "formula_form", "paper_family", "answer_opening",
    "think_opening",
]  # fmt: skip


def main(input, output, params, wildcards):
    problems = pd.concat([read_table(path, PROBLEMS) for path in input["problems"]]).set_index("problem_id")
    rollouts = read_table(input.rollouts, ROLLOUTS)
    asked = {name: (row.numbers.tolist(), int(row.target)) for name, row in problems.iterrows()}
    # The clamp text is part of what is judged: prefix and continuation are one completion.
    written = (rollouts["prefix"] + " " + rollouts["completion"]).str.strip()
    pairs = pd.MultiIndex.from_arrays([rollouts["problem_id"], written])
    codes, distinct = pairs.factorize()
    verdicts = []
    for problem_id, text in progress(distinct, title=f"judging {wildcards.sampled}", unit="completion"):
        verdict = judge_completion(text, *asked[problem_id], contract=params.contract)
        verdicts.append([getattr(verdict, name) for name in _VERDICT])
    judged = pd.DataFrame(verdicts, columns=_VERDICT).rename(columns={"accept": "correct"}).iloc[codes]
    judged["status"] = judged["status"].astype(str)
    rest = rollouts[["policy", "problem_id", "prefix", "sample", "tokens", "finish_reason"]]
    write_table(pd.concat([rest, judged.reset_index(drop=True)], axis=1), output.scores, SCORES)


run(main, snakemake)
