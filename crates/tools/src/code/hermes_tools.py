"""Tools of the running Hermes session, for scripts.

Each call goes to the session and comes back with its result: a dict where the tool answers with one.
Calls may be made from several threads at once.
"""

import json as _json
import os as _os
import shlex as _shlex
import socket as _socket
import struct as _struct
import time as _time

_SOCKET = _os.environ["HERMES_RPC_SOCKET"]
_TOKEN = _os.environ["HERMES_RPC_TOKEN"]
_PATIENCE = 300


def _connected():
    if not _SOCKET.startswith("fd:"):
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(_PATIENCE)
        connection.connect(_SOCKET)
        return connection
    # Sockets with a name are refused here: one end of a pair goes over what the session left open for that.
    ours, theirs = _socket.socketpair()
    with theirs, _socket.socket(fileno=_os.dup(int(_SOCKET[3:]))) as way:
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, _struct.pack("i", theirs.fileno()))
        way.sendmsg([b"c"], [rights])
    ours.settimeout(_PATIENCE)
    return ours


def _call(tool, **arguments):
    arguments = {name: value for name, value in arguments.items() if value is not None}
    request = _json.dumps({"tool": tool, "args": arguments, "token": _TOKEN}) + "\n"
    with _connected() as connection:
        connection.sendall(request.encode("utf-8", "surrogatepass"))
        with connection.makefile("rb") as replies:
            reply = replies.readline()
    if not reply:
        return {"error": "the session did not answer"}
    value = _json.loads(reply)
    if isinstance(value, str):
        try:
            value = _json.loads(value, strict=False)
        except ValueError:
            pass
    return value


def json_parse(text):
    """Reads JSON that may contain raw control characters."""
    return _json.loads(text, strict=False)


def shell_quote(s):
    """Quotes a word for the shell."""
    return _shlex.quote(s)


def retry(fn, max_attempts=3, delay=2):
    """Calls fn until it works, waiting twice as long each time."""
    for attempt in range(1, max_attempts + 1):
        try:
            return fn()
        except Exception:
            if attempt == max_attempts:
                raise
            _time.sleep(delay * 2 ** (attempt - 1))
