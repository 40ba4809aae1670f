"""Demonstrations as verl's supervised trainer reads them."""

import pytest
from foreign_folders import tokenizer

from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.policies.verl_engine.sft_texts import whole_texts
from workflow_scripts.records.errors import UserError

SHOWN = [
    (
        "Using 4, 7 and 12, make 16.\n<think>",
        "Let me try: 4 * 7 = 28, 28 - 12 = 16 </think>\n<answer> 4 * 7 - 12 </answer>",
    )
]


def test_the_small_policies_words_are_parted_by_spaces_and_ended(tmp_path):
    save_tokenizer((*SPECIAL, "how", "many", "?", "<think>", "two"), tmp_path)
    shown = [("how many ? <think>", "two two"), ("how ? <think>", "two")]
    found = whole_texts(shown, load_any_tokenizer(tmp_path))
    assert found == [("how many ? <think>", " two two <eos>", 4, 3), ("how ? <think>", " two <eos>", 3, 2)]
    with pytest.raises(UserError, match="'three'"):
        whole_texts([("how ?", "three")], load_any_tokenizer(tmp_path))


@pytest.mark.parametrize("begin", [None, "<|begin|>"])
def test_other_policies_are_trained_on_the_ids_that_they_are_scored_on(tmp_path, begin):
    """Also message by message, as verl reads them, and with the beginning token that the tokenizer puts there."""
    made = tokenizer(tmp_path, begin=begin)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    reader = load_any_tokenizer(tmp_path)
    (text,) = whole_texts(SHOWN, reader)
    given, said = reader.join(*SHOWN[0])
    ids = [made(part, add_special_tokens=False)["input_ids"] for part in (text.asked, text.answered)]
    assert ids == [list(given), [*said, reader.end_id]]
    assert (text.prompt_tokens, text.tokens) == tuple(map(len, ids))
    assert made(text.asked + text.answered, add_special_tokens=False)["input_ids"] == ids[0] + ids[1]
    assert text.asked.startswith(begin or "Using")


def test_a_token_over_the_joint_is_refused(tmp_path):
    tokenizer(tmp_path)
    with pytest.raises(UserError, match="is one token"):
        whole_texts([("Let me tr", "y: 4 * 7")], load_any_tokenizer(tmp_path))
