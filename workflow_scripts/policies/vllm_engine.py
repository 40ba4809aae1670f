"""vLLM, started in this process for one policy folder, on a CPU or a GPU alike.

Prompts are token ids and the tokenizer is ours: vLLM gets none. So what it is asked holds no word that it could split
otherwise, and no end token, chat template or default of a generation config that is not written out here. One process
serves one policy, since not every vLLM gives a GPU's memory back.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from workflow_scripts.policies.merge_checks import probes, read_config, stored_tensors, weight_type
from workflow_scripts.records.errors import UserError

COOLEST, HOTTEST = 0.01, 2.0  # temperatures that vLLM takes, besides 0
_TOKENS_AT_ONCE = 8192  # of prompts, read in one step
_ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the engine runs here and is over when we are
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1",  # a text may fill the context: one token more is drawn and thrown away
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # as many threads as OMP_NUM_THREADS says, on any core
}
_POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")
_PROBES = 16


def engine_version() -> str:
    """Version of vLLM in this environment, with the name of its distribution.

    Raises UserError, saying what to install, where there is none.
    """
    for name in ("vllm", "vllm-cpu"):
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    raise UserError("engine: vllm needs vLLM, which this environment lacks; make env-engines makes one that has it")


def context_of(folder: str | os.PathLike) -> int:
    """Tokens that a policy can read, its own among them; UserError where its config does not say."""
    config = read_config(folder)
    found = next((config[name] for name in _POSITIONS if isinstance(config.get(name), int)), None)
    if not found or found < 2:
        raise UserError(f"{Path(folder) / 'config.json'} does not say how many positions there are ({_POSITIONS[0]})")
    return found


def vocabulary_of(folder: str | os.PathLike) -> int:
    """Tokens that a policy can say, those without a word among them; UserError where its config does not say."""
    found = read_config(folder).get("vocab_size")
    if not isinstance(found, int) or found < 1:
        raise UserError(f"{Path(folder) / 'config.json'} does not say how many tokens there are (vocab_size)")
    return found


class Engine:
    """Asks a vLLM `LLM` for completions of token prompts and keeps their order.

    make: turns explicit settings into vLLM's SamplingParams.
    """

    def __init__(self, llm: Any, make: Any = dict) -> None:
        self._llm, self._make = llm, make

    def ask(self, prompts: Sequence[Sequence[int]], settings: Sequence[Mapping[str, Any]]) -> list[Any]:
        """vLLM's answer to each (prompt, settings), in the order asked, whatever order they were finished in.

        Raises UserError where an answer is missing or belongs to another prompt.
        """
        asked = [{"prompt_token_ids": list(prompt)} for prompt in prompts]
        answers = self._llm.generate(asked, [self._make(**each) for each in settings], use_tqdm=False)
        answers = sorted(answers, key=lambda answer: int(answer.request_id))  # numbered in the order asked
        if len(answers) != len(asked):
            raise UserError(f"vLLM gave {len(answers)} answers to {len(asked)} requests; run this job again")
        for prompt, answer in zip(asked, answers, strict=True):
            if list(answer.prompt_token_ids) != prompt["prompt_token_ids"]:
                raise UserError(f"vLLM's answer {answer.request_id} belongs to another prompt; run this job again")
        return answers

    def check_seeds(self, vocabulary: int, longest: int) -> None:
        """Raises UserError unless one seed gives one sample again and different seeds do not all give the same.

        Asked after single tokens, at the highest temperature that vLLM takes: there even a policy that always says the
        same to its own prompts says different things, unless its seeds are not heeded. vocabulary, longest: of the
        engine, tokens.
        """
        prompts = probes(vocabulary, length=1)
        seeds = [*range(2, 2 * _PROBES + 2, 2), 2]
        call = {"temperature": HOTTEST, "top_p": 1.0, "min_p": 0.0, "max_new_tokens": min(4, longest - 1), "ends": ()}
        asked = [(prompt, drawing(seed, **call)) for prompt in prompts for seed in seeds]
        answers = self.ask(*zip(*asked, strict=True))
        said = [tuple(answer.outputs[0].token_ids) for answer in answers]
        groups = [said[start : start + len(seeds)] for start in range(0, len(said), len(seeds))]
        if vocabulary > 1 and all(len(set(group)) == 1 for group in groups):
            raise UserError(f"{_PROBES} seeds gave one and the same sample: this vLLM does not heed seeds")
        if any(group[-1] != group[0] for group in groups):
            raise UserError("one seed gave two different samples: this vLLM does not heed seeds")


def drawing(
    seed: int, *, temperature: float, top_p: float, min_p: float, max_new_tokens: int, ends: Sequence[int]
) -> dict[str, Any]:
    """Every sampling setting of one request written out, so that none comes from a file of the policy.

    seed: of the sample's stream, uint64. ends: ids that end a completion (kept as its last token).
    """
    return {
        "n": 1,
        "temperature": temperature,
        "top_p": top_p,
        "top_k": 0,
        "min_p": min_p,
        "seed": int(seed) >> 1,  # vLLM takes 63 bits
        "max_tokens": max_new_tokens,
        "min_tokens": 0,
        "stop_token_ids": list(ends),
        "ignore_eos": True,  # the ends are those above and no other
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "skip_special_tokens": False,
        "detokenize": False,
    }


@contextmanager
def engine(
    folder: str | os.PathLike,
    *,
    longest: int,
    dtype: str | None = None,
    prefix_caching: bool,
    sequences: int = 256,
    cache_gib: int = 1,
    gpu_share: float = 0.9,
) -> Iterator[Engine]:
    """Starts vLLM on a policy folder and ends it with the block.

    longest: tokens of the longest sequence, prompt and completion. dtype: of weights and arithmetic; None for float32
    on a CPU and the policy's own type on a GPU. sequences: computed at once. cache_gib: GiB for keys and values on a
    CPU. gpu_share: of a GPU's memory.
    Raises UserError where vLLM is missing or cannot load the policy.
    """
    engine_version()
    folder = Path(folder).resolve()
    os.environ.update(_ENVIRONMENT | {"VLLM_CPU_KVCACHE_SPACE": str(cache_gib)})
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    import torch
    from vllm import LLM, SamplingParams
    from vllm.platforms import current_platform

    if dtype is None:
        own = weight_type(read_config(folder), stored_tensors(folder))
        dtype = "float32" if current_platform.is_cpu() else str(own).removeprefix("torch.")
    threads = torch.set_num_threads
    try:
        llm = LLM(
            model=str(folder),
            skip_tokenizer_init=True,
            generation_config="vllm",  # none of the policy's
            trust_remote_code=False,
            dtype=dtype,
            max_model_len=longest,
            max_num_seqs=sequences,
            # A prompt is read whole: where it is read in parts, vLLM winds back the sample's random stream, which its
            # streams on CPUs cannot do.
            enable_chunked_prefill=False,
            max_num_batched_tokens=max(longest, _TOKENS_AT_ONCE),
            enforce_eager=True,
            enable_prefix_caching=prefix_caching,
            gpu_memory_utilization=gpu_share,
            logprobs_mode="raw_logprobs",
            disable_log_stats=True,
            seed=0,
        )
    except Exception as error:
        raise UserError(f"vLLM cannot load {folder}: {error}") from error
    try:
        yield Engine(llm, SamplingParams)
    finally:
        torch.set_num_threads = threads  # which vLLM replaces
        llm.llm_engine.engine_core.shutdown()
