# Functions that rules share. No rules here.

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(str(workflow.current_basedir)).parent
sys.path.insert(0, str(ROOT))

from workflow_scripts.doctor.rewards import faults_of_scicode
from workflow_scripts.records.digest import of_code
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.failures import keep_to_be_done
from workflow_scripts.records.files import require_writable
from workflow_scripts.records.interpreter import fetch_nothing, hand_to_jobs
from workflow_scripts.records.scheduling import start_when_a_core_is_free
from workflow_scripts.settings import validated
from workflow_scripts.tasks.countdown.wording import spelled_out

hand_to_jobs(ROOT)


def checked_settings(config):
    """The validated settings; a fault stops before anything is planned, with the files, the key and a suggestion."""
    try:
        return validated(config, " over ".join(map(str, workflow.configfiles)) or "config")
    except UserError as error:
        raise WorkflowError(str(error)) from None


def checked_wording(settings):
    """What the policies read and write, a template file's content included, so that editing it makes stale what it made."""
    try:
        return spelled_out(settings.policy.wording)
    except UserError as error:
        raise WorkflowError(f"policy.wording: {error}") from None


def state_of(source, folder=None):
    """Names, sizes and times of the files of a local source, so that changing it makes stale what was read from it."""
    place = Path(source or "") / (folder or "")
    files = sorted(place.glob("*")) if source and place.is_dir() else [place] if source and place.is_file() else []
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files if file.is_file()]


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


def environment_of(engine):
    """Environment of a rule, for Snakemake's own deployment."""
    return "../envs/laptop.yaml" if engine == "built_in" else "../envs/cluster.yaml"


def code_of_engine(engine, stage, work):
    """Digest of a stage and of the engine's module for its work, `sampling` or `likelihood`, which it imports by name."""
    prefix = {"built_in": "", "vllm": "vllm_"}[engine]
    return of_code(stage, f"policies/{prefix}{work}.py")


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
    return [*paper_rules(rules), *companion_rules(rules)]


def companion_rules(rules):
    """Those of the companion studies: the maths lab, its controlled experiment, the audits of verifiers and rewards."""
    lab = [rules.lab_table, *([rules.lab_curves] if maths_trained(settings) else [])] if settings.maths.roads else []
    judged = [rules.maths_failures, rules.contamination] if settings.maths.names else []
    coded = [getattr(rules, name) for name in code_rules(settings)]
    return [*lab, *judged, rules.controlled_table, rules.controlled_figure, rules.verifier_audit, *coded]


def paper_rules(rules):
    """Those of the paper."""
    names = ["table1", "breadth", "trajectories", "coverage_curve", "table2", "token_costs", "calibration", "table3"]
    names += ["clamp_ladder", "figure1", "figure2", "recoverability_curve", "theory_test", "depth_curve"]
    names += ["table4", "partner_curve", "cost_of_loss"]
    rows = road_rows(settings)
    names += ["roads_table", "plane"] if rows else []
    names += ["dose_response"] if len({row.get("demonstrations") for row in rows if row["kind"] == "sft"}) > 1 else []
    names += ["continuation"] if any(row["kind"] == "grpo" and row["role"] == "road" for row in rows) else []
    if settings.maths.names:
        names += [*(["figure3"] if settings.maths.pairs else []), "table5", "table6"]
        names += ["segmentation_effect"] if settings.maths.judge and settings.maths.pairs else []
    names += ["policy_card", "scorecard", *(["training_curves"] if trained_ids(settings) else [])]
    return [getattr(rules, name) for name in names]


def page_rows(rules):
    """Tables that the report shows as pages to read: their Markdown, category, title and label."""
    tables = {
        "table1": ("Table 1", "precision and breadth"),
        "table2": ("Table 2", "cost of entrance and execution"),
        "table3": ("Table 3", "the clamp ladder"),
        "table4": ("Table 4", "interventions"),
    }
    if settings.maths.names:
        tables |= {
            "table5": ("Table 5", "maths policies"),
            "table6": ("Table 6", "a worked example"),
            "maths_failures": ("Wrong answers", "to maths problems"),
        }
    tables |= {"lab_table": ("Lab table", "from the base to GRPO")} if settings.maths.roads else {}
    rows = {name: ("Tables", getattr(rules, name).output.md, *words) for name, words in tables.items()}
    rows["controlled"] = ("Tables", rules.controlled_table.output.md, "Controlled experiment", "four candidates")
    coded = {
        "reward_gap": ("Reward and truth", "by reward"),
        "code_layers": ("Layers", "that programs pass"),
        "reward_audit": ("Reward audit", "answers without science"),
        "scicode_leakage": ("Leakage", "of problems for programs"),
        "judge_calibration": ("Judge", "against execution"),
        "critpt_outputs": ("CritPt", "what answers look like"),
    }
    shown = set(code_rules(settings))
    rows |= {name: ("Tables", getattr(rules, name).output.md, *words) for name, words in coded.items() if name in shown}
    rows["verifier_audit"] = ("Tables", rules.verifier_audit.output.md, "Verifier audit", "agreement of checkers")
    rows["scorecard"] = ("Claims", rules.scorecard.output.page, "Scorecard", "")
    rows["cost"] = ("Study", rules.cost.output.md, "Cost", "by rule")
    rows["policy_card"] = ("Study", rules.policy_card.output.md, "Policies", "and how they are asked")
    return {
        name: {"category": category, "table": table, "title": title, "label": f"{title}: {words}" if words else title}
        for name, (category, table, title, words) in rows.items()
    }
