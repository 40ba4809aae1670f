"""Table 5: precision and breadth of maths policies, means over benchmarks."""

from collections.abc import Sequence

import pandas as pd

from workflow_scripts.figures.tables import Column, Table
from workflow_scripts.measures.benchmark_means import MEAN
from workflow_scripts.measures.first_calculations import MEASURES


def table5(
    summary: pd.DataFrame,
    rows: Sequence[tuple[str, str]],
    *,
    benchmarks: Sequence[str],
    pass_at: Sequence[int],
    samples: int,
    depth: int,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> Table:
    """Table 5, for figures.tables.write: a row per policy.

    summary: benchmark_means.summary of first_calculations.problem_values and trace_diversity.curve_values. rows:
    (label, entry). benchmarks: those that are averaged, for the words below. pass_at: of it the smallest and the
    largest k are shown. samples: of a problem. depth: samples among which distinct traces are counted.
    """
    ks = sorted({min(pass_at), max(pass_at)})
    columns = [
        *(Column(f"pass@{k}", f"pass@{k}") for k in ks),
        Column("entropy", "first-calculation entropy, nats"),
        Column("entropy_corrected", "the same, Miller–Madow"),
        Column("none_share", "without a calculation"),
        Column("distinct_traces", f"distinct traces in {depth}", 1),
    ]
    cells = summary[(summary["benchmark"] == MEAN) & summary["measure"].isin([column.name for column in columns])]
    named = ", ".join(benchmarks)
    each = f"means over the problems of each benchmark, then over benchmarks ({named})"
    about = [
        f"{samples} samples a problem; {each if len(benchmarks) > 1 else f'means over the problems of {named}'}. In "
        f"brackets the {100 * confidence:g} % interval of a bootstrap over problems, of each benchmark by itself.",
        f"Entropy: {MEASURES['entropy']}. Miller–Madow: {MEASURES['entropy_corrected']}.",
        "Distinct traces: expected number of different sequences of numbers, a text without a number having none.",
        *notes,
    ]
    return Table("Table 5. Precision and first calculations of maths policies", rows, columns, cells, tuple(about))
