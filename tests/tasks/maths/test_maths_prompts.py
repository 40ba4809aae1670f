"""tasks/maths/prompts.py."""

import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.prompts import QUESTION, TEMPLATES, messages, prompt_text, template

BOXED = "Please reason step by step, and put your final answer within \\boxed{}."


def test_qwen_boxed_letter_by_letter():
    chosen = template("qwen-boxed")
    assert prompt_text(chosen, "What is $\\frac{1}{2}$?") == (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nWhat is $\\frac{1}{2}$?\n"
        f"{BOXED}<|im_end|>\n<|im_start|>assistant\n"
    )
    assert messages(chosen, "Q") == [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": f"Q\n{BOXED}"},
    ]


def test_others():
    assert prompt_text(template("plain"), "Q") == "Question: Q\nAnswer:"
    assert template("plain").stop == ("\n\nQuestion:",)
    assert prompt_text(template("chat-boxed"), "Q") is None
    assert messages(template("chat-minimal"), "Q") == [{"role": "user", "content": "Q"}]
    assert prompt_text(template("Solve {x}: {question} ="), "1 + 1") == "Solve {x}: 1 + 1 ="


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_holds_the_question_once(name):
    for text in (TEMPLATES[name].user, TEMPLATES[name].rendered):
        assert text.count(QUESTION) == (1 if text else 0)


def test_unknown_and_twice_templated():
    with pytest.raises(UserError, match="did you mean 'qwen-boxed'"):
        template("qwen_boxed")
    with pytest.raises(UserError, match="neither a prompt template"):
        template("{question} and {question}")
    with pytest.raises(UserError, match="rendered already"):
        prompt_text(template("qwen-boxed"), "<|im_start|>user\nQ<|im_end|>")
    with pytest.raises(UserError, match="rendered already"):
        messages(template("chat-boxed"), "Q<|im_end|>")
