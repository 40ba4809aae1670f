import pytest

from workflow_scripts import settings
from workflow_scripts.records.errors import UserError


def test_the_schema_file_is_current(project):
    current = settings.schema()
    assert (project / "config" / "schema.json").read_text(encoding="utf-8") == current, (
        "run: entrances config schema > config/schema.json"
    )


@pytest.mark.parametrize(
    "name", ["config.yaml", "smoke.yaml", "full.yaml", "paper.yaml", "rehearsal.yaml", "qwen3.yaml"]
)
def test_the_shipped_configs_are_valid(project, name):
    assert settings.load(project / "config" / name).study == name.replace("config", "laptop").removesuffix(".yaml")


def test_the_default_file_states_the_defaults(project):
    # Which roads fit the default run's time is the file's choice; their keys have defaults of their own.
    stated, default = settings.load(), settings.Settings()
    assert stated.model_copy(update={"roads": {}, "maths": default.maths, "scicode": default.scicode}) == default
    assert {line.reward for line in stated.scicode.lines.values()} == {"execution", "length", "strict"}
    assert {road.kind for road in stated.roads.values()} == {"sft", "dpo", "grpo"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"mesures": {}}, r"mesures: unknown key \(did you mean 'measures'\?\)"),
        ({"lines": {"grpo": {"stepz": 3}}}, r"lines\.grpo\.stepz: unknown key \(did you mean 'steps'\?\)"),
        ({"base": {"qqq": 3}}, r"base\.qqq: unknown key; known here: steps, batch"),
        ({"sampling": {"top_p": 2}}, r"sampling\.top_p: .*less than or equal to 1, not 2"),
        ({"sampling": {"temperature": 0}}, r"sampling\.temperature"),
        ({"policy": {"hidden": "wide"}}, r"policy\.hidden: .*integer"),
        ({"policy": {"hidden": 66}}, r"hidden \(66\) must be a multiple of"),
        ({"policy": {"architecture": "qwen2"}}, r"policy\.architecture: .*'llama' or 'qwen3'"),
        ({"lines": {"grpo": {"early": 30}}}, r"early \(30\) is no kept step"),
        ({"lines": {"grpo": {"early": 300, "late": 25}}}, r"early \(300\) must come before late \(25\)"),
        ({"lines": {"grpo": {"seeds": [1, 1]}}}, r"seeds holds one twice"),
        ({"lines": {"grpo": {"seeds": []}}}, r"lines\.grpo\.seeds"),
        ({"lines": {"grpo": None, "ppo": None}}, r"lines: .*at least 1"),
        ({"lines": {"a/b": {}}}, r"lines\.a/b"),
        ({"lines": {"a": {"source": ["x", "y"], "steps": 3, "segment": 1, "early": 1, "late": 3}}}, r"source names 2"),
        ({"lines": {"a": {"source": "x", "steps": 50, "late": 50}}}, r"source or folder must hold \{step\}"),
        ({"lines": {"a": {"folder": "checkpoint-{step}"}}}, r"revision and folder belong to a source"),
        ({"lines": {"a": {"source": "x-{step}", "seeds": [1, 2]}}}, r"given checkpoints has one seed"),
        ({"roads": {"a": {"kind": "grpo", "engine": "verl"}}}, r"roads\.a\.engine: roads are trained by the built_in"),
        (
            {"lines": {"grpo": {"engine": "verl", "countermeasures": {"low_access": 1}}}},
            r"lines\.grpo: verl knows no countermeasures",
        ),
        ({"policy": {"source": "x", "wording": "native"}}, r"lines\.ppo: the built_in engine trains the small policy"),
        ({"policy": {"revision": "main"}}, r"policy\.revision: .*pattern"),
        ({"policy": {"sha256": {"a": "12"}}}, r"policy\.sha256\.a"),
        ({"verl": {"rollout": "sglang"}}, r"verl\.rollout: .*'hf' or 'vllm'"),
        ({"maths": {"roads": {"a": {"kind": "sft", "start": "b"}}}}, r"roads\.a\.start \(b\) must come before it"),
        ({"maths": {"pairs": {"p": ["base", "base"]}}}, r"pairs\.p compares base with itself"),
        ({"maths": {"also": ["straight"]}}, r"also: straight is the pair that claims are read on"),
        ({"maths": {"also": ["p"]}}, r"also: p is no pair"),
        (
            {
                "maths": {
                    "roads": {"a": {"kind": "grpo", "seeds": [1, 2]}, "b": {"kind": "grpo", "seeds": [1, 2, 3]}},
                    "pairs": {"p": ["a", "b"]},
                }
            },
            r"pairs\.p: a and b have different numbers of seeds",
        ),
        (
            {
                "maths": {
                    "roads": {"a": {"kind": "sft", "seeds": [1, 2]}, "b": {"kind": "grpo", "start": "a", "seeds": [3]}}
                }
            },
            r"roads\.b\.seeds must be among those of its start, a",
        ),
        ({"maths": {"pass_at": [100]}}, r"pass@k needs k ≤ sampling\.samples"),
        ({"maths": {"pairs": {"p": ["base", "x"]}}}, r"pairs\.p: x is no policy; choose from base, sft"),
        ({"maths": {"roads": None, "policies": {"a": {"source": "x"}}}}, r"given policies answer published benchmarks"),
        (
            {"roads": {"a": {"kind": "sft", "stepz": 3}}},
            r"roads\.a\.sft\.stepz: unknown key \(did you mean 'steps'\?\)",
        ),
        ({"roads": {"a": {"kind": "sft", "start": "b"}}}, r"roads\.a\.start \(b\) is no road; choose one of base, "),
        (
            {"roads": {"a": {"kind": "sft", "start": "b"}, "b": {"kind": "sft", "start": "a"}}},
            r"roads\.a: starts go in a circle: a → b → a",
        ),
        (
            {"roads": {"a": {"kind": "sft", "seeds": [1]}, "b": {"kind": "grpo", "start": "a", "seeds": [2]}}},
            r"roads\.b\.seeds must be among those of its start, a",
        ),
        ({"roads": {"a": {"kind": "grpo", "countermeasures": {"pass_at_k": 8}}}}, r"pass_at_k \(8\) must be whole"),
        ({"roads": {"a": {"kind": "grpo", "countermeasures": {"luck": 1}}}}, r"countermeasures\.luck"),
        (
            {"lines": {"ppo": {"countermeasures": {"low_access": 1}}}},
            r"countermeasures \(low_access\) are for grpo",
        ),
        ({"roads": {"control": None}}, r"roads: arms .* are compared with an arm `control`"),
        ({"roads": {"ppo": {"kind": "sft"}}}, r"roads\.ppo: this name is taken"),
        ({"interventions": {"blocks": [[0, 9]]}}, r"interventions\.blocks: \[0, 9\] is no"),
        ({"interventions": {"proposing": 64}}, r"interventions\.proposing \(64\) must be below"),
        ({"instance": {"numbers": [1, 200]}}, r"instance: the small policy reads numbers and targets 0…100"),
        ({"clamps": {"continuations": 0}}, r"clamps\.continuations"),
        ({"study": "../elsewhere"}, r"study"),
        ({"measures": {"pass_at": [1, 400]}}, r"pass@k needs k ≤ sampling\.samples \(320\), not \[400\]"),
        ({"problems": {"calibration": 150}}, r"calibration must be smaller than evaluation"),
        ({"problems": {"values": [9, 1]}}, r"values must be \[smallest, largest\]"),
        ({"problems": {"targets": [5, 120]}}, r"must lie in 0…100"),
        ({"sampling": {"max_new_tokens": 125}}, r"sampling\.max_new_tokens \(125\) and a prompt of 10 tokens exceed"),
        ({"seed": -1}, r"seed: .*greater than or equal to 0"),
    ],
)
def test_one_bad_config_per_check(data, message):
    with pytest.raises(UserError, match=message):
        settings.validated(settings.merged(settings.read_yaml(settings.DEFAULT), data))


