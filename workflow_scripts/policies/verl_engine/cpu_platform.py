"""A CPU as a platform of verl, which ships those of accelerators only.

Imports verl and torch: read by `cpu_plugin` in verl's own processes, not by the workflow's.
"""

import types
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import psutil
import torch
from verl.plugin.platform import PlatformBase, PlatformRegistry


def _nothing(*_: object, **__: object) -> None:
    return None


def _resident(*_: object, **__: object) -> int:
    """Bytes that this process holds: what stands for an accelerator's allocated memory."""
    return psutil.Process().memory_info().rss


def _device_module() -> types.ModuleType:
    """What verl expects of `torch.cuda`: waiting and emptying do nothing, memory is the machine's, random states are
    torch's own."""
    module = types.ModuleType("cpu_device_module")
    module.is_available = lambda: False
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    for name in (
        "set_device",
        "synchronize",
        "empty_cache",
        "ipc_collect",
        "set_per_process_memory_fraction",
        "reset_peak_memory_stats",
    ):
        setattr(module, name, _nothing)
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
        setattr(module, name, _resident)
    module.mem_get_info = lambda *_: (psutil.virtual_memory().available, psutil.virtual_memory().total)
    module.get_device_name = lambda *_: "CPU"
    module.manual_seed = module.manual_seed_all = torch.manual_seed
    module.get_rng_state = lambda *_, **__: torch.get_rng_state()
    module.set_rng_state = lambda state, *_, **__: torch.set_rng_state(state)
    module.current_stream = lambda *_: types.SimpleNamespace(synchronize=_nothing, wait_stream=_nothing)
    module.stream = lambda *_: nullcontext()
    module.Stream = _nothing
    return module


@PlatformRegistry.register(platform="cpu")
class CpuPlatform(PlatformBase):
    """One CPU device a process; workers speak through gloo."""

    device_name = "cpu"
    vendor_name = "cpu"
    device_module = _device_module()

    def is_available(self) -> bool:
        return True

    def current_device(self) -> torch.device:
        return torch.device("cpu")  # verl hands it to Tensor.to, where a number would mean an accelerator

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        pass

    def synchronize(self, device_index: int | None = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    manual_seed_all = manual_seed

    def set_allocator_settings(self, settings: str) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        pass

    def profiler_stop(self) -> None:
        pass

    def ray_resource_name(self) -> str:
        return "GPU"  # what verl's placement groups ask for; the command states how many there are, in name only

    def ray_noset_envvars(self) -> list[str]:
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def is_ipc_supported(self) -> bool:
        return False  # weights then go through shared memory

    def cudart(self) -> None:
        return None
