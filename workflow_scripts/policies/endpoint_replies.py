"""What comes back from an endpoint: text, or JSON that fits a schema, and how it ended."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

LONGEST = 200_000
"""Characters of an answer that is to be JSON."""


class Status(StrEnum):
    """How a request ended."""

    OK = "OK"
    INVALID = "INVALID"  # not JSON, or not of the schema, in every attempt
    TRUNCATED = "TRUNCATED"  # cut at the limit of tokens
    REFUSED = "REFUSED"  # by the model or its filter
    EMPTY = "EMPTY"  # no choice, or no text


class Reply(NamedTuple):
    """value: what JSON holds where a schema was given, else None. tokens: of prompt and answer. model: as it names
    itself."""

    status: Status
    text: str
    value: Any
    tokens: int
    model: str = ""
    cached: bool = False


def read_reply(answer: Any, schema: Mapping[str, Any] | None) -> Reply:
    """A chat completion as a Reply; never raises on what a server says."""
    usage = getattr(answer, "usage", None)
    tokens = getattr(usage, "total_tokens", None)
    choices = getattr(answer, "choices", None) or []
    message = getattr(choices[0], "message", None) if choices else None
    text = getattr(message, "content", None)
    text = text if isinstance(text, str) else ""
    # A server that does not count must not escape the budget.
    tokens = tokens if isinstance(tokens, int) else len(text) // 3 + 1
    model = str(getattr(answer, "model", "") or "")
    reason = getattr(choices[0], "finish_reason", None) if choices else None

    def reply(status: Status, value: Any = None) -> Reply:
        return Reply(status, text, value, tokens, model)

    if getattr(message, "refusal", None) or reason == "content_filter":
        return reply(Status.REFUSED)
    if reason == "length":
        return reply(Status.TRUNCATED)
    if not text.strip():
        return reply(Status.EMPTY)
    value, fits = usable(text, schema)
    return reply(Status.OK, value) if fits else reply(Status.INVALID)


def usable(text: str, schema: Mapping[str, Any] | None) -> tuple[Any, bool]:
    """(The value, whether the text is JSON of the schema). Without a schema any text will do, and its value is None.

    Strict: nothing around the JSON, no key twice, no NaN or Infinity.
    """
    if schema is None:
        return None, True
    from jsonschema import Draft202012Validator

    if len(text) > LONGEST:
        return None, False
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_key_once)
        fits = Draft202012Validator(schema).is_valid(value)
    except (ValueError, RecursionError):
        return None, False
    return (value, True) if fits else (None, False)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made
