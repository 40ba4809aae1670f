"""A small hub on this machine: enough of the real one's HTTP interface for huggingface_hub to fetch files from it."""

import hashlib
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Repositories by `models/owner/name` or `datasets/owner/name`: content by path. `asked` is what was requested."""

    repositories: dict[str, dict[str, bytes]]
    gated: set[str] = field(default_factory=set)
    damaged: set[str] = field(default_factory=set)
    cut_after: dict[str, int] = field(default_factory=dict)
    """Bytes after which the first transfer of a path breaks off."""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and Range header of every request."""
    endpoint: str = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def refuse(self, status, code):
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, body):
        hub = self.server.hub
        path = unquote(urlsplit(self.path).path).strip("/")
        if not path:  # somebody looks whether the hub answers
            return self.send(200, b"", {})
        hub.asked.append((self.command, path, self.headers.get("Range", "")))
        listing = path.startswith("api/")
        kind = "datasets" if path.removeprefix("api/").startswith("datasets/") else "models"
        parts = path.removeprefix("api/").removeprefix(f"{kind}/").split("/")
        repository = "/".join([kind, *parts[:2]])
        if repository in hub.gated:
            return self.refuse(403, "GatedRepo")
        if repository not in hub.repositories:
            return self.refuse(404, "RepoNotFound")
        if parts[3] != COMMIT:
            return self.refuse(404, "RevisionNotFound")
        files, inside = hub.repositories[repository], "/".join(parts[4:])
        return self.list_files(files, inside) if listing else self.give(files, inside, body)

    def list_files(self, files, inside):
        prefix = f"{inside}/" if inside else ""
        here = {name: content for name, content in files.items() if name.startswith(prefix)}
        if not here:
            return self.refuse(404, "EntryNotFound")
        rows = []
        for name, content in here.items():
            if "/" in name.removeprefix(prefix) and "recursive=true" not in self.path.lower():
                continue
            row = {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
            if name.endswith(".safetensors"):
                row["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
            rows.append(row)
        return self.send(200, json.dumps(rows).encode(), {"Content-Type": "application/json"})

    def give(self, files, inside, body):
        if inside not in files:
            return self.refuse(404, "EntryNotFound")
        hub, content = self.server.hub, files[inside]
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        if inside in hub.damaged:
            content = bytes(len(content))
        if not body:
            return self.send(200, content, headers, body=False)
        status, first = 200, self.headers.get("Range", "").removeprefix("bytes=").partition("-")[0]
        if first:
            status, total = 206, len(content)
            headers["Content-Range"] = f"bytes {first}-{total - 1}/{total}"
            content = content[int(first) :]
        return self.send(status, content, headers, cut=hub.cut_after.pop(inside, None))

    def send(self, status, content, headers, body=True, cut=None):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content[:cut])
        self.close_connection = cut is not None


@contextmanager
def served(hub):
    """Serves a hub on a free port of this machine while the block runs; its address is `hub.endpoint`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.hub = hub
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
