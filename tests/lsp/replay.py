# SPDX-License-Identifier: Apache-2.0
"""replay.py PROGRAM FOLDER [--bless]: sessions as they were recorded, a message a line, `>` to the server and `<` from it. The server
must say the same; --bless writes anew what it says."""
import json
import pathlib
import sys

from client import Client

program, folder = sys.argv[1:3]
bless = "--bless" in sys.argv
failed = False


def answers_to(message):
    """How many messages the server sends after this one."""
    method = message["method"]
    return int("id" in message or method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"))


for path in sorted(pathlib.Path(folder).glob("*.txt")):
    lines = path.read_text().splitlines()
    client = Client(program, *lines[0].removeprefix("$ moeplan ").split())
    said = [lines[0]]
    for line in lines[1:]:
        if not line.startswith("> "):
            continue
        said.append(line)
        message = json.loads(line[2:])
        client.send(message)
        said += ["< " + json.dumps(client.receive()) for _ in range(answers_to(message))]
    client.server.stdin.close()
    client.server.wait(timeout=10)
    if bless:
        path.write_text("\n".join(said) + "\n")
    elif said != lines:
        failed = True
        print(f"{path.name} is not what the server says:")
        print(*(f"  now:  {b}\n  then: {a}" for a, b in zip(lines, said) if a != b), sep="\n")
sys.exit(failed)
