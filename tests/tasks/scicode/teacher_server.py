"""A server that writes specifications over the chat-completions protocol, and specifications to serve."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT = (
    "A pendulum's small oscillations are observed for {{periods}} full periods on a planet where the acceleration of "
    "free fall is {{gravity}} metres per second squared; the string is {{length}} metres long and without mass. Count "
    "the whole seconds that pass until the observation ends, rounding the total time down."
)
SOLVER = """from math import pi, sqrt

def solve(p):
    return int(p["periods"] * 2 * pi * sqrt(p["length"] / p["gravity"]))
"""
SECOND = """import math

def solve(p):
    seconds = 0
    while (seconds + 1) / p["periods"] <= 2 * math.pi * (p["length"] / p["gravity"]) ** 0.5:
        seconds += 1
    return seconds
"""
CASES = [  # periods, gravity, length; the whole seconds, from a pocket calculator
    (10, 9.81, 1.0, 20), (25, 9.81, 2.5, 79), (40, 1.62, 0.8, 176), (15, 3.71, 4.0, 97), (33, 24.8, 1.5, 50),
]  # fmt: skip


def case(periods, gravity, length, expected):
    parameters = json.dumps({"periods": periods, "gravity": gravity, "length": length})
    return {"parameters": parameters, "expected": json.dumps(expected)}


def specification(**changes):
    """One that holds, but for the changes."""
    sample, *validation = (case(*row) for row in CASES)
    return {
        "family": "pendulum_seconds",
        "topic": "mechanics",
        "prompt": PROMPT,
        "template": "def answer():\n    # returns seconds, a whole number\n    ...\n",
        "returns": ["seconds"],
        "kind": "exact",
        "solver": SOLVER,
        "second_solver": SECOND,
        "sample": sample,
        "validation": validation,
    } | changes


class Teacher:
    """Serves texts in turn, the last one for good; counts what was asked."""

    def __init__(self, texts):
        self.asked = []
        left, lock, outer = list(texts), threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    outer.asked.append(body)
                    text = left.pop(0) if len(left) > 1 else left[0]
                message = {"role": "assistant", "content": text}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "teacher"}
                data = json.dumps(answer | {"choices": [choice], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def stop(self):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
