"""The reward audit: a heat map of policies and rewards with its values in the cells, the table, and the violations."""

import math
import os
from collections.abc import Iterable, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from workflow_scripts.figures import style
from workflow_scripts.figures.tables import Column, Table, markdown
from workflow_scripts.measures.reward_audit import RULES, audit, broken_rules, means, violations
from workflow_scripts.records.errors import UserError
from workflow_scripts.tasks.scicode.rewards import Composition
from workflow_scripts.tasks.scicode.trivial import TRIVIAL

TRUTH = {"runs": "runs", "truth": "right"}
"""Columns that stand before the rewards: shares of the problems."""

_COLOURS = LinearSegmentedColormap.from_list("paid", ["#f7f9fb", "#9fc4de", "#0b6ea8"])


def overall(found: pd.DataFrame) -> pd.DataFrame:
    """Wide: policy, group, problems, runs, truth, then one column per reward. found: `measures.reward_audit.means`."""
    rows = found[found["family"] == "all"]
    if rows.empty:
        raise UserError("the reward audit holds no reward that can be scored; name one that needs no judge")
    keys = ["policy", "group", "problems", *TRUTH]
    order, rewards = list(dict.fromkeys(rows["policy"])), list(dict.fromkeys(rows["reward"]))
    wide = rows.pivot(index=keys, columns="reward", values="score")[rewards].reset_index()
    wide.columns.name = None
    return wide.set_index("policy").loc[order].reset_index()


def audit_table(found: pd.DataFrame, listed: pd.DataFrame) -> Table:
    """One row per policy: shares that run and are right, then the mean score under every reward.

    found, listed: means and violations of `measures.reward_audit`.
    """
    wide = overall(found)
    rewards = list(wide.columns[5:])
    cells = wide.rename(columns={"policy": "entry"}).melt("entry", [*TRUTH, *rewards], "measure", "estimate")
    columns = [Column(name, TRUTH.get(name, name), 2) for name in (*TRUTH, *rewards)]
    counts = broken_rules(listed, rewards).set_index("reward")
    sentences = [_sentence(reward, counts.loc[reward]) for reward in rewards]
    families = found.loc[found["family"] != "all", "family"].nunique()
    notes = [
        f"Means over {int(wide['problems'].max())} problems of {families} families; a policy that has no way to answer "
        "a problem is left out there. Runs, right: shares of the problems, by the verdict.",
        "Violations are pairs of policies of which the worse answer to one problem earns more: "
        + "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items())
        + ".",
        *sentences,
    ]
    rows = [(f"{policy}: {TRIVIAL[policy].does}", policy) for policy in wide["policy"]]
    title = "Reward audit: what trivial policies and right answers earn"
    return Table(title, rows, columns, cells.assign(low=math.nan, high=math.nan), notes)


def _sentence(reward: str, counts: pd.Series) -> str:
    if not counts["worst"]:
        return f"{reward}: no violation."
    parts = [f"{counts[rule]} pair{'s' if counts[rule] > 1 else ''} {rule}" for rule in RULES if counts[rule]]
    return f"{reward}: {', '.join(parts)}; foremost {counts['worst']}."


