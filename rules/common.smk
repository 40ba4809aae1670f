# Functions that rules share. No rules here.

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(str(workflow.current_basedir)).parent
sys.path.insert(0, str(ROOT))

from workflow_scripts.records.digest import of_code
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.failures import keep_to_be_done
from workflow_scripts.records.files import require_writable
from workflow_scripts.records.interpreter import hand_to_jobs
from workflow_scripts.settings import validated

hand_to_jobs(ROOT)


def checked_settings(config):
    """The validated settings; a fault stops before anything is planned, with the files, the key and a suggestion."""
    try:
        return validated(config, " over ".join(map(str, workflow.configfiles)) or "config")
    except UserError as error:
        raise WorkflowError(str(error)) from None


def checked_place(folder):
    """Stops where nothing can be written to a folder that results or Snakemake's own records go to."""
    if "--lint" in sys.argv:  # which writes nothing
        return
    try:
        require_writable(folder)
    except UserError as error:
        raise WorkflowError(str(error)) from None


def shared_cache():
    """Whether rules that clones have in common go through a cache: under --cache, since Snakemake warns of a plain True."""
    place = os.environ.get("SNAKEMAKE_OUTPUT_CACHE", "")
    if workflow.enable_cache and not Path(place or "none given").is_dir():
        raise WorkflowError(
            f"--cache needs a folder for the cache: set SNAKEMAKE_OUTPUT_CACHE to one that exists (now: {place or 'not set'})"
        )
    return workflow.enable_cache


def either(words):
    """Wildcard constraint: one of `words`."""
    return "|".join(re.escape(word) for word in words)


def statistics(settings):
    """Params of the bootstrap, the same in every rule that needs intervals."""
    measures = settings.measures
    return {"seed": settings.seed, "draws": measures.bootstrap, "confidence": measures.confidence}


def caption_of(name):
    """Path of a caption, seen from a rule file."""
    return f"../resources/captions/{name}.rst"


def figure_files(name, label):
    """Outputs of a figure: pdf, png, svg and the data behind it as csv; svg and csv go into the report."""
    shown = {
        ending: report(
            f"<results>/figures/{name}.{ending}",
            caption=caption_of(name),
            category="Figures",
            labels={"result": f"{label}{' (csv)' if ending == 'csv' else ''}"},
        )
        for ending in ("svg", "csv")
    }
    plain = {ending: f"<results>/figures/{name}.{ending}" for ending in ("pdf", "png")}
    return plain | shown | {"manifest": f"<results>/figures/{name}.manifest.json"}


def table_files(name, label):
    """Outputs of a table: csv, Markdown, LaTeX; the csv goes into the report, the Markdown becomes a page of it."""
    shown = report(
        f"<results>/tables/{name}.csv",
        caption=caption_of(name),
        category="Tables",
        labels={"result": f"{label} (csv)"},
    )
    plain = {ending: f"<results>/tables/{name}.{ending}" for ending in ("md", "tex")}
    return {"csv": shown} | plain | {"manifest": f"<results>/tables/{name}.manifest.json"}


def shown_rules(rules):
    """The rules that make tables and figures, in the order of the report."""
    names = ["table1", "breadth", "trajectories", "coverage_curve", "table2", "token_costs", "calibration", "table3"]
    names += ["clamp_ladder", "figure1", "figure2", "recoverability_curve", "theory_test", "depth_curve"]
    names += ["table4", "partner_curve", "cost_of_loss"]
    rows = road_rows(settings)
    names += ["roads_table", "plane"] if rows else []
    names += ["dose_response"] if len({row.get("demonstrations") for row in rows if row["kind"] == "sft"}) > 1 else []
    names += ["continuation"] if any(row["kind"] == "grpo" and row["role"] == "road" for row in rows) else []
    return [getattr(rules, name) for name in (*names, "scorecard", "training_curves")]
