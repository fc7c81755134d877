# Runs one script beside the session that asked for it. Speaks frames on its standard input and output:
# a kind (1 byte), a number (4 bytes), a length (4 bytes), the content. The script itself gets pipes, and
# a socket for its calls to tools.
import itertools, json, os, shutil, signal, socket, struct, subprocess, sys, threading

wire_in = os.fdopen(os.dup(0), "rb")
wire_out = os.dup(1)
nowhere = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2):
    os.dup2(nowhere, stream)

# What the narrowest of our systems takes.
LONGEST_PATH = 103

sending = threading.Lock()
waiting = {}
numbers = itertools.count(1)
# Everything is asked to end at once, the script too. It may take its time, and what it had is cleared up behind it.
# A handler, because what is ignored would stay ignored in the script.
asked_to_end = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: asked_to_end.set())


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


def serve(connection):
    # One call after the other over one connection; who wants several at once opens several.
    with connection, connection.makefile("rb") as lines:
        try:
            for request in lines:
                connection.sendall(asked(request) + b"\n")
        except OSError:
            pass


def asked(request):
    answered = threading.Event()
    slot = [answered, b""]
    number = next(numbers)
    waiting[number] = slot
    send(b"q", number, request)
    answered.wait()
    return slot[1]


def accept(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


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


def interpreter(named):
    # The project's own, unless it is too old for what scripts get, or broken.
    if not named:
        return sys.executable
    probe = "import sys; sys.exit(sys.version_info < (3, 8))"
    try:
        tried = subprocess.run([named, "-c", probe], stdin=subprocess.DEVNULL, timeout=10)
        return named if tried.returncode == 0 else sys.executable
    except (OSError, subprocess.TimeoutExpired):
        return sys.executable


def workplace(directory, folder):
    if directory is None:
        return folder
    named = os.path.expanduser(os.fsdecode(bytes(directory)))
    if not os.path.isdir(named):
        raise RuntimeError("the directory %s is gone; go to another one with terminal first" % named)
    return named


class Handover:
    # Where sockets with a name are refused, as in some sandboxes: a script makes a pair of them for each connection
    # and hands one over.
    def __init__(self):
        self.ours, self.theirs = socket.socketpair()

    def accept(self):
        _, extra, _, _ = self.ours.recvmsg(1, socket.CMSG_SPACE(struct.calcsize("i")))
        if not extra:
            raise OSError("nobody is left to hand anything over")
        return socket.socket(fileno=struct.unpack("i", extra[0][2])[0]), None


def listen(folder, name):
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    except PermissionError:
        handover = Handover()
        return handover, "fd:%d" % handover.theirs.fileno(), [handover.theirs]
    # The path of a socket has about a hundred characters, and a temporary directory may need them all. Then the
    # folder is reached through this process, whose descriptor of it stays open as long as the script runs.
    path = os.path.join(folder, name)
    if len(os.fsencode(path)) > LONGEST_PATH and os.path.isdir("/proc/self/fd"):
        path = "/proc/%d/fd/%d/%s" % (os.getpid(), os.open(folder, os.O_RDONLY | os.O_DIRECTORY), name)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(64)
    return listener, path, []


def main():
    frame = receive()
    if frame is None:
        return
    order = json.loads(frame[2])
    folder = None
    try:
        os.mkdir(order["folder"], 0o700)
        folder = order["folder"]
        for name in ("hermes_tools.py", "script.py"):
            with open(os.path.join(folder, name), "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(order["files"][name])
        listener, path, handed = listen(folder, "hermes_rpc_%s.sock" % order["name"])
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        environment = dict(os.environ)
        environment.update(order["environment"])
        environment["HERMES_RPC_SOCKET"] = path
        python_path = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = folder + (os.pathsep + python_path if python_path else "")
        python = interpreter(order["python"])
        if asked_to_end.is_set():
            return
        process = subprocess.Popen(
            [python, os.path.join(folder, "script.py")],
            cwd=workplace(order["directory"], folder),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[end.fileno() for end in handed],
        )
        for end in handed:
            end.close()
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
        last = b"x", str(code).encode()
    except Exception as error:
        kind = "" if isinstance(error, RuntimeError) else type(error).__name__ + ": "
        last = b"f", (kind + str(error)).encode("utf-8", "replace")
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    # Whoever hears this may end us, so that it comes when nothing is left to do.
    send(last[0], 0, last[1])


main()
os._exit(0)
