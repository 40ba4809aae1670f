"""A policy fine-tuned by verl on several solutions a problem, built by the solver; its last step is the policy."""

import logging
from pathlib import Path

import pyarrow as pa

from workflow_scripts.policies.foreign_tokenizer import load_any_tokenizer
from workflow_scripts.policies.merging import merged
from workflow_scripts.policies.rendering import prompter
from workflow_scripts.policies.verl_engine.hardware import Hardware
from workflow_scripts.policies.verl_engine.sft import SftSettings, texts_a_step, train_whole
from workflow_scripts.policies.verl_engine.sft_texts import whole_texts
from workflow_scripts.records import manifests, seeds
from workflow_scripts.records.recovery_schemas import DEMONSTRATIONS, SUPERVISED
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import read_table, write_table
from workflow_scripts.tasks.countdown import problem_files
from workflow_scripts.tasks.countdown.wording import wording

HELD_BACK = 200
"""Problems whose demonstrations are not trained on, at most a twentieth: their loss is in the metrics."""

WARMUP = 10


def answered(completion, words):
    """A demonstration in the words of a policy: the same steps to the same expression."""
    expression = completion.rpartition("<answer> ")[2].removesuffix(" </answer>")
    return completion if words.words else words.solution_completion(expression)


def demonstrated(input, settings, words):
    """(prompt, completion) pairs by problem, in the order of the problems."""
    shown = read_table(input.demonstrations, DEMONSTRATIONS)
    shown = shown[(shown["choice"] == settings["choice"]) & (shown["place"] < settings["demonstrations"])]
    ask = prompter(input.start, words)
    rows = problem_files.read_verl_rows(input["problems"])
    prompts = {row.problem_id: ask(row.numbers, row.target) for row in rows.itertuples()}
    groups = {}
    for problem, completion in zip(shown["problem_id"], shown["completion"]):
        groups.setdefault(problem, []).append((prompts[problem], answered(completion, words)))
    return list(groups.values())


def main(input, output, params, wildcards):
    logging.basicConfig(level=logging.INFO)
    for path in (input.start, input["problems"]):
        manifests.check(path)
    given, gpus = params.settings, elsewhere(snakemake, "roads", params.road, "gpus") or 0
    hardware = Hardware(**params.hardware, gpus=gpus)
    groups = demonstrated(input, given, wording(params.wording))
    held = len(groups) - min(HELD_BACK, len(groups) // 20)
    tokenizer = load_any_tokenizer(input.start)
    trained_on, held_back = (
        whole_texts([pair for group in part for pair in group], tokenizer) for part in (groups[:held], groups[held:])
    )
    settings = SftSettings(
        steps=given["steps"],
        texts=texts_a_step(given["tokens"], [text.tokens for text in trained_on], hardware.world),
        rate=given["learning_rate"],
        longest=max(text.prompt_tokens + text.tokens for text in trained_on + held_back),
        warmup=min(WARMUP, given["steps"]),
    )
    seed = seeds.key(params.study_seed, params.road, int(wildcards.seed))
    state = Path(output.state)
    rows = train_whole(Path(input.start), trained_on, state, settings, hardware, seed=seed, held=held_back)
    merged(state, output.policy, base=input.start)
    write_table(pa.Table.from_pylist(rows), output.metrics, SUPERVISED)


run(main, snakemake)
