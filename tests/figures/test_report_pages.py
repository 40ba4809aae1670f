"""figures/pages.py and rule_graph.py: what the report shows beside the figures."""

import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from workflow_scripts.figures import pages, rule_graph
from workflow_scripts.records.errors import UserError

MARKDOWN = """**A title & more**

Some `code`, a **bold** word and a < b,
in two lines.

| name | value |
|---|---:|
| a\\|b | 0.500 [0.400, 0.600] |
| c | – |

* one
* two **2**

**A section**

```
key: <value>

other: |
```
"""


def test_body():
    html = pages.body(MARKDOWN)
    assert html.startswith("<h1>A title &amp; more</h1>")
    assert "<p>Some <code>code</code>, a <strong>bold</strong> word and a &lt; b, in two lines.</p>" in html
    assert '<thead><tr><th>name</th><th class="right">value</th></tr></thead>' in html
    assert '<td>a|b</td><td class="right">0.500<br><small>[0.400, 0.600]</small></td>' in html
    assert "<ul><li>one</li>\n<li>two <strong>2</strong></li></ul>" in html
    assert "<h2>A section</h2>" in html
    assert "<pre>key: &lt;value&gt;\n\nother: |</pre>" in html


def test_page_is_well_formed_and_loads_nothing():
    html = pages.page(MARKDOWN, title="T & U")
    assert "<title>T &amp; U</title>" in html
    assert "http" not in html and "src=" not in html and "href=" not in html
    ElementTree.fromstring(html.split("\n", 1)[1].replace('<meta charset="utf-8">', "").replace("<br>", "<br/>"))


@pytest.mark.parametrize("markdown", ["", "\n\n", "| a |", "```\nnever closed", "* a\nb", "**bold** start"])
def test_odd_markdown_loses_no_words(markdown):
    html = pages.body(markdown)
    for word in ("a", "never closed", "b", "start"):
        assert word not in markdown or word in html


def test_config_text_reads_back_and_keeps_lists_short():
    config = {"study": "läb", "lines": {"grpo": {"seeds": [1, 2], "kl": 0.0}}, "source": None}
    text = pages.config_text(config)
    assert yaml.safe_load(text) == config
    assert "    seeds: [1, 2]\n" in text
    assert text.splitlines()[0] == "study: läb"


def test_study_page():
    text = pages.study_markdown(
        study="smoke", config="seed: 1\n", versions={"numpy": ["2.0", "2.1"]}, commits=["abc-dirty"], seeds=["Seed 1."]
    )
    assert "commit `abc-dirty`" in text
    assert "| numpy | 2.0, 2.1 |" in text
    assert "```\nseed: 1\n```" in text
    unknown = pages.study_markdown(study="s", config="", versions={}, commits=[], seeds=[])
    assert "commit unknown (not a checkout)" in unknown


DOT = """digraph snakemake_dag {
    node[shape=box, style=rounded];
	0[label = "all", color = "0.00 0.6 0.85", style="rounded"];
	1[label = "table", color = "0.51 0.6 0.85", style="rounded"];
	2[label = "train\\nline: grpo", color = "0.46 0.6 0.85", style="rounded,dashed"];
	3[label = "base", color = "0.1 0.6 0.85", style="rounded"];
	1 -> 0
	2 -> 0
	3 -> 2
	2 -> 2
	2 -> 1
	3 -> 1
}
"""


def test_dot_is_read_without_steps_to_oneself():
    names, edges = rule_graph.parsed(DOT)
    assert names == ["all", "base", "table", "train"]
    assert edges == [("base", "table"), ("base", "train"), ("table", "all"), ("train", "all"), ("train", "table")]


def test_arrows_that_others_imply_are_left_out():
    assert rule_graph.reduced(rule_graph.parsed(DOT)[1]) == [("base", "train"), ("table", "all"), ("train", "table")]


def test_every_rule_stands_below_what_it_needs():
    names, edges = rule_graph.parsed(DOT)
    assert rule_graph.layers(names, edges) == {"all": 3, "base": 0, "table": 2, "train": 1}
    with pytest.raises(UserError, match="cycle"):
        rule_graph.layers(["a", "b"], [("a", "b"), ("b", "a")])


def test_svg_has_a_box_a_rule_inside_the_picture():
    text = rule_graph.svg(DOT, title="a & b")
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert sorted(node.text for node in root.iter(f"{space}text")) == ["all", "base", "table", "train"]
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [node for node in root.iter(f"{space}rect") if node.get("rx")]
    for box in boxes:
        assert float(box.get("x")) >= 0 and float(box.get("x")) + float(box.get("width")) <= width
        assert float(box.get("y")) >= 0 and float(box.get("y")) + float(box.get("height")) <= height
    arrows = [node for node in root.iter(f"{space}path") if node.get("marker-end")]
    assert (len(boxes), len(arrows)) == (4, 3)
    assert rule_graph.svg(DOT, title="a & b") == text


def test_long_arrows_bend_around_boxes():
    dot = "\n".join(f'{i}[label = "r{i}"];' for i in range(5)) + "\n0 -> 1\n1 -> 2\n2 -> 3\n0 -> 4\n4 -> 3\n"
    root = ElementTree.fromstring(rule_graph.svg(dot))
    boxes = {
        node.text: (float(node.get("x")), float(node.get("y"))) for node in root.iter() if node.tag.endswith("}text")
    }
    assert len({boxes["r1"], boxes["r4"]}) == 2
    assert boxes["r0"][1] < boxes["r1"][1] == boxes["r4"][1] < boxes["r2"][1] < boxes["r3"][1]


def test_a_rule_that_runs_again_gets_a_dashed_arrow_back():
    names = ["policy", "scores", "more", "table"]
    pairs = [("policy", "scores"), ("policy", "more"), ("scores", "more"), ("more", "scores"), ("scores", "table")]
    edges, back = rule_graph.split(names, pairs)
    assert back == [("scores", "more")]
    assert sorted([*edges, *back]) == sorted(pairs)
    dot = "\n".join(f'{i}[label = "{name}"];' for i, name in enumerate(names))
    dot += "".join(f"\n{names.index(a)} -> {names.index(b)}" for a, b in pairs)
    text = rule_graph.svg(dot)
    assert text.count("stroke-dasharray") == 1
    assert text.count("marker-end") == 4


@pytest.mark.parametrize("size", range(1, 9))
def test_what_is_left_of_any_graph_has_no_cycle(size):
    names = [f"r{i}" for i in range(size)]
    pairs = [(a, b) for i, a in enumerate(names) for j, b in enumerate(names) if a != b and (i * j + i) % 3 < 2]
    edges, back = rule_graph.split(names, pairs)
    assert set(edges) | set(back) == set(pairs)
    assert set(rule_graph.layers(names, edges)) == set(names)


def test_no_graph_is_an_error():
    with pytest.raises(UserError, match="no rule graph"):
        rule_graph.svg("Building DAG of jobs...")
