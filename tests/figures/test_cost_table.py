"""figures/cost.py: sums over benchmark files."""

import math

import pytest

from workflow_scripts.figures import cost
from workflow_scripts.records.errors import UserError

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time"


@pytest.fixture
def measured(tmp_path):
    def written(name, *rows, head=HEAD):
        path = tmp_path / name
        path.write_text("\n".join([head, *rows]) + "\n")
        return path

    return written


@pytest.fixture
def table(measured):
    return cost.costs(
        {
            "scores": [
                measured("a.tsv", "2.00\t0:00:02\t100.5\t1\t1\t1\t0\t0\t50.0\t1.0"),
                measured("b.tsv", "4.00\t0:00:04\t90.0\t1\t1\t1\t0\t0\t50.0\t2.5"),
            ],
            "base_policy": [measured("c.tsv", "178.55\t0:02:58\t391.9\t1\t1\t1\t0\t0\t75.25\t134.85")],
            "tiny": [measured("d.tsv", "0.01\t0:00:00\t-\t-\t-\t-\t-\t-\t0.00\t0.00")],
        }
    )


def test_jobs_are_summed_and_the_dearest_rule_comes_first(table):
    assert tuple(table.columns) == cost.COLUMNS
    assert list(table["rule"]) == ["base_policy", "scores", "tiny"]
    assert list(table.iloc[1]) == ["scores", 2, 6.0, 3.5, 4.0, 100.5]
    assert math.isnan(table.iloc[2]["peak_mb"])


def test_cpu_seconds_from_the_load_where_there_is_no_cpu_time(measured):
    head = HEAD.removesuffix("\tcpu_time")
    path = measured("old.tsv", "10.0\t0:00:10\t50\t1\t1\t1\t0\t0\t150.0", head=head)
    assert cost.costs({"x": [path]})["cpu_seconds"][0] == 15.0


def test_repeats_of_a_job_are_all_paid_for(measured):
    row = "2.0\t0:00:02\t50\t1\t1\t1\t0\t0\t50.0\t1.0"
    table = cost.costs({"x": [measured("twice.tsv", row, row)]})
    assert (table["jobs"][0], table["wall_seconds"][0]) == (1, 4.0)


def test_markdown_has_a_sum_and_says_that_times_differ(table):
    text = cost.markdown(table, unmeasured=["table1"])
    assert "| scores | 2 | 6.0 | 3.5 | 4.0 | 100 |" in text
    assert "| tiny | 1 | 0.0 | 0.0 | 0.0 | – |" in text
    assert "| **all** | 4 | 184.6 | 138.3 | 178.6 | 392 |" in text
    assert "not the same bytes each time" in text.replace("\n", " ")
    assert "Rules that are not measured: table1." in text
    assert "not measured" not in cost.markdown(table)


@pytest.mark.parametrize("content", ["", HEAD, "a\tb\n1\t2", f"{HEAD}\n-\t-\t-\t-\t-\t-\t-\t-\t-\t-", "\x00\x01"])
def test_a_spoilt_file_is_named(tmp_path, content):
    path = tmp_path / "spoilt.tsv"
    path.write_text(content)
    with pytest.raises(UserError, match=r"spoilt\.tsv"):
        cost.costs({"x": [path]})


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"gone\.tsv"):
        cost.costs({"x": [tmp_path / "gone.tsv"]})


def test_a_rule_without_jobs_costs_nothing():
    assert list(cost.costs({"x": []}).iloc[0][:4]) == ["x", 0, 0.0, 0.0]


def test_files_are_found_by_rule(tmp_path):
    for name in ("summary.tsv", "scores/evaluation/late.tsv", "scores/base.tsv", "scores/note.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = cost.benchmark_files(tmp_path)
    names = {rule: [str(path.relative_to(tmp_path)) for path in paths] for rule, paths in found.items()}
    assert names == {"scores": ["scores/base.tsv", "scores/evaluation/late.tsv"], "summary": ["summary.tsv"]}
    assert cost.benchmark_files(tmp_path / "none") == {}


def test_a_table_without_rows_still_reads():
    assert "| **all** | 0 | 0.0 | 0.0 | – | – |" in cost.markdown(cost.costs({}))
