"""Readers of public data and verl rows: every spelling that occurs, and a clear error for each fault."""

import json

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import PROBLEMS
from workflow_scripts.tasks.countdown.problem_files import (
    read_problems,
    read_verl_rows,
    to_verl_rows,
    write_verl_rows,
)
from workflow_scripts.tasks.countdown.problems import table

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TRUTH = {"numbers": [4, 5, 7, 9], "target": 24}


def written(folder, name, rows):
    path = folder / name
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    else:
        path.write_text(rows)
    return path


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("a.parquet", [{"nums": [9, 4, 7, 5], "target": 24}]),
        ("a.parquet", [{"target": 24.0, "numbers": np.array([9, 4, 7, 5]), "other": "x"}]),
        ("a.parquet", [{"reward_model": {"ground_truth": {"numbers": [9, 4, 7, 5], "target": 24}}}]),
        (
            "a.parquet",
            [{"reward_model": json.dumps({"ground_truth": json.dumps({"nums": [9, 4, 7, 5], "target": 24})})}],
        ),
        ("a.jsonl", [{"nums": [9, 4, 7, 5], "target": 24}]),
        ("a.jsonl", [{"nums": "[9, 4, 7, 5]", "target": "24"}]),
        ("a.jsonl", [{"reward_model": {"ground_truth": {"nums": [9, 4, 7, 5], "target": 24}}, "extra_info": "{}"}]),
        ("a.csv", 'target,nums\n24,"[9, 4, 7, 5]"\n'),
        ("a.csv", "numbers,target\n9 4 7 5,24\n"),
        ("a.csv", "numbers,target\n[9 4 7 5],24.0\n"),
        ("a.csv", '\ufeffnumbers,target\n"(9,4,7,5)",24\n'),
    ],
)
def test_spellings(tmp_path, name, rows):
    problems = read_problems(written(tmp_path, name, rows), split="eval")
    assert list(problems.columns) == PROBLEMS.names
    assert problems.to_dict("records") == [
        {"problem_id": "4_5_7_9-24", "numbers": [9, 4, 7, 5], "target": 24, "split": "eval"}
    ]


def test_order_repeats_and_own_splits_are_kept(tmp_path):
    rows = [
        {"nums": [1, 2], "target": 3, "split": "held_out"},
        {"nums": [1, 2], "target": 3},
        {"nums": [5, 2], "target": 3, "extra_info": {"split": "test"}},
    ]
    problems = read_problems(written(tmp_path, "a.jsonl", rows))
    assert problems["problem_id"].tolist() == ["1_2-3", "1_2-3", "2_5-3"]
    assert problems["split"].tolist() == ["held_out", "train", "test"]


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("a.jsonl", [{"nums": [1, 2], "target": 3}, {"nums": [1, 2]}], r"a.jsonl, row 2: no 'target'"),
        ("a.jsonl", [{"number": [1, 2], "target": 3}], r"row 1: no 'numbers' \(or nums\).*did you mean"),
        ("a.jsonl", [{"nums": [1], "target": 3}], r"nums must be 2 to 6 integers"),
        ("a.jsonl", [{"nums": [1] * 7, "target": 3}], r"nums must be 2 to 6 integers"),
        ("a.jsonl", [{"nums": [1, -2], "target": 3}], r"not negative"),
        ("a.jsonl", [{"nums": [1, 2.5], "target": 3}], r"nums must be an integer, not 2.5"),
        ("a.jsonl", [{"nums": [1, True], "target": 3}], r"nums must be an integer, not True"),
        ("a.jsonl", [{"nums": [1, 2], "target": "x"}], r"target must be an integer, not 'x'"),
        ("a.jsonl", [{"nums": [1, 2], "target": float("nan")}], r"target must be an integer, not nan"),
        ("a.jsonl", [{"nums": 12, "target": 3}], r"nums must be a list"),
        ("a.jsonl", [{"nums": "__import__('os')", "target": 3}], r"nums must look like \[4, 5, 7\] or 4 5 7"),
        ("a.jsonl", [[1, 2, 3]], r"a.jsonl, line 1: expected an object"),
        ("a.jsonl", [{"reward_model": "{"}], r"row 1: reward_model is not JSON"),
        ("a.jsonl", [{"reward_model": {"ground_truth": 24}}], r"reward_model.ground_truth must be a mapping"),
        ("a.csv", "numbers,target\n4 5,\n", r"a.csv, row 1: target must be an integer"),
        ("a.csv", "x,y\n1,2\n", r"a.csv, row 1: no 'numbers'"),
        ("a.csv", "numbers,target\n", r"holds no problems"),
        ("a.parquet", [{"x": 1}], r"a.parquet, row 1: no 'numbers'"),
    ],
)
def test_faults_name_file_row_and_key(tmp_path, name, rows, message):
    with pytest.raises(UserError, match=message):
        read_problems(written(tmp_path, name, rows))


