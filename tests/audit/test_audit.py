"""audit/: what is checked of folders before a run, and the config that is written."""

import json
import shutil

import pytest
import yaml

from workflow_scripts import audit
from workflow_scripts.audit import checks, prepared, targets
from workflow_scripts.audit.config import Sizes
from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.settings import load
from workflow_scripts.tasks.countdown.text import VOCABULARY

TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"


def small(folder, seed=0, words=VOCABULARY):
    """A word-level policy as the workflow makes them, untrained."""
    save_policy(new_policy(Architecture(len(words), hidden=8, layers=2, heads=1, head_dim=8, mlp=8), seed), folder)
    save_tokenizer(words, folder)
    return folder


def tokenizer(template=None, more=(), special=()):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *more]
    inner = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>", additional_special_tokens=list(special))
    fast.chat_template = template
    return fast


def free(folder, kind="gpt2", context=2048, **options):
    """A tiny untrained GPT-2, Llama or Qwen3 with a byte-level tokenizer."""
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes = {"gpt2": {"n_embd": 8, "n_layer": 2, "n_head": 1, "n_positions": context}}.get(
        kind,
        {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8}
        | {"intermediate_size": 8, "max_position_embeddings": context},
    )
    fast = tokenizer(**options)
    ids = {"eos_token_id": len(fast) - 1, "bos_token_id": None, "pad_token_id": None}
    AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, vocab_size=300, **ids, **sizes)).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def policies(tmp_path_factory):
    """Folders made once, to be copied."""
    root = tmp_path_factory.mktemp("policies")
    return {"small": small(root / "small"), "late": small(root / "late", 1)} | {
        kind: free(root / kind, kind) for kind in ("gpt2", "llama", "qwen3")
    }


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_of(*folders, **options):
    return prepared([str(folder) for folder in folders], **({"sizes": Sizes()} | options))


def test_small_policies_are_known_by_their_words(place, policies):
    found = run_of(policies["small"], policies["late"], study="mine", cores=3)
    assert found.config.read_text().startswith("# An overlay of config/config.yaml")
    settings = load(found.config)
    assert settings.study == "mine" and settings.policy.wording == "laptop" and settings.policy.context == 128
    assert (settings.measures.contract, settings.measures.solution_set) == ("strict", "expressible")
    assert list(settings.lines) == ["own"] and settings.roads == {}
    line = settings.lines["own"]
    assert line.source == [str(policies["small"]), str(policies["late"])]
    assert (line.early, line.late, line.checkpoints) == (1, 2, [1, 2])
    assert settings.policy.source == line.source[0]
    assert settings.sampling.samples == 16 and settings.problems.evaluation == 20
    assert found.found[0]["longest_prompt"] == 7 and found.found[0]["model_type"] == "llama"
    assert not settings.maths.names and not settings.maths.pairs
    assert "results/mine/report.html" in found.config.read_text()
    assert found.call[1:4] == ["-m", "snakemake", "report"] and found.call[-2:] == ["--cores", "3"]
    assert found.call[found.call.index("--configfile") + 1] == "results/mine/audit.yaml"


@pytest.mark.parametrize("kind", ["gpt2", "llama", "qwen3"])
def test_others_are_asked_in_english(place, policies, kind):
    found = run_of(policies[kind], dry_run=True)
    settings = load(found.config)
    assert (settings.policy.wording, settings.measures.contract) == ("native", "paper_grpo")
    assert settings.measures.solution_set == "full" and settings.sampling.max_new_tokens == 256
    assert found.found[0]["asked_by"] == "plain text" and found.found[0]["longest_prompt"] > 400  # a byte a token
    assert "--dry-run" in found.call and "results/audit/likelihoods/base.parquet" in found.call
    assert settings.interventions.blocks == [[0, 1], [1, 2], None]


