"""Policies and data files from folders and from a hub that runs on this machine; nobody else opens a connection."""

import ast
import hashlib
import json
import shutil

import pytest
from hub_server import COMMIT, Hub, served

from workflow_scripts.records.downloads import fetch, fetch_dataset_file
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.hub import from_hub, is_hub_id

WEIGHTS = bytes(range(256)) * 4000
LARGE = bytes(range(256)) * 80_000
"""More than the 10 MB that the hub's client writes at a time."""
POLICY = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": b"{}",
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"a pickle",
    "modeling_own.py": b"raise SystemExit",
    "README.md": b"# card",
}
TAKEN = ["config.json", "model.safetensors", "tokenizer.json"]
ROWS = b'{"nums": [4, 6], "target": 24}\n'
NETWORK = {
    "huggingface_hub",
    "requests",
    "httpx",
    "httpx2",
    "aiohttp",
    "urllib3",
    "urllib.request",
    "http.client",
    "ftplib",
}
DOORS = {"records/hub.py"}
"""The module that may."""


def digest(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def hub(monkeypatch, tmp_path):
    sharded = json.dumps({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}).encode()
    series = {f"checkpoint-{step}/{name}": content for step in (25, 50) for name, content in POLICY.items()}
    repositories = {
        "models/own/policy": POLICY,
        "models/own/series": series | {"README.md": b"# card"},
        "models/own/large": {"config.json": b"{}", "model.safetensors": LARGE},
        "models/own/pickled": {name: POLICY[name] for name in ("config.json", "pytorch_model.bin")},
        "models/own/adapter": {"adapter_config.json": b"{}", "adapter_model.safetensors": WEIGHTS},
        "models/own/half": POLICY | {"model.safetensors.index.json": sharded, "model-1.safetensors": WEIGHTS},
        "datasets/own/problems": {"data/test.jsonl": ROWS},
    }
    with served(Hub(repositories, gated={"models/own/gated"})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        running.cache = tmp_path / "cache"
        yield running


@pytest.fixture
def fetched(hub, tmp_path):
    def call(source="own/policy", revision=COMMIT, **options):
        return fetch(source, revision=revision, target=tmp_path / "policy", cache=hub.cache, **options)

    return call


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def folder_of(path, files):
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def test_a_policy_of_the_hub_arrives_without_pickles_and_code(hub, fetched):
    folder = fetched(sha256={"model.safetensors": digest(WEIGHTS)})
    assert names(folder) == TAKEN
    assert {name: (folder / name).read_bytes() for name in TAKEN} == {name: POLICY[name] for name in TAKEN}
    assert not any(path.is_symlink() for path in folder.iterdir())
    links = {name: (folder / name).stat().st_nlink for name in TAKEN}
    assert links == {"config.json": 1, "model.safetensors": 2, "tokenizer.json": 1}  # with the hub's cache
    assert not [path for _, path, _ in hub.asked if path.endswith((".bin", ".py"))]


def test_one_checkpoint_of_a_series_is_taken_from_its_folder(hub, fetched):
    assert names(fetched("own/series", subfolder="checkpoint-50")) == TAKEN
    assert not [path for method, path, _ in hub.asked if method == "GET" and "checkpoint-25" in path]


def test_files_in_folders_below_are_found_where_asked_for(hub):
    folder, names = from_hub("own/problems", COMMIT, None, ("*.jsonl",), False, hub.cache, "dataset", recursive=True)
    assert names == ["data/test.jsonl"]
    assert (folder / names[0]).read_bytes() == ROWS
    assert from_hub("own/problems", COMMIT, None, ("*.jsonl",), True, hub.cache, "dataset", recursive=True) == (
        folder,
        names,
    )


def test_what_the_cache_holds_is_not_fetched_again(hub, fetched):
    fetched()
    before = len(hub.asked)
    fetched()
    assert not [path for method, path, _ in hub.asked[before:] if "/resolve/" in path and method == "GET"]


def test_an_interrupted_download_goes_on_where_it_stopped(hub, fetched):
    hub.cut_after["model.safetensors"] = 15_000_000
    folder = fetched("own/large")  # the hub's client takes up a broken transfer by itself
    assert (folder / "model.safetensors").read_bytes() == LARGE
    ranges = [asked for method, path, asked in hub.asked if method == "GET" and path.endswith("model.safetensors")]
    assert ranges[0] == ""
    assert int(ranges[1].removeprefix("bytes=").rstrip("-")) >= 10_000_000


def test_offline_the_cache_is_enough_and_nothing_is_asked(hub, fetched, monkeypatch):
    fetched()
    hub.asked.clear()
    assert names(fetched(offline=True)) == TAKEN
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert names(fetched()) == TAKEN
    assert hub.asked == []


@pytest.mark.parametrize("by", ["config", "environment"])
def test_offline_refuses_before_any_connection_and_says_what_to_run_elsewhere(hub, fetched, monkeypatch, by):
    if by == "environment":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match=rf"hf download own/series --revision {COMMIT} --include 'checkpoint-50/\*.sa"):
        fetched("own/series", subfolder="checkpoint-50", offline=by == "config")
    assert hub.asked == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"revision": None}, "needs its revision: a 40-digit commit, not None"),
        ({"revision": "main"}, "needs its revision: a 40-digit commit, not 'main'"),
        ({"source": "../no such place"}, "neither a folder nor a hub id"),
        ({"source": "../gone"}, "neither a folder nor a hub id"),
        ({"source": "own/none"}, "the hub has no public model own/none"),
        ({"source": "own/gated"}, "own/gated is gated: accept its terms"),
        ({"revision": "f" * 40}, f"own/policy has no commit {'f' * 40}"),
        ({"source": "own/series", "subfolder": "checkpoint-75"}, "has no folder checkpoint-75"),
        ({"source": "own/pickled"}, r"holds no \*.safetensors weights.*pytorch_model.bin; convert"),
        ({"source": "own/adapter"}, "holds no config.json, so it is no whole policy .an adapter: merge"),
        ({"source": "own/half"}, "model-2.safetensors is missing although model.safetensors.index.json lists it"),
        ({"sha256": {"model.safetensor": "0" * 64}}, "no file model.safetensor, .*did you mean 'model.safetensors'"),
        (
            {"sha256": {"config.json": "0" * 64}},
            f"SHA-256 of config.json is {digest(POLICY['config.json'])}, expected {'0' * 64}",
        ),
    ],
)
def test_what_cannot_be_fetched_is_refused_by_name(fetched, tmp_path, options, said):
    with pytest.raises(UserError, match=said):
        fetched(**options)
    assert not (tmp_path / "policy").exists()
    assert [path.name for path in tmp_path.iterdir() if "writing" in path.name] == []