def test_unreadable_files(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 cut")
    (tmp_path / "bad.jsonl").write_text('{"nums": [1, 2], "target": 3}\n{"nums":\n')
    (tmp_path / "latin.csv").write_bytes(b"numbers,target\n\xff,3\n")
    (tmp_path / "a.txt").write_text("4 5 24")
    for name, message in [
        ("cut.parquet", "cut.parquet is not a readable parquet file"),
        ("bad.jsonl", "bad.jsonl, line 2: not JSON"),
        ("latin.csv", "latin.csv cannot be read"),
        ("a.txt", "unknown kind '.txt'; use .parquet, .jsonl, .csv"),
        ("none.parquet", "none.parquet is no file"),
    ]:
        with pytest.raises(UserError, match=message):
            read_problems(tmp_path / name)


def test_hub_ids_must_be_pinned():
    for revision in (None, "main"):
        with pytest.raises(UserError, match="pin the hub dataset to a commit"):
            read_problems("someone/countdown", revision)
    with pytest.raises(UserError, match=r"(?s)someone/elsewhere.*offline"):
        read_problems("someone/elsewhere", COMMIT, offline=True)


def test_verl_rows_round_trip_through_parquet(tmp_path):
    problems = table([([9, 4, 7, 5], 24), ([1, 2, 3], 6)], "train")
    rows = to_verl_rows(problems)
    assert rows[0] == {
        "data_source": "countdown",
        "prompt": [{"role": "user", "content": "9 4 7 5 -> 24"}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": {"numbers": [9, 4, 7, 5], "target": 24}},
        "extra_info": {"split": "train", "index": 0},
    }
    write_verl_rows(problems, tmp_path / "rows.parquet")
    back = read_verl_rows(tmp_path / "rows.parquet")
    pd.testing.assert_frame_equal(back[PROBLEMS.names], problems)
    assert to_verl_rows(back) == rows
    assert back["prompt"].tolist() == [row["prompt"] for row in rows]


@pytest.mark.parametrize(
    "prompt",
    ["9 4 -> 5", [{"role": "user", "content": "9 4 -> 5"}], json.dumps([{"role": "user", "content": "9 4 -> 5"}])],
)
def test_verl_prompts(tmp_path, prompt):
    rows = [{"prompt": prompt, "reward_model": {"ground_truth": TRUTH}, "data_source": "tiny"}]
    for name in ("a.jsonl", "a.parquet"):
        read = read_verl_rows(written(tmp_path, name, rows))
        assert read["prompt"][0] == [{"role": "user", "content": "9 4 -> 5"}]
        assert read["data_source"][0] == "tiny"


@pytest.mark.parametrize(
    ("prompt", "message"),
    [(None, "prompt must be a list"), ([{"role": "user"}], "lacks role or content"), ([], "prompt must")],
)
def test_verl_prompt_faults(tmp_path, prompt, message):
    with pytest.raises(UserError, match=rf"row 1: .*{message}"):
        read_verl_rows(written(tmp_path, "a.jsonl", [{"prompt": prompt, **TRUTH}]))
