# Calls a tool through the reference's own client: python reference.py PROGRAM STATE CALLS. Prints seconds, one a line.
import sys
import time

from tools.mcp_tool import _make_tool_handler, register_mcp_servers, shutdown_mcp_servers

program, state, calls = sys.argv[1:]
register_mcp_servers({"one": {"command": program, "env": {"SX_STATE": state}}})
call = _make_tool_handler("one", "read", 30.0)
times = []
for number in range(int(calls) + 20):
    started = time.perf_counter()
    answer = call({"text": "x"})
    took = time.perf_counter() - started
    if '"result"' not in answer:
        sys.exit(answer)
    if number >= 20:
        times.append(took)
shutdown_mcp_servers()
print("\n".join(map(str, times)))
