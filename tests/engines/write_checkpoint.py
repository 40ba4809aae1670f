"""Run by torchrun: saves models as verl's trainer does, sharded over the ranks that torchrun starts.

Arguments: for each checkpoint three, the policy folder, the checkpoint's folder and what to do with the model: `plain`,
`adapters` (LoRA, with weights that change something) or `replicas` (each rank has a whole copy). Beside a checkpoint
lies `logits.safetensors`: what the model said before it was sharded, in fp32.
"""

import sys
from pathlib import Path

import torch
import torch.distributed
from safetensors.torch import save_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import AutoModelForCausalLM, AutoTokenizer
from verl.utils.checkpoint.fsdp_checkpoint_manager import FSDPCheckpointManager

RANK, ALPHA = 4, 12


def trained(folder: str, how: str) -> torch.nn.Module:
    """The model of a folder, its weights (or adapters) moved a little, as training does."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    torch.manual_seed(3)
    if how == "adapters":
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=["q_proj", "down_proj"]))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if how != "adapters" or "lora_" in name:
                weight.add_(torch.randn(weight.shape) * 0.1)
    return model


def save(folder: str, target: str, how: str) -> None:
    """Writes the checkpoint of one model."""
    model, actor = trained(folder, how), Path(target) / "actor"
    with torch.no_grad():
        said = model(input_ids=torch.arange(3, 15)[None]).logits
    ranks = torch.distributed.get_world_size()
    shape, names = ((ranks, 1), ("ddp", "fsdp")) if how == "replicas" else ((ranks,), ("fsdp",))
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
    for layer in (model.get_base_model() if how == "adapters" else model).model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    contents = {"save_contents": ["model"], "load_contents": ["model"]}
    manager = FSDPCheckpointManager(
        model, processing_class=AutoTokenizer.from_pretrained(folder), checkpoint_config=contents
    )
    manager.save_checkpoint(str(actor), global_step=1)
    if torch.distributed.get_rank() == 0:
        save_file({"logits": said}, Path(target) / "logits.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    for at in range(1, len(sys.argv), 3):
        save(*sys.argv[at : at + 3])
    torch.distributed.destroy_process_group()
