"""policies/foreign_tokenizer.py: boundaries, bytes of one letter, end and begin tokens of byte-level tokenizers."""

import json

import pytest
from foreign_folders import TEXTS, tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from workflow_scripts.policies.foreign_tokenizer import ForeignTokenizer, WordLevel, load_any_tokenizer, word_level
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.errors import UserError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("byte level")
    tokenizer(path)
    return path


@pytest.fixture(scope="module")
def loaded(folder):
    return load_any_tokenizer(folder)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    path = tmp_path_factory.mktemp("word level")
    save_tokenizer((*SPECIAL, "try", "4", "*", "7"), path)
    return load_any_tokenizer(path)


def test_the_small_tokenizer_is_read_as_before(words):
    assert isinstance(words, WordLevel) and isinstance(words.end_id, int)
    assert words.end_ids == (words.end_id,)
    assert words.join("4  7", "try 4") == ((4, 6), (3, 4))
    assert words.straddling("4", "7") == ""
    assert words.spans("4 7", " try  4 * ") == [(1, 4), (6, 7), (8, 9)]


def test_any_other_is_transformers(loaded, folder):
    assert isinstance(loaded, ForeignTokenizer) and not word_level(folder)
    assert loaded.end_ids == (0,) and loaded.end_id == 0 and loaded.start_ids == ()
    assert len(loaded.words) == len(loaded) and loaded.words[0] == "<|end|>"


def test_special_tokens_in_a_text_are_parsed_and_not_said(loaded):
    ids = loaded.encode_known("<|user|>4 * 7<|stop|>")
    assert ids[0] == 1 and ids[-1] == 2
    assert loaded.decode(ids) == "4 * 7"
    assert [loaded.piece(token) for token in (1, *loaded.encode_known(" 7"))] == ["<|user|>", " 7"]


def test_no_space_is_lost_where_a_completion_begins(loaded):
    for said in (" 4 * 7", "4", "\n<answer> 4 </answer>", "  4  ", "no . clean up 's"):
        assert loaded.decode([*loaded.encode_known(said), 0]) == said


TEXT = st.text(st.sampled_from("47 *=,\n<>think/é✓ü"), max_size=20)


@settings(max_examples=150)
@given(prompt=TEXT, said=TEXT)
def test_what_is_joined_is_the_whole_and_what_is_not_straddles(loaded, prompt, said):
    whole = tuple(loaded.encode_known(prompt + said))
    token = loaded.straddling(prompt, said)
    if token:
        with pytest.raises(UserError, match="is one token"):
            loaded.join(prompt, said)
        assert token in prompt + said
        return
    given, continued = loaded.join(prompt, said)
    assert given == tuple(loaded.encode_known(prompt)) and given + continued == whole
    spans = loaded.spans(prompt, said)
    assert len(spans) == len(continued)
    assert {at for start, end in spans for at in range(start, end)} == set(range(len(said)))
    assert loaded.decode(given + continued) == prompt + said


def test_a_boundary_inside_a_token_is_named(loaded):
    assert loaded.straddling("Let me tr", "y: 4") == " try"
    with pytest.raises(UserError, match=r"'Let me tr' and 'y: 4'.*' try' is one token"):
        loaded.join("Let me tr", "y: 4")
    assert loaded.straddling("Let me", " try: 4") == ""
    with pytest.raises(UserError, match="' try'"):  # a space left behind belongs to the next word
        loaded.join("Let me ", "try")


def test_bytes_of_one_letter_all_cover_it(loaded):
    ids, spans = loaded.encode_known("4 Ω"), loaded.spans("4", " Ω")
    assert len(ids) == 4 and spans == [(0, 1), (1, 2), (1, 2)]  # Ω is two bytes and in no merge
    assert loaded.decode(ids) == "4 Ω"


def test_a_beginning_token_is_added_where_the_tokenizer_does_and_once(tmp_path):
    tokenizer(tmp_path, begin="<|begin|>")
    loaded = load_any_tokenizer(tmp_path)
    (start,) = loaded.start_ids
    assert loaded.piece(start) == "<|begin|>"
    assert loaded.encode_known("4 * 7")[0] == start and loaded.encode_known("4 * 7").count(start) == 1
    assert loaded.encode_known("<|begin|>4 * 7") == loaded.encode_known("4 * 7")
    given, said = loaded.join("4", " * 7")
    assert given[0] == start and start not in said
    assert loaded.spans("4", " * 7") == [(0, 2), (2, 4)]


@pytest.mark.parametrize(
    ("generation", "config", "ends"),
    [
        (None, {}, (0,)),
        ({"eos_token_id": 2}, {}, (0, 2)),
        ({"eos_token_id": [2, 0, 1], "temperature": 0.1}, {"eos_token_id": 5}, (0, 2, 1)),
    ],
)
def test_every_end_token_ends(tmp_path, generation, config, ends):
    tokenizer(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"} | config))
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation))
    loaded = load_any_tokenizer(tmp_path)
    assert loaded.end_ids == ends
    assert loaded.decode([*loaded.encode_known("4"), *ends]) == "4"


def test_fingerprints_tell_who_splits_alike(tmp_path, loaded):
    for name, merges in (("same", 60), ("fewer", 40)):
        (tmp_path / name).mkdir()
        tokenizer(tmp_path / name, merges=merges, padding_side="right", model_max_length=33)
    same, fewer = (load_any_tokenizer(tmp_path / name) for name in ("same", "fewer"))
    assert same.fingerprint == loaded.fingerprint != fewer.fingerprint


def saved(folder, inner, **changes):
    PreTrainedTokenizerFast(tokenizer_object=inner, **({"eos_token": "<|end|>"} | changes)).save_pretrained(folder)
    return folder


def characters():
    letters = sorted({letter for text in [*TEXTS, "(5)"] for letter in text})
    return Tokenizer(models.WordLevel({"<|end|>": 0, **{letter: at + 1 for at, letter in enumerate(letters)}}))


def test_a_tokenizer_that_loses_text_is_refused(tmp_path):
    inner = characters()
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split("", "isolated")]
    )
    with pytest.raises(UserError, match=r"reads 'a = 4 \* 7 - 28,\\n\(5\)' back as"):
        load_any_tokenizer(saved(tmp_path, inner))


def test_what_a_vocabulary_cannot_spell_is_named(tmp_path):
    inner = Tokenizer(models.WordLevel({"<|end|>": 0, "?": 1, "4": 2}, unk_token="?"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    assert load_any_tokenizer(saved(tmp_path, inner, unk_token="?")).start_ids == ()
    loaded = load_any_tokenizer(saved(tmp_path, inner, unk_token="?"))
    assert loaded.encode_known("4 4 ?") == [2, 2, 1]
    with pytest.raises(UserError, match="cannot spell all of '4 5'"):
        loaded.encode_known("4 5")


@pytest.mark.parametrize(
    ("file", "content", "match"),
    [
        ("tokenizer.json", b"{", "cannot read the tokenizer"),
        ("generation_config.json", b"[", "generation_config.json is damaged"),
        ("generation_config.json", b"[1]", "holds no object"),
        ("generation_config.json", b'{"eos_token_id": [-4]}', "-4 is no id"),
    ],
)
def test_damaged_files_are_named(tmp_path, file, content, match):
    tokenizer(tmp_path)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(UserError, match=match) as caught:
        load_any_tokenizer(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_tokenizer_without_end_is_refused(tmp_path):
    tokenizer(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "eos_token"}))
    (tmp_path / "special_tokens_map.json").unlink(missing_ok=True)
    with pytest.raises(UserError, match="names an end token"):
        load_any_tokenizer(tmp_path)
