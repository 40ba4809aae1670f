"""The public CritPt problems, read from its notebooks or a JSON list, and the file that its grading server takes.

A notebook is read as JSON; nothing in it is run. Kept: the text up to the first sub-problem, and the first code cell
between the heading of the main problem and that, the template. Answers, solutions and tests are left out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.extraction import extract, parsed
from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.rewards.text_shape import FENCE
from workflow_scripts.tasks.scicode.verdicts import Status

WRAPPINGS = ("raw-compact", "code-block")
"""raw-compact: the program alone, without fences. code-block: the program in one fenced block."""
FAMILY = "critpt"
WORDS = Path(__file__).resolve().parents[3] / "resources" / "scicode" / "critpt.json"
"""The system message, and what each wrapping asks for."""
STEM = "Challenge_*.ipynb"

_SUB = re.compile(r"^#{1,6}\s*\**\s*(?:sub[\s-]?problem|checkpoint)\b", re.I | re.M)
_MAIN = re.compile(r"^#{1,6}\s*\**\s*main\s+problem\b", re.I | re.M)
_ANSWERS = r"(?:(?:reference|sample|model)\s+)?(?:answers?|solutions?|tests?|test\s+cases?)(?:\s+code)?"
_HIDDEN = re.compile(
    rf"^(?:#{{1,6}}\s*\**\s*{_ANSWERS}\s*:?\s*\**\s*:?\s*$|\*\*\s*{_ANSWERS}\s*:?\s*\*\*)", re.I | re.M
)
_HIDDEN_CODE = re.compile(rf"^\s*#+\s*{_ANSWERS}\b", re.I)
_HEADING = re.compile(r"^#{1,6}\s", re.M)
_IDS = ("problem_id", "id")
_TEXTS = ("problem_description", "problem", "prompt")
_TEMPLATES = ("code_template", "template")


class Challenge(NamedTuple):
    """problem_id: the file's stem with `_main`. text: setup and main problem. template: code to complete."""

    problem_id: str
    text: str
    template: str


def read(source: str | Path) -> list[Challenge]:
    """The challenges of a folder of notebooks, of one notebook, or of a JSON list of objects with problem_id,
    problem_description and code_template; in the order of their ids.

    Raises UserError, naming the file, for what is not there, not whole, or has an id twice.
    """
    source = Path(source)
    if source.is_dir():
        files = sorted(source.rglob(STEM))
        if not files:
            raise UserError(f"{source} holds no {STEM}; give the folder of the benchmark's notebooks")
        found = [_notebook(file) for file in files]
    elif source.suffix == ".ipynb":
        found = [_notebook(source)]
    else:
        found = _listed(source)
    double = [name for name, times in Counter(challenge.problem_id for challenge in found).items() if times > 1]
    if double:
        raise UserError(f"{source} holds {double[0]} twice; keep one of them")
    return sorted(found)


def problem(challenge: Challenge, wrapping: str) -> Problem:
    """The challenge as a problem without checks, which only the grading server can judge. The prompt is the system
    message and the question, as one message. Raises UserError for a wrapping that there is not."""
    prompt = "\n\n".join(message["content"] for message in messages(challenge, wrapping))
    return Problem(challenge.problem_id, FAMILY, "benchmark", prompt, challenge.template, "", (), core=challenge.text)


def messages(challenge: Challenge, wrapping: str) -> list[dict[str, str]]:
    """The chat messages of a challenge, for policies that take a system message. Raises UserError as `problem`."""
    if wrapping not in WRAPPINGS:
        raise UserError(f"there is no wrapping {wrapping!r}; choose from {', '.join(WRAPPINGS)}")
    words = json.loads(WORDS.read_text(encoding="utf-8"))
    question = f"{challenge.text}\n\n{words['template']}\n\n{challenge.template}\n\n{words[wrapping]}"
    return [{"role": "system", "content": words["system"]}, {"role": "user", "content": question}]


