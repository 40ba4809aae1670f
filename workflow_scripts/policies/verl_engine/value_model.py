"""The critic's model with the attention that its config states.

verl 0.9.1 builds it with `attn_implementation="flash_attention_2"` whatever the config says
(`verl.utils.model.load_valuehead_model`), so that no critic starts where flash-attn is not installed: never on a CPU,
and on CUDA only with that package. Importing this module replaces that one function. Named in
VERL_USE_EXTERNAL_MODULES where attention is not flash_attention_2; else verl's own runs.
"""

import verl.utils.model


def load_value_model(local_path: str, torch_dtype, model_config, trust_remote_code: bool):
    """A model with one number a token (`score`, drawn at random) in place of the language model's head.

    Attention is `model_config`'s. Raises what transformers raises where the architecture has no such form.
    """
    from transformers import AutoModelForTokenClassification

    return AutoModelForTokenClassification.from_pretrained(
        local_path, dtype=torch_dtype, config=model_config, trust_remote_code=trust_remote_code
    )


verl.utils.model.load_valuehead_model = load_value_model
