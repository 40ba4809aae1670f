"""The smoke study from an empty folder: what a person sees after `make reproduce`."""

import csv
import io
import json

import pytest

pytestmark = pytest.mark.workflow

TABLES = (
    *(f"tables/table{number}.{ending}" for number in range(1, 7) for ending in ("csv", "md", "tex")),
    *(f"tables/roads.{ending}" for ending in ("csv", "md", "tex")),
    *(
        f"tables/{name}.{ending}"
        for name in ("lab_table", "controlled", "verifier_audit", "reward_gap", "code_layers", "reward_audit")
        for ending in ("csv", "md", "tex")
    ),
    "tables/claims.csv",
    "tables/contamination.csv",
    "tables/lab_speed.csv",
    "tables/maths_failures.csv",
    "tables/policy_card.csv",
    "tables/reward_violations.csv",
    "tables/run_warnings.csv",
    "tables/scicode_leakage.csv",
    "tables/verifier_disagreements.csv",
    "tables/training_curves.csv",
)
DRAWN = (
    "breadth", "trajectories", "coverage_curve", "figure1", "figure2", "token_costs", "calibration", "clamp_ladder",
    "recoverability", "theory", "depth", "partner_curve", "loss_cost", "plane", "dose_response", "continuation",
    "figure3", "lab_curves", "controlled", "reward_truth", "reward_audit", "run_diagnostics", "failure_buckets",
)  # fmt: skip
FIGURES = [f"figures/{name}.{ending}" for name in DRAWN for ending in ("pdf", "png", "svg", "csv")]
CLAIMS = [f"C{number:02}" for number in range(1, 35)]
MAY_NOT_RUN = {"C07", "C12", "C13", "C14", "C15", "C27"}
"""Claims about what training lost: a hardly trained policy may have lost nothing. C27 needs a judge's endpoint."""


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_every_table_and_figure_is_there(smoke):
    results = smoke.folder / "results" / "smoke"
    for name in (*TABLES, *FIGURES):
        assert (results / name).stat().st_size > 0, name
    assert (results / "figures/breadth.png").read_bytes().startswith(b"\x89PNG")
    assert (results / "figures/breadth.pdf").read_bytes().startswith(b"%PDF")


def test_a_second_run_has_nothing_to_do(smoke):
    assert "Nothing to be done" in smoke.planned()
    for target in ("table1", "breadth", "scorecard", "results/smoke/figures/breadth.pdf"):
        assert "Nothing to be done" in smoke.planned(target), target


def test_table_1_has_a_row_for_every_kept_policy(smoke):
    table = rows(smoke.folder / "results/smoke/tables/table1.csv")
    assert [row["policy"] for row in table] == ["base", "ppo 2", "ppo 4", "grpo 2", "grpo 4"]
    for row in table:
        assert float(row["pass@1_low"]) <= float(row["pass@1"]) <= float(row["pass@1_high"])
        assert 0 <= float(row["coverage_paper"]) <= 1


def test_table_2_has_both_conventions_of_every_line(smoke):
    table = rows(smoke.folder / "results/smoke/tables/table2.csv")
    parts = ("entrance", "execution", "entrance_bare", "execution_bare")
    assert [row["entry"] for row in table] == [f"{line} {part}" for line in ("ppo", "grpo") for part in parts]
    for row in table:
        assert float(row["early"]) > 0  # nats a token
        assert float(row["change_low"]) <= float(row["change"]) <= float(row["change_high"])


def test_table_3_has_every_rung_of_every_line(smoke):
    entries = [row["entry"] for row in rows(smoke.folder / "results/smoke/tables/table3.csv")]
    rungs = (
        "nothing", "first_number", "entrance", "first_calculation", "generic_plan", "misleading_plan", "wrong_value",
    )  # fmt: skip
    for line in ("ppo", "grpo"):
        assert [entry for entry in entries if entry.startswith(f"{line} neutral")] == [
            f"{line} neutral {rung}" for rung in rungs
        ]


def test_both_ends_of_a_line_go_on_from_the_same_bytes(smoke):
    import pandas as pd

    results = smoke.folder / "results/smoke"
    for clamps, runs in (
        ("ppo-s1.ladder", ["ppo-s1-step2.ladder", "ppo-s1-step4.ladder"]),
        ("grpo-s1.ladder", ["grpo-s1-step2.ladder", "grpo-s1-step4.ladder"]),
        ("depth", ["ppo-s1-step4.depth", "grpo-s1-step2.depth"]),
        ("menu", ["base.entrances"]),
    ):
        asked = pd.read_parquet(results / f"clamps/{clamps}.parquet")
        wanted = set(asked[["problem_id", "prefix"]].itertuples(index=False, name=None))
        for run in runs:
            given = pd.read_parquet(results / f"rollouts/{run}.parquet").groupby(["problem_id", "prefix"]).size()
            assert set(given.index) == wanted, run
            assert set(given) == {4}, run  # continuations


