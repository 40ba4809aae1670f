"""`entrances judge`: every task by one command, verdicts in the order of the rows, faults told with status 2."""

import json
from typing import get_args

import pandas as pd
import pytest

from workflow_scripts.cli import main
from workflow_scripts.commands import judges
from workflow_scripts.commands.judges import TASKS
from workflow_scripts.tasks.scicode.extraction import Form

PROGRAM = "def answer():\n    return 3\n"
ROWS = {
    "countdown": [{"numbers": [4, 6], "target": 24, "answer": text} for text in ("4*6", "4+6")],
    "maths": [{"gold": "1/2", "answer": text} for text in ("0.5", "2")],
    "scicode": [{"completion": PROGRAM, "checks": [{"kind": "exact", "expected": value}]} for value in (3, 4)],
}


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n\n" for row in rows))
    return str(path)


def verdicts(capsys, *arguments):
    assert main(["judge", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("task", TASKS)
def test_rows_of_every_task_are_judged_in_order(tmp_path, capsys, task):
    found = verdicts(capsys, task, written(tmp_path / "rows.jsonl", ROWS[task]), "--json")
    assert [row.get("accept", row.get("correct")) for row in found] == [True, False]


def test_a_parquet_file_is_judged_alike(tmp_path, capsys):
    pd.DataFrame(ROWS["countdown"]).to_parquet(tmp_path / "rows.parquet")
    assert verdicts(capsys, "countdown", str(tmp_path / "rows.parquet")) == verdicts(
        capsys, "countdown", written(tmp_path / "rows.jsonl", ROWS["countdown"])
    )


def test_options_of_a_task_reach_its_judge(tmp_path, capsys):
    signed = [{"numbers": [4, 6], "target": 24, "answer": "-4*-6"}]
    path = written(tmp_path / "signed.jsonl", signed)
    found = [verdicts(capsys, "countdown", path, "--contract", c)[0]["accept"] for c in ("strict", "paper_grpo")]
    assert found == [False, True]
    path = written(tmp_path / "surds.jsonl", [{"gold": "\\sin(1)^2 + \\cos(1)^2 + x", "answer": "x + 1"}])
    assert [verdicts(capsys, "maths", path, *exact)[0]["accept"] for exact in ([], ["--exact"])] == [True, False]


def test_the_form_of_programs_is_chosen(tmp_path, capsys):
    path = written(tmp_path / "rows.jsonl", ROWS["scicode"][:1])
    found = {form: verdicts(capsys, "scicode", path, "--form", form)[0]["status"] for form in get_args(Form)}
    assert found == {"any": "OK", "raw": "OK", "fenced": "NO_CODE"}
    with pytest.raises(SystemExit):
        main(["judge", "scicode", path, "--form", "bare"])
    assert "choose from 'fenced', 'raw', 'any'" in capsys.readouterr().err


def test_the_sandbox_is_described_beside_the_verdicts(tmp_path, capsys):
    assert main(["judge", "scicode", written(tmp_path / "rows.jsonl", ROWS["scicode"])]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("sandbox: ") and "sandbox" not in told.out


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        (None, (), "no such file"),
        ("{bad\n", (), "line 1: not valid JSON"),
        ("\n[1]\n", (), "line 2: a JSON object is needed, not list"),
        ("{}\n", (), "row 1: numbers is missing"),
        ("{}\n", ("--contract", "paper_pp0"), "did you mean 'paper_ppo'"),
    ],
)
def test_a_fault_of_the_file_is_told_with_status_2(tmp_path, capsys, content, options, told):
    path = tmp_path / "rows.jsonl"
    if content is not None:
        path.write_text(content)
    assert main(["judge", "countdown", str(path), *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith("entrances: ") and told in err


def test_verdicts_before_a_fault_are_printed(tmp_path, capsys):
    assert main(["judge", "countdown", written(tmp_path / "rows.jsonl", [*ROWS["countdown"], {}])]) == 2
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_judge_is_closed_when_its_reader_leaves(tmp_path, monkeypatch):
    """A sandbox or worker behind the verdicts ends at once, not whenever memory is collected."""
    ended = []

    def judge(rows, arguments):
        try:
            yield from rows
        finally:
            ended.append(True)

    def leave(*given, **named):
        raise BrokenPipeError

    monkeypatch.setitem(TASKS, "countdown", TASKS["countdown"]._replace(verdicts=judge))
    monkeypatch.setattr(judges, "print", leave, raising=False)
    monkeypatch.setattr("os.dup2", lambda *ends: ended.append("quiet"))
    assert main(["judge", "countdown", written(tmp_path / "rows.jsonl", ROWS["countdown"])]) == 0
    assert ended == [True, "quiet"]
