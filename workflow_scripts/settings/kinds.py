"""Kinds of values, and what every section of the config has in common."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$", max_length=40)]
"""Part of a path: letters, digits and hyphens."""
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=1)]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
"""Of a repository on the hub, written out."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 of a file, in hexadecimal digits."""
Range = Annotated[list[int], Field(min_length=2, max_length=2)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def without_dropped(data: Any, keys: Sequence[str]) -> Any:
    """Plain data of a section without what an overlay dropped: an entry of `keys` with `name: null`, or all of them."""
    if not isinstance(data, dict):
        return data
    kept = {key: data[key] or {} for key in keys if key in data}
    return data | {
        key: {name: value for name, value in named.items() if value is not None} if isinstance(named, dict) else named
        for key, named in kept.items()
    }
