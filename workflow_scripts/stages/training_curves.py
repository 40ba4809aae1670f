"""What was measured at every step of every training line, as one table."""

import pandas as pd

from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text


def main(input, output, params, wildcards):
    frames = []
    for row, path in zip(params.segments, input.metrics, strict=True):
        manifests.check(path)
        frame = pd.read_parquet(path)
        # Times differ from run to run; the tables do not.
        frame = frame[[name for name in frame if not name.startswith("seconds")]]
        frame.insert(0, "line", row["line"])
        frame.insert(1, "seed", row["seed"])
        frames.append(frame)
    write_text(output.csv, csv_text(pd.concat(frames, ignore_index=True)))


run(main, snakemake)
