"""The claims about mathematics: first calculations, same-trace differences, traces, pipelines, the worked example.

Which benchmarks a study has, and how many samples, decides the parts; so the rows are made by a function. `before` and
`after` of a maths line are its `base` and `late` policies. The measures come from these frames, each brought to the
columns that the scorecard reads by benchmark_means.claim_rows or trace_differences.claim_rows:

* C24, C25: benchmark_means.contrasts of first_calculations.problem_values, the rows of the mean over benchmarks.
* C26: benchmark_means.summary of trace_differences.line_values, one measure `did_<benchmark>` for each benchmark.
* C27: the same of segmentation_effect.line_values; without an endpoint there are no rows, and the claim is not run.
* C28: benchmark_means.contrasts of trace_diversity.curve_values.
* C29: pipeline_rows of first_calculations.problem_values.
* C34: first_calculations.example_rows.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from workflow_scripts.measures import benchmark_means
from workflow_scripts.measures.claims import Claim, Part
from workflow_scripts.records.errors import UserError

LINE = "maths"
"""Of the claims' rows: the line that goes straight from the base policy through RL."""

BEFORE, AFTER = "base", "late"


def _part(measure: str, **more) -> Part:
    return Part(measure, before=BEFORE, after=AFTER, **more)


def claims(
    benchmarks: Sequence[str],
    *,
    line: str = LINE,
    also: Sequence[str] = (),
    pass_at: int = 64,
    margin: float = 0.03,
    depth: int = 256,
) -> tuple[Claim, ...]:
    """C24–C29 and C34 for a study.

    benchmarks: every one must show a positive difference for C26. line: whose numbers stand in the rows. also: lines of
    other models on which C24 and C25 must hold too (the paper has 7B and 14B). pass_at, margin: of C25. depth: of C28,
    for its words.
    """
    if not benchmarks:
        raise UserError("claims about mathematics need at least one benchmark")
    lines = ("", *also)
    moved = "difference in differences, nats a token; positive: the later policy suppresses the commitment more"
    return (
        Claim(
            "C24",
            "Maths: first-calculation entropy falls while pass@1 rises",
            "7B: pass@1 .379 → .510, entropy 1.063 → .744; 14B: .377 → .546, 1.207 → .711",
            line,
            "maths_measures",
            tuple(
                part for name in lines for part in (_part("entropy", sign=-1, line=name), _part("pass@1", line=name))
            ),
            ("entropy_corrected", "entropy_unordered", "entropy_correct", "entropy_with_none", "none_share"),
            "mean over benchmarks; plug-in entropy over the samples with a calculation, nats",
        ),
        Claim(
            "C25",
            f"pass@{pass_at} hardly moves",
            "7B .754 → .760; 14B .774 → .774",
            line,
            "maths_measures",
            tuple(_part(f"pass@{pass_at}", kind="null", margin=margin, line=name) for name in lines),
            ("pass@1",),
        ),
        Claim(
            "C26",
            "The same-trace difference in differences is positive on every benchmark",
            ".193–.337 nats/token, six of six, intervals exclude 0",
            line,
            "trace_differences",
            tuple(_part(f"did_{name}", words=f"the {moved} ({name})") for name in benchmarks),
            (
                "did",
                "did_sentence_end",
                "did_second",
                "placebos_same",
                "did_permuted",
                "did_over_permuted",
                "did_anywhere",
                "did_of_before",
                "did_of_after",
            ),
            "traces of both origins, beside it those of either; the others are placebos, did_over_permuted is the lead "
            "over one, and placebos_same is the share of traces that did_sentence_end and did_second cut at one place, "
            "where they are one placebo and not two",
        ),
        Claim(
            "C27",
            "It is robust to where the boundary is drawn",
            "blind semantic re-segmentation of 19,941 traces",
            line,
            "segmentation",
            (
                _part(
                    "did_semantic_worst",
                    words=f"the {moved}, cut by the judge, unresolved traces at their worst",
                ),
            ),
            ("did_semantic", "did_rule"),
            "needs an endpoint for the judge",
        ),
        Claim(
            "C28",
            f"Far fewer distinct traces among {depth} samples",
            "22.0 / 25.2 against 148.5 / 158.9 at 256 (GSM8K / MATH500)",
            line,
            "maths_measures",
            (_part("distinct_traces", sign=-1),),
            ("traceless",),
            f"expected number among {depth} samples of a problem",
        ),
        Claim(
            "C29",
            "Pipelines differ: SFT → DPO → RLVR keeps breadth",
            "OLMo-3: pass@1 .613, entropy 1.137 (SFT 1.189); R1-Distill-7B .526, 1.240",
            line,
            "maths_measures",
            (
                _part(
                    "entropy_change_gap",
                    words="the change of first-calculation entropy from SFT through DPO and RL − its change from the "
                    "base through RL",
                ),
            ),
            ("entropy_gap", "pass@1_gap"),
            "the gaps are between the two end points: pipeline − straight",
        ),
        Claim(
            "C34",
            "Worked example: entrances per policy",
            "GSM8K item 108",
            line,
            "maths_measures",
            (_part("example_entropy", sign=-1, words="the change of the item's first-calculation entropy"),),
            (),
            "one problem; the interval is over its samples (and training seeds) and says nothing of other problems",
        ),
    )


