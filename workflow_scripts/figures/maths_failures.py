"""Wrong answers to maths problems as a Markdown page: why policies fail, and texts to look at."""

import html
from collections.abc import Mapping

import pandas as pd

REASONS = {
    "no_answer": "no answer found",
    "no_steps": "an answer without a calculation",
    "arithmetic": "a step does not hold",
    "stated_another": "another number than the last result stated",
    "plan": "steps hold and lead elsewhere",
}
"""Of word problems (tasks.maths.word_faults); other reasons, statuses of verdicts, stand as they are."""

LONGEST = 600
"""Characters of a completion that are shown; of a longer one its end."""


def counts(failures: pd.DataFrame, totals: pd.Series) -> pd.DataFrame:
    """Shares of each policy's samples by reason: columns policy, benchmark, then one a reason.

    failures: of failed_examples. totals: all samples, right ones too, by (policy, benchmark).
    """
    each = failures.drop_duplicates(["policy", "benchmark", "reason"])
    wide = each.pivot(index=["policy", "benchmark"], columns="reason", values="count").reindex(totals.index)
    order = [reason for reason in REASONS if reason in wide] + sorted(set(wide) - set(REASONS))
    return wide[order].fillna(0).div(totals, axis=0).reset_index()


def page(failures: pd.DataFrame, totals: pd.Series, labels: Mapping[str, str]) -> str:
    """The page: a table of shares, then the examples by policy, benchmark and reason. labels: policy to its words."""
    shares = counts(failures, totals)
    reasons = list(shares.columns[2:])
    shares = shares.set_index(["policy", "benchmark"])
    lines = ["**Wrong answers: why, as shares of all samples, and texts to look at**", ""]
    lines.append("| " + " | ".join(["policy", "test set", *(REASONS.get(name, name) for name in reasons)]) + " |")
    lines.append("|---|---|" + "---:|" * len(reasons))
    for policy, label in labels.items():
        for key in [key for key in shares.index if key[0] == policy]:
            cells = [f"{share:.3f}" for share in shares.loc[key]]
            lines.append(
                "| " + " | ".join([f"{label} ({policy})" if label != policy else label, key[1], *cells]) + " |"
            )
    for policy, label in labels.items():
        for (benchmark, reason), rows in failures[failures["policy"] == policy].groupby(["benchmark", "reason"]):
            lines += [
                "",
                f"**{label}, {benchmark}: {REASONS.get(reason, reason)}** ({rows['count'].iloc[0]} samples)",
                "",
            ]
            lines += [_example(row) for row in rows.itertuples()]
    return "\n".join(lines) + "\n"


def _example(row: object) -> str:
    said = row.completion if len(row.completion) <= LONGEST else "… " + row.completion[-LONGEST:]
    extracted = row.extracted if isinstance(row.extracted, str) and row.extracted else "nothing"
    asked, answer, found = (html.escape(" ".join(text.split())) for text in (row.question, row.gold, extracted))
    return f"* `{row.problem_id}` sample {row.sample}: {asked} → {answer}; read: {found}<br>{_code(said)}"


def _code(text: str) -> str:
    """A text that a policy wrote, shown as it is: it may hold any mark of Markdown or HTML."""
    return f"<code>{html.escape(' '.join(text.split()))}</code>"
