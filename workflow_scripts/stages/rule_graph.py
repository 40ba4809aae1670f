"""The rule graph of the study as svg, from Snakemake's own account of it."""

from workflow_scripts.figures.rule_graph import svg
from workflow_scripts.records.files import write_text
from workflow_scripts.records.nested import snakemake as ask
from workflow_scripts.records.stage import run


def main(input, output, params, wildcards):
    dot = ask(params.config, params.targets, "--rulegraph", "dot")
    write_text(output.svg, svg(dot, title=f"rules of study {params.config['study']}"))


run(main, snakemake)