def test_the_papers_sizes(place, policies):
    settings = load(run_of(policies["gpt2"], sizes=Sizes(full=True, max_new_tokens=300)).config)
    assert (settings.problems.evaluation, settings.problems.tail, settings.sampling.samples) == (150, 800, 320)
    assert settings.sampling.max_new_tokens == settings.clamps.max_new_tokens == 300
    assert settings.measures.pass_at == [1, 4, 16, 64, 256, 320] and settings.interventions.samples == 64


def test_options_go_into_the_config(place, policies, monkeypatch):
    monkeypatch.setattr(audit, "find_spec", lambda name: name)  # as if vLLM were installed
    settings = load(
        run_of(
            policies["gpt2"], policies["gpt2"].parent / "gpt2" / ".." / "llama", template="feasible",
            contract="strict", engine="vllm", sizes=Sizes(evaluation=5, samples=6, max_new_tokens=32),
        ).config
    )  # fmt: skip
    assert (settings.policy.wording, settings.measures.contract, settings.sampling.engine) == (
        "feasible",
        "strict",
        "vllm",
    )
    assert settings.measures.pass_at == [1, 4, 6] and settings.problems.calibration == 2


def test_a_template_file_is_named_by_its_whole_path(place, policies):
    (place / "mine.yaml").write_text(yaml.safe_dump({"user": "{numbers} {target}", "chat": "plain"}))
    settings = load(run_of(policies["gpt2"], template="mine.yaml").config)
    assert settings.policy.wording == str(place / "mine.yaml") and settings.measures.contract == "strict"


def problem_file(path, count):
    rows = [{"nums": [1, 2, 3, at], "target": 9} for at in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_problems_of_a_file_are_dealt_out(place, policies):
    settings = load(
        run_of(policies["gpt2"], problems=problem_file(place / "p.jsonl", 30), sizes=Sizes(evaluation=10)).config
    )
    assert settings.problems.source == str(place / "p.jsonl")
    assert (settings.problems.evaluation, settings.problems.depth, settings.problems.tail) == (10, 12, 8)
    with pytest.raises(UserError, match="holds 10 different problems: 10 for evaluation leave 0"):
        run_of(policies["gpt2"], problems=problem_file(place / "q.jsonl", 10), sizes=Sizes(evaluation=10))


def test_what_is_asked_of_snakemake():
    assert targets("x", 2) == ["report"]
    assert all(target.startswith("results/x/") and "base" in target for target in targets("x", 1))


def spoilt(policies, tmp_path, change):
    folder = tmp_path / "spoilt"
    shutil.copytree(policies["gpt2"], folder)
    change(folder)
    return folder


def pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut_short(folder):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:-100])


def without_header(folder):
    (folder / "model.safetensors").write_bytes(b"\xff" * 20)


def adapter(folder):
    """An adapter's folder, without tokenizer."""
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    (folder / "adapter_config.json").write_text("{}")


def without_sizes(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({k: v for k, v in config.items() if k != "n_positions"}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pickled, r"pytorch_model\.bin, a pickle"),
        (lambda folder: (folder / "config.json").unlink(), r"has no config\.json"),
        (lambda folder: (folder / "config.json").write_text("{"), r"config\.json is damaged"),
        (without_sizes, "states no model_type, number of layers or longest"),
        (lambda folder: tokenizer(special=["</think>"]).save_pretrained(folder), "has </think> as a special token"),
        (lambda folder: [path.unlink() for path in folder.glob("tokenizer*")], "tokenizer"),
        (lambda folder: [path.unlink() for path in folder.iterdir()], "spoilt is empty; a policy folder holds"),
        (cut_short, r"model\.safetensors holds \d+ bytes, its header says \d+"),
        (without_header, r"model\.safetensors cannot be read"),
        (adapter, "it is an adapter; merge it into its base first"),
        (lambda folder: (adapter(folder), (folder / "config.json").write_text("{}")), "holds an adapter beside the w"),
        (lambda folder: (pickled(folder), [p.unlink() for p in folder.glob("tok*")]), r"pytorch_model\.bin, a pickle"),
    ],
)
def test_folders_that_are_refused(place, policies, change, message):
    with pytest.raises(UserError, match=message):
        run_of(spoilt(policies, place, change))
    assert not (place / "results").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": Sizes(max_new_tokens=0)}, "--max-new-tokens must be at least 1, not 0"),
        ({"sizes": Sizes(samples=0)}, "--samples must be at least 1, not 0"),
        ({"sizes": Sizes(samples=-4)}, "--samples must be at least 1, not -4"),
        ({"sizes": Sizes(evaluation=0)}, "at least 2 evaluation problems"),
        ({"cores": 0}, "--cores must be at least 1, not 0"),
        ({"engine": "vllm"}, "--engine vllm: vLLM is not installed here; make env-engines"),
    ],
)
def test_arguments_that_are_refused(place, policies, monkeypatch, options, message):
    monkeypatch.setattr(audit, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=message):
        run_of(policies["gpt2"], **options)
    assert not (place / "results").exists()


