"""The profiles agree with each other, with the rules and with the paper's config; sites are named nowhere else."""

import re

import pytest
import yaml

GPU_PROFILES = {"slurm-gpus": "gpu", "slurm-gres": "gres"}
OF_A_SITE = re.compile(r"\b(slurm_\w+|gpu_model|gres|qos)\b")


@pytest.fixture(scope="module")
def profiles(project):
    return {path.parent.name: yaml.safe_load(path.read_text()) for path in project.glob("profiles/*/config.yaml")}


@pytest.fixture(scope="module")
def rule_texts(project):
    """Text of each rule by its name."""
    found = {}
    for path in project.glob("rules/*.smk"):
        pieces = re.split(r"^ *rule (\w+):$", path.read_text(), flags=re.MULTILINE)[1:]
        found |= dict(zip(pieces[::2], pieces[1::2]))
    return found


def test_slurm_profiles_differ_in_their_gpu_rules_only(profiles):
    shared = profiles["slurm"]
    assert shared["executor"] == "slurm"
    for name in GPU_PROFILES:
        assert {key: value for key, value in profiles[name].items() if key != "set-resources"} == shared


def test_every_profile_reruns_for_the_same_reasons(profiles):
    assert {name: profile["rerun-triggers"] for name, profile in profiles.items()} == dict.fromkeys(
        profiles, profiles["default"]["rerun-triggers"]
    )
    assert all(profile["rerun-incomplete"] for profile in profiles.values())


@pytest.mark.parametrize("name", GPU_PROFILES)
def test_gpu_profiles_cover_the_rules_that_declare_gpus(profiles, rule_texts, name):
    declaring = {rule for rule, text in rule_texts.items() if re.search(r"^ +gpus=", text, flags=re.MULTILINE)}
    assert len(declaring) > 8
    set_here = profiles[name]["set-resources"]
    assert {rule for rule, resources in set_here.items() if GPU_PROFILES[name] in resources} == declaring
    assert {"gpu", "gres"} & {key for resources in set_here.values() for key in resources} == {GPU_PROFILES[name]}


@pytest.mark.parametrize(("name", "key"), GPU_PROFILES.items())
def test_gpu_profiles_ask_for_what_the_paper_config_states(profiles, project, name, key):
    paper = yaml.safe_load((project / "config/paper.yaml").read_text())
    training, coding = (
        {line["gpus"] for line in lines.values() if line and "gpus" in line}
        for lines in (paper["lines"], paper["scicode"]["lines"])
    )
    stated = {"verl_segment": max(training), "rollouts": paper["sampling"]["gpus"]}
    stated |= {"scicode_verl_segment": max(coding), "scicode_rollouts": paper["scicode"]["sampling"]["gpus"]}
    form = "{}" if key == "gpu" else "gpu:{}"
    asked = {rule: str(profiles[name]["set-resources"][rule][key]) for rule in stated}
    assert asked == {rule: form.format(gpus) for rule, gpus in stated.items()}
    for resources in profiles[name]["set-resources"].values():
        assert resources.get("tasks_per_gpu", 0) == 0
        assert "attempt" in resources["mem_mb"]
        assert "attempt" in resources["runtime"]


def test_rules_and_configs_name_no_site(project):
    paths = [project / "Snakefile", *project.glob("rules/*.smk"), *project.glob("config/*.yaml")]
    found = {path.name: OF_A_SITE.findall(path.read_text()) for path in paths}
    assert {name: words for name, words in found.items() if words} == {}


def test_grouped_rules_exist(profiles, rule_texts):
    assert profiles["slurm"]["groups"].keys() <= rule_texts.keys()
