"""policies/rendering.py: chat templates applied once, and what is refused."""

import json

import pytest

from workflow_scripts.policies.rendering import prompter, rendering
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.countdown.wording import LAPTOP, Wording, wording

NATIVE = wording("native")
SYSTEM, USER, PREFILL = NATIVE.conversation([4, 5, 7, 9], 24)

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
REASONING = CHATML.replace("assistant\n{%", "assistant\n<think>\n{%")
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + CHATML


def folder_of(path, template):
    """A folder with a byte-level tokenizer: 256 tokens and three special ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_end|>", additional_special_tokens=["<|im_start|>"]
    )
    if template:
        fast.chat_template = template
    fast.save_pretrained(path)
    (path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    return path


def test_messages_are_wrapped_once_and_the_answer_is_begun(tmp_path):
    folder = folder_of(tmp_path, CHATML)
    assert prompter(folder, NATIVE)([4, 5, 7, 9], 24) == (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{USER}<|im_end|>\n<|im_start|>assistant\n{PREFILL}"
    )
    shown = rendering(folder, NATIVE)
    assert (shown.by, shown.think, len(shown.template)) == ("chat template", "prefill", 12)


def test_the_same_as_transformers_own_continuation(tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder_of(tmp_path, CHATML))
    messages = [
        {"role": role, "content": text} for role, text in zip(("system", "user", "assistant"), (SYSTEM, USER, PREFILL))
    ]
    theirs = tokenizer.apply_chat_template(messages, tokenize=False, continue_final_message=True)
    assert prompter(tmp_path, NATIVE)([4, 5, 7, 9], 24) == theirs


def test_a_template_that_opens_the_think_part_is_not_opened_twice(tmp_path):
    folder = folder_of(tmp_path, REASONING)
    text = prompter(folder, NATIVE)([4, 5, 7, 9], 24)
    assert text.endswith("<|im_start|>assistant\n<think>\n") and rendering(folder, NATIVE).think == "template"


def test_without_a_template_the_messages_stand_bare(tmp_path):
    folder = folder_of(tmp_path, None)
    assert prompter(folder, NATIVE)([4, 5, 7, 9], 24) == f"{SYSTEM}\n\n{USER}\n\n{PREFILL}"
    assert rendering(folder, NATIVE) == ("plain text", "", "prefill")


def test_the_small_policys_prompt_needs_no_folder(tmp_path):
    assert prompter(tmp_path / "absent", LAPTOP)([4, 5], 9) == "4 5 -> 9 <think>"
    assert rendering(tmp_path / "absent", LAPTOP).by == "plain text"


WRAPPED = "<|im_start|>user\n{numbers} {target}<|im_end|>\n<|im_start|>assistant\n"


def test_a_prompt_is_never_wrapped_twice(tmp_path):
    folder = folder_of(tmp_path, CHATML)
    with pytest.raises(UserError, match=r"already holds '<\|im_end\|>'.*wrapped twice.*chat: plain"):
        prompter(folder, Wording("mine", user=WRAPPED))([4, 5], 9)
    whole = prompter(folder, Wording("mine", user=WRAPPED, chat="plain"))([4, 5], 9)
    assert whole.count("<|im_start|>") == 2


def test_a_template_that_cannot_render_is_named(tmp_path):
    folder = folder_of(tmp_path, NO_SYSTEM)
    with pytest.raises(UserError, match=r"no system role.*without a system message"):
        prompter(folder, NATIVE)([4, 5], 9)
    assert prompter(folder, wording("feasible"))([4, 5], 9).endswith("assistant\n<think>")


def test_a_folder_without_a_tokenizer_is_named(tmp_path):
    with pytest.raises(UserError, match="tokenizer cannot be read"):
        prompter(tmp_path, NATIVE)
