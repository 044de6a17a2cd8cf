"""Takes the events of a hook, checks that they come from your gateway, and prints each of them once.

    WEBHOOK_SECRET=... python examples/webhook_receiver.py 9001

and in rejoinder.toml:

    [hooks.log]
    url = "http://127.0.0.1:9001/"
    secret = "${WEBHOOK_SECRET}"
    events = ["message_received", "reply_sent"]

It needs nothing but Python.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
KEY = base64.b64decode(SECRET.removeprefix("whsec_")) if SECRET.startswith("whsec_") else SECRET.encode()
TOLERANCE = 5 * 60
"""Seconds by which the clocks may differ; an older request may be a copy that somebody has kept."""

seen: set[str] = set()  # keep it in a file or a table if a restart must not process an event twice


def is_genuine(headers, body: bytes) -> bool:
    id, at, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not at.isdecimal() or abs(time.time() - int(at)) > TOLERANCE:
        return False
    expected = hmac.new(KEY, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    wanted = f"v1,{base64.b64encode(expected).decode()}"
    return any(hmac.compare_digest(wanted, signature) for signature in signatures.split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        event = json.loads(body)
        if event["id"] not in seen:  # an event may come again if the gateway could not read our answer
            seen.add(event["id"])
            print(event["event"], json.dumps(event["data"], ensure_ascii=False), flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Only events are printed."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9001), Receiver)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