def draw(found: pd.DataFrame) -> Figure:
    """The heat map: a row per policy, a column per reward, mean scores in the cells. found: `means`.

    A frame is drawn around what near misses and answers without science earn where that is more, on average, than some
    way of writing the right answer earns.
    """
    wide = overall(found)
    rewards = list(wide.columns[5:])
    values = wide[[*TRUTH, *rewards]].to_numpy(float)
    figure = style.new_figure("text", 0.9 + 0.17 * len(wide))
    axes = figure.subplots()
    axes.grid(False)
    image = axes.imshow(values, cmap=_COLOURS, vmin=0, vmax=1, aspect="auto")
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            _cell(axes, row, column, values[row, column])
    lowest = wide.loc[wide["group"] == "right", rewards].min()
    for row, policy in wide.iterrows():
        for place, reward in enumerate(rewards, start=len(TRUTH)):
            if policy["group"] != "right" and policy[reward] > lowest[reward] + 1e-9:
                box = (place - 0.46, row - 0.44)
                axes.add_patch(Rectangle(box, 0.92, 0.88, fill=False, edgecolor=style.COLOURS[1], linewidth=1.2))
    _labels(axes, wide, rewards)
    bar = figure.colorbar(image, ax=axes, pad=0.01, aspect=40)
    bar.set_label("mean score (runs, right: share of problems)")
    bar.outline.set_visible(False)
    figure.text(
        0.01,
        0.003,
        "framed: near misses and answers without science, their mean above that of some way of writing the right one",
        fontsize=6.5,
        color=style.COLOURS[1],
    )
    figure.get_layout_engine().set(rect=(0, 0.02, 1, 0.98))
    return figure


def _cell(axes: Axes, row: int, column: int, value: float) -> None:
    shown = "–" if math.isnan(value) else f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"
    dark = not math.isnan(value) and value > 0.62
    axes.text(
        column, row, "0" if shown == ".00" else shown, ha="center", va="center", fontsize=6,
        color="white" if dark else "#1f1f1f",
    )  # fmt: skip


def _labels(axes: Axes, wide: pd.DataFrame, rewards: list[str]) -> None:
    names = [*TRUTH.values(), *(reward.replace("_", " ") for reward in rewards)]
    axes.set_xticks(range(len(names)), names, rotation=55, ha="left", rotation_mode="anchor")
    axes.xaxis.set_ticks_position("top")
    axes.set_yticks(range(len(wide)), wide["policy"])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.axvline(len(TRUTH) - 0.5, color="white", linewidth=4)
    for row in range(1, len(wide)):
        if wide["group"][row] != wide["group"][row - 1]:
            axes.axhline(row - 0.5, color="#1f1f1f", linewidth=0.8)


def figure(found: pd.DataFrame, paths: Iterable[str | os.PathLike]) -> None:
    """Draws the heat map and writes it to `paths` (.pdf, .png, .svg; .csv holds `found`, all families included)."""
    with style.styled():
        style.save(draw(found), found, paths)


def violations_markdown(listed: pd.DataFrame, *, most: int = 4) -> str:
    """The first `most` violations of each reward as Markdown, to stand below the table; empty for none."""
    if listed.empty:
        return ""
    lines = [
        "",
        "| reward | rule | paid more | the better answer | problems | share | gap |",
        "|---|---|---|---|---:|---:|---:|",
    ]
    for _, rows in listed.groupby("reward", sort=False):
        lines += [
            f"| {row.reward} | {row.rule} | {row.paid} | {row.above} | {row.problems} | {row.share:.2f} "
            f"| {row.gap:.2f} |"
            for row in rows.head(most).itertuples()
        ]
    return "\n".join(lines) + "\n"


def report(rewards: Mapping[str, Composition], *, each: int = 1, seed: int = 1) -> tuple[str, pd.DataFrame]:
    """The audit of rewards on `each` generated problem(s) of every family: Markdown to read, and the means (long).

    Runs every answer in a sandbox. Rewards that need a judge are named and left out.
    """
    from workflow_scripts.tasks.scicode.generation import FAMILIES, generate
    from workflow_scripts.tasks.scicode.sandbox import Sandbox

    problems = generate("audited", count=each * len(FAMILIES), seed=seed)
    with Sandbox() as sandbox:
        audited = audit(problems, rewards, sandbox)
    found, listed = means(audited), violations(audited)
    judged = [name for name, reward in rewards.items() if reward.needs_judge]
    left_out = f"\nAsk a judge, which `snakemake reward_audit` does: {', '.join(judged)}.\n" if judged else ""
    return markdown(audit_table(found, listed)) + violations_markdown(listed) + left_out, found
