"""Evaluation and training problems, generated or read, and the table of overlaps that were removed.

A problem is (sorted numbers, target). The evaluation set loses its own repeats; the training set loses its repeats and
every problem of the evaluation set. Training problems are stored as verl rows, which trainers of every engine read.
"""

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.countdown import problem_files, problems


def _given(source, settings):
    return problem_files.read_problems(source, revision=settings["revision"])


def _evaluation(params):
    settings = params.settings
    if settings["source"] is None:
        generated = problems.draw(
            "evaluation",
            params.seed,
            count=settings["evaluation"],
            sizes=settings["operands"],
            values=settings["values"],
            targets=settings["targets"],
        )
        read = problems.table(generated, "held_out")
    else:
        read = _given(settings["source"], settings)
    distinct, repeats = problems.remove_duplicates(read)
    if len(distinct) < settings["evaluation"]:
        wanted = settings["evaluation"]
        raise UserError(
            f"{settings['source']} holds {len(distinct)} distinct problems; problems.evaluation is {wanted}"
        )
    chosen = distinct.head(settings["evaluation"])
    return problems.with_splits(chosen, settings["calibration"]), len(read), repeats


def _training(params, excluded):
    settings = params.settings
    if settings["training_source"] is None:
        generated = problems.draw(
            "training",
            params.seed,
            count=settings["training"],
            sizes=settings["operands"],
            values=settings["values"],
            targets=settings["targets"],
            excluded=excluded,
        )
        read = problems.table(generated, "train")
    else:
        read = _given(settings["training_source"], settings).assign(split="train")
    distinct, repeats = problems.remove_duplicates(read)
    disjoint, overlaps = problems.remove_overlaps(distinct, excluded)
    if disjoint.empty:
        raise UserError(f"{settings['training_source']}: no training problem is left after overlaps were removed")
    return disjoint.head(settings["training"]), len(read), repeats, overlaps


def main(input, output, params, wildcards):
    evaluation, evaluation_read, evaluation_repeats = _evaluation(params)
    excluded = set(problems.keys(evaluation))
    training, training_read, training_repeats, overlaps = _training(params, excluded)
    rows = [
        ("evaluation", evaluation_read, evaluation_repeats, 0, len(evaluation)),
        ("training", training_read, training_repeats, overlaps, len(training)),
    ]
    columns = ["set", "read", "repeats_removed", "overlaps_with_evaluation_removed", "kept"]
    write_table(evaluation, output.evaluation, PROBLEMS)
    problem_files.write_verl_rows(training, output.training)
    write_text(output.overlaps, pd.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\n"))


run(main, snakemake)
