"""The benchmark-style prompt: a long notebook-like text around a short task, with paragraphs that do not matter.

The task itself is not rewritten. Distractors bring numbers of their own, none of them one of the task's.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from workflow_scripts.records import seeds
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.families.kinds import drawn_parameters, shown
from workflow_scripts.tasks.scicode.problems import Problem

TEXTS = Path(__file__).resolve().parents[3] / "resources" / "scicode" / "wrapper.json"
"""Introductions by topic, distractors, guardrails, notes, and the words about the template."""
SUFFIX = "-wrapped"
"""Of a wrapped problem's id."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def wrapped(problem: Problem, seed: int) -> Problem:
    """The problem behind a topic's introduction, two to four distractors and guardrails, its core unchanged.

    Deterministic in the problem and the seed. Raises UserError where a parameter is not in the prompt, which would be
    the family's fault.
    """
    texts, stream = _texts(), seeds.generator(seed, "scicode wrapper", problem.problem_id)
    core = problem.core or problem.prompt
    introductions = texts["introductions"]
    paragraphs = [str(stream.choice(introductions.get(problem.topic, introductions["any"])))]
    chosen = sorted(stream.choice(len(texts["distractors"]), size=int(stream.integers(2, 5)), replace=False))
    decoys = [_with_decoys(texts["distractors"][place], core, stream) for place in chosen]
    before = int(stream.integers(0, len(decoys) + 1))
    guardrails = "\n".join(f"- {line}" for line in texts["guardrails"])
    prompt = "\n\n".join(
        [
            "# Problem setup:",
            *paragraphs,
            *decoys[:before],
            "# Main problem:",
            core,
            *decoys[before:],
            guardrails,
            str(stream.choice(texts["notes"])),
            f"### Parsing template:\n{texts['template']}\n\n```python\n{problem.template}```",
        ]
    )
    missing = missing_facts(problem, prompt)
    if missing:
        raise UserError(f"the prompt of {problem.problem_id} does not tell {', '.join(missing)}; correct its family")
    return replace(problem, problem_id=problem.problem_id + SUFFIX, prompt=prompt, core=core)


def facts_kept(problem: Problem, prompt: str) -> bool:
    """Whether the prompt holds the problem's core word for word, and the value of every parameter."""
    return not missing_facts(problem, prompt)


def missing_facts(problem: Problem, prompt: str) -> list[str]:
    """Names of parameters whose values the prompt does not hold, `core` first where that is not in it unchanged."""
    core = ["core"] if (problem.core or problem.prompt) not in prompt else []
    return core + missing_parameters(problem.parameters, prompt)


def missing_parameters(parameters: Mapping[str, Any], prompt: str) -> list[str]:
    """Names of parameters whose values do not stand in the prompt as they are; 3 does not stand in 13 or 3.5."""
    return [name for name, value in drawn_parameters(parameters).items() if not stands(shown(value), prompt)]


def stands(value: str, text: str) -> bool:
    """Whether a written value stands in the text on its own, not as a part of a longer number or word."""
    before = r"(?<![\w.])" if value[:1].isalnum() else ""
    after = r"(?!\w|\.\d)" if value[-1:].isalnum() else ""
    return re.search(before + re.escape(value) + after, text) is not None


def _with_decoys(paragraph: str, core: str, stream) -> str:
    """Numbers for the paragraph's {…}, none of which the task holds."""
    used = {float(number) for number in _NUMBER.findall(core)}
    found: dict[str, str] = {}
    for name in re.findall(r"\{(\w+)\}", paragraph):
        while name not in found:
            number = int(stream.integers(11, 990)) / 10
            if number not in used:
                used.add(number)
                found[name] = repr(number)
    return paragraph.format(**found)


@cache
def _texts() -> dict[str, Any]:
    return json.loads(TEXTS.read_text(encoding="utf-8"))