def test_every_fault_is_listed_at_once():
    with pytest.raises(UserError) as error:
        settings.validated({"sed": 1, "sampling": {"top_p": 2}})
    assert len(str(error.value).splitlines()) == 3


def test_an_overlay_keeps_what_it_does_not_name():
    both = settings.merged({"a": {"x": 1, "y": [1, 2]}, "b": 1}, {"a": {"y": [3]}, "c": None})
    assert both == {"a": {"x": 1, "y": [3]}, "b": 1, "c": None}


def test_an_overlay_drops_a_line_with_null():
    lines = settings.validated({"lines": {"grpo": {}, "other": None}}).lines
    assert list(lines) == ["grpo"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "line 1"),
        ("- 1\n- 2\n", "must hold `key: value` lines"),
        ("a: !!python/object:os.system {}", "not valid YAML"),
    ],
)
def test_a_file_that_is_no_config_is_refused(tmp_path, text, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        settings.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.yaml"):
        settings.load(tmp_path / "nowhere.yaml")


def test_a_line_of_given_checkpoints_knows_where_they_lie():
    one = settings.validated(
        {"lines": {"a": {"source": "o/n", "revision": "0" * 40, "folder": "c-{step}", "steps": 50, "late": 50}}}
    ).lines["a"]
    assert one.given(50) == {"source": "o/n", "revision": "0" * 40, "folder": "c-50", "sha256": {}}
    listed = {"source": ["x", "y"], "steps": 2, "segment": 1, "early": 1, "late": 2}
    assert settings.validated({"lines": {"a": listed}}).lines["a"].given(2)["source"] == "y"


def test_an_overlay_may_drop_all_roads():
    below = {"roads": {"a": {"kind": "sft"}}, "maths": {"roads": {"b": {"kind": "grpo"}}}}
    over = settings.validated(settings.merged(below, {"roads": None, "maths": {"roads": None}}))
    assert (over.roads, over.maths.roads) == ({}, {})
