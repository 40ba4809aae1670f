"""verl's files read by one reader: whole ones in full, cut off ones up to where they break unless that is an error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.records.verl_files import entries, lines, numbers_of_console

LOGGED = {"step": 1, "data": {"actor/entropy": 0.5}}
SAMPLE = {"input": "a", "output": "x", "score": 1}


def written(folder, *rows, end="\n"):
    path = folder / "3.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + end, encoding="utf-8")
    return path


def test_each_kind_by_hand(tmp_path):
    assert entries(written(tmp_path, LOGGED | {"more": 1}), "log", strict=True) == [LOGGED]
    assert entries(written(tmp_path, SAMPLE, end=""), "samples", strict=True) == [SAMPLE | {"score": 1.0}]
    assert entries(written(tmp_path, LOGGED, SAMPLE), "either", strict=False) == [LOGGED, SAMPLE | {"step": 3}]


@given(text=st.text(st.sampled_from("a\n\r\x0b\x1c\x85\u2028\u2029 ")), strict=st.booleans())
def test_what_a_sample_says_never_ends_its_line(tmp_path_factory, text, strict):
    """verl writes all but control characters as they are."""
    path = written(tmp_path_factory.getbasetemp(), SAMPLE | {"output": text}, SAMPLE)
    assert [row["output"] for row in entries(path, "samples", strict=strict)] == [text, "x"]


@pytest.mark.parametrize("kind", ["log", "samples", "either"])
def test_a_last_line_that_breaks_off_is_an_error_only_where_the_run_has_ended(tmp_path, kind):
    path = written(tmp_path, LOGGED | SAMPLE, end='\n{"step": 2, "da')
    assert len(entries(path, kind, strict=False)) == 1
    with pytest.raises(UserError, match=r"3\.jsonl, line 2: n"):
        entries(path, kind, strict=True)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("kind", "row", "told"),
    [
        ("log", {"step": 1}, r"line 1: not a line of verl's log \('data'\)"),
        ("log", {"step": "one", "data": {}}, "line 1: not a line of verl's log"),
        ("log", {"step": 1, "data": 3}, "line 1: not a line of verl's log"),
        ("samples", {"input": "a"}, r"line 1: not a sample of verl's records \(KeyError\('score'\)\)"),
        ("samples", [], "line 1: not a sample of verl's records"),
        ("either", {"step": 1}, r"line 1: neither of verl's log nor of its samples \(KeyError\('score'\)\)"),
        ("either", 3, "line 1: neither of verl's log nor of its samples"),
    ],
)
def test_a_line_of_another_kind_is_named(tmp_path, kind, row, told, strict):
    with pytest.raises(UserError, match=told):
        entries(written(tmp_path, row, LOGGED | SAMPLE), kind, strict=strict)


@pytest.mark.parametrize(
    ("strict", "told"), [(True, "is missing or unreadable: verl did not write it"), (False, "cannot be read: ")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, strict, told):
    with pytest.raises(UserError, match=told):
        lines(tmp_path / "gone.jsonl", strict=strict)


def test_bytes_that_are_no_text_are_replaced_unless_strict(tmp_path):
    path = tmp_path / "verl.log"
    path.write_bytes(b"loading \xff\nstep:1 - a:1\n")
    assert [numbers_of_console(line) for line in lines(path, strict=False)] == [None, (1, {"a": 1.0})]
    with pytest.raises(UserError, match="unreadable"):
        lines(path, strict=True)


def test_an_empty_file_has_no_lines(tmp_path):
    path = tmp_path / "empty"
    path.write_text("")
    assert lines(path, strict=True) == lines(path, strict=False) == []
    assert entries(path, "log", strict=True) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("step:3 - actor/entropy:0.27 - n:2", (3, {"actor/entropy": 0.27, "n": 2.0})),
        ("\x1b[36m(TaskRunner pid=7)\x1b[0m step:12 - a:np.float64(0.5)", (12, {"a": 0.5})),
        ("step:1 - note:text - a:1e-3", (1, {"a": 0.001})),
        ("step:1", None),
        ("epoch 1 loss 2", None),
    ],
)
def test_a_line_of_the_console_by_hand(line, told):
    assert numbers_of_console(line) == told
