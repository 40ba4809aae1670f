"""The prompt of every problem of a table, as a policy reads it."""

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.maths.prompts import prompt_text, template
from workflow_scripts.tasks.maths.word_text import think_prompt

WORDS = "words"
"""The small policy's own text; every other prompt is one of `prompts.template`."""


def prompts_of(problems: pd.DataFrame, prompt: str) -> dict[str, str]:
    """Text of the prompt by problem_id.

    problems: MATHS_PROBLEMS. prompt: WORDS, or what `prompts.template` takes. Raises UserError for an unknown one, and
    for one that only a policy's chat template can write out: traces are then scored after a text that is not known.
    """
    if prompt == WORDS:
        return {row.problem_id: think_prompt(row.question) for row in problems.itertuples()}
    chosen = template(prompt)
    texts = {row.problem_id: prompt_text(chosen, row.question) for row in problems.itertuples()}
    if None in texts.values():
        raise UserError(f"prompt {prompt!r} is written out by a policy's chat template; choose qwen-boxed or plain")
    return texts
