"""Are the training runs healthy? Numbers by step, the runs' ends, warnings, what samples fail by, and two figures."""

from itertools import islice

import pandas as pd

from workflow_scripts.figures.run_diagnostics import buckets_figure, figure
from workflow_scripts.measures.failure_buckets import shares
from workflow_scripts.measures.run_diagnostics import diagnose, summary
from workflow_scripts.measures.run_warnings import warnings
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text


def main(input, output, params, wildcards):
    files = {f"{row['line']}-s{row['seed']}": [] for row in params.runs}
    for kind in ("metrics", "truth"):  # TRAINING, and SCICODE_TRAINING beside it
        paths = iter(input.get(kind, []))
        for row, found in zip(params.runs, files.values(), strict=True):
            found += islice(paths, len(row["files"]))
    for path in input:
        manifests.check(path)
    frame = diagnose(files)
    figure(frame, [output.pdf, output.png, output.svg, output.curves])
    write_text(output.steps, csv_text(frame))
    write_text(output.summary, csv_text(summary(frame)))
    write_text(output.warnings, csv_text(warnings(frame, largest=params.get("largest"))))
    scores = pd.concat([pd.read_parquet(path) for path in input.scores], ignore_index=True)
    by = [name for name in ("policy", "set", "benchmark") if name in scores]
    scores = scores[scores["policy"].isin(params.shown)]
    counted = shares(scores.assign(policy=pd.Categorical(scores["policy"], params.shown)), by)
    buckets_figure(counted, [output.bars_pdf, output.bars_png, output.bars_svg, output.buckets], by=by)


run(main, snakemake)
