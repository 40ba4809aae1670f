"""policies/endpoint.py against a real server that speaks the chat-completions protocol."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workflow_scripts.policies.endpoint import ChatClient, Endpoint, Request, request_key
from workflow_scripts.policies.endpoint_replies import usable
from workflow_scripts.records.errors import UserError

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["n"],
    "properties": {"n": {"type": "integer", "minimum": 0}},
}


class Server:
    """Says to each request what `script` says: (status, body) of (question, times it was asked before)."""

    def __init__(self):
        self.script = lambda question, before: (200, said('{"n": 1}'))
        self.bodies, self.keys, self.asked, self.headers = [], [], Counter(), {}
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                question = body["messages"][-1]["content"]
                with outer._lock:
                    before = outer.asked[question]
                    outer.asked[question] += 1
                    outer.bodies.append(body)
                    outer.keys.append(self.headers["Authorization"])
                status, answer = outer.script(question, before)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.handle_error = lambda *args: None  # a client that gave up waiting is no news
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def stop(self):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def said(text, *, reason="stop", tokens=10, **message):
    usage = {"prompt_tokens": tokens - 1, "completion_tokens": 1, "total_tokens": tokens}
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text} | message}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "judge-1",
        "choices": [choice],
        "usage": usage,
    }


def failed(message="no"):
    return {"error": {"message": message, "type": "x"}}


@pytest.fixture
def server():
    made = Server()
    yield made
    made.stop()


@pytest.fixture
def endpoint(server, tmp_path):
    def made(**changes):
        usual = {"base_url": server.url, "model": "judge", "cache": tmp_path / "cache", "backoff": 0.001}
        return Endpoint(**(usual | changes))

    return made


def question(text, schema=SCHEMA, copy=0):
    return Request([{"role": "user", "content": str(text)}], schema, copy)


def cached(folder):
    return sorted(Path(folder).rglob("*.json"))


def test_what_is_sent_and_what_comes_back(server, endpoint):
    client = ChatClient(endpoint(parameters={"temperature": 0, "max_tokens": 50}))
    reply = client.ask([question("how many")])[0]
    assert (reply.status, reply.value, reply.text, reply.tokens, reply.model, reply.cached) == (
        "OK", {"n": 1}, '{"n": 1}', 10, "judge-1", False,
    )  # fmt: skip
    body = server.bodies[0]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("judge", 0, 50)
    assert body["response_format"]["json_schema"] == {"name": "answer", "strict": True, "schema": SCHEMA}
    assert (client.usage.requests, client.usage.tokens, client.usage.cached) == (1, 10, 0)


def test_free_text_has_no_schema(server, endpoint):
    server.script = lambda *_: (200, said("hello"))
    assert ChatClient(endpoint()).ask([question("hi", None)])[0].text == "hello"
    assert "response_format" not in server.bodies[0]
    ChatClient(endpoint(structured=False, attempts=1)).ask([question("hi")])
    assert "response_format" not in server.bodies[1]


def test_order_is_that_of_the_requests(server, endpoint):
    server.script = lambda asked, _: (200, said(json.dumps({"n": int(asked)})))
    client = ChatClient(endpoint(concurrency=4))
    wanted = [7, 3, 11, 3, 0, 25, 8, 7]
    assert [reply.value["n"] for reply in client.ask([question(n) for n in wanted])] == wanted
    assert max(server.asked.values()) == 1  # equal requests are asked once


def test_answers_are_kept_and_replayed_without_a_connection(server, endpoint):
    first = ChatClient(endpoint()).ask([question("a"), question("b")])
    server.stop()
    client = ChatClient(endpoint(replay=True, base_url="http://127.0.0.1:9/v1", key_variable="NO_SUCH_VARIABLE"))
    again = client.ask([question("a"), question("b")])
    assert [reply.value for reply in again] == [reply.value for reply in first]
    assert all(reply.cached for reply in again)
    assert (client.usage.requests, client.usage.cached) == (0, 2)
    with pytest.raises(UserError, match="replay: 1 of 2 answers are not in"):
        client.ask([question("a"), question("c")])


@pytest.mark.parametrize(
    "changes", [{"model": "other"}, {"parameters": {"temperature": 1}}], ids=["model", "parameters"]
)
def test_what_decides_an_answer_decides_its_key(changes, endpoint):
    asked = question("a")
    assert request_key(endpoint(**changes), asked) != request_key(endpoint(), asked)
    assert request_key(endpoint(base_url="http://elsewhere/v1", timeout=1), asked) == request_key(endpoint(), asked)
    assert request_key(endpoint(), question("a", copy=1)) != request_key(endpoint(), asked)
    assert request_key(endpoint(), question("a", None)) != request_key(endpoint(), asked)


def test_a_second_copy_is_really_asked(server, endpoint):
    ChatClient(endpoint()).ask([question("a"), question("a", copy=1)])
    assert server.asked["a"] == 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failures_are_tried_again(status, server, endpoint):
    server.script = lambda _, before: (200, said('{"n": 1}')) if before == 2 else (status, failed())
    client = ChatClient(endpoint())
    assert client.ask([question("a")])[0].status == "OK"
    assert client.usage.requests == 3


def test_the_server_says_how_long_to_wait(server, endpoint):
    server.headers["Retry-After"] = "0"
    server.script = lambda _, before: (200, said('{"n": 1}')) if before else (429, failed())
    # A back-off of its own would take minutes.
    assert ChatClient(endpoint(backoff=300.0)).ask([question("a")])[0].status == "OK"


def test_failures_that_do_not_pass(server, endpoint):
    server.script = lambda *_: (503, failed("busy"))
    with pytest.raises(UserError, match=r"failed after 2 attempts \(InternalServerError.*busy.*cache"):
        ChatClient(endpoint(attempts=2)).ask([question("a")])
    server.script = lambda *_: (400, failed("bad model"))
    with pytest.raises(UserError, match=r"bad model.*check base_url, model \(judge\)"):
        ChatClient(endpoint()).ask([question("b")])
    assert server.asked["b"] == 1
    server.stop()
    with pytest.raises(UserError, match="after 2 attempts"):
        ChatClient(endpoint(attempts=2)).ask([question("c")])


def test_time_outs_are_tried_again(server, endpoint):
    late = threading.Event()
    server.script = lambda _, before: (
        (late.wait(5), 200, said('{"n": 1}'))[1:] if not before else (200, said('{"n": 2}'))
    )
    assert ChatClient(endpoint(timeout=0.2)).ask([question("a")])[0].value == {"n": 2}
    late.set()


def test_the_key_is_sent_and_never_stored(server, endpoint, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY_OF_TEST", "sk-very-secret")
    settings = endpoint(key_variable="JUDGE_KEY_OF_TEST")
    ChatClient(settings).ask([question("a")])
    assert server.keys == ["Bearer sk-very-secret"]
    stored = [path.read_text() for path in cached(settings.cache)]
    assert len(stored) == 1
    assert "secret" not in stored[0] + repr(settings)
    server.script = lambda *_: (401, failed("Incorrect key"))
    with pytest.raises(UserError, match="check the key in JUDGE_KEY_OF_TEST") as told:
        ChatClient(settings).ask([question("b")])
    assert "secret" not in str(told.value)
    monkeypatch.delenv("JUDGE_KEY_OF_TEST")
    with pytest.raises(UserError, match="JUDGE_KEY_OF_TEST holds no key"):
        ChatClient(settings).ask([question("c")])


BAD = [
    "no json",
    '{"n": -1}',
    '{"n": 1, "m": 2}',
    '{"n": 1} ',
    '```json\n{"n": 1}\n```',
    '{"n": NaN}',
    '{"n": 1, "n": 1}',
    "[" * 50_000,
]


@pytest.mark.parametrize("text", [bad for bad in BAD if not bad.endswith(" ")], ids=range(len(BAD) - 1))
def test_a_reply_that_does_not_fit_is_asked_again_and_never_kept(text, server, endpoint):
    server.script = lambda _, before: (200, said('{"n": 5}' if before == 1 else text))
    settings = endpoint(attempts=2)
    assert ChatClient(settings).ask([question("a")])[0].value == {"n": 5}
    assert len(cached(settings.cache)) == 1
    server.script = lambda *_: (200, said(text))
    reply = ChatClient(settings).ask([question("b")])[0]
    assert (reply.status, reply.value) == ("INVALID", None)
    assert len(cached(settings.cache)) == 1


@pytest.mark.parametrize(
    ("answer", "status", "asked"),
    [
        (said('{"n": 1', reason="length"), "TRUNCATED", 2),
        (said("", refusal="I cannot"), "REFUSED", 1),
        (said("", reason="content_filter"), "REFUSED", 1),
        (said(None), "EMPTY", 2),
        (said("x") | {"choices": []}, "EMPTY", 2),
        (said("x") | {"choices": None}, "EMPTY", 2),
        (said("x") | {"choices": "none"}, "INVALID", 2),
        (said("x") | {"choices": {"0": 1}}, "INVALID", 2),
        (said("\ud83d"), "INVALID", 2),
        (said('{"n": 1}\udc00'), "INVALID", 2),
    ],
)
def test_other_ends(answer, status, asked, server, endpoint):
    server.script = lambda *_: (200, answer)
    settings = endpoint(attempts=2)
    reply = ChatClient(settings).ask([question("a")])[0]
    assert (reply.status, reply.value, server.asked["a"]) == (status, None, asked)
    assert cached(settings.cache) == []


def test_a_body_that_is_no_json_is_a_failure(server, endpoint):
    server.script = lambda _, before: (200, said('{"n": 1}')) if before else (200, b"<html>")
    assert ChatClient(endpoint()).ask([question("a")])[0].status == "OK"
    server.script = lambda *_: (200, b"<html>")
    with pytest.raises(UserError, match="failed after 2 attempts"):
        ChatClient(endpoint(attempts=2)).ask([question("b")])


def test_a_spoilt_file_is_asked_anew(server, endpoint):
    settings = endpoint()
    ChatClient(settings).ask([question("a")])
    path = cached(settings.cache)[0]
    whole = path.read_text()
    for spoilt in (whole[:40], "[]", whole.replace('{\\"n\\": 1}', '{\\"n\\": -1}')):
        path.write_text(spoilt)
        with pytest.raises(UserError, match="replay"):
            ChatClient(endpoint(replay=True)).ask([question("a")])
        assert ChatClient(settings).ask([question("a")])[0].cached is False
        assert path.read_text() == whole


def test_budgets(server, endpoint):
    client = ChatClient(endpoint(most_requests=3, concurrency=1))
    with pytest.raises(UserError, match="budget of 3 requests is spent"):
        client.ask([question(n) for n in range(5)])
    assert sum(server.asked.values()) == 3
    # What was answered is there, so that a run with more goes on from it.
    more = ChatClient(endpoint(most_requests=2, concurrency=1))
    assert len(more.ask([question(n) for n in range(5)])) == 5
    assert (more.usage.requests, more.usage.cached) == (2, 3)
    tokens = ChatClient(endpoint(most_tokens=20, concurrency=1))
    with pytest.raises(UserError, match=r"budget of 20 tokens is spent \(20 used\)"):
        tokens.ask([question(n) for n in range(10, 15)])


def test_half_a_surrogate_pair_is_sent_and_kept_written_out(server, endpoint):
    settings = endpoint()
    asked = question("x \ud83d y")
    assert ChatClient(settings).ask([asked])[0].status == "OK"
    assert server.bodies[0]["messages"][0]["content"] == r"x \ud83d y"
    assert len(cached(settings.cache)) == 1
    assert ChatClient(endpoint(replay=True)).ask([asked])[0].cached
    assert request_key(settings, asked) != request_key(settings, question(r"x \ud83d y"))


@pytest.mark.parametrize("schema", [SCHEMA | {"properties": {"n": {}}}, None], ids=["json", "text"])
def test_a_reply_with_half_a_surrogate_pair_is_asked_again(schema, server, endpoint):
    bad = '{"n": "\\ud83d"}' if schema else "\ud83d"
    server.script = lambda _, before: (200, said('{"n": "good"}' if before else bad))
    assert ChatClient(endpoint()).ask([question("a", schema)])[0].text == '{"n": "good"}'
    assert server.asked["a"] == 2


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": -1000}])
def test_a_server_that_does_not_count_does_not_escape_the_budget(usage, server, endpoint):
    server.script = lambda *_: (200, said('{"n": 1}') | {"usage": usage})
    client = ChatClient(endpoint(most_tokens=2, concurrency=1))
    with pytest.raises(UserError, match="tokens is spent"):
        client.ask([question("a"), question("b")])
    assert client.usage.tokens > 0


def test_one_error_stops_the_others(server, endpoint):
    server.script = lambda asked, _: (401, failed()) if asked == "0" else (503, failed())
    client = ChatClient(endpoint(concurrency=2, backoff=30.0))
    with pytest.raises(UserError, match="check the key"):  # not after the back-off of the others
        client.ask([question(n) for n in range(40)])
    assert sum(server.asked.values()) < 10


def test_settings_are_checked(endpoint):
    with pytest.raises(UserError, match="1 or more"):
        ChatClient(endpoint(concurrency=0))


@pytest.mark.parametrize(
    ("text", "fits"), [('{"n": 1}', True), (' {"n": 1}\n', True), *((bad, bad[-1] == " ") for bad in BAD)]
)
def test_usable(text, fits):
    value, found = usable(text, SCHEMA)
    assert found is fits
    assert value == ({"n": 1} if fits else None)
