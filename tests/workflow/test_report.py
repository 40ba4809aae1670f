"""`snakemake report` on the finished smoke study: one file, with everything in it."""

import csv
import json
import re

import pytest

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def report(smoke):
    smoke.snakemake("report")
    return (smoke.folder / "results/smoke/report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def results(report):
    """What the report's own viewer reads: path to caption, labels, data."""
    return json.loads(re.search(r"var results = (\{.*\});?\n", report)[1])


def test_it_loads_nothing_from_elsewhere(report):
    assert not re.search(r"<(script|img|iframe)[^>]+src=[\"']?(https?:)?//", report)
    assert not re.search(r"<link[^>]+href=[\"']?(https?:)?//", report)


def test_every_table_figure_and_claim_is_inside(results):
    names = {path.removeprefix("results/smoke/") for path in results}
    drawn = (
        "breadth", "trajectories", "coverage_curve", "figure1", "figure2", "token_costs", "calibration",
        "clamp_ladder", "recoverability", "theory", "depth", "partner_curve", "loss_cost", "plane", "dose_response",
        "continuation", "figure3", "lab_curves", "controlled",
    )  # fmt: skip
    figures = {f"figures/{name}.svg" for name in drawn}
    numbered = tuple(f"table{number}" for number in range(1, 7))
    pages = {f"report/{name}.html" for name in (*numbered, "lab_table", "controlled", "scorecard", "cost", "study")}
    tables = {f"tables/{name}.csv" for name in (*numbered, "roads", "claims", "cost", "training_curves")}
    assert figures | pages | tables | {"report/rule_graph.svg"} <= names
    assert all(result["data_uri"].startswith("data:") for result in results.values())


def test_captions_are_filled_in(results):
    captions = {path: result["caption"] for path, result in results.items()}
    assert [path for path, text in captions.items() if not text or "{{" in text or "{%" in text] == []
    trajectories = captions["results/smoke/figures/trajectories.svg"]
    assert "95 % intervals" in trajectories
    assert "32 samples a problem" in trajectories
    assert trajectories.count("early is step 2, late is step 4") == 2  # one a line


def test_labels_name_each_result_once(results):
    # Two kinds of label would make Snakemake's viewer offer switches between results that may not exist.
    labels = [result["labels"] for result in results.values()]
    assert all(set(label) == {"result"} for label in labels)
    assert len({label["result"] for label in labels}) == len(labels)


def test_the_description_has_the_settings(report):
    description = json.loads(re.search(r"var workflow_desc = (\".*\");?\n", report)[1])
    assert "Study <strong>smoke</strong>" in description
    assert "24 for evaluation, 600 for training" in description
    assert "{{" not in description


def test_settings_and_versions_have_a_page(smoke, report):
    page = (smoke.folder / "results/smoke/report/study.html").read_text(encoding="utf-8")
    assert "study: smoke" in page
    assert "max_new_tokens: 64" in page  # a default that the config file leaves out
    assert re.search(r"<td>snakemake</td><td>\d+\.\d+", page)


def test_cost_has_a_row_a_rule(smoke, report):
    with (smoke.folder / "results/smoke/tables/cost.csv").open() as handle:
        rows = {row["rule"]: row for row in csv.DictReader(handle)}
    assert {"train_segment", "rollouts", "scores"} <= set(rows)
    assert all(float(row["wall_seconds"]) > 0 for row in rows.values())


def test_a_second_report_has_nothing_to_do(smoke, report):
    assert "Nothing to be done" in smoke.planned("report")
