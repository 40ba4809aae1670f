"""Questions to a language model behind an OpenAI-compatible endpoint (vLLM, a gateway, a hosted model).

Every good answer is kept in a folder under the hash of its request, so that a run can go on where it stopped and can be
repeated without a network (`replay`). What is kept holds the request and the answer, never the key. An answer that does
not fit its schema is asked for again, and is never kept.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.policies.endpoint_replies import Reply, Status, read_reply, usable, written_out
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import write_text

_LONGEST_WAIT = 60.0
_KEYLESS = "none"


@dataclass(frozen=True)
class Endpoint:
    """Where and how to ask.

    base_url: up to and with `/v1`. model: its name there. key_variable: the environment variable that holds the key,
    empty where none is needed. cache: folder of answers. replay: answer from the cache alone, never connect.
    parameters: of sampling, sent as they are (temperature, max_tokens, …). structured: send a request's schema as
    `response_format` too; answers are checked against it in any case. attempts: for one request, the first included.
    backoff: seconds before the second attempt, doubled each time. timeout: seconds. most_requests, most_tokens: of one
    client, cached answers excepted, None for no limit. concurrency: requests at a time.
    """

    base_url: str
    model: str
    cache: str | os.PathLike
    key_variable: str = ""
    replay: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    structured: bool = True
    attempts: int = 6
    backoff: float = 1.0
    timeout: float = 120.0
    most_requests: int | None = None
    most_tokens: int | None = None
    concurrency: int = 8


class Request(NamedTuple):
    """messages: role and content each. schema: JSON schema of the answer, None for free text. copy: tells repeats of
    one request apart, so that each is really asked."""

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None = None
    copy: int = 0


@dataclass
class Usage:
    """What a client has spent. requests: sent, failed ones included. cached: answers that cost nothing."""

    requests: int = 0
    tokens: int = 0
    cached: int = 0


def request_key(endpoint: Endpoint, request: Request) -> str:
    """SHA-256 of what decides an answer: model, parameters, messages, schema and copy; not the address or the key."""
    decisive = {
        "model": endpoint.model,
        "parameters": dict(endpoint.parameters),
        "messages": [dict(message) for message in request.messages],
        "schema": request.schema,
        "copy": request.copy,
    }
    # Half a surrogate pair, which a sampled text may hold, has no UTF-8.
    told = json.dumps(decisive, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
    return hashlib.sha256(told).hexdigest()


class ChatClient:
    """Asks an endpoint. `usage` counts what has been spent."""

    def __init__(self, endpoint: Endpoint):
        if endpoint.attempts < 1 or endpoint.concurrency < 1:
            raise UserError("an endpoint needs attempts and concurrency of 1 or more")
        self.endpoint = endpoint
        self.usage = Usage()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._client: Any = None

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Answers in the order of the requests; equal ones are asked once.

        An answer that never fitted its schema, was refused or cut short has that status and no value: the caller
        decides. Raises UserError, after what was answered is in the cache, when the endpoint refuses the key or the
        request, cannot be reached, or the budget is spent; and in replay for a request that is not in the cache.
        """
        keys = [request_key(self.endpoint, request) for request in requests]
        by_key = dict(zip(keys, requests))
        found = {key: self._kept(key, request) for key, request in by_key.items()}
        missing = [key for key, reply in found.items() if reply is None]
        self.usage.cached += len(found) - len(missing)
        if missing and self.endpoint.replay:
            raise UserError(
                f"replay: {len(missing)} of {len(found)} answers are not in {self.endpoint.cache} (first: "
                f"{missing[0][:12]}…); run once with replay off, or bring the folder of answers along"
            )
        if missing:
            self._connect()
            self._stop.clear()
            with ThreadPoolExecutor(self.endpoint.concurrency) as pool:
                running = [pool.submit(self._answered, key, by_key[key]) for key in missing]
            errors = [error for job in running if (error := job.exception())]
            if errors:
                # One that was only told to stop says less than the one that made it stop.
                raise min(errors, key=lambda error: isinstance(error, _Stopped))
            found |= {key: job.result() for key, job in zip(missing, running)}
        return [found[key] for key in keys]

    def _connect(self) -> None:
        if self._client is not None:
            return
        from openai import OpenAI

        key = os.environ.get(self.endpoint.key_variable, "") if self.endpoint.key_variable else _KEYLESS
        if not key:
            raise UserError(
                f"the environment variable {self.endpoint.key_variable} holds no key for {self.endpoint.base_url}; set "
                "it, or set replay to answer from the cache alone"
            )
        # Attempts are counted here, so that the budget sees every one.
        self._client = OpenAI(
            base_url=self.endpoint.base_url, api_key=key, max_retries=0, timeout=self.endpoint.timeout
        )

    def _answered(self, key: str, request: Request) -> Reply:
        try:
            return self._asked_until_good(key, request)
        except BaseException:
            self._stop.set()
            raise

    def _asked_until_good(self, key: str, request: Request) -> Reply:
        import openai

        # ValueError: a body that says it is JSON and is not.
        passing = (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError, ValueError)
        endpoint, reply, failure = self.endpoint, None, None
        for attempt in range(endpoint.attempts):
            # What came and does not fit is asked for again at once: nobody is overloaded.
            pause = _wait(endpoint.backoff, attempt, key, failure) if failure is not None else 0
            if attempt and self._stop.wait(pause):
                raise _Stopped("stopped after another request failed")
            self._spend_request()
            try:
                answer = self._client.chat.completions.create(**self._body(request))
            except passing as error:
                failure = error
                continue
            except openai.OpenAIError as error:
                raise self._explained(error) from error
            reply, failure = read_reply(answer, request.schema), None
            with self._lock:
                self.usage.tokens += reply.tokens
            if reply.status is Status.OK:
                self._keep(key, request, reply)
                return reply
            if reply.status is Status.REFUSED:
                return reply
        if failure is not None:
            raise self._explained(failure) from failure
        return reply

    def _body(self, request: Request) -> dict[str, Any]:
        messages = [{key: written_out(text) for key, text in message.items()} for message in request.messages]
        body = {"model": self.endpoint.model, "messages": messages}
        if request.schema is not None and self.endpoint.structured:
            schema = {"name": "answer", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body | dict(self.endpoint.parameters)

    def _spend_request(self) -> None:
        if self._stop.is_set():
            raise _Stopped("stopped after another request failed")
        endpoint, rest = self.endpoint, "raise it or run again later; what was answered is in the cache"
        with self._lock:
            if endpoint.most_requests is not None and self.usage.requests >= endpoint.most_requests:
                raise UserError(f"the budget of {endpoint.most_requests} requests is spent; {rest}")
            if endpoint.most_tokens is not None and self.usage.tokens >= endpoint.most_tokens:
                raise UserError(
                    f"the budget of {endpoint.most_tokens} tokens is spent ({self.usage.tokens} used); {rest}"
                )
            self.usage.requests += 1

    def _explained(self, error: Exception) -> UserError:
        endpoint, status = self.endpoint, getattr(error, "status_code", None)
        if status in (401, 403):
            way_out = f"check the key in {endpoint.key_variable or 'key_variable (none is set)'}"
        elif status in (400, 404, 422):
            way_out = f"check base_url, model ({endpoint.model}) and parameters"
        else:
            way_out = "run again; what was answered is in the cache"
        said = " ".join(str(error).split())[:200]
        tried = f" after {endpoint.attempts} attempts" if status is None or status >= 429 else ""
        return UserError(f"{endpoint.base_url} failed{tried} ({type(error).__name__}: {said}); {way_out}")

    def _path(self, key: str) -> Path:
        return Path(self.endpoint.cache) / key[:2] / f"{key}.json"

    def _kept(self, key: str, request: Request) -> Reply | None:
        """The answer in the cache; None where there is none that is whole and fits the schema."""
        try:
            stored = json.loads(self._path(key).read_text(encoding="utf-8"))
            text, tokens = stored["answer"], int(stored["tokens"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        value, fits = usable(text, request.schema) if isinstance(text, str) else (None, False)
        return Reply(Status.OK, text, value, tokens, cached=True) if fits else None

    def _keep(self, key: str, request: Request, reply: Reply) -> None:
        endpoint = self.endpoint
        kept = {"request": request._asdict() | {"messages": [dict(m) for m in request.messages]}}
        kept |= {"model": endpoint.model, "parameters": dict(endpoint.parameters)}
        kept |= {"answer": reply.text, "tokens": reply.tokens, "answered_by": reply.model}
        told = json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False)
        write_text(self._path(key), written_out(told) + "\n")  # \ud800 is an escape of JSON, too


def placed(decisive: Mapping[str, Any], where: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Endpoint`. decisive: model, parameters, cache. where: the endpoint's section of the config, which
    decides no answer: address, key, budget, replay and requests at a time."""
    return {
        **decisive,
        "base_url": where["base_url"],
        "key_variable": where["key_variable"] or "",
        "most_requests": where["requests"],
        "replay": where["replay"],
        "concurrency": where["concurrency"],
    }


def asking(endpoint: Mapping[str, Any]) -> Callable[[Sequence[Mapping[str, Any]], int], list[Reply]]:
    """What asks an endpoint (the fields of `Endpoint`): from requests (messages and schema) and the number of the
    repeat to replies, by one client."""
    client = ChatClient(Endpoint(**endpoint))

    def ask(requests: Sequence[Mapping[str, Any]], repeat: int) -> list[Reply]:
        return client.ask([Request(request["messages"], request["schema"], repeat) for request in requests])

    return ask


class _Stopped(UserError):
    """Of a request that was given up because another failed."""


def _wait(backoff: float, attempt: int, key: str, failure: Exception | None) -> float:
    """Seconds before an attempt: as the server asks, or the doubled back-off, spread so that not all come at once."""
    response = getattr(failure, "response", None)
    asked = response.headers.get("retry-after", "") if response is not None else ""
    if asked.isascii() and asked.isdecimal():
        return min(float(asked), _LONGEST_WAIT)
    spread = 1 + int(key[:4], 16) / 0x10000 / 2
    return min(backoff * 2 ** (attempt - 1) * spread, _LONGEST_WAIT)
