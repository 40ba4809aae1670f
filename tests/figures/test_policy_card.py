"""figures/policy_card.py: one row a policy, one column for policies that are alike."""

import pytest

from workflow_scripts.figures.pages import page
from workflow_scripts.figures.policy_card import ROWS, card, markdown
from workflow_scripts.records.errors import UserError

FACTS = dict.fromkeys(ROWS, "x") | {
    "parameters": 170_000,
    "tied": True,
    "bos_token": None,
    "chat_template": "",
    "end_tokens": ["<eos>", "<|im_end|>"],
    "generation_defaults_unused": {"top_p": 0.8, "do_sample": True},
    "straddling": 0,
}
SAMPLING = {"temperature": 0.7, "top_p": 0.9}


def shown(facts):
    return markdown(card(facts), prompt="a\n<think>", completion="Let me try: 4 *", sampling=SAMPLING)


def test_every_fact_is_text():
    row = card({"base": FACTS}).set_index("policy").loc["base"]
    assert list(row.index) == list(ROWS)
    wanted = {"parameters": "170000", "tied": "yes", "bos_token": "none", "chat_template": "none", "straddling": "0"}
    wanted |= {"end_tokens": "<eos>, <|im_end|>", "generation_defaults_unused": "do_sample true, top_p 0.8"}
    assert {key: row[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    ("asked_by", "template", "said"),
    [
        ("plain text", "0123456789ab", "not used (0123456789ab)"),
        ("chat template", "0123456789ab", "0123456789ab"),
        ("plain text", "", "none"),
    ],
)
def test_a_template_that_is_not_used_is_told_with_its_digest(asked_by, template, said):
    row = card({"base": FACTS | {"asked_by": asked_by, "chat_template": template}}).iloc[0]
    assert row["chat_template"] == said


def test_it_is_told_what_reads_and_what_samples():
    facts = {"base": FACTS | {"engine": "transformers", "sampled_by": "vllm"}}
    text = markdown(card(facts), prompt="p", completion="c", sampling={"engine": "vllm", "temperature": 0.7})
    assert "| read by | transformers |\n| sampled by | vllm |" in text
    assert "* Sampled with temperature 0.7;" in text and "engine" not in text
    assert "* vllm draws the samples of the study and scores its continuations; masses" in text
    assert "vllm" not in shown({"base": FACTS})


def test_a_fact_that_is_missing_is_named():
    with pytest.raises(UserError, match=r"tokenizer \(tokenizer_class\) of late"):
        card({"late": {key: value for key, value in FACTS.items() if key != "tokenizer_class"}})


def test_policies_that_are_alike_share_a_column():
    facts = {f"own-s1-step{step}": FACTS for step in range(1, 6)} | {"base": FACTS | {"dtype": "bfloat16"}}
    head = shown(facts).splitlines()[2]
    assert head == "| | own-s1-step1 … own-s1-step5 (5 policies) | base |"
    row = next(line for line in shown(facts).splitlines() if line.startswith("| numbers of the weights"))
    assert row.endswith("| x | bfloat16 |")


def test_marks_do_not_break_the_table():
    text = shown({"base": FACTS})
    assert r"<eos>, <\|im_end\|>" in text
    html = page(text, title="Policies")
    assert "&lt;eos&gt;, &lt;|im_end|&gt;" in html and html.count("<pre>") == 1 and "<th>base</th>" in html
    assert "a\n&lt;think&gt;‖Let me try: 4 *" in html


def test_the_same_bytes_twice():
    assert shown({"base": FACTS}) == shown({"base": FACTS})
