"""A policy that exists: from a Hugging Face folder, or from a hub id at its pinned revision."""

from workflow_scripts.records.downloads import fetch
from workflow_scripts.records.stage import run


def main(input, output, params, wildcards):
    fetch(
        params.source,
        revision=params.revision,
        subfolder=params.get("folder"),
        sha256=params.get("sha256"),
        target=output.policy,
    )


run(main, snakemake)
