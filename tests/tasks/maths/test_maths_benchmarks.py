"""tasks/maths/benchmarks.py: six files with six sets of fields."""

import json

import pandas as pd
import pytest

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.maths_schemas import MATHS_PROBLEMS
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.maths.benchmarks import BENCHMARKS, LIMIT, read_benchmark, summary

ROWS = {
    "gsm8k": ({"question": "How many?", "answer": "2+2=<<2+2=4>>4\n#### 1,004", "idx": 7}, "gsm8k-0007", "1,004"),
    "math500": ({"problem": "Find $x$.", "answer": "\\frac{1}{2}", "unique_id": "test/a/1.json", "level": 3},
                "math500-0000", "\\frac{1}{2}"),
    "minerva_math": ({"problem": "How far?", "solution": "so \\boxed{\\frac{1}{2}} m", "idx": 0}, "minerva_math-0000",
                     "\\frac{1}{2}"),
    "olympiadbench": ({"id": 1606, "context": None, "question": "Which?", "final_answer": ["3", "5"]},
                      "olympiadbench-1606", "3, 5"),
    "amc23": ({"id": 3, "problem": "What?", "question": "What?", "answer": 27.0}, "amc23-0003", "27"),
    "aime24": ({"id": 60, "problem": "What?", "question": "What?", "answer": "025"}, "aime24-0060", "025"),
}  # fmt: skip


def written(folder, rows, name="rows.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", BENCHMARKS)
def test_fields_of_each(name, tmp_path):
    row, problem_id, gold = ROWS[name]
    frame = read_benchmark(name, written(tmp_path, [row]))
    assert frame.columns.tolist() == MATHS_PROBLEMS.names
    found = frame.iloc[0]
    assert (found["benchmark"], found["problem_id"], found["gold"]) == (name, problem_id, gold)
    assert found["question"] == row.get("question", row.get("problem"))
    assert found["level"] == ("3" if name == "math500" else None)


def test_the_table_can_be_stored(tmp_path):
    frames = [read_benchmark(name, written(tmp_path, [row], f"{name}.jsonl")) for name, (row, _, _) in ROWS.items()]
    path = tmp_path / "problems.parquet"
    write_table(pd.concat(frames), path, MATHS_PROBLEMS)
    manifests.write([path], [], {})
    assert read_table(path, MATHS_PROBLEMS)["problem_id"].is_unique


def test_first_ones_by_id_as_numbers(tmp_path):
    rows = [{"question": f"q{n}", "answer": f"#### {n}", "idx": n} for n in (10, 9, 100, 2)]
    assert read_benchmark("gsm8k", written(tmp_path, rows), limit=3)["gold"].tolist() == ["2", "9", "10"]


def test_without_an_id_the_place_in_the_file_counts(tmp_path):
    rows = [{"question": "a", "answer": "#### 1"}, {"question": "b", "answer": "#### 2"}]
    assert read_benchmark("gsm8k", written(tmp_path, rows))["problem_id"].tolist() == ["gsm8k-0000", "gsm8k-0001"]


def test_other_formats(tmp_path):
    rows = [{"question": "a\u2028b", "answer": "#### 1"}, {"question": "c", "answer": "#### 2"}]
    expected = read_benchmark("gsm8k", written(tmp_path, rows))
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    for name in ("rows.json", "rows.parquet"):
        pd.testing.assert_frame_equal(read_benchmark("gsm8k", tmp_path / name), expected)


