"""Forks helper processes for a program that runs JAX, whose threads do not survive `os.fork`.

A server process that has imported paddle_jax and computes nothing forks them: that takes milliseconds, and
shares the memory of imported code. The server is a fork of the program, made just before JAX starts its
threads, if the program is likely to need helpers; else a fresh interpreter, which takes as long as importing
paddle_jax. Each helper talks with the program over a socket of its own. The server ends its helpers when the
program ends in any way, since its control socket is closed then; a helper ends when the server does. Nothing
else needs cleaning up.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import importlib
import os
import pickle
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddle_jax._core.base.sockets import receive_exactly
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.process_group import startup_barrier

available = hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "win32"

# Helpers use no accelerators and ports, and share the cores: each has one thread.
SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "FLAGS_metrics_port": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
# modules that helpers are likely to need; the server imports them while no request waits, if they exist
_LIKELY_IMPORTS = (
    "cloudpickle",
    "paddle_jax.io.dataloader.remote",
    "paddle_jax.vision.transforms",
    "PIL.Image:preinit",
)
# packages that only define things when they are imported
_SAFE_PACKAGES = frozenset(["PIL", "cloudpickle", "cv2", "numpy", "paddle_jax", "scipy"])
_LENGTH = struct.Struct("!I")
_GRACE_SECONDS = 2.0  # in which a helper may end before it is killed
_MAX_EXIT_CODES = 1000
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def _send(sock: socket.socket, message: Any, *descriptors: int) -> None:
    data = pickle.dumps(message)
    socket.send_fds(sock, [_LENGTH.pack(len(data))], descriptors)
    sock.sendall(data)


def _receive(sock: socket.socket) -> tuple[Any, list[int]]:
    """(message, descriptors); (None, []) when the other side has ended."""
    head, descriptors, _, _ = socket.recv_fds(sock, _LENGTH.size, 4)
    if len(head) < _LENGTH.size:
        return None, []
    return pickle.loads(read(sock, _LENGTH.unpack(head)[0])), descriptors


def read(sock: socket.socket, size: int) -> bytearray:
    """A number of bytes; raises EOFError when the other side has ended."""
    return receive_exactly(sock, bytearray(size), EOFError)


# the server -------------------------------------------------------------------------------------------------


class _Helpers:
    """The processes that the server has forked.

    Attributes:
        running: {process id: time at which the server kills it, or None}.
        exit_codes: {process id: exit code} of those that have ended.
    """

    def __init__(self) -> None:
        self.running: dict[int, float | None] = {}
        self.exit_codes: dict[int, int] = {}

    def deadlines(self) -> list[float]:
        """The times at which helpers have to be killed."""
        return [deadline for deadline in self.running.values() if deadline is not None]

    def kill_late(self) -> None:
        """Kills the helpers that have not ended in time."""
        now = time.monotonic()
        for pid, deadline in self.running.items():
            if deadline is not None and deadline <= now:
                _kill(pid)

    def kill_all(self) -> None:
        """Kills all helpers, and waits for their end."""
        for pid in self.running:
            _kill(pid)
        self.reap(_GRACE_SECONDS)

    def reap(self, seconds: float = 0.0, pids: Sequence[int] | None = None) -> None:
        """Collects the exit codes of helpers that have ended.

        Args:
            seconds: how long to wait for all of them at most.
            pids: the helpers. Default: all.
        """
        deadline = time.monotonic() + seconds
        waiting = list(self.running if pids is None else pids)
        while True:
            for pid in list(waiting):
                with contextlib.suppress(ChildProcessError):
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        waiting.remove(pid)
                        del self.running[pid]
                        self.exit_codes[pid] = os.waitstatus_to_exitcode(status)
                        if len(self.exit_codes) > _MAX_EXIT_CODES:
                            del self.exit_codes[next(iter(self.exit_codes))]
            if not waiting or time.monotonic() >= deadline:
                return
            time.sleep(0.005)


def serve(descriptor: int) -> None:
    """Runs the server on its control socket, until the program that started it ends."""
    # Ctrl-C is for the program, which decides what happens to its helpers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    helpers = _Helpers()
    to_import = collections.deque(_LIKELY_IMPORTS)
    with contextlib.suppress(EOFError, OSError):
        while _serve_one(control, helpers, to_import):  # pyright: ignore[reportArgumentType]
            pass
    helpers.kill_all()


def _serve_one(control: socket.socket, helpers: _Helpers, to_import: collections.deque[str]) -> bool:
    """Waits for a request and carries it out; returns False when the program has ended."""
    while to_import and not _is_readable(control, 0):
        _import(to_import.popleft())
    deadlines = helpers.deadlines()
    _is_readable(control, max(0.0, min(deadlines) - time.monotonic()) if deadlines else None)
    helpers.kill_late()
    helpers.reap()
    if not _is_readable(control, 0):
        if helpers.deadlines():
            time.sleep(0.02)
        return True
    message, descriptors = _receive(control)
    if message is None:
        return False
    request, argument = message
    if request == "import":
        to_import.extend(argument)
    else:
        _carry_out(control, helpers, request, argument, descriptors)
    return True


def _is_readable(sock: socket.socket, timeout: float | None) -> bool:
    return bool(select.select([sock], [], [], timeout)[0])


def _import(name: str) -> None:
    """Imports "module", or "module:function" and calls the function."""
    module_name, _, function = name.partition(":")
    with contextlib.suppress(Exception):  # helpers that need it raise the same error
        module = importlib.import_module(module_name)
        if function:
            getattr(module, function)()


def _carry_out(
    control: socket.socket, helpers: _Helpers, request: str, argument: Any, descriptors: list[int]
) -> None:
    """Carries out a request of the program: "fork", "end" or "status"."""
    if request == "fork":
        pid = _fork_helper(control, argument, descriptors)
        helpers.running[pid] = None
        for descriptor in descriptors:
            os.close(descriptor)
        _send(control, pid)
    elif request == "end" and argument in helpers.running:
        helpers.running[argument] = time.monotonic() + _GRACE_SECONDS
    elif request == "status":
        if argument in helpers.running:
            helpers.reap(_GRACE_SECONDS, [argument])
        _send(control, helpers.exit_codes.pop(argument, None))


def _fork_helper(control: socket.socket, target: str, descriptors: list[int]) -> int:
    """Forks a helper that calls a function with its socket; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        control.close()
        _die_with_parent()
        module, name = target.split(":")
        getattr(importlib.import_module(module), name)(socket.socket(fileno=descriptors[0]))
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _die_with_parent() -> None:
    """Has Linux kill this process when its parent ends."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# the program's side -----------------------------------------------------------------------------------------


class _Server:
    """The one server of this process.

    Attributes:
        process: Popen or _ForkedServer; None before it is needed, and in a child made by `os.fork`.
        control: the socket to it, or None.
        modules: names of the modules that it has imported.
        lock: Lock, held while the program talks with it.
    """

    process: subprocess.Popen | _ForkedServer | None = None
    control: socket.socket | None = None
    modules: frozenset[str] = frozenset()
    lock = threading.Lock()


def start() -> None:
    """Starts the server if it does not run, without waiting until it is ready.

    The server also imports the modules that this program has imported since.
    """
    with _Server.lock:
        _start_if_ended()
    new_modules = [
        name
        for name in list(sys.modules)
        if name not in _Server.modules and name.partition(".")[0] in _SAFE_PACKAGES
    ]
    if new_modules:
        _Server.modules = _Server.modules.union(new_modules)
        with contextlib.suppress(OSError):
            _request("import", new_modules, answer=False)


def _start_if_ended() -> socket.socket:
    """Starts the server if it does not run; returns the control socket."""
    if _Server.control is not None and _Server.process is not None and _Server.process.poll() is None:
        return _Server.control
    _stop()
    ours, theirs = socket.socketpair()
    with theirs:
        modules = frozenset(sys.modules)
        process: Any = _fork_server(ours, theirs) if _can_be_forked() else None
        if process is None:
            modules = frozenset()
            process = _spawn_server(theirs)
    _Server.modules = modules
    _Server.process = process
    _Server.control = ours
    return ours


def _spawn_server(control: socket.socket) -> subprocess.Popen:
    """Starts a new interpreter as the server."""
    # Imported code is no garbage: the collector would take a tenth of the time, and later copy the memory
    # that helpers share.
    code = (
        "import gc; gc.disable(); from paddle_jax._core.process.forkserver import serve; gc.freeze(); "
        f"gc.enable(); serve({control.fileno()})"
    )
    # the folder of the package, as text for the interpreter
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100,PTH120
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, *subprocess._args_from_interpreter_flags(), "-c", code],  # pyright: ignore[reportAttributeAccessIssue]
        pass_fds=[control.fileno()],
        stdin=subprocess.DEVNULL,
        env=os.environ | {**SETTINGS, "PYTHONPATH": paths},
        start_new_session=False,
        process_group=0 if hasattr(os, "setpgid") else None,
    )


class _ForkedServer:
    """A fork of this process, with the methods of a Popen that the program uses.

    Attributes:
        pid: int, its process id.
        returncode: its exit code; None while it runs.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # other code has waited for it
                pid = self.pid
                status = 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, seconds: float | None = None) -> None:
        """Waits for its end."""
        if seconds is None:
            deadline = None
        else:
            deadline = time.monotonic() + seconds
        while self.poll() is None:
            if seconds is not None and deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("the process that makes helpers", seconds)
            time.sleep(0.001)

    def kill(self) -> None:
        """Kills it."""
        _kill(self.pid)