def test_a_template_with_an_answer_of_its_own_is_refused(place, policies):
    template = {"user": "{numbers} {target}", "before_answer": "\n<answer> "}
    (place / "mine.yaml").write_text(yaml.safe_dump(template))
    with pytest.raises(UserError, match=r"mine\.yaml: before_answer must not hold <answer> tags"):
        run_of(policies["gpt2"], template="mine.yaml")


def test_folders_that_cannot_be_one_line(place, policies):
    with pytest.raises(UserError, match="is given twice"):
        run_of(policies["gpt2"], policies["gpt2"])
    other = spoilt(policies, place, lambda folder: tokenizer(more=["Ġthe"]).save_pretrained(folder))
    with pytest.raises(UserError, match="have different vocabularies"):
        run_of(policies["gpt2"], other)
    shutil.rmtree(other)
    chat = spoilt(policies, place, lambda folder: tokenizer(TEMPLATE).save_pretrained(folder))
    with pytest.raises(UserError, match=r"is asked by plain text, .* by chat template"):
        run_of(policies["gpt2"], chat)
    assert run_of(chat).found[0]["asked_by"].startswith("chat template ")


def test_prompts_that_do_not_fit(place, policies):
    with pytest.raises(UserError, match=r"a prompt of \d+ tokens and 1900 new ones exceed its context of 2048"):
        run_of(policies["gpt2"], sizes=Sizes(max_new_tokens=1900))
    with pytest.raises(UserError, match=r"'You'.* is not in this policy's vocabulary"):
        run_of(policies["small"], template="native")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere", "nowhere is no folder; give one with"),
        ("owner/name", "pinned to its commit"),
        (f"owner/name@{'0' * 40}", "a dry run fetches nothing"),
    ],
)
def test_sources_that_are_no_folders(place, source, message):
    with pytest.raises(UserError, match=message):
        run_of(source, dry_run=True)


def test_a_hub_id_is_fetched_once(place, policies, monkeypatch):
    asked = []

    def fetch(source, *, revision, subfolder, target):
        asked.append((source, revision, subfolder))
        shutil.copytree(policies["small"], target)

    monkeypatch.setattr(checks, "fetch", fetch)
    source = f"owner/name@{'a' * 40}/checkpoint-25"
    first, second = run_of(source), run_of(source)
    assert asked == [("owner/name", "a" * 40, "checkpoint-25")] and first.config == second.config
    folder = load(first.config).policy.source
    assert folder.startswith(f"{place}/results/audit/fetched/owner--name-")
    # Another commit, folder or id in the same place of the same study is not given those files.
    others = [f"owner/name@{'b' * 40}/checkpoint-25", f"owner/name@{'a' * 40}", f"owner/other@{'a' * 40}/checkpoint-25"]
    found = {load(run_of(other).config).policy.source for other in others}
    assert len(found | {folder}) == 4 and len(asked) == 4
    with pytest.raises(UserError, match="is given twice"):
        run_of(source, source)