def test_context_comes_before_the_question(tmp_path):
    row = {"id": 1, "context": " Given A. ", "question": "Find B.", "final_answer": ["2"]}
    assert read_benchmark("olympiadbench", written(tmp_path, [row]))["question"].item() == "Given A.\nFind B."


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("gsm8k", [{"question": "a", "answer": "no mark"}], r"row 1 .*answer has no answer after ####"),
        ("gsm8k", [{"question": "a", "answer": "####  "}], "no answer after ####"),
        ("gsm8k", [{"question": "a"}], "row 1 .* has no answer; it has question"),
        ("gsm8k", [{"question": " ", "answer": "#### 1"}], "has no text in question"),
        ("gsm8k", [{"question": "a", "answer": "#### 1", "idx": 3}] * 2, "rows 1 and 2 have one id, 3"),
        ("gsm8k", [{"question": "a", "answer": "#### 1", "idx": "x"}], "idx must be a whole number"),
        ("gsm8k", [{"question": "a", "answer": "#### 1", "idx": -1}], "idx must be a whole number"),
        ("gsm8k", [[1]], "row 1 .* is not an object"),
        ("gsm8k", [], "holds no problems"),
        ("math500", [{"problem": "a", "answer": ""}], "answer is empty"),
        ("math500", [{"problem": "a", "answer": True}], "neither text nor a number"),
        ("minerva_math", [{"problem": "a", "solution": "\\boxed{1"}], "closed .*an unclosed box"),
        ("olympiadbench", [{"question": "a", "final_answer": []}], "not a list of answers"),
        ("olympiadbench", [{"question": "a", "final_answer": 3}], "not a list of answers"),
        ("olympiadbench", [{"question": "a", "final_answer": {"x": "3"}}], "row 1 .*not a list of answers"),
        (
            "olympiadbench",
            [{"question": "a", "final_answer": [float("nan")]}],
            "final_answer is nan, no number",
        ),
        ("amc23", [{"question": "a", "answer": float("inf")}], r"row 1 \(benchmark amc23\): answer is inf, no number"),
        ("math500", [{"problem": "a \ud83d", "answer": "1"}], "row 1 .* holds half a character"),
        ("math500", [{"problem": "a", "answer": "\udc00"}], "row 1 .* holds half a character"),
    ],
)
def test_bad_rows_are_named(name, rows, message, tmp_path):
    with pytest.raises(UserError, match=message) as told:
        read_benchmark(name, written(tmp_path, rows))
    assert "rows.jsonl" in str(told.value)


def test_bad_files_and_names(tmp_path):
    good = written(tmp_path, [ROWS["gsm8k"][0]])
    with pytest.raises(UserError, match="did you mean 'gsm8k'"):
        read_benchmark("gsm8", good)
    with pytest.raises(UserError, match="does not exist"):
        read_benchmark("gsm8k", tmp_path / "nothing.jsonl")
    with pytest.raises(UserError, match="limit must be 1 to 500, not 501"):
        read_benchmark("gsm8k", good, limit=LIMIT + 1)
    with pytest.raises(UserError, match="not the pinned 00"):
        read_benchmark("gsm8k", good, sha256="00")
    assert len(read_benchmark("gsm8k", good, sha256=manifests.sha256(good))) == 1
    (tmp_path / "bad.jsonl").write_text('{"question": "a"}\n{oops\n')
    with pytest.raises(UserError, match=r"row 1|line 2 is not JSON"):
        read_benchmark("gsm8k", tmp_path / "bad.jsonl")
    (tmp_path / "bad.parquet").write_bytes(b"x")
    with pytest.raises(UserError, match="cannot be read"):
        read_benchmark("gsm8k", tmp_path / "bad.parquet")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_a_byte_order_mark_is_no_part_of_the_file(name, tmp_path):
    row = json.dumps(ROWS["gsm8k"][0])
    (tmp_path / name).write_text(row, encoding="utf-8-sig")
    assert read_benchmark("gsm8k", tmp_path / name)["gold"].item() == "1,004"


def test_summary_counts_words(tmp_path):
    frame = read_benchmark("gsm8k", written(tmp_path, [ROWS["gsm8k"][0], {"question": "a b c d", "answer": "#### 1"}]))
    assert summary(frame).to_dict("records") == [{"benchmark": "gsm8k", "problems": 2, "words": 3.0}]


PUBLISHED = {"gsm8k": 1319, "math500": 500, "minerva_math": 272, "olympiadbench": 675, "amc23": 40, "aime24": 30}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_files(name, project):
    path = project.parent / "shared/data/maths" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the published files are not here")
    frame = read_benchmark(name, path)
    assert len(frame) == min(PUBLISHED[name], LIMIT)
    assert frame["problem_id"].is_unique
    assert frame[["question", "gold"]].map(lambda text: bool(text.strip())).all(axis=None)
    assert not frame["gold"].str.contains("####|boxed", regex=True).any()
