"""Interpolation, mixing and settings of samples with transformers models of one line."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from foreign_folders import save, tokenizer
from safetensors.torch import load_file, save_file

from workflow_scripts.policies.decoding import decode
from workflow_scripts.policies.foreign_model import ForeignPolicy, load_foreign
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.interpolation import interpolated, load_pair, refuse_other_words
from workflow_scripts.policies.interventions import run_settings, settings_of
from workflow_scripts.policies.mixing import STRATEGIES, Mixture, mixture
from workflow_scripts.policies.readers import reading
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.seeds import sample_keys

KINDS = {"gpt2": "transformer.h", "qwen3": "model.layers", "llama": "model.layers"}
PROMPT = "<|user|>Using the numbers 4, 7 and 12, make 28.<|stop|>\nLet me try:"
DRAWING = {"temperature": 0.8, "top_p": 0.9, "max_new_tokens": 10}


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    torch.set_num_threads(1)
    at = tmp_path_factory.mktemp("lines")
    return {kind: [save(at / f"{kind} {seed}", kind, seed=seed) for seed in (1, 2)] for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_is_interpolated(lines, kind):
    late, early = load_pair(*lines[kind])
    assert isinstance(late, ForeignPolicy) and late.blocks == (KINDS[kind], 2)
    before = {name: tensor.clone() for name, tensor in late.tensors().items()}
    for alpha, blocks in ((0, None), (1, None), (0.25, None), (0.5, (1, 2)), (1, (0, 1))):
        made = interpolated(late, early, alpha, blocks).tensors()
        for name, tensor in made.items():
            inside = blocks is None or name.startswith(f"{KINDS[kind]}.{blocks[0]}.")
            a = alpha if inside else 0
            wanted = before[name] + a * (early.tensors()[name] - before[name])
            wanted = early.tensors()[name] if a == 1 else wanted
            torch.testing.assert_close(tensor, wanted, atol=0 if a in (0, 1) else 1e-6, rtol=0)
    assert all(torch.equal(tensor, before[name]) for name, tensor in late.tensors().items())
    with pytest.raises(UserError, match="range of the policy's 2 blocks"):
        interpolated(late, early, 0.5, (1, 3))


def test_a_tied_embedding_stays_one_tensor_and_an_untied_head_moves_by_itself(lines):
    for kind, tied in (("gpt2", True), ("qwen3", True), ("llama", False)):
        late, early = load_pair(*lines[kind])
        model = interpolated(late, early, 0.5).model
        head, embedding = model.get_output_embeddings().weight, model.get_input_embeddings().weight
        assert (head.data_ptr() == embedding.data_ptr()) == tied
        both = [policy.model.get_output_embeddings().weight for policy in (late, early)]
        torch.testing.assert_close(head, (both[0] + both[1]) / 2)


def test_sixteen_bits_are_added_in_thirty_two(lines):
    late, early = load_pair(*lines["llama"])
    late, early = late.copy(), early.copy()
    for policy in (late, early):
        policy.model.to(torch.bfloat16)
    name = "model.layers.0.mlp.up_proj.weight"
    made = interpolated(late, early, 0.3).tensors()[name]
    exact = late.tensors()[name].float() + 0.3 * (early.tensors()[name].float() - late.tensors()[name].float())
    assert made.dtype == torch.bfloat16 and torch.equal(made, exact.to(torch.bfloat16))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"rope_theta": 7.0, "rope_parameters": {"rope_type": "default", "rope_theta": 7.0}}, "rope"),
        ({"rms_norm_eps": 0.1}, "rms_norm_eps is 1e-06 and 0.1"),
        ({"max_position_embeddings": 99}, "max_position_embeddings is 160 and 99"),
    ],
)
def test_other_architectures_are_refused(lines, tmp_path, changes, match):
    late, _ = lines["llama"]
    shutil.copytree(late, tmp_path / "other")
    config = json.loads((late / "config.json").read_text()) | changes
    (tmp_path / "other/config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=match):
        load_pair(late, tmp_path / "other")


def test_other_kinds_are_refused(lines):
    with pytest.raises(UserError, match="other architectures cannot be interpolated"):
        load_pair(lines["llama"][0], lines["qwen3"][0])


def test_other_tokenizers_are_refused(lines, tmp_path):
    late, early = lines["gpt2"]
    refuse_other_words(late, early)
    shutil.copytree(early, tmp_path / "other")
    tokenizer(tmp_path / "other", merges=40)
    with pytest.raises(UserError, match="different vocabularies: word"):
        refuse_other_words(late, tmp_path / "other")
    tokenizer(tmp_path / "other", begin=None)
    stated = json.loads((tmp_path / "other/tokenizer.json").read_text())
    stated["model"]["merges"] = stated["model"]["merges"][::-1]
    (tmp_path / "other/tokenizer.json").write_text(json.dumps(stated))
    with pytest.raises(UserError, match="split texts into other tokens"):
        load_pair(late, tmp_path / "other")


def test_a_tied_head_that_differs_is_refused(lines, tmp_path):
    late, early = lines["qwen3"]
    shutil.copytree(early, tmp_path / "other")
    file = tmp_path / "other/model.safetensors"
    weights = load_file(file)
    embedding = weights["model.embed_tokens.weight"]
    save_file(weights | {"lm_head.weight": embedding.clone()}, file, {"format": "pt"})
    load_pair(late, tmp_path / "other")
    save_file(weights | {"lm_head.weight": embedding + 1}, file, {"format": "pt"})
    with pytest.raises(UserError, match=r"lm_head\.weight is another tensor"):
        load_pair(late, tmp_path / "other")


def said(policy, ids, reader=reading, samples=12, **changes):
    keys = sample_keys("mixing", samples=range(samples))[None]
    return decode(policy, [ids], keys, **(DRAWING | changes), eos_id=0, reader=reader, log_probs=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_are_those_of_the_rule(lines, kind, strategy):
    late, early = map(load_foreign, lines[kind])
    own = load_any_tokenizer(lines[kind][0])
    rule = mixture(early, own.words, alpha=0.6, strategy=strategy, piece=own.piece)
    assert rule.close_id is None
    call = {"temperature": 1, "top_p": 1, "max_new_tokens": 6}
    closed = set()
    for before in (" 4 * 7</think", " 4 * 7</think>"):
        ids = own.encode_known(PROMPT + before)
        closed |= told_apart(late, early, own, ids, said(late, ids, rule, **call), strategy)
    assert closed == {False, True}


def told_apart(late, early, own, ids, found, strategy):
    """Checks what was found beside plain forward passes; whether `</think>` had been said, wherever it was asked."""
    closed = set()
    for tokens, length, values in zip(found.tokens[0].tolist(), found.lengths[0], found.log_probs[0], strict=True):
        text = torch.tensor([[*ids, *tokens[:length]]])
        with torch.no_grad():
            a, b = (policy.model(text).logits[0, len(ids) - 1 : -1] for policy in (late, early))
        for place in range(length):
            over = "</think>" in "".join(map(own.piece, text[0, : len(ids) + place].tolist()))
            closed.add(over)
            p = a[place].softmax(-1)
            share = {
                "global": 0.6,
                "reasoning": 0.0 if over else 0.6,
                "answer": 0.6 if over else 0.0,
                "entropy_adaptive": 0.6 * float(-(p * p.log()).sum()) / np.log(late.vocabulary),
            }[strategy]
            wanted = ((1 - share) * a[place] + share * b[place]).log_softmax(-1)[tokens[place]]
            assert values[place] == pytest.approx(float(wanted), abs=5e-5)
    return closed


def test_the_end_of_thinking_is_found_in_several_tokens(lines):
    late, early = map(load_foreign, lines["gpt2"])
    own = load_any_tokenizer(lines["gpt2"][0])
    rule = Mixture(early, 0.5, "reasoning", None, own.piece)
    reader = rule(late)
    rows = [own.encode_known(text) for text in ("a</think>b", "a</thinkxb", "</</think>")]
    length = max(map(len, rows))
    rows = np.array([row + [3] * (length - len(row)) for row in rows])
    for position in range(length):
        reader.step(rows[:, position], position, logits=False)
    assert reader.closed[:3].tolist() == [True, False, True]
    reader.copy(np.array([0]), np.array([3]), length)
    assert reader.closed[:4].tolist() == [True, False, True, True]
    with pytest.raises(UserError, match="lacks the word"):
        mixture(early, own.words, alpha=0.5, strategy="global")
    with pytest.raises(UserError, match="text of its tokens"):
        Mixture(early, 0.5, "reasoning", None)


def test_settings_of_any_line(lines):
    late, early = lines["llama"]
    requests = pd.DataFrame({"problem_id": "a", "text": PROMPT, "prefix": "", "sample": range(6)})
    shared = {"policy": "late", "partner": "early"}
    rows = [
        {"setting": "plain", "policy": "late"},
        {"setting": "none of it", "change": "interpolation", "alpha": 0, **shared},
        {"setting": "blocks", "change": "interpolation", "alpha": 0.5, "blocks": [0, 1], **shared},
        {"setting": "all of it", "change": "interpolation", "alpha": 1, **shared},
        {"setting": "mixed", "change": "mixing", "alpha": 0.5, "strategy": "reasoning", **shared},
        {"setting": "unmixed", "change": "mixing", "alpha": 0, **shared},
        {"setting": "half", "change": "checkpoints", "share": 0.5, **shared},
    ]
    call = {"temperature": 0.8, "top_p": 0.9, "max_new_tokens": 8, "study_seed": 1}
    table = run_settings({"late": late, "early": early}, {"plain": requests}, settings_of(rows), **call).to_pandas()
    told = {name: part["completion"].tolist() for name, part in table.groupby("policy")}
    assert told["plain"] == told["none of it"] == told["unmixed"]
    assert all(told[name] != told["plain"] for name in ("blocks", "all of it", "mixed", "half"))
    assert told["half"][3:] == told["plain"][3:]
    early_alone = run_settings({"late": early}, {"plain": requests}, settings_of(rows[:1]), **call).to_pandas()
    assert told["all of it"] == early_alone["completion"].tolist()
