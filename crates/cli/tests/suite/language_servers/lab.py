"""A language server of the language "lab": a line with BAD in it is an error, one with WARN a warning.

Each thing that happens is one line in lab.log beside this file. The argument says how it misbehaves.
"""

import json
import os
import re
import subprocess
import sys
import time

MANNER = sys.argv[1]
LOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lab.log")


def log(what):
    with open(LOG, "a") as file:
        file.write(what + "\n")


def send(message):
    body = json.dumps(dict(message, jsonrpc="2.0")).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def receive():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            log("end of input")
            sys.exit(0)
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        name, value = line.decode().split(":")
        if name.lower() == "content-length":
            length = int(value)


def diagnostics(text):
    found = []
    for number, line in enumerate(text.splitlines()):
        for word, severity in (("BAD", 1), ("WARN", 2)):
            at = line.find(word)
            if at >= 0:
                start, end = ({"line": number, "character": at + more} for more in (0, 3))
                found.append({
                    "range": {"start": start, "end": end}, "severity": severity,
                    "source": "lab", "code": "L%d" % severity, "message": line[at:].strip(),
                })
    return found


def publish(document, text):
    said = {"uri": document["uri"], "version": document["version"], "diagnostics": diagnostics(text)}
    send({"method": "textDocument/publishDiagnostics", "params": said})


log("started")
if MANNER == "garbage":
    sys.stdout.write("this is no protocol\r\n\r\n")
    sys.stdout.flush()
if MANNER == "hang":
    # Children are not left behind either.
    subprocess.Popen(["sleep", "987"])
    time.sleep(987)
while True:
    message = receive()
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        log("root " + re.sub(".*/", "", params["rootUri"]))
        # It asks something itself first, and waits for the answer.
        send({"id": "mine", "method": "workspace/configuration", "params": {"items": [{}, {}]}})
        answer = receive()
        assert answer["id"] == "mine" and answer["result"] == [None, None], answer
        send({"id": message["id"], "result": {"capabilities": {"textDocumentSync": 1}}})
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        document = params["textDocument"]
        changes = params.get("contentChanges")
        text = changes[0]["text"] if changes else document["text"]
        log("%s %s" % (method, document["version"]))
        if MANNER == "crash" and "CRASH" in text:
            log("crashed")
            sys.exit(3)
        # What was known before comes once more, and does not count.
        if document["version"] > 1:
            publish(dict(document, version=document["version"] - 1), "BAD of an earlier text")
        publish(document, text)
    elif method == "textDocument/didSave":
        log("saved")
