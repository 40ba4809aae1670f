"""The public benchmark's files: notebooks of all sorts read without running them, and whole submission batches."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.critpt import (
    WRAPPINGS,
    Challenge,
    messages,
    output_statistics,
    problem,
    read,
    submission,
)
from workflow_scripts.tasks.scicode.problems import problem_frame, problems_of

TEMPLATE = "import sympy as sp\n\ndef answer(x):\n    # what f is\n    f = ...\n    return f"


def markdown(*lines):
    return {"cell_type": "markdown", "metadata": {}, "source": [line + "\n" for line in lines]}


def code(text):
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}


USUAL = [
    markdown("# Problem setup:", "A box of volume $V$ holds a gas."),
    markdown("# Main problem:", "Find $f(x)$."),
    code(TEMPLATE),
    markdown("### Answer:", "It is $x^2$."),
    code("def answer(x):\n    return x**2"),
    markdown("# Subproblem 1:", "Find $f(1)$."),
    code("def answer():\n    return ..."),
]


def notebook(folder, name, cells):
    path = folder / name
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_a_notebook_gives_setup_main_problem_and_template(tmp_path):
    [found] = read(notebook(tmp_path, "Challenge_7_main.ipynb", USUAL))
    assert found.problem_id == "Challenge_7_main_main"
    assert found.text == "# Problem setup:\nA box of volume $V$ holds a gas.\n\n# Main problem:\nFind $f(x)$."
    assert found.template == TEMPLATE + "\n"


LAYOUTS = [
    # what is unusual, cells; the text that must be there, what must not
    ("code before the main problem", [code("import numpy"), *USUAL], "Find $f(x)$.", "numpy"),
    ("the answer before the template", [USUAL[0], USUAL[1], markdown("## Solution", "$x^2$"), code("secret = 1"),
     markdown("### Parsing template:", "Fill it in."), code(TEMPLATE)], "Fill it in.", "secret"),
    ("a test cell that says so", [USUAL[0], USUAL[1], code("# Test cases\nassert answer(2) == 4"), code(TEMPLATE)],
     "Find", "assert"),
    ("an answer in the text's own cell", [USUAL[0], markdown("# Main problem", "Find $f(x)$.", "**Answer:** $x^2$"),
     markdown("### Template", "Here."), code(TEMPLATE)], "Here.", "x^2"),
    ("a sub-problem in the text's own cell", [USUAL[0], USUAL[1], code(TEMPLATE),
     markdown("More.", "## Sub-problem 1", "Find $f(1)$.")], "Find $f(x)$.", "f(1)"),
    ("words that begin like a heading", [USUAL[0], markdown("# Main problem", "Answers are functions.",
     "Test particles move. Find $f(x)$."), code(TEMPLATE)], "Test particles move.", "Subproblem"),
    ("an empty code cell", [USUAL[0], USUAL[1], code("  \n"), code(TEMPLATE)], "Find", "Subproblem"),
    ("source as one text", [markdown("# Problem setup"),
     {"cell_type": "markdown", "source": "# Main Problem\nFind it."},
     {"cell_type": "code", "source": TEMPLATE}], "Find it.", "Subproblem"),
    ("a raw cell", [{"cell_type": "raw", "source": "hidden words"}, *USUAL], "Find", "hidden words"),
]  # fmt: skip


@pytest.mark.parametrize("what, cells, there, gone", LAYOUTS, ids=[row[0] for row in LAYOUTS])
def test_layouts(tmp_path, what, cells, there, gone):
    [found] = read(notebook(tmp_path, "Challenge_1.ipynb", cells))
    assert found.template == TEMPLATE + "\n"
    assert there in found.text
    assert gone not in found.text + found.template


@pytest.mark.parametrize("text, message", [
    ("{", "is not JSON"),
    ("[]", "is no notebook: it has no list of cells"),
    ('{"cells": [1]}', "is no notebook"),
    ('{"cells": [{"cell_type": "markdown", "source": 3}]}', "the source of cell 0 is no text"),
    (json.dumps({"cells": USUAL[:1]}), "has no heading `Main problem`"),
    (json.dumps({"cells": [*USUAL[:2], *USUAL[5:]]}), "has no code cell between it and a sub-problem"),
    ("[" * 100_000, "is not JSON"),
])  # fmt: skip
def test_broken_notebooks_are_named(tmp_path, text, message):
    path = tmp_path / "Challenge_3.ipynb"
    path.write_text(text)
    with pytest.raises(UserError, match=rf"Challenge_3\.ipynb.*{message}"):
        read(path)


def test_a_folder_gives_all_challenges_in_order(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("Challenge_b.ipynb", "Challenge_a.ipynb", "Other.ipynb"):
        notebook(tmp_path / "data", name, USUAL)
    assert [challenge.problem_id for challenge in read(tmp_path)] == ["Challenge_a_main", "Challenge_b_main"]
    notebook(tmp_path, "Challenge_a.ipynb", USUAL)
    with pytest.raises(UserError, match="holds Challenge_a_main twice"):
        read(tmp_path)


def test_an_empty_folder_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(UserError, match=r"holds no Challenge_\*\.ipynb"):
        read(tmp_path)
    with pytest.raises(UserError, match=r"nowhere\.json cannot be read"):
        read(tmp_path / "nowhere.json")


def test_a_list_gives_the_same(tmp_path):
    rows = [
        {"problem_id": "b", "problem_description": "Find it.", "code_template": TEMPLATE, "answer_code": "secret"},
        {"id": "a", "prompt": "And this.", "template": TEMPLATE},
    ]
    path = tmp_path / "challenges.json"
    path.write_text(json.dumps(rows))
    assert read(path) == [Challenge("a", "And this.", TEMPLATE + "\n"), Challenge("b", "Find it.", TEMPLATE + "\n")]
    path.write_text(json.dumps([rows[0], {"problem_id": "c", "problem_description": " "}]))
    with pytest.raises(UserError, match="item 2: needs a text under problem_description or problem or prompt"):
        read(path)
    path.write_text(json.dumps({"problems": rows}))
    with pytest.raises(UserError, match="holds no JSON list"):
        read(path)


CHALLENGES = [Challenge(f"Challenge_{n}_main", f"Find $f_{n}$.", TEMPLATE + "\n") for n in (1, 2)]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrappings_hold_the_task_and_the_template(wrapping):
    asked = problem(CHALLENGES[0], wrapping)
    assert "Find $f_1$." in asked.prompt and TEMPLATE in asked.prompt
    assert asked.checks == ()
    assert [message["role"] for message in messages(CHALLENGES[0], wrapping)] == ["system", "user"]
    [row] = problems_of(problem_frame([asked], f"critpt-{wrapping}"))
    assert row == asked


def test_wrappings_differ_in_what_they_ask_for():
    raw, block = (problem(CHALLENGES[0], wrapping).prompt for wrapping in WRAPPINGS)
    assert raw != block
    assert "no fences" in raw and "fenced Python block" in block
    with pytest.raises(UserError, match="no wrapping 'fenced'; choose from raw-compact, code-block"):
        problem(CHALLENGES[0], "fenced")


PROBLEMS = [problem(challenge, "raw-compact") for challenge in CHALLENGES]


def batch(ids, **further):
    rollouts = pd.DataFrame({"problem_id": ids, "completion": [f"text of {name} \u2713\n" for name in ids]})
    given = {"model": "a/model", "timestamp": "2030-01-01T00:00:00Z", "generation_config": {"temperature": 0.0}}
    return submission(PROBLEMS, rollouts, **given | further)


def test_a_submission_holds_every_answer_as_it_is():
    text = batch(["Challenge_2_main", "Challenge_1_main"], metadata={"wrapping": "raw-compact"})
    assert text == batch(["Challenge_1_main", "Challenge_2_main"], metadata={"wrapping": "raw-compact"})
    read_back = json.loads(text)
    assert set(read_back) == {"submissions", "batch_metadata"}
    assert read_back["batch_metadata"] == {"wrapping": "raw-compact"}
    first, second = read_back["submissions"]
    assert (first["problem_id"], second["problem_id"]) == ("Challenge_1_main", "Challenge_2_main")
    assert first == {
        "problem_id": "Challenge_1_main",
        "generated_code": "text of Challenge_1_main \u2713\n",
        "model": "a/model",
        "timestamp": "2030-01-01T00:00:00Z",
        "generation_config": {"temperature": 0.0},
        "messages": [{"role": "user", "content": PROBLEMS[0].prompt}],
    }


def test_messages_may_be_those_that_were_sent():
    sent = {challenge.problem_id: messages(challenge, "raw-compact") for challenge in CHALLENGES}
    text = batch(["Challenge_1_main", "Challenge_2_main"], sent=sent)
    assert json.loads(text)["submissions"][0]["messages"][0]["role"] == "system"


@pytest.mark.parametrize("ids, message", [
    (["Challenge_1_main"], r"1 ids have no answer \(Challenge_2_main\)"),
    (["Challenge_1_main", "Challenge_2_main", "Challenge_9_main"], r"1 ids are not problems of the set \(Challenge_9"),
    (["Challenge_1_main", "Challenge_2_main", "Challenge_2_main"], r"1 ids have several answers \(Challenge_2_main\)"),
    ([], "2 ids have no answer"),
])  # fmt: skip
def test_batches_that_are_not_whole_are_refused(ids, message):
    with pytest.raises(UserError, match=message):
        batch(ids)


def test_statistics_by_hand():
    block = "```python\ndef answer():\n    return 1\n```"
    texts = [block, "<think></think>" + block, "def answer(:", "```python\ndef f():\n    return 1", "words"]
    rollouts = pd.DataFrame({"policy": "p", "completion": texts})
    [row] = output_statistics(rollouts).to_dict("records")
    lengths = sorted(map(len, texts))
    assert (row["completions"], row["max_characters"], row["p50_characters"]) == (5, lengths[-1], lengths[2])
    assert row["mean_characters"] == pytest.approx(sum(lengths) / 5)
    shares = {key: row[key] for key in ("thinking", "fenced", "unclosed", "extracted", "parses", "defines")}
    assert shares == pytest.approx(
        {"thinking": 0.2, "fenced": 0.6, "unclosed": 0.2, "extracted": 0.6, "parses": 0.6, "defines": 0.4}
    )


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_statistics_take_any_text(texts):
    [row] = output_statistics(pd.DataFrame({"policy": "p", "completion": texts})).to_dict("records")
    assert 0 <= row["defines"] <= row["parses"] <= row["extracted"] <= 1


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["cells", "source", "cell_type", "x"]), inner, max_size=3)))  # fmt: skip
def test_any_json_is_a_notebook_or_an_error(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("notebooks") / "Challenge_0.ipynb"
    path.write_text(json.dumps(value))
    with pytest.raises(UserError, match=r"Challenge_0\.ipynb"):
        read(path)
