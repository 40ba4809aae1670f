"""Figure: the precision–breadth plane of all roads, arms and training lines."""

from workflow_scripts.figures.plane import figure
from workflow_scripts.measures.points import labelled
from workflow_scripts.measures.road_plan import CONTROL
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import read_csv

GROUPS = (
    ("supervised", lambda road: road["kind"] == "sft"),
    ("preferences", lambda road: road["kind"] == "dpo"),
    ("RL, other start", lambda road: road["kind"] == "grpo" and road["role"] == "road"),
    ("control", lambda road: road["name"] == CONTROL),
    ("countermeasure", lambda road: road["role"] == "arm" and road["name"] != CONTROL),
)


def main(input, output, params, wildcards):
    groups = {
        title: [(road["name"], road["name"]) for road in params.roads if belongs(road)] for title, belongs in GROUPS
    }
    figure(
        read_csv(input.plane),
        {title: points for title, points in groups.items() if points},
        {line["name"]: labelled(line) for line in params.lines},
        [output.pdf, output.png, output.svg, output.csv],
        samples=params.samples,
        solution_set=params.solution_set,
        confidence=params.confidence,
    )


run(main, snakemake)
