"""What every policy is and how it is asked: template, special tokens, defaults that are not used, prompt lengths."""

from workflow_scripts.figures.policy_card import card, markdown
from workflow_scripts.policies.foreign_card import describe
from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.rendering import prompter, rendering
from workflow_scripts.records import manifests
from workflow_scripts.records.files import write_text
from workflow_scripts.records.schemas import OPENINGS, PROBLEMS, SOLUTIONS
from workflow_scripts.records.stage import run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.countdown.continuations import continuations, entrance_tokens
from workflow_scripts.tasks.countdown.menus import menu
from workflow_scripts.tasks.countdown.wording import wording


def _counted(tokenizer, asked, texts, words):
    """Longest prompt, and how many of the scored continuations have an entrance that ends inside a token."""
    straddling = 0
    for row in [] if words.words else texts.itertuples():
        spans = tokenizer.spans(asked[row.problem_id], row.continuation)
        straddling += entrance_tokens(spans, row.entrance)[1]
    longest = max(len(tokenizer.encode_known(prompt)) for prompt in asked.values())
    return {"longest_prompt": longest, "entrances": len(texts), "straddling": straddling}


def main(input, output, params, wildcards):
    words, problems = wording(params.wording), read_table(input["problems"], PROBLEMS)
    solutions, openings = (
        menu(read_table(input[name], schema), params.solution_set)
        for name, schema in (("solutions", SOLUTIONS), ("openings", OPENINGS))
    )
    texts = continuations(solutions, openings, words)
    facts, counts, example = {}, {}, None
    for policy, folder in zip(params.policies, input.policies, strict=True):
        manifests.check(folder)
        tokenizer, ask, shown = load_any_tokenizer(folder), prompter(folder, words), rendering(folder, words)
        asked = {row.problem_id: ask(row.numbers, row.target) for row in problems.itertuples()}
        alike = (tokenizer.fingerprint, *asked.values())  # a line's policies are read and asked alike
        if alike not in counts:
            counts[alike] = _counted(tokenizer, asked, texts, words)
        facts[policy] = describe(folder) | {"asked_by": shown.by, "think_opened_by": shown.think} | counts[alike]
        by = params.settings["engine"]
        facts[policy]["sampled_by"] = by if by != "built_in" else facts[policy]["engine"]
        example = example or (asked[texts["problem_id"].iloc[0]] + words.gap, texts["continuation"].iloc[0])
    table = card(facts)
    write_text(output.csv, csv_text(table))
    write_text(output.md, markdown(table, prompt=example[0], completion=example[1], sampling=params.settings))


run(main, snakemake)
