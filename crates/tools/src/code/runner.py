# Runs one script beside the session that asked for it. Speaks frames on its standard input and output:
# a kind (1 byte), a number (4 bytes), a length (4 bytes), the content. The script itself gets pipes, and
# a socket for its calls to tools.
import json, os, shutil, socket, struct, subprocess, sys, tempfile, threading

wire_in = os.fdopen(os.dup(0), "rb")
wire_out = os.dup(1)
nowhere = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2):
    os.dup2(nowhere, stream)

sending = threading.Lock()
waiting = {}


def send(kind, number=0, content=b""):
    frame = struct.pack(">cII", kind, number, len(content)) + content
    with sending:
        view = memoryview(frame)
        while view:
            view = view[os.write(wire_out, view):]


def receive():
    head = wire_in.read(9)
    if len(head) < 9:
        return None
    kind, number, length = struct.unpack(">cII", head)
    return kind, number, wire_in.read(length)


def forward(stream, kind):
    while True:
        piece = os.read(stream.fileno(), 65536)
        if not piece:
            return
        send(kind, 0, piece)


def serve(connection, number):
    with connection, connection.makefile("rb") as lines:
        request = lines.readline()
        if not request:
            return
        answered = threading.Event()
        slot = [answered, None]
        waiting[number] = slot
        send(b"q", number, request)
        answered.wait()
        try:
            connection.sendall((slot[1] or b"") + b"\n")
        except OSError:
            pass


def accept(listener):
    number = 0
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        number += 1
        threading.Thread(target=serve, args=(connection, number), daemon=True).start()


def replies(process):
    while True:
        frame = receive()
        if frame is None:
            process.kill()
            return
        kind, number, content = frame
        slot = waiting.pop(number, None)
        if slot:
            slot[1] = content
            slot[0].set()


def main():
    frame = receive()
    if frame is None:
        return
    order = json.loads(frame[2])
    folder = tempfile.mkdtemp(prefix="hermes_exec_", dir=order["scratch"])
    try:
        for name in ("hermes_tools.py", "script.py"):
            with open(os.path.join(folder, name), "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(order["files"][name])
        path = os.path.join(folder, "hermes_rpc_%s.sock" % order["name"])
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        listener.bind(path)
        os.umask(before)
        listener.listen(64)
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        environment = dict(os.environ)
        environment.update(order["environment"])
        environment["HERMES_RPC_SOCKET"] = path
        python_path = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = folder + (os.pathsep + python_path if python_path else "")
        process = subprocess.Popen(
            [order["python"] or sys.executable, os.path.join(folder, "script.py")],
            cwd=os.path.expanduser(order["directory"]) if order["directory"] else folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        readers = [
            threading.Thread(target=forward, args=(stream, kind), daemon=True)
            for stream, kind in ((process.stdout, b"o"), (process.stderr, b"e"))
        ]
        for reader in readers:
            reader.start()
        threading.Thread(target=replies, args=(process,), daemon=True).start()
        code = process.wait()
        for reader in readers:
            # Something left behind may hold the pipes open.
            reader.join(0.3)
        send(b"x", 0, str(code).encode())
    except Exception as error:
        send(b"f", 0, ("%s: %s" % (type(error).__name__, error)).encode("utf-8", "replace"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
os._exit(0)
