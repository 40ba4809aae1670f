"""figures/tables.py: the three forms of Table 1."""

import csv
import io
import math
import runpy

import pandas as pd
import pytest

from workflow_scripts.figures import tables
from workflow_scripts.measures.comparison import measures
from workflow_scripts.records.errors import UserError


def stage_of(name, monkeypatch, project):
    """Functions of a stage's file, which is not run."""
    monkeypatch.setattr("workflow_scripts.records.stage.run", lambda main, snakemake: None)
    return runpy.run_path(str(project / f"workflow_scripts/stages/{name}.py"), init_globals={"snakemake": None})


ROWS = [("base", "base"), ("step 25", "g25"), ("step 300", "g300")]


@pytest.fixture
def summary():
    levels = {"base": 0.5, "g25": 0.4, "g300": 1 / 3}
    return pd.DataFrame(
        [
            {
                "entry": entry,
                "measure": name,
                "estimate": level,
                "low": level - 0.1,
                "high": level + 0.1,
                "problems": 150,
            }
            for entry, level in levels.items()
            for name in measures([1, 16, 320])
        ]
    )


@pytest.fixture
def table(summary):
    return tables.table1(
        summary, ROWS, title="Table 1. A_b & 5 %", pass_at=[1, 320], samples=320, notes=["late is step 300"]
    )


def test_csv_holds_full_precision(table, tmp_path):
    tables.write(table, [tmp_path / "t.csv"])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert [row["policy"] for row in rows] == ["base", "step 25", "step 300"]
    assert rows[2]["pass@1"] == "0.3333333333"
    assert rows[2]["coverage_paper_low"] == "0.2333333333"
    assert len(rows[0]) == 2 + 3 * (2 + len(tables.TABLE1_MEASURES))


def test_markdown(table):
    text = tables.markdown(table)
    assert "| policy | pass@1 | pass@320 | Cov@320 (paper) | Cov@320 (formula) |" in text
    assert "| step 300 | 0.333 [0.233, 0.433] |" in text
    assert "* late is step 300" in text
    assert "95 % interval of a bootstrap over problems" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1


def test_every_column_is_explained_with_its_unit(table):
    text = tables.markdown(table)
    for heading in ("Cov@320 (paper)", "Cov@320 (formula)", "families", "openings", "entrance entropy"):
        assert f"* {heading}:" in text.replace(", nats", "") or f"* {heading}, nats:" in text
    assert "(nats)" in text
    assert "1 − C(n−c, k)/C(n, k)" in text


def test_latex_is_escaped(table):
    text = tables.latex(table)
    assert r"\caption{Table 1. A\_b \& 5 \%}" in text
    assert text.count(r"\\") == 1 + 2 * len(ROWS)
    assert "−" not in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((0.5, 0.4, 0.3), "at base under the paper equivalence (0.500), among trained policies at step 25 (0.400)"),
        ((0.2, 0.4, 0.3), "at step 25 under the paper equivalence (0.400);"),
        ((0.2, 0.0, 0.0), "at base under the paper equivalence (0.200), 0 for all trained policies;"),
        ((0.0, 0.0, 0.0), "Cov@320 is 0 in every row under the paper and the formula equivalence."),
    ],
)
def test_peak_is_stated(summary, levels, expected):
    for (_, entry), level in zip(ROWS, levels, strict=True):
        summary.loc[(summary["entry"] == entry) & summary["measure"].str.startswith("coverage"), "estimate"] = level
    assert expected in tables.peak_sentence(summary, ROWS, "Cov@320")


def test_a_coverage_of_0_is_no_peak(summary):
    summary.loc[summary["measure"] == "coverage_paper", "estimate"] = 0.0
    assert tables.peak_sentence(summary, ROWS, "Cov@320") == (
        "Cov@320 is highest at base under the formula equivalence (0.500), among trained policies at step 25 (0.400). "
        "Cov@320 is 0 in every row under the paper equivalence."
    )


def test_steps_left_out_of_print_are_told(monkeypatch, project):
    stage = stage_of("table1", monkeypatch, project)
    assert stage["printed_notes"](["a"], ROWS, ROWS) == ("a",)
    assert stage["printed_notes"](["a"], ROWS, ROWS[::2]) == ("a", "Some of the kept steps; all are in table1.csv.")


def proposed(gain, low, kept):
    rows = [("spread", gain, low), ("early samples", kept, kept - 1)]
    return pd.DataFrame(
        [{"measure": "coverage_paper", "after": name, "estimate": of, "low": at} for name, of, at in rows]
    )


@pytest.mark.parametrize(
    ("gain", "low", "kept", "told"),
    [
        (0.2, 0.1, 0.05, ") keeps 25% of the coverage that the solver's menu gains."),
        (0.2, 0.1, -0.3, ") keeps nothing of the coverage that the solver's menu gains."),
        (0.2, 0.0, 0.05, ") has no gain to keep a share of: the interval of the solver's menu reaches 0."),
        (0.2, -0.1, 0.05, ") has no gain to keep a share of: the interval of the solver's menu reaches 0."),
        (-0.2, -0.3, -0.4, ") has no gain to keep a share of: the interval of the solver's menu reaches 0."),
        (0.2, math.nan, 0.1, ") has no gain to keep a share of: the interval of the solver's menu reaches 0."),
    ],
)
def test_what_a_proposer_keeps_is_told_of_a_gain_alone(monkeypatch, project, gain, low, kept, told):
    stage = stage_of("table4", monkeypatch, project)
    said = stage["told_of"]("ppo", proposed(gain, low, kept), "early samples", "spread", {"early samples": "own"})
    assert said.startswith("Line ppo: the solver-free proposer (own, whose") and said.endswith(told)
    assert ("%" in said) == ("25%" in told) and " with with " not in said


def test_problems_left_out_are_stated(summary):
    summary.loc[(summary["entry"] == "g300") & (summary["measure"] == "entropy_think"), "problems"] = 149
    table = tables.table1(summary, ROWS, title="T", pass_at=[1], samples=320)
    assert any("smallest number with one: entrance entropy 149" in note for note in table.notes)


def test_missing_number_is_a_dash(summary):
    summary.loc[summary["measure"] == "entropy_think", ["estimate", "low", "high"]] = math.nan
    table = tables.table1(summary, ROWS, title="T", pass_at=[1], samples=320)
    assert tables.markdown(table).count("– |") == 3
    assert tables.latex(table).count("& --") == 3


def test_missing_cell_is_an_error(summary):
    table = tables.table1(summary[summary["entry"] != "g25"], ROWS[::2], title="T", pass_at=[1], samples=320)
    assert len(tables.frame_of(table)) == 2
    with pytest.raises(UserError, match="there are 0"):
        table.cell("g25", "pass@1")


def test_same_bytes_and_only_known_suffixes(table, tmp_path):
    paths = [tmp_path / f"t.{suffix}" for suffix in ("csv", "md", "tex")]
    tables.write(table, paths)
    first = [path.read_bytes() for path in paths]
    tables.write(table, paths)
    assert [path.read_bytes() for path in paths] == first
    assert all(b"\r" not in data and data.endswith(b"\n") for data in first)
    with pytest.raises(UserError, match=r"t\.docx"):
        tables.write(table, [tmp_path / "t.docx"])