def test_a_file_that_arrives_damaged_leaves_the_cache(hub, fetched):
    hub.damaged.add("model.safetensors")
    with pytest.raises(UserError, match=r"model\.safetensors arrived damaged .*the hub says " + digest(WEIGHTS)):
        fetched()
    hub.damaged.clear()
    assert (fetched() / "model.safetensors").read_bytes() == WEIGHTS


def test_a_hub_that_does_not_answer_is_told(hub, fetched, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"cannot reach http://127.0.0.1:9. .*\n.*hf download own/policy"):
        fetched()


def test_a_full_disk_is_told_before_the_first_byte(hub, fetched, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 10**6))
    with pytest.raises(UserError, match=r"needs 0.0 GB and 1 GB to spare in .*where 0.0 GB are free"):
        fetched()
    assert not [path for _, path, _ in hub.asked if "/resolve/" in path]


def test_a_folder_is_taken_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    here = folder_of(tmp_path / "given", POLICY | {"manifest.json": b"{}"})
    target = fetch(
        here, revision=None, target=tmp_path / "policy", sha256={"config.json": digest(POLICY["config.json"])}
    )
    assert names(target) == TAKEN
    # A trainer that writes its next checkpoint into the same files changes nothing of what was taken.
    for name in TAKEN:
        with (here / name).open("r+b") as handle:
            handle.write(b"*" * 10)
    assert {name: (target / name).read_bytes() for name in TAKEN} == {name: POLICY[name] for name in TAKEN}
    with pytest.raises(UserError, match="given has no folder checkpoint-3"):
        fetch(here, revision=None, subfolder="checkpoint-3", target=tmp_path / "policy")


def test_a_data_file_is_fetched_by_digest(hub, tmp_path):
    options = {"revision": COMMIT, "target": tmp_path / "test.jsonl", "cache": hub.cache}
    with pytest.raises(UserError, match=f"SHA-256 of data/test.jsonl is {digest(ROWS)}, expected {'1' * 64}"):
        fetch_dataset_file("own/problems", "data/test.jsonl", sha256="1" * 64, **options)
    with pytest.raises(UserError, match=r"holds no file data/tests.jsonl .did you mean 'test.jsonl'"):
        fetch_dataset_file("own/problems", "data/tests.jsonl", **options)
    got = fetch_dataset_file("own/problems", "data/test.jsonl", sha256=digest(ROWS), **options)
    assert got.read_bytes() == ROWS
    hub.asked.clear()
    assert fetch_dataset_file("own/problems", "data/test.jsonl", offline=True, **options).read_bytes() == ROWS
    with pytest.raises(UserError, match=r"hf download own/problems --type dataset"):
        fetch_dataset_file("own/problems", "data/train.jsonl", offline=True, **options)
    assert hub.asked == []


@pytest.mark.parametrize(
    ("source", "remote"),
    [("Qwen/Qwen2.5-3B", True), ("models/here", False), ("/srv/policy", False), ("policy", False), ("../a/b", False)],
)
def test_hub_ids_are_told_from_folders(tmp_path, monkeypatch, source, remote):
    folder_of(tmp_path / "models/here", {})
    monkeypatch.chdir(tmp_path)
    assert is_hub_id(source) is remote


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_other_module_opens_a_connection(project):
    package = project / "workflow_scripts"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for name in imported(path)
        if any(name == network or name.startswith(f"{network}.") for network in NETWORK)
    }
    assert "records/hub.py" in found
    assert found <= DOORS


def test_problems_come_from_a_data_set_of_the_hub(hub, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    from workflow_scripts.tasks.countdown.problem_files import read_problems

    hub.repositories["datasets/someone/countdown"] = {"data/train.jsonl": b'{"nums": [1, 2], "target": 3}\n'}
    hub.repositories["datasets/someone/empty"] = {"readme.txt": b"nothing"}
    assert read_problems("someone/countdown", COMMIT)["problem_id"].tolist() == ["1_2-3"]
    with pytest.raises(UserError, match=r"someone/empty"):
        read_problems("someone/empty", COMMIT)
