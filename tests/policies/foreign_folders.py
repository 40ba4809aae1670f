"""Small random policies of several architectures, saved as transformers saves them, with byte-level tokenizers."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, PreTrainedTokenizerFast, Qwen3Config

TEXTS = [
    "Using the numbers 4, 7 and 12, make 28. Let me try: 4 * 7 = 28, 28 - 12 = 16 </think>",
    "Let me try: 12 + 4 = 16, 16 - 7 = 9, é ünï ✓ <think>\n<answer> 4 * 7 </answer>",
] * 4
SPECIAL = ["<|end|>", "<|user|>", "<|stop|>"]


def tokenizer(folder: Path, *, begin: str | None = None, merges: int = 60, **extra) -> PreTrainedTokenizerFast:
    """A byte-level BPE whose words take their leading space along, as GPT-2's do."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = [*SPECIAL, *([begin] if begin else [])]
    size = len(special) + len(alphabet) + merges
    inner.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False, min_frequency=1
        ),
    )
    if begin:
        inner.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A", special_tokens=[(begin, inner.token_to_id(begin))]
        )
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|end|>", bos_token=begin, clean_up_tokenization_spaces=False, **extra
    )
    made.save_pretrained(folder)
    return made


def config(kind: str, vocabulary: int, **changes):
    """Sizes of a tiny gpt2 (tied), qwen3 (tied, grouped keys) or llama (untied, grouped keys)."""
    shared = {"vocab_size": vocabulary, "bos_token_id": None, "eos_token_id": 0}
    if kind == "gpt2":
        return GPT2Config(**(shared | {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 160} | changes))
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 160,
        "tie_word_embeddings": kind == "qwen3",
    }
    return {"qwen3": Qwen3Config, "llama": LlamaConfig}[kind](**(shared | sizes | changes))


def save(folder: Path, kind: str, *, seed: int = 0, spread: float = 0.25, dtype=torch.float32, words=None, **changes):
    """Writes a random model with its tokenizer into `folder`; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = words or tokenizer(folder)
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config(kind, len(made) + 3, **changes))  # a padded vocabulary
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, spread)
    model.to(dtype).save_pretrained(folder)
    return folder
