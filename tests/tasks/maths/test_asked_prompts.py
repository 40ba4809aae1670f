"""The prompt of every problem, by the study's template."""

import pandas as pd
import pytest

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.asked import prompts_of

PROBLEMS = pd.DataFrame({"problem_id": ["a-1", "a-2"], "question": ["how many ?", "and now ?"]})


@pytest.mark.parametrize(
    "prompt, text",
    [
        ("words", "how many ? <think>"),
        ("plain", "Question: how many ?\nAnswer:"),
        ("Q: {question} A:", "Q: how many ? A:"),
    ],
)
def test_prompt_of_a_problem(prompt, text):
    asked = prompts_of(PROBLEMS, prompt)
    assert asked["a-1"] == text and list(asked) == ["a-1", "a-2"]


def test_the_papers_prompt_holds_the_marks_of_a_chat():
    assert prompts_of(PROBLEMS, "qwen-boxed")["a-2"].endswith("\\boxed{}.<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.parametrize("prompt, why", [("chat-boxed", "written out"), ("wrods", "neither")])
def test_prompts_that_are_not_known_are_refused(prompt, why):
    with pytest.raises(UserError, match=why):
        prompts_of(PROBLEMS, prompt)