def test_exact_masses_are_probabilities(smoke):
    import pandas as pd

    files = sorted((smoke.folder / "results/smoke/masses/evaluation").glob("*.parquet"))
    assert len(files) == 5
    for file in files:
        for name in ("probability", "decoded"):
            total = pd.read_parquet(file).groupby("problem_id")[name].sum()
            assert len(total) == 24
            assert total.between(1 - 1e-9, 1 + 1e-9).all(), (file, name)


def test_claims_carry_verdicts(smoke):
    verdicts = {row["id"]: row["verdict"] for row in rows(smoke.folder / "results/smoke/tables/claims.csv")}
    assert set(verdicts.values()) <= {"confirmed", "refuted", "inconclusive", "not run"}
    assert list(verdicts) == CLAIMS
    assert {claim for claim, verdict in verdicts.items() if verdict == "not run"} <= MAY_NOT_RUN


def test_training_curves_have_a_row_for_every_step(smoke):
    curves = rows(smoke.folder / "results/smoke/tables/training_curves.csv")
    assert [(row["line"], row["step"]) for row in curves] == [(n, s) for n in ("ppo", "grpo") for s in "1234"]
    assert not [name for name in curves[0] if name.startswith("seconds")]
    wanted = ["reward", "kl", "token_entropy", "entrance_entropy", "distinct_formulas", "zero_variance", "truncated"]
    assert set(wanted) <= set(curves[0])


def test_training_shares_no_problem_with_the_evaluation(smoke):
    import pandas as pd

    problems = smoke.folder / "results/smoke/problems"
    evaluation = pd.read_parquet(problems / "evaluation.parquet")
    truths = [row["ground_truth"] for row in pd.read_parquet(problems / "training.parquet")["reward_model"]]
    keys = {(*sorted(row.numbers), "->", row.target) for row in evaluation.itertuples()}
    assert len(keys) == len(evaluation) == 24
    assert len(truths) == 600
    assert not keys & {(*sorted(truth["numbers"]), "->", truth["target"]) for truth in truths}
    assert evaluation["split"].value_counts().to_dict() == {"held_out": 16, "calibration": 8}


def test_the_last_policy_is_an_ordinary_hugging_face_folder(smoke):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from workflow_scripts.policies.tokenizer import load_tokenizer

    folder = smoke.folder / "results/smoke/policies/grpo-s1-step4"
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = "4 5 7 9 -> 24 <think> try 4 * 7 = 28 no . </think> <answer> 4 * 7 </answer>"
    assert tokenizer(text)["input_ids"] == load_tokenizer(folder).encode(text)
    assert model.num_parameters() > 100_000


def test_every_job_wrote_a_log_and_long_ones_a_progress_bar(smoke):
    logs = smoke.folder / "results/smoke/logs"
    assert "step/s" in (logs / "base_policy.log").read_text() or "s/step" in (logs / "base_policy.log").read_text()
    assert "sample/s" in (logs / "rollouts/base.log").read_text()


def test_manifests_name_inputs_versions_and_settings(smoke):
    manifest = json.loads((smoke.folder / "results/smoke/tables/table1.manifest.json").read_text())
    assert set(manifest["files"]) == {"table1.csv", "table1.md", "table1.tex"}
    assert list(manifest["inputs"]) == ["results/smoke/measures/summary.csv"]
    assert manifest["params"]["sampling"]["samples"] == 32
    assert {"python", "snakemake", "numpy"} <= set(manifest["versions"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lines.grpo.stepz=3", "lines.grpo.stepz: unknown key (did you mean 'steps'?)"),
        ("sampling.top_p=3", "sampling.top_p: Input should be less than or equal to 1, not '3'"),
    ],
)
def test_a_wrong_config_stops_before_anything_is_planned(smoke, line, message):
    *sections, last = line.split("=")[0].split(".")
    value = {last: json.loads(line.split("=")[1])}
    for section in reversed(sections):
        value = {section: value}
    name, inner = next(iter(value.items()))
    done = smoke.snakemake("--dry-run", "--config", f"{name}={json.dumps(inner)}", check=False)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr


def test_a_spoilt_table_is_named_on_the_terminal(smoke):
    scores = smoke.folder / "results/smoke/scores/base.parquet"
    whole = scores.read_bytes()
    try:
        scores.write_bytes(whole[:-100])
        done = smoke.snakemake("--forcerun", "problem_breadth", "--until", "problem_breadth", check=False)
        assert done.returncode != 0
        assert "results/smoke/scores/base.parquet holds" in done.stdout + done.stderr
    finally:
        scores.write_bytes(whole)
        smoke.snakemake()
