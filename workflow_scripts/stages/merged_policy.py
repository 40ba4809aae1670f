"""The policy of one verl state, as a Hugging Face folder."""

import logging

from workflow_scripts.policies.merging import merged
from workflow_scripts.records import manifests
from workflow_scripts.records.stage import run


def main(input, output, params, wildcards):
    logging.basicConfig(level=logging.INFO)
    for path in (input.base, input.state):
        manifests.check(path)
    merged(input.state, output.policy, base=input.base)


run(main, snakemake)
