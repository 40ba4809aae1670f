"""Tables, settings and versions as pages of the report."""

import json
from pathlib import Path

from workflow_scripts.figures.pages import config_text, page, study_markdown
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.stage import run


def _origins(paths):
    """Versions of each package and commits of the code that the results of these manifests were made with."""
    found = [json.loads(Path(path).read_text()) for path in paths]
    names = dict.fromkeys(name for origin in found for name in origin["versions"])
    versions = {
        name: sorted({origin["versions"][name] for origin in found if name in origin["versions"]}) for name in names
    }
    return versions, sorted({origin["git_commit"] for origin in found} - {""})


def _seeds(config):
    yield f"Every random stream starts from the study seed {config['seed']}."
    for name, line in config["lines"].items():
        yield f"Line {name}: training seed(s) {', '.join(map(str, line['seeds']))}."


def main(input, output, params, wildcards):
    for name, title in params.tables.items():
        manifests.check(input[name])
        write_text(output[name], page(Path(input[name]).read_text(), title=title))
    versions, commits = _origins(input.origins)
    text = study_markdown(
        study=params.config["study"],
        config=config_text(params.config),
        versions=versions,
        commits=commits,
        seeds=list(_seeds(params.config)),
    )
    write_text(output.study, page(text, title=f"Study {params.config['study']}"))


run(main, snakemake)
