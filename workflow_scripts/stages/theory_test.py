"""Figure: the gradient on an entrance against how its probability then changed, segment by segment."""

from workflow_scripts.figures.theory import Evidence, figure
from workflow_scripts.measures.points import steps_and_entries
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv


def main(input, output, params, wildcards):
    lines = {
        line["name"]: Evidence(steps_and_entries(line), read_csv(segments), read_csv(bins))
        for line, segments, bins in zip(params.lines, input.segments, input.bins, strict=True)
    }
    figure(lines, [output.pdf, output.png, output.svg, output.csv], confidence=params.confidence)


run(main, snakemake)
