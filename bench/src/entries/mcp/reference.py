# The reference's own client. Prints seconds, one a line.
#   python reference.py calls PROGRAM STATE COUNT    calls of a tool
#   python reference.py expiry URL COUNT             calls whose session is gone: says "ready", waits for a line, calls
#   python reference.py many PROGRAM STATE SERVERS   until the tools of so many servers are offered
import sys
import time

from tools.mcp_tool import _make_tool_handler, register_mcp_servers, shutdown_mcp_servers

WARM_UP = 20


def timed(call):
    started = time.perf_counter()
    answer = call({"text": "x"})
    took = time.perf_counter() - started
    if '"result"' not in answer:
        sys.exit(answer)
    return took


def calls(program, state, count):
    register_mcp_servers({"one": {"command": program, "env": {"SX_STATE": state}}})
    call = _make_tool_handler("one", "read", 30.0)
    times = [timed(call) for _ in range(int(count) + WARM_UP)]
    return times[WARM_UP:]


def expiry(url, count):
    register_mcp_servers({"one": {"url": url}})
    call = _make_tool_handler("one", "read", 30.0)
    timed(call)
    times = []
    for _ in range(int(count)):
        print("ready", flush=True)
        sys.stdin.readline()
        times.append(timed(call))
    return times


def many(program, state, servers):
    entry = {"command": program, "env": {"SX_STATE": state}}
    started = time.perf_counter()
    names = register_mcp_servers({f"server{number}": entry for number in range(int(servers))})
    took = time.perf_counter() - started
    missing = [number for number in range(int(servers)) if not any(f"server{number}_" in name for name in names)]
    if missing:
        sys.exit(f"not offered: {missing}")
    return [took]


what, *arguments = sys.argv[1:]
times = {"calls": calls, "expiry": expiry, "many": many}[what](*arguments)
shutdown_mcp_servers()
print("\n".join(map(str, times)))
