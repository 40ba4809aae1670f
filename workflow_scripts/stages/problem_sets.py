"""Problem sets, generated or read: evaluation, depth (four numbers), tail and training, and what was left out.

A problem is (sorted numbers, target). No set holds a problem twice or one of a set before it, in this order:
evaluation, depth, tail, training. Training problems are stored as verl rows, which trainers of every engine read.
"""

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import write_table
from workflow_scripts.tasks.countdown import problem_files, problems

DEPTH_NUMBERS = 4
COLUMNS = ["set", "source", "read", "repeats_removed", "overlaps_removed", "kept"]


def _generated(name, count, sizes, params, excluded):
    settings = params.settings
    drawn = problems.draw(
        name,
        params.seed,
        count=count,
        sizes=sizes,
        values=settings["values"],
        targets=settings["targets"],
        excluded=excluded,
    )
    return problems.table(drawn, name)


def _chosen(name, read, count, excluded):
    """The first `count` problems of `read` that are in no earlier set, and the row of the overlap table."""
    distinct, repeats = problems.remove_duplicates(read)
    disjoint, overlaps = problems.remove_overlaps(distinct, excluded)
    kept = disjoint.head(count).reset_index(drop=True)
    return kept.assign(split=name), [len(read), repeats, overlaps, len(kept)]


def _check_range(kept, source, largest):
    """Raises UserError, listing problems, where the text of the small policy cannot say a number or target."""
    if largest is None:
        return
    said = [
        max(*numbers, target) <= largest and target >= 0 for numbers, target in zip(kept["numbers"], kept["target"])
    ]
    unsaid = kept.loc[[not fit for fit in said], "problem_id"].tolist()
    if unsaid:
        raise UserError(
            f"{source}: {len(unsaid)} problem(s) hold a number or target beyond 0…{largest}, which the small policy "
            f"cannot read: {', '.join(unsaid[:20])}. Leave them out, or name a policy in policy.source"
        )


def main(input, output, params, wildcards):
    settings = params.settings
    given = {
        key: settings[key] and problem_files.read_problems(settings[key], revision=settings["revision"])
        for key in ("source", "training_source")
    }
    rows, excluded = [], set()
    plan = [
        ("evaluation", "source", settings["operands"]),
        ("depth", "source", [DEPTH_NUMBERS]),
        ("tail", "source", settings["operands"]),
        ("training", "training_source", settings["operands"]),
    ]
    for name, key, sizes in plan:
        count, read = settings[name], given[key]
        if read is None:
            read = _generated(name, count, sizes, params, excluded)
        elif name == "depth":
            read = read[read["numbers"].map(len) == DEPTH_NUMBERS]
        kept, counted = _chosen(name, read, count, excluded)
        if kept.empty or (name != "training" and len(kept) < count):
            raise UserError(
                f"{settings[key]}: {len(kept)} problem(s) are left for the {name} set, problems.{name} asks for {count}"
            )
        _check_range(kept, settings[key], params.largest)
        rows.append([name, settings[key] or "generated", *counted])
        excluded |= set(problems.keys(kept))
        if name == "evaluation":
            kept = problems.with_splits(kept, settings["calibration"])
        if name == "training":
            problem_files.write_verl_rows(kept, output.training)
        else:
            write_table(kept, output[name], PROBLEMS)
    table = pd.DataFrame(rows, columns=COLUMNS)
    write_text(output.overlaps, table.to_csv(index=False, lineterminator="\n"))


run(main, snakemake)