def submission(
    problems: Sequence[Problem],
    rollouts: pd.DataFrame,
    *,
    model: str,
    timestamp: str,
    generation_config: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    sent: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
) -> str:
    """The submission file as JSON text: one batch with an answer for every problem.

    rollouts: problem_id and completion, one row a problem; a completion goes in as it is. timestamp: told in the file,
    ISO 8601. metadata: of the batch. sent: messages by problem_id, where they were not the prompt as one user message.
    Raises UserError naming ids that have no answer, several, or no problem.
    """
    given, wanted = Counter(rollouts["problem_id"]), {problem.problem_id for problem in problems}
    faults = {
        "have no answer": sorted(wanted - given.keys()),
        "are not problems of the set": sorted(given.keys() - wanted),
        "have several answers": sorted(name for name, times in given.items() if times > 1),
    }
    for fault, names in faults.items():
        if names:
            listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
            raise UserError(
                f"the batch is not complete: {len(names)} ids {fault} ({listed}); sample every problem once"
            )
    answers = dict(zip(rollouts["problem_id"], rollouts["completion"], strict=True))
    entries = [
        {
            "problem_id": one.problem_id,
            "generated_code": answers[one.problem_id],
            "model": model,
            "timestamp": timestamp,
            "generation_config": dict(generation_config),
            "messages": list((sent or {}).get(one.problem_id, [{"role": "user", "content": one.prompt}])),
        }
        for one in sorted(problems, key=lambda one: one.problem_id)
    ]
    batch = {"submissions": entries, "batch_metadata": dict(metadata or {})}
    return json.dumps(batch, indent=1, sort_keys=True) + "\n"


def output_statistics(rollouts: pd.DataFrame, by: Sequence[str] = ("policy",)) -> pd.DataFrame:
    """What completions look like, by columns of the table (as given): count; characters (mean, p50, p90, max); shares
    of those that think aloud, have a fence, an odd number of them, a program, one that parses, one that defines
    `answer`. Programs are parsed, never run."""
    rows = []
    for names, group in rollouts.groupby(list(by), sort=True):
        lengths = group["completion"].str.len()
        programs = [extract(text) for text in group["completion"]]
        checks = [parsed(program.code) if program.code is not None else None for program in programs]
        rows.append(
            dict(zip(by, names))
            | {
                "completions": len(group),
                "mean_characters": lengths.mean(),
                "p50_characters": lengths.quantile(0.5),
                "p90_characters": lengths.quantile(0.9),
                "max_characters": lengths.max(),
                "thinking": group["completion"].str.contains("<think>|</think>", regex=True).mean(),
                "fenced": group["completion"].str.contains(FENCE, regex=False).mean(),
                "unclosed": (group["completion"].str.count(FENCE) % 2 == 1).mean(),
                "extracted": _mean(program.code is not None for program in programs),
                "parses": _mean(check is not None and check.status is Status.OK for check in checks),
                "defines": _mean(check is not None and check.definitions > 0 for check in checks),
            }
        )
    return pd.DataFrame(rows)


def _mean(flags: Iterable[bool]) -> float:
    flags = list(flags)
    return sum(flags) / len(flags)


def _notebook(file: Path) -> Challenge:
    cells = _json(file)
    cells = cells.get("cells") if isinstance(cells, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise UserError(f"{file} is no notebook: it has no list of cells; get it from the benchmark again")
    texts: list[str] = []
    template, in_main, hidden = "", False, False
    for number, cell in enumerate(cells):
        source = _source(file, number, cell)
        if cell.get("cell_type") == "code":
            if in_main and not hidden and source.strip() and not _HIDDEN_CODE.match(source):
                template = source.strip() + "\n"
                break
        elif cell.get("cell_type") == "markdown":
            # What follows a heading `Answer` belongs to it up to the next heading.
            hidden = hidden and not _HEADING.match(source)
            ends = [match.start() for pattern in (_SUB, _HIDDEN) if (match := pattern.search(source))]
            if not hidden:
                texts.append(source[: min(ends, default=len(source))])
                in_main = in_main or bool(_MAIN.search(texts[-1]))
            if _SUB.search(source):
                break
            hidden = hidden or bool(ends)
    text = "\n\n".join(part.strip() for part in texts if part.strip())
    for what, there in (("heading `Main problem`", in_main), ("code cell between it and a sub-problem", template)):
        if not there:
            raise UserError(f"{file} has no {what}; get the notebook from the benchmark again")
    return Challenge(f"{file.stem}_main", text, template)


def _source(file: Path, number: int, cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    if not isinstance(source, str):
        raise UserError(f"{file}: the source of cell {number} is no text; get the notebook from the benchmark again")
    return source


def _listed(file: Path) -> list[Challenge]:
    rows = _json(file)
    if not isinstance(rows, list):
        raise UserError(
            f"{file} holds no JSON list; give one of objects with problem_id, problem_description, code_template"
        )
    found = []
    for number, row in enumerate(rows, start=1):
        values = []
        for keys in (_IDS, _TEXTS, _TEMPLATES):
            value = next((row[key] for key in keys if key in row), None) if isinstance(row, dict) else None
            if not isinstance(value, str) or not value.strip():
                raise UserError(f"{file}, item {number}: needs a text under {' or '.join(keys)}")
            values.append(value.strip())
        found.append(Challenge(values[0], values[1], values[2] + "\n"))
    return found


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}); check scicode.benchmark.source") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is not JSON ({error}); get it from the benchmark again") from error
