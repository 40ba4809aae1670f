import pandas as pd

from workflow_scripts.figures.cost import costs
from workflow_scripts.records.usage import write_usage


def test_a_job_measures_itself_as_snakemake_would(tmp_path):
    path = tmp_path / "benchmarks" / "base_policy.tsv"
    write_usage(path)
    first = pd.read_csv(path, sep="\t").iloc[0]
    sum(range(3_000_000))
    write_usage(path)
    second = pd.read_csv(path, sep="\t").iloc[0]
    assert 0 < first["cpu_time"] < second["cpu_time"] < first["cpu_time"] + 60
    assert 0 < first["s"] < second["s"]
    assert 20 < second["max_rss"] < 100_000
    assert costs({"base_policy": [path]})["cpu_seconds"].tolist() == [second["cpu_time"]]
