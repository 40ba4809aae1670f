"""A cache that clones share: problem sets, solutions and the base policy are computed once."""

import pytest
from workspaces import Workspace, copy_sources, differing

pytestmark = pytest.mark.workflow

MADE = [  # by the three rules
    *(f"problems/{name}.parquet" for name in ("evaluation", "training", "depth", "tail")),
    "problems/overlaps.csv",
    *(f"solutions/{name}{part}.parquet" for name in ("evaluation", "depth", "tail") for part in ("", "_openings")),
    "policies/base/model.safetensors",
    "policies/base/tokenizer.json",
    "training/base.parquet",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("a shared cache")


@pytest.fixture(scope="module")
def first(tiny, cache, tmp_path_factory):
    """A study whose shared results went to the cache."""
    return study(tmp_path_factory.mktemp("first") / "work here", tiny, cache)


def study(folder, tiny, cache, sources=None):
    workspace = Workspace(folder, tiny.config, sources or tiny.sources)
    workspace.environment = {"SNAKEMAKE_OUTPUT_CACHE": str(cache)}
    workspace.snakemake("--cache", "--until", "solutions", "base_policy")
    return workspace


def test_results_of_the_cache_are_those_of_a_plain_run(first, tiny):
    for name in MADE:
        if name != "training/base.parquet":  # it holds seconds
            assert (first.results / name).read_bytes() == (tiny.results / name).read_bytes(), name
    for name in ("problem_sets", "base_policy", "solutions/evaluation", "solutions/depth", "solutions/tail"):
        assert (first.results / f"benchmarks/{name}.tsv").read_text().startswith("s\t"), name


def test_a_second_clone_recomputes_none_of_them_and_ends_with_the_same_tables(first, tiny, cache, tmp_path):
    clone = Workspace(tmp_path / "work here", tiny.config, copy_sources(tmp_path / "a second clone", tiny.sources))
    clone.environment = {"SNAKEMAKE_OUTPUT_CACHE": str(cache)}
    entries = set(cache.iterdir())
    said = clone.snakemake("--cache").stderr
    for name in MADE:
        fetched = clone.results / name
        assert fetched.resolve().is_relative_to(cache), name
        shown = fetched.parent if name.startswith("policies/") else fetched
        assert f"{shown.relative_to(clone.folder)}" in said
    # A job that runs writes its log; one that is fetched leaves it empty.
    for name in ("base_policy", "solutions/evaluation", "solutions/depth", "solutions/tail"):
        assert (first.results / f"logs/{name}.log").read_text() != "", name
        assert (clone.results / f"logs/{name}.log").read_text() == "", name
    assert set(cache.iterdir()) == entries
    assert differing(clone.tables(), tiny.tables()) == []
    assert clone.jobs("--cache") == []
    assert clone.jobs() == []


def test_another_seed_or_another_line_of_code_is_another_entry(first, tiny, cache, tmp_path):
    entries = set(cache.iterdir())
    edited = copy_sources(tmp_path / "edited", tiny.sources)
    with (edited / "workflow_scripts/policies/pretraining.py").open("a") as handle:
        handle.write("\nEDITED = 1\n")
    other = study(tmp_path / "work here", tiny, cache, sources=edited)
    assert (other.results / "logs/base_policy.log").read_text() != ""
    assert (other.results / "logs/solutions/evaluation.log").read_text() == ""
    assert {path.name.rpartition("_")[2] for path in set(cache.iterdir()) - entries} >= {"policy", "metrics.parquet"}


def test_going_on_without_the_cache_leaves_it_alone(first, cache, tmp_path):
    before = {path.name: path.stat().st_mtime_ns for path in cache.rglob("*")}
    own = first.copy(tmp_path / "work here")
    own.environment = {}
    own.snakemake("--until", "base_policy", "--forcerun", "base_policy")
    assert not (own.results / "policies/base").is_symlink()
    assert not (own.results / "training/base.parquet").is_symlink()
    assert {path.name: path.stat().st_mtime_ns for path in cache.rglob("*")} == before


def test_plain_runs_say_nothing_of_the_cache(tiny):
    done = tiny.snakemake("--lint")
    assert "cach" not in (done.stdout + done.stderr).lower()
    assert "cach" not in tiny.planned().lower()


@pytest.mark.parametrize(("place", "message"), [(None, "SNAKEMAKE_OUTPUT_CACHE"), ("no such folder", "no such folder")])
def test_a_cache_without_a_place_is_refused_before_anything_runs(tiny, tmp_path, place, message):
    workspace = Workspace(tmp_path / "work here", tiny.config, tiny.sources)
    workspace.environment = {"SNAKEMAKE_OUTPUT_CACHE": str(tmp_path / place)} if place else {}
    said = workspace.said("--cache")
    assert message in said
    assert "--cache" in said
    assert "Traceback" not in said
    assert not (workspace.folder / "results").exists()
