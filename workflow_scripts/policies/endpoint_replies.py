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
    INVALID = "INVALID"  # no completion, no Unicode, not JSON, or not of the schema, in every attempt
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
    given = getattr(answer, "choices", None)
    choices = given if isinstance(given, list) else []
    message = getattr(choices[0], "message", None) if choices else None
    said = getattr(message, "content", None)
    said = said if isinstance(said, str) else ""
    text = written_out(said)
    # A server that does not count, or counts backwards, must not escape the budget.
    counted = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0
    tokens = tokens if counted else len(text) // 3 + 1
    model = written_out(str(getattr(answer, "model", "") or ""))
    reason = getattr(choices[0], "finish_reason", None) if choices else None

    def reply(status: Status, value: Any = None) -> Reply:
        return Reply(status, text, value, tokens, model)

    if given is not None and not isinstance(given, list):
        return reply(Status.INVALID)
    if getattr(message, "refusal", None) or reason == "content_filter":
        return reply(Status.REFUSED)
    if reason == "length":
        return reply(Status.TRUNCATED)
    if not text.strip():
        return reply(Status.EMPTY)
    value, fits = usable(text, schema)
    fits &= text == said
    return reply(Status.OK, value) if fits else reply(Status.INVALID)


def usable(text: str, schema: Mapping[str, Any] | None) -> tuple[Any, bool]:
    """(The value, whether the text is JSON of the schema). Without a schema any text will do, and its value is None.

    Strict: nothing around the JSON, no key twice, no NaN or Infinity, no half of a surrogate pair.
    """
    if schema is None:
        return None, True
    from jsonschema import Draft202012Validator

    if len(text) > LONGEST:
        return None, False
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_key_once)
        json.dumps(value, ensure_ascii=False).encode()
        fits = Draft202012Validator(schema).is_valid(value)
    except (ValueError, RecursionError):
        return None, False
    return (value, True) if fits else (None, False)


def written_out(text: str) -> str:
    """The text with halves of surrogate pairs, which no file and no request can hold, written as `\\ud83d`."""
    return text.encode(errors="backslashreplace").decode()


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made
