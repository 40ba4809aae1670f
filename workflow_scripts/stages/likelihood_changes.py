"""What entrance and execution cost a line's late policies against its early ones, and each token by its place."""

import pandas as pd

from workflow_scripts.measures.likelihood import estimands
from workflow_scripts.measures.points import trained_ends
from workflow_scripts.measures.statistics import Bootstrap
from workflow_scripts.policies.likelihood import same_tokenizer
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import LIKELIHOODS, PROBLEMS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table


def main(input, output, params, wildcards):
    same_tokenizer(input.policies)
    problems = read_table(input["problems"], PROBLEMS)["problem_id"]
    likelihoods = pd.concat([read_table(path, LIKELIHOODS) for path in input.likelihoods], ignore_index=True)
    bootstrap = Bootstrap.of_line(params.line, len(problems), **params.statistics)
    rows, tokens = estimands(likelihoods, problems, bootstrap, trained_ends(params.line))
    write_text(output.changes, csv_text(rows.assign(line=wildcards.line)))
    write_text(output.tokens, csv_text(tokens.assign(line=wildcards.line)))


run(main, snakemake)
