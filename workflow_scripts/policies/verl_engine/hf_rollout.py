"""Rollouts for verl by Hugging Face `generate`, in one Ray actor a replica: what runs where there is no accelerator.

A sample's tokens depend on its key alone, never on what it was batched with or when it came in: the key holds the
rollout seed, the replica, the step of the weights, the prompt and how often this prompt was asked before at this step.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import ray
import torch
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, TokenOutput

from workflow_scripts.policies.verl_engine.keyed_choice import KeyedChoice, check_sampling
from workflow_scripts.records import seeds

GATHERED_FOR = 0.05
"""Seconds that requests are gathered before they are answered together."""

LARGEST_BATCH = 256
"""Most texts that are generated together."""


class HuggingFaceServer:
    """Answers requests of verl's agent loop; requests that come in together are generated together."""

    def __init__(self, config: Any, model_config: Any, replica_rank: int) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        self.config, self.replica_rank = config, replica_rank
        self.model = AutoModelForCausalLM.from_pretrained(model_config.path, dtype=torch.float32).eval()
        tokenizer = AutoTokenizer.from_pretrained(model_config.path)
        self.end = tokenizer.eos_token_id
        self.pad = self.end if tokenizer.pad_token_id is None else tokenizer.pad_token_id
        self.step: int | None = None
        self.asked: Counter = Counter()
        self.waiting: list[tuple[list[int], dict, int, asyncio.Future]] = []
        self.something_waits = asyncio.Event()
        self.answering: asyncio.Task | None = None

    async def generate(
        self, request_id: str, prompt_ids: Sequence[int], sampling_params: dict[str, Any], **_: object
    ) -> TokenOutput:
        """One completion of a prompt given as token ids."""
        loop = asyncio.get_running_loop()
        if self.answering is None:
            self.answering = loop.create_task(self._answer())
        prompt = list(prompt_ids)
        sample = self.asked[tuple(prompt)]
        self.asked[tuple(prompt)] += 1
        key = seeds.key(int(self.config.seed), self.replica_rank, int(self.step or 0), *prompt, "sample", sample)
        answer = loop.create_future()
        self.waiting.append((prompt, dict(sampling_params), key, answer))
        self.something_waits.set()
        return await answer

    async def _answer(self) -> None:
        while True:
            await self.something_waits.wait()
            await asyncio.sleep(GATHERED_FOR)
            waiting, self.waiting = self.waiting, []
            self.something_waits.clear()
            alike: dict[str, list] = {}
            for request in waiting:
                alike.setdefault(repr(sorted(request[1].items(), key=str)), []).append(request)
            for requests in alike.values():
                for start in range(0, len(requests), LARGEST_BATCH):
                    await self._answer_together(requests[start : start + LARGEST_BATCH])

    async def _answer_together(self, requests: list) -> None:
        prompts, parameters, keys, answers = zip(*requests, strict=True)
        try:
            outputs = await asyncio.to_thread(self._generate, prompts, parameters[0], np.array(keys, dtype=np.uint64))
        except Exception as error:  # told to the callers, whose step fails
            for answer in answers:
                answer.set_exception(error)
            return
        for answer, output in zip(answers, outputs, strict=True):
            answer.set_result(output)

    @torch.inference_mode()
    def _generate(self, prompts: Sequence[list[int]], parameters: dict, keys: np.ndarray) -> list[TokenOutput]:
        from transformers import GenerationConfig, LogitsProcessorList

        choice = KeyedChoice(keys, check_sampling(parameters))
        longest = max(map(len, prompts))
        ids = torch.full((len(prompts), longest), self.pad)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
            mask[row, longest - len(prompt) :] = 1
        limit = parameters.get("max_tokens") or parameters.get("max_new_tokens") or self.config.response_length
        settings = GenerationConfig(
            do_sample=False, max_new_tokens=int(limit), pad_token_id=self.pad, eos_token_id=self.end
        )
        said = self.model.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=settings,
            logits_processor=LogitsProcessorList([choice]),
        )[:, longest:].tolist()
        log_probs = np.stack(choice.log_probs, axis=1)
        outputs = []
        for row, tokens in enumerate(said):
            length = tokens.index(self.end) + 1 if self.end in tokens else len(tokens)
            outputs.append(
                TokenOutput(
                    token_ids=tokens[:length],
                    log_probs=log_probs[row, :length].tolist(),
                    stop_reason="completed",
                    num_preempted=0,
                    extra_fields={"global_steps": self.step},
                )
            )
        return outputs

    def load_weights(self, named: list[tuple[str, torch.Tensor]], step: int | None) -> None:
        """Takes over the trained weights; ValueError where a name is missing or unknown."""
        missing, unexpected = self.model.load_state_dict(dict(named), strict=False)
        missing = [name for name in missing if name != "lm_head.weight"]  # tied to the embedding
        if missing or unexpected:
            raise ValueError(f"the trainer's weights do not fit the rollout's: {(missing + unexpected)[:4]}")
        self.model.tie_weights()
        self.step = step
        self.asked.clear()

    def address(self) -> str:
        return f"hf-{ray.get_runtime_context().get_actor_id()[:8]}:0"

    # What verl asks of every rollout; there is no memory to free and nothing to interrupt here.
    async def wake_up(self, *_: object, **__: object) -> None: ...
    async def sleep(self, *_: object, **__: object) -> None: ...
    async def clear_kv_cache(self) -> None: ...
    async def release_kv_cache(self) -> None: ...
    async def resume_kv_cache(self) -> None: ...
    async def abort_all_requests(self, reject_request: bool = False) -> None: ...
    async def resume_generation(self) -> None: ...
    async def start_profile(self, **_: object) -> None: ...
    async def stop_profile(self) -> None: ...


def _actor_name(replica_rank: int) -> str:
    return f"hf_server_{replica_rank}"


class HuggingFaceReplica(RolloutReplica):
    """One server beside the trainer's workers."""

    async def launch_servers(self) -> None:
        actor = ray.remote(HuggingFaceServer).options(
            name=_actor_name(self.replica_rank), num_cpus=0, max_concurrency=self.max_concurrency
        )
        server = actor.remote(self.config, self.model_config, self.replica_rank)
        self.servers = [server]
        self._server_handle = server
        self._server_address = await server.address.remote()


class HuggingFaceAdapter(BaseRollout):
    """The trainer's side: hands the weights over after each step."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        rank = int(os.environ["RANK"])
        sizes = self.config
        world = sizes.tensor_model_parallel_size * sizes.data_parallel_size * sizes.pipeline_model_parallel_size
        self.replica_rank = rank // world if replica_rank == -1 else replica_rank
        self.leads = rank % world == 0

    async def resume(self, tags: list[str]) -> None: ...

    async def release(self) -> None: ...

    @torch.no_grad()
    async def update_weights(
        self,
        weights: Generator[tuple[str, torch.Tensor], None, None],
        wire_format: str = "named_tensors",
        global_steps: int | None = None,
        **_: object,
    ) -> None:
        if wire_format != "named_tensors":
            raise ValueError(f"the hf rollout takes named tensors, not {wire_format!r}")
        # Every rank must draw from the generator, for gathering a shard takes all of them.
        named = [(name, tensor.detach().to("cpu", torch.float32).clone()) for name, tensor in weights]
        if self.leads:
            server = ray.get_actor(_actor_name(self.replica_rank))
            await server.load_weights.remote(named, global_steps)