def _fork_server(ours: socket.socket, control: socket.socket) -> _ForkedServer | None:
    """Forks this process as the server; None if the system has no room for one."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()  # or helpers would print it again
    # Python would swallow a KeyboardInterrupt in the functions that it calls at a fork, and the child would
    # print it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with warnings.catch_warnings():
        # Python counts the threads of NumPy's BLAS, which starts them again in the child
        warnings.simplefilter("ignore")
        try:
            pid = os.fork()
        except OSError:
            pid = None
    if pid != 0:
        return _after_fork(pid, mask)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        import gc

        import jax

        # JAX may start inside a compiled function or `no_grad`, which are the program's
        local.reset()
        Observing.observer = None
        sys.setprofile(None)
        gc.freeze()
        ours.close()
        os.setpgid(0, 0)  # Ctrl-C is for the program
        _die_with_parent()
        sys.stdout = sys.__stdout__
        sys.stderr = sys.__stderr__
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.environ.update(SETTINGS)
        jax.config.update("jax_platforms", "cpu")
        serve(os.dup(control.fileno()))
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(0)


def _after_fork(pid: int | None, mask: Any) -> _ForkedServer | None:
    """The _ForkedServer of a process, or None; restores the signal mask.

    Interrupts that have waited come now; then the server ends.
    """
    server = None if pid is None else _ForkedServer(pid)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    except BaseException:
        if server is not None:
            server.kill()
            server.wait()
        raise
    return server


def _can_be_forked() -> bool:
    """Whether this process may be forked: only its main thread runs, and JAX has started none."""
    return (
        sys.platform == "linux"
        and not startup_barrier.is_device_in_use()
        and threading.active_count() == 1
        and threading.current_thread() is threading.main_thread()
    )


def _start_before_jax() -> None:
    """Called just before JAX starts its threads: starts the server if the program is likely to need one."""
    if available and _Server.process is None and _can_be_forked() and _mentions_workers():
        with contextlib.suppress(OSError):
            start()


# packages whose modules are no part of a program
_LIBRARY_PACKAGES = frozenset((*sys.stdlib_module_names, "paddle_jax", "paddle", "jax", "jaxlib", "numpy"))


def _mentions_workers() -> bool:
    """Whether the script or cell names workers, or a module of the program has the name DataLoader."""
    loader = getattr(sys.modules.get("paddle_jax.io.reader"), "DataLoader", None)
    if loader is None:
        return False
    others = [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in _LIBRARY_PACKAGES
    ]
    if any(getattr(module, "__dict__", {}).get("DataLoader") is loader for module in others):
        return True
    with contextlib.suppress(OSError, TypeError, AttributeError):  # typed in, or not a file
        return bool(
            re.search(rb"num_workers(?!\s*=\s*0\b)", Path(str(sys.modules["__main__"].__file__)).read_bytes())
        )
    return False


def _stop() -> None:
    """Ends the server, and with it all helpers."""
    process = _Server.process
    control = _Server.control
    _Server.process = None
    _Server.control = None
    if control is not None:
        control.close()
    if process is not None:
        try:
            process.wait(_GRACE_SECONDS + 3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _request(name: str, argument: Any, descriptors: Sequence[int] = (), answer: bool = True) -> Any:
    """Sends a request to the server; returns its answer, or None where there is none."""
    with _Server.lock:
        control = _start_if_ended()
        try:
            _send(control, (name, argument), *descriptors)
            if answer:
                return _receive(control)[0]
            return None
        except BaseException:
            # an interrupt between request and answer: the answer would be taken for that of the next request
            _stop()
            raise


def fork(target: str) -> tuple[int, socket.socket]:
    """Makes a helper process that calls a function with its socket.

    Args:
        target: str, "module:function".
    Returns:
        (process id, socket to talk with it).
    Raises:
        RuntimeError: no process can be made.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            # The second try is for a server that has ended since the last request: the system may not have
            # reported that yet, so that the first request goes to the ended server.
            for _ in range(2):
                try:
                    pid = _request("fork", target, descriptors=[theirs.fileno()])
                except OSError:
                    continue
                if pid is not None:
                    return pid, ours
                with _Server.lock:
                    _stop()
        raise RuntimeError(
            "no helper process can be made: the process that makes them does not start; "
            "its own message is on standard error"
        )
    except BaseException:
        ours.close()
        raise


def status(pid: int) -> int | None:
    """The exit code of a helper that has ended, negative for a signal; None if it is not known."""
    try:
        return _request("status", pid)
    except OSError:
        return None


def end(pid: int) -> None:
    """Gives up a helper: the server kills it if it does not end soon."""
    with contextlib.suppress(OSError):
        if _Server.process is not None:
            _request("end", pid, answer=False)


def _forget_in_child() -> None:
    """Called in a forked child: the server belongs to the parent."""
    if _Server.control is not None:
        _Server.control.close()
    _Server.process = None
    _Server.control = None
    _Server.lock = threading.Lock()


if available:
    os.register_at_fork(after_in_child=_forget_in_child)
    atexit.register(_stop)
    startup_barrier.before_first_device.append(_start_before_jax)
