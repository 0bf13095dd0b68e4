# SPDX-License-Identifier: Apache-2.0
"""A client of the Language Server Protocol as small as tests need: one request at a time, notifications kept."""
import json
import subprocess


class Client:
    def __init__(self, *command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.notices = []
        self.last = 0

    def send(self, message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_bytes(self, body):
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(length))

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def request(self, method, **params):
        """The whole answer, with `result` or `error`."""
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.last:
                return message
            self.notices.append(message)

    def notice(self):
        """The next notification."""
        return self.notices.pop(0) if self.notices else self.receive()

    def start(self):
        answer = self.request("initialize", processId=None, rootUri=None, capabilities={})
        self.notify("initialized")
        return answer["result"]["capabilities"]

    def open(self, uri, text):
        """Its findings."""
        self.notify("textDocument/didOpen", textDocument={"uri": uri, "languageId": "x", "version": 1, "text": text})
        return self.notice()["params"]["diagnostics"]

    def change(self, uri, text, version=2):
        self.notify("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=[{"text": text}])
        return self.notice()["params"]["diagnostics"]

    def edit(self, uri, *edits, version=2):
        """The findings after edits, each (line, character, line, character, text): its range and what comes there."""
        changes = [{"range": {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}, "text": text} for a, b, c, d, text in edits]
        self.notify("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=changes)
        return self.notice()["params"]["diagnostics"]

    def at(self, method, uri, line, character):
        """The result of a question about a place."""
        return self.request(f"textDocument/{method}", textDocument={"uri": uri}, position={"line": line, "character": character})["result"]

    def stop(self):
        """The exit status."""
        self.request("shutdown")
        self.notify("exit")
        self.server.stdin.close()
        return self.server.wait(timeout=10)
