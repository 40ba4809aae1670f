"""Questions as policies read them."""

import pytest

from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.policies.verl_engine.questions import asked
from workflow_scripts.records.errors import UserError

WORDS = (*SPECIAL, "<think>", "how", "many", "?")
CHOICE = (
    "{% for m in messages %}<user> {{ m['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}<policy>{% if not enable_thinking %} <think> </think>{% endif %}{% endif %}"
)
"""A template that gives the choice, as Qwen3's does."""


def test_the_small_policies_template_opens_the_think_part(tmp_path):
    save_tokenizer(WORDS, tmp_path)
    assert asked(tmp_path, ["how many ?", "many ?"]) == ["how many ? <think>", "many ? <think>"]


@pytest.mark.parametrize(
    ("thinking", "read"), [(False, "<user> how ? <policy> <think> </think>"), (True, "<user> how ? <policy>")]
)
def test_templates_with_a_choice_are_told(tmp_path, thinking, read):
    save_tokenizer(WORDS, tmp_path, chat_template=CHOICE)
    assert asked(tmp_path, ["how ?"], thinking=thinking) == [read]


def test_without_a_template_the_question_stands_alone(tmp_path):
    save_tokenizer(WORDS, tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    assert asked(tmp_path, ["how many ?"]) == ["how many ?"]


def test_marks_of_the_template_and_broken_templates_are_named(tmp_path):
    save_tokenizer(WORDS, tmp_path)
    with pytest.raises(UserError, match="'<eos>', a mark of the chat template"):
        asked(tmp_path, ["how ?", "many <eos> ?"])
    (tmp_path / "chat_template.jinja").write_text("{{ raise_exception('no system here') }}")
    with pytest.raises(UserError, match=r"cannot render a question \(no system here\)"):
        asked(tmp_path, ["how ?"])
    with pytest.raises(UserError, match="its tokenizer cannot be read"):
        asked(tmp_path / "nowhere", ["how ?"])
