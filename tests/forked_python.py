"""Python programs in forks of a process that has imported an engine, which takes two seconds.

`run` and `start` stand for `subprocess.run` and `subprocess.Popen`. A program gets its own session,
environment, `__main__` module and exit. Nothing was computed before it starts. Tests of the import, of the
interpreter's own options or of the standard streams start the interpreter itself.

The engine is paddle_jax, or the real Paddle. A server forks the programs of one engine and environment,
since an import reads flags from it. Where the system has no file descriptors of processes, each program is an
interpreter of its own.
"""

import atexit
import contextlib
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AVAILABLE = hasattr(os, "pidfd_open") and hasattr(socket, "send_fds")
# variables that a program reads, and no import; for each environment of others there is a server
_OF_PROGRAMS = ("PADDLE_", "MASTER_", "NPROC", "TRAINING_ROLE", "POD_IP", "PYTEST_CURRENT_TEST", "TEST_")
_MOST_SERVERS = 4


class Program:
    """A running program.

    Attributes:
        args: the words after the interpreter: a file, `-c` and a text, or `-m` and a module; then arguments.
        pid: process id, which is that of its process group too.
        returncode: exit status, None while it runs; below zero: the signal that ended it.
        outputs: files for what it writes to its standard streams.
        lines_end: offset in the first of them: what `read_line` has given ends there.
        status: socket on which its exit status comes.
        received: bytes that have come on it.
    """

    def __init__(self, args, env=None, cwd=None, engine="paddle_jax"):
        self.args = [str(each) for each in args]
        self.outputs = [tempfile.TemporaryFile() for _ in range(2)]
        self.lines_end = 0
        self.returncode = None
        self.received = b""
        self.status, end = socket.socketpair()
        weakref.finalize(self, _close, [*self.outputs, self.status])
        with end:
            environment = dict(os.environ if env is None else env)
            request = {"args": self.args, "env": environment, "cwd": str(cwd or Path.cwd())}
            files = [*(output.fileno() for output in self.outputs), end.fileno()]
            _server(environment, engine).send(request, files)
        self.pid = self._receive(None)

    def _receive(self, seconds):
        """The next number from the server; None where none comes in time."""
        self.status.settimeout(seconds)
        while b"\n" not in self.received:
            try:
                found = self.status.recv(64)
            except (TimeoutError, BlockingIOError):
                return None
            if not found:
                raise RuntimeError(f"the server of {self.args} has died")
            self.received += found
        line, _, self.received = self.received.partition(b"\n")
        return int(line)

    def wait(self, timeout=None):
        """The exit status, within `timeout` seconds."""
        if self.returncode is None:
            self.returncode = self._receive(timeout)
            if self.returncode is None:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self.status.close()
        return self.returncode

    def poll(self):
        """The exit status, or None."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def communicate(self, timeout=None):
        """What the program has written to stdout and to stderr, after its end."""
        self.wait(timeout)
        texts = []
        for output, begin in zip(self.outputs, (self.lines_end, 0), strict=True):
            output.seek(begin)
            texts.append(output.read().decode(errors="replace"))
            output.close()
        return tuple(texts)

    def read_line(self):
        """The next line of stdout; an empty text where the program ends before it."""
        while True:
            has_ended = self.poll() is not None
            line, end, _ = os.pread(self.outputs[0].fileno(), 1 << 16, self.lines_end).partition(b"\n")
            if end:
                self.lines_end += len(line) + 1
                return line.decode() + "\n"
            if has_ended:
                return ""
            time.sleep(0.01)

    def kill(self):
        """Ends the program and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def _close(files):
    for file in files:
        file.close()


