"""Where verl runs and what it reads and writes: changes no coefficient of a training."""

from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.records.errors import UserError, closest


@dataclass(frozen=True)
class Hardware:
    """gpus: CUDA devices, one worker each; 0 for CPU. workers: processes that share the model on CPU. rollout: hf (CPU
    only) or vllm; None for hf on CPU and vllm on CUDA. attention: as transformers names it. tokens: most tokens of one
    pass, padding included. memory: share of a device that vLLM may take. offload: parameters and optimiser wait in main
    memory between their uses. processes: Ray's places for them, counted and not bound to cores.
    """

    gpus: int = 0
    workers: int = 1
    rollout: str | None = None
    attention: str = "sdpa"
    tokens: int = 16384
    memory: float = 0.4
    offload: bool = False
    processes: int = 16

    def __post_init__(self) -> None:
        if self.engine not in ("hf", "vllm"):
            raise UserError(
                f"rollout is {self.rollout!r}{closest(str(self.rollout), ['hf', 'vllm'])}; choose hf or vllm"
            )
        if self.gpus and self.engine == "hf":
            raise UserError("rollout hf is for CPUs; on GPUs set rollout: vllm")
        if self.gpus < 0 or self.workers < 1:
            raise UserError(f"gpus ({self.gpus}) must be at least 0 and workers ({self.workers}) at least 1")

    @property
    def world(self) -> int:
        """Processes that share a model."""
        return self.gpus or self.workers

    @property
    def engine(self) -> str:
        """What samples the rollouts."""
        return self.rollout or ("vllm" if self.gpus else "hf")

    @property
    def device(self) -> str:
        return "cuda" if self.gpus else "cpu"


@dataclass(frozen=True)
class Paths:
    """Files of one segment, absolute.

    base: policy folder that the line started from. problems: training rows in verl's form. work: folder that verl
    writes checkpoints and records into. resume: folder `…/global_step_N` with the state before, None at the start.
    reward: where verl finds compute_score, `pkg://package.module` or a file.
    """

    base: Path
    problems: Path
    work: Path
    resume: Path | None
    reward: str

    @property
    def rollouts(self) -> Path:
        """Folder of the rollouts' records, one file a step."""
        return self.work / "rollouts"
