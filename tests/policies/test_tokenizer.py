import json

import pytest

from workflow_scripts.policies.tokenizer import Tokenizer, load_tokenizer, save_tokenizer
from workflow_scripts.records.errors import UserError

WORDS = [
    "<pad>",
    "<unk>",
    "<eos>",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    *["->", "try", "no", ".", ",", "=", "(", ")", "+", "-", "*", "/"],
]
WORDS += [str(n) for n in range(101)]
TEXTS = [
    "4 5 7 9 -> 24 <think>",
    "try 4 * 7 = 28 , 28 - 9 = 19 , 19 + 5 = 24 </think> <answer> 4 * 7 - 9 + 5 </answer> <eos>",
    "try 4 * 5 = 20 , 20 + 7 = 27 no . try ( 4 - 1 ) * 100 / 2",
    "4  5\n7 unheard 101 4*7",
    "",
]


def test_transformers_reads_the_same_ids_beside_both_architectures(tmp_path):
    transformers = pytest.importorskip("transformers")
    for model_type in ("llama", "qwen3"):
        folder = tmp_path / model_type
        tokenizer = save_tokenizer(WORDS, folder)
        (folder / "config.json").write_text(json.dumps({"model_type": model_type, "vocab_size": len(WORDS)}))
        theirs = transformers.AutoTokenizer.from_pretrained(folder)
        assert len(theirs) == len(tokenizer)
        for text in TEXTS:
            ids = tokenizer.encode(text)
            assert theirs(text)["input_ids"] == ids
            assert theirs.decode(ids) == " ".join(tokenizer.words[i] for i in ids)
            assert theirs.decode(ids, skip_special_tokens=True) == tokenizer.decode(ids)
        assert theirs.eos_token_id == tokenizer.end_id and theirs.pad_token_id == tokenizer.pad_id


def test_chat_template_opens_the_think_part(tmp_path):
    transformers = pytest.importorskip("transformers")
    save_tokenizer(WORDS, tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    question = {"role": "user", "content": "4 5 7 9 -> 24"}
    text = theirs.apply_chat_template([question], add_generation_prompt=True, tokenize=False)
    assert text == "4 5 7 9 -> 24 <think>"
    whole = theirs.apply_chat_template([question, {"role": "assistant", "content": "try 4"}], tokenize=False)
    assert whole == "4 5 7 9 -> 24 <think> try 4 <eos>"


def test_encode_and_decode_round_trip(tmp_path):
    saved = save_tokenizer(WORDS, tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer == saved == Tokenizer(tuple(WORDS))
    text = TEXTS[1].removesuffix(" <eos>")
    assert tokenizer.decode([*tokenizer.encode(text), tokenizer.end_id, tokenizer.pad_id]) == text
    assert tokenizer.encode("4 banana") == [tokenizer.encode("4")[0], tokenizer.unknown_id]
    with pytest.raises(UserError, match="banana"):
        tokenizer.encode_known("4 banana")


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["<pad>", "<unk>"], "<eos>"),
        ([*WORDS, "4"], "distinct"),
        ([*WORDS, "a b"], "white space"),
        ([*WORDS, ""], "white"),
    ],
)
def test_bad_vocabularies_are_refused(tmp_path, words, match):
    with pytest.raises(UserError, match=match):
        save_tokenizer(words, tmp_path / "t")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        "[]",
        '{"model": 3}',
        '{"model": {"type": "BPE", "vocab": {}}}',
        '{"model": {"type": "WordLevel", "vocab": {"a": 1}}}',
    ],
)
def test_bad_files_are_named(tmp_path, content):
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(UserError, match=r"tokenizer\.json"):
        load_tokenizer(tmp_path)
