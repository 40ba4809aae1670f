"""Figure: exact opening probabilities against the shares of free samples that open so, for base, early and late."""

import pandas as pd

from workflow_scripts.figures.calibration import figure
from workflow_scripts.measures.breadth import FORM_COUNTS
from workflow_scripts.measures.calibration import cells, summary
from workflow_scripts.measures.points import BASE, end_panels
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import MASSES
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    masses = pd.concat([read_table(path, MASSES) for path in input.masses], ignore_index=True)
    counts = pd.concat([read_table(path, FORM_COUNTS) for path in input.forms], ignore_index=True)
    table = cells(masses, counts, params.samples, params.statistics["confidence"])
    problems = sorted(masses["problem_id"].unique())
    bootstrap = Bootstrap.over(len(problems), **params.statistics)
    write_text(output.summary, csv_text(summary(table, params.samples, problems, bootstrap)))
    panels = {BASE: BASE} | {title: policy for line in params.lines for title, policy in end_panels(line).items()}
    paths = [output.pdf, output.png, output.svg, output.csv]
    figure(table, panels, paths, samples=params.samples, confidence=params.statistics["confidence"])


run(main, snakemake)