class _Interpreter(subprocess.Popen):
    """A program for systems that have no file descriptors of processes."""

    def __init__(self, args, env=None, cwd=None):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        command = [sys.executable, *map(str, args)]
        super().__init__(command, env=env, cwd=cwd, start_new_session=True, **streams)

    def kill(self):
        """Ends the program and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def read_line(self):
        """The next line of stdout; an empty text where the program ends before it."""
        return self.stdout.readline()


def start(args, env=None, cwd=None, engine="paddle_jax"):
    """A program that runs.

    Args:
        args: the words after the interpreter: a file, `-c` and a text, or `-m` and a module; more words.
        env: its environment; None: that of this process.
        cwd: its working directory; None: that of this process.
        engine: the module that it finds imported, "paddle_jax" or "paddle".
    """
    if AVAILABLE:
        return Program(args, env, cwd, engine)
    return _Interpreter(args, env, cwd)


def run(args, timeout, env=None, cwd=None, engine="paddle_jax"):
    """A program that has ended, as `subprocess.run` gives it; it is killed after `timeout` seconds."""
    program = start(args, env, cwd, engine)
    try:
        out, err = program.communicate(timeout)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
        raise
    return subprocess.CompletedProcess(program.args, program.returncode, out, err)


class _Server:
    """A process that forks programs of one environment and engine."""

    def __init__(self, environment, engine):
        self.requests, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        text = "from tests.forked_python import serve; serve()"
        command = [sys.executable, "-c", text, str(end.fileno()), engine]
        with end:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                pass_fds=[end.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def send(self, request, files):
        with tempfile.TemporaryFile() as file:  # too long for a message
            file.write(json.dumps(request).encode())
            file.flush()
            socket.send_fds(self.requests, [b"-"], [file.fileno(), *files])

    def stop(self):
        self.requests.close()
        self.process.wait()


_servers = {}


def _server(environment, engine):
    """The server for an engine and an environment, as far as an import reads it."""
    read = {name: text for name, text in environment.items() if not name.startswith(_OF_PROGRAMS)}
    key = engine, *sorted(read.items())
    found = _servers.pop(key, None)
    if found is None or found.process.poll() is not None:
        found = _Server(read, engine)
    _servers[key] = found
    while len(_servers) > _MOST_SERVERS:
        _servers.pop(next(iter(_servers))).stop()
    return found


@atexit.register
def _stop_servers():
    while _servers:
        _servers.popitem()[1].stop()


# in the server ----------------------------------------------------------------------------------------------


def serve():
    """Forks a program for each request; each fork returns from here with its program done."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    importlib.import_module(sys.argv[2])  # the forks have it then

    statuses = {}  # by file descriptor of the process: process id, and where its status goes
    ready = selectors.DefaultSelector()
    ready.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is requests:
                message, files, _, _ = socket.recv_fds(requests, 8, 4)
                if not message:
                    _kill_all(statuses)
                    return
                pid = os.fork()
                if not pid:
                    ready.close()
                    requests.close()
                    for handle, (_, status) in statuses.items():
                        os.close(handle)
                        status.close()
                    _run_program(files)
                    return
                status = socket.socket(fileno=files.pop())
                for file in files:
                    os.close(file)
                handle = os.pidfd_open(pid)
                statuses[handle] = pid, status
                ready.register(handle, selectors.EVENT_READ)
                _tell(status, pid)
            else:
                handle = key.fd
                ready.unregister(handle)
                os.close(handle)
                pid, status = statuses.pop(handle)
                _tell(status, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                status.close()


def _tell(status, number):
    with contextlib.suppress(OSError):  # the process of the tests waits no longer
        status.sendall(b"%d\n" % number)


def _kill_all(statuses):
    for pid, _ in statuses.values():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _run_program(files):
    """Runs a program as the interpreter would, in this process."""
    request_file, out, err, status = files
    request = json.loads(os.pread(request_file, os.fstat(request_file).st_size, 0))
    os.setsid()
    os.dup2(out, 1)
    os.dup2(err, 2)
    for file in files:
        os.close(file)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    if "paddle_jax" in sys.modules:
        _mark_trainer()
    _draw_own_numbers()
    first, *rest = request["args"]
    if first == "-m":
        sys.argv[:] = rest
        sys.path[0] = request["cwd"]
        runpy._run_module_as_main(rest[0])
    elif first == "-c":
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path[0] = ""
        _run_as_main(rest[0], "<string>")
    else:
        sys.argv[:] = [first, *rest]
        sys.path[0] = str(Path(first).resolve().parent)
        _run_as_main(Path(first).read_bytes(), first)


def _mark_trainer():
    """Does what the import of paddle_jax does in a process that a launcher has started."""
    from paddle_jax._core.process_group import startup_barrier

    startup_barrier.mark_process()


def _draw_own_numbers():
    """Gives this process random numbers of its own, where the program sets no seed."""
    import numpy as np

    np.random.seed()


def _run_as_main(source, file):
    """Runs a text as the module `__main__`."""
    names = sys.modules["__main__"].__dict__
    names.clear()
    names |= {"__name__": "__main__", "__builtins__": __builtins__, "__spec__": None, "__doc__": None}
    names |= {"__package__": None, "__loader__": None}
    if file != "<string>":
        names["__file__"] = file
    exec(compile(source, file, "exec"), names)
