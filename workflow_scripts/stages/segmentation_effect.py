"""The same-trace difference where the judge puts the boundary, and how far the judge agrees with the rule."""

import pandas as pd

from workflow_scripts.measures import benchmark_means, segmentation_effect, trace_differences
from workflow_scripts.measures.maths_claims import AFTER, BEFORE, LINE
from workflow_scripts.measures.scored_traces import TRACE
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.maths_schemas import JUDGEMENTS, MATHS_PROBLEMS, MATHS_SCORES, TRACE_LIKELIHOODS
from workflow_scripts.records.schemas import ROLLOUTS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.maths.asked import prompts_of
from workflow_scripts.tasks.maths.milestones import tokens_before


def in_tokens(judged, rollouts, problems, tokenizer, prompt):
    """The judge's boundary of every judgement in tokens, as the traces were cut for their likelihoods."""
    said = rollouts[rollouts["prefix"] == ""].set_index(["policy", "problem_id", "sample"])["completion"]
    asked, found = prompts_of(problems, prompt), []
    for row in judged.itertuples():
        if pd.isna(row.boundary):
            found.append(None)
            continue
        text = said.loc[(row.origin, row.problem_id, row.sample)]
        found.append(tokens_before(tokenizer.spans(asked[row.problem_id], text), int(row.boundary))[0])
    return pd.array(found, "Int32")


def main(input, output, params, wildcards):
    manifests.check(input.policy)
    problems, rollouts, scores, likelihoods = (
        pd.concat([read_table(path, schema) for path in paths], ignore_index=True)
        for paths, schema in (
            (input["problems"], MATHS_PROBLEMS),
            (input.rollouts, ROLLOUTS),
            (input.scores, MATHS_SCORES),
            (input.likelihoods, TRACE_LIKELIHOODS),
        )
    )
    judged = read_table(input.judgements, JUDGEMENTS)
    scored = judged[TRACE].merge(likelihoods[TRACE].drop_duplicates(), how="left", indicator=True)["_merge"].eq("both")
    judged = judged[scored.to_numpy()].reset_index(drop=True)
    print(f"{int((~scored).sum())} of {len(scored)} judgements are of traces that could not be scored")
    tokenizer = load_any_tokenizer(input.policy)
    judged["boundary_tokens"] = in_tokens(judged, rollouts, problems, tokenizer, params.prompt)
    summaries, claims = [], []
    for place, pair in enumerate(params.pairs):
        ends = [tuple(policies) for policies in pair["policies"]]
        frame, entries = segmentation_effect.line_values(likelihoods, judged, ends)
        rows = benchmark_means.summary(frame, entries, **params.statistics)
        line, measures = pair["name"] if place else LINE, tuple(segmentation_effect.MEASURES)
        claims.append(trace_differences.claim_rows(rows, line, BEFORE, AFTER, measures))
        summaries.append(rows.rename(columns={"entry": "origin"}).assign(pair=pair["name"]))
    write_text(output.effect, csv_text(pd.concat(summaries, ignore_index=True)))
    write_text(output.claims, csv_text(pd.concat(claims, ignore_index=True)))
    rule = scores.rename(columns={"policy": "origin"})[[*TRACE, "p1"]]
    write_text(output.agreement, csv_text(segmentation_effect.agreement(judged, rule)))


run(main, snakemake)
