"""A tiny policy that writes one-line programs, a few problems for it, and a judge behind a local address."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.pretraining import Schedule, pretrain
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.seeds import generator
from workflow_scripts.tasks.scicode.problems import Check, Problem

DIGITS = tuple(str(number) for number in range(10))
WORDS = (*SPECIAL, "<think>", "gap", "of", "?", "def", "answer():", "return", "+", "because", *DIGITS)


def code_policy(folder: Path) -> Path:
    """Writes `def answer(): return 0 + N` with an N of its own, or prose, or half a program."""
    sizes = {"hidden": 32, "layers": 2, "heads": 2, "head_dim": 16, "mlp": 64, "positions": 32}
    policy = new_policy(Architecture(len(WORDS), "llama", **sizes), seed=1)
    tokenizer = save_tokenizer(WORDS, folder, max_length=32)
    draws = generator("code ground")

    def text():
        given, said = (DIGITS[place] for place in draws.integers(10, size=2))
        ends = [f"def answer(): return 0 + {said}"] * 3 + ["because", "def answer():"]
        prompt, completion = f"gap of {given} ? <think>", ends[draws.integers(len(ends))]
        return tokenizer.encode_known(prompt), [*tokenizer.encode_known(completion), tokenizer.end_id]

    schedule = Schedule(steps=120, rate=1e-2)
    list(pretrain(policy, lambda step: [text() for _ in range(32)], schedule))
    save_policy(policy, folder)
    return folder


def problems(count: int) -> list[Problem]:
    """The gap of a number is the number: half of them can be guessed."""
    return [
        Problem(
            problem_id=f"gap-{number}",
            family="gap",
            topic="two levels",
            prompt=f"gap of {number} ?",
            template="def answer():\n    ...\n",
            reference=f"def answer():\n    return {number}\n",
            checks=(Check("numeric", str(number)),),
            parameters={"gap": number},
        )
        for number in range(count)
    ]


class JudgeServer:
    """Gives every candidate the same marks; `out`: answers with a fault of the server instead. A context manager."""

    def __init__(self, marks: dict, out: bool = False) -> None:
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked += 1
                choice = {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": json.dumps(marks)},
                }
                answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "judge", "choices": [choice]}
                data = json.dumps(answer).encode()
                self.send_response(500 if out else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
