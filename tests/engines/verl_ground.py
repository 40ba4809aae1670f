"""A tiny policy and problems for runs of verl."""

from pathlib import Path

import pandas as pd

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.tasks.countdown.problem_files import write_verl_rows
from workflow_scripts.tasks.countdown.text import VOCABULARY


def tiny_policy(folder: Path) -> Path:
    """A random policy of 37,000 weights with the laptop's words."""
    sizes = {"hidden": 32, "layers": 2, "heads": 2, "head_dim": 16, "mlp": 64, "positions": 64}
    save_policy(new_policy(Architecture(len(VOCABULARY), "llama", **sizes), seed=1), folder)
    save_tokenizer(VOCABULARY, folder, max_length=64)
    return folder


def problem_file(path: Path, count: int) -> Path:
    """`count` problems, all different."""
    asked = [{"numbers": [1 + place % 9, 2, 3], "target": 5 + place, "split": "training"} for place in range(count)]
    write_verl_rows(pd.DataFrame(asked), path)
    return path