def pipeline_rows(
    values: pd.DataFrame,
    *,
    straight: tuple[Sequence[str], Sequence[str]],
    pipeline: tuple[Sequence[str], Sequence[str]],
    line: str,
    statistics: Mapping[str, float],
) -> pd.DataFrame:
    """Rows of C29: `entropy_change_gap`, `entropy_gap`, `pass@1_gap`, paired by problem, means over benchmarks.

    values: of first_calculations.problem_values. straight: (base, after RL); pipeline: (SFT, after SFT, DPO and RL):
    policies, one per training seed or one for all. statistics: seed, draws, confidence.
    """
    names = ("straight_start", "straight_end", "pipeline_start", "pipeline_end")
    groups = dict(zip(names, (*straight, *pipeline)))
    size = max(map(len, groups.values()))
    if any(len(policies) not in (1, size) for policies in groups.values()):
        raise UserError("pipelines are compared with one policy per training seed at each point, or one for all seeds")
    chosen = values[values["measure"].isin(["entropy", "pass@1"])]
    key = ["benchmark", "problem_id", "measure"]
    frames = []
    for seed in range(size):
        policies = {name: group[seed % len(group)] for name, group in groups.items()}
        missing = [policy for policy in policies.values() if policy not in set(chosen["policy"])]
        if missing:
            raise UserError(f"there are no values of {missing[0]}")
        ends = {name: chosen[chosen["policy"] == policy].set_index(key)["value"] for name, policy in policies.items()}
        gap = ends["pipeline_end"] - ends["straight_end"]
        # Differences below rounding are none, as in benchmark_means.contrasts.
        change = (gap - (ends["pipeline_start"] - ends["straight_start"])).round(12)
        gap = gap.round(12)
        for suffix, found in (("_gap", gap), ("_change_gap", change)):
            part = found.rename("value").reset_index()
            frames.append(part.assign(measure=part["measure"] + suffix, policy=f"gap {seed}"))
    frame = pd.concat(frames, ignore_index=True)
    rows = benchmark_means.summary(frame, {"gap": [f"gap {seed}" for seed in range(size)]}, **statistics)
    rows = rows[rows["benchmark"] == benchmark_means.MEAN]
    rows = rows.assign(line=line, before=BEFORE, after=AFTER, start=float("nan"), end=float("nan"))
    columns = ["line", "before", "after", "measure", "start", "end", "estimate", "low", "high", "problems"]
    return rows[columns].reset_index(drop=True)
