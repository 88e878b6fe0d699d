"""Helper processes of a program that runs JAX, whose threads do not survive `os.fork`.

A server process that has imported paddle_jax and computes nothing forks them: that takes milliseconds, and
shares the memory of what is imported. The server is a fork of the program itself, made just before JAX starts
its threads, if the program looks as if it will want helpers; else a fresh interpreter, which takes as long as
importing paddle_jax. Each helper talks with the program over a socket of its own. The server ends its helpers
when the program ends, however that happens, since its control socket is closed then; a helper ends when the
server does. Nothing else has to be cleaned up.
"""

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
from pathlib import Path

from paddle_jax._core.base.sockets import receive_exactly
from paddle_jax._core.process_group import startup_barrier

available = hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "win32"

# Helpers leave accelerators and ports alone, and share the cores: each has one thread.
SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "FLAGS_metrics_port": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
# What helpers are likely to need beside that: imported while nobody waits for the server, and what is missing
# is left out.
_EXPECTED = (
    "cloudpickle",
    "paddle_jax.io.dataloader.remote",
    "paddle_jax.vision.transforms",
    "PIL.Image:preinit",
)
# packages that only define things when they are imported
_HARMLESS = frozenset(["PIL", "cloudpickle", "cv2", "numpy", "paddle_jax", "scipy"])
_LENGTH = struct.Struct("!I")
_GRACE = 2.0  # seconds in which a helper may end by itself
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def _send(sock, message, *descriptors):
    data = pickle.dumps(message)
    socket.send_fds(sock, [_LENGTH.pack(len(data))], descriptors)
    sock.sendall(data)


def _receive(sock):
    """(message, descriptors); (None, []) when the other side has ended."""
    head, descriptors, _, _ = socket.recv_fds(sock, _LENGTH.size, 4)
    if len(head) < _LENGTH.size:
        return None, []
    return pickle.loads(read(sock, _LENGTH.unpack(head)[0])), descriptors


def read(sock, size):
    """So many bytes; raises EOFError when the other side has ended."""
    return receive_exactly(sock, bytearray(size), EOFError)


# the server -------------------------------------------------------------------------------------------------


def serve(descriptor):
    """Runs the server on its control socket, until the program that started it ends."""
    # Ctrl-C is for the program, which decides what happens to its helpers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    # pid: when to kill it, or None; pid: exit status; what to import
    helpers, ended, wanted = {}, {}, collections.deque(_EXPECTED)
    with contextlib.suppress(EOFError, OSError):
        while True:
            while wanted and not select.select([control], [], [], 0)[0]:
                _import(wanted.popleft())
            waiting = [moment for moment in helpers.values() if moment is not None]
            select.select([control], [], [], max(0.0, min(waiting) - time.monotonic()) if waiting else None)
            for pid in [
                pid for pid, moment in helpers.items() if moment is not None and moment <= time.monotonic()
            ]:
                _kill(pid)
            _reap(helpers, ended, 0.0)
            if select.select([control], [], [], 0)[0]:
                message, descriptors = _receive(control)
                if message is None:
                    break
                if message[0] == "import":
                    wanted.extend(message[1])
                else:
                    _obey(control, helpers, ended, message, descriptors)
            elif any(moment is not None for moment in helpers.values()):
                time.sleep(0.02)
    for pid in helpers:
        _kill(pid)
    _reap(helpers, ended, _GRACE)


def _import(name):
    module, _, function = name.partition(":")
    with contextlib.suppress(Exception):  # helpers find out themselves, if they need it
        found = importlib.import_module(module)
        if function:
            getattr(found, function)()


def _obey(control, helpers, ended, message, descriptors):
    order, argument = message
    if order == "fork":
        helpers[pid := _forked(control, argument, descriptors)] = None
        for descriptor in descriptors:
            os.close(descriptor)
        _send(control, pid)
    elif order == "end" and argument in helpers:
        helpers[argument] = time.monotonic() + _GRACE
    elif order == "status":
        _reap({argument: None} if argument in helpers else {}, ended, _GRACE)
        helpers.pop(argument, None) if argument in ended else None
        _send(control, ended.pop(argument, None))


def _forked(control, target, descriptors):
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


def _die_with_parent():
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _reap(helpers, ended, seconds):
    """Notes which helpers have ended; waits for all of them for at most this long."""
    limit = time.monotonic() + seconds
    while True:
        for pid in list(helpers):
            with contextlib.suppress(ChildProcessError):
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    del helpers[pid]
                    ended[pid] = os.waitstatus_to_exitcode(status)
                    if len(ended) > 1000:
                        del ended[next(iter(ended))]
        if not helpers or time.monotonic() >= limit:
            return
        time.sleep(0.005)


# the program's side -----------------------------------------------------------------------------------------


class _Server:
    """The one server of this process; None until it is needed, and in a child made by `os.fork`."""

    process = control = None
    known = frozenset()  # names of the modules that it has
    lock = threading.Lock()


def start():
    """Starts the server, if it is not there; does not wait until it is ready. What this program has imported
    meanwhile it imports as well."""
    with _Server.lock:
        if _Server.process is None or _Server.process.poll() is not None:
            _started()
    new = [
        name
        for name in list(sys.modules)
        if name not in _Server.known and name.partition(".")[0] in _HARMLESS
    ]
    if new:
        _Server.known = _Server.known.union(new)
        with contextlib.suppress(OSError):
            _asked("import", new, answer=False)


def _started():
    _dropped()
    ours, theirs = socket.socketpair()
    with theirs:
        _Server.known, _Server.process = frozenset(sys.modules), _twin(ours, theirs) if _is_quiet() else None
        if _Server.process is None:
            _Server.known, _Server.process = frozenset(), _fresh(theirs)
    _Server.control = ours


def _fresh(control):
    """A new interpreter as the server."""
    # Nothing of what is imported is garbage: looking for some takes a tenth of the time, and later copies the
    # memory that helpers share.
    code = (
        "import gc; gc.disable(); from paddle_jax._core.process.forkserver import serve; gc.freeze(); "
        f"gc.enable(); serve({control.fileno()})"
    )
    # as the interpreter wants it
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100,PTH120
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, *subprocess._args_from_interpreter_flags(), "-c", code],
        pass_fds=[control.fileno()],
        stdin=subprocess.DEVNULL,
        env=os.environ | {**SETTINGS, "PYTHONPATH": paths},
        start_new_session=False,
        process_group=0 if hasattr(os, "setpgid") else None,
    )


class _Twin:
    """A fork of this process, with what is asked of a Popen."""

    def __init__(self, pid):
        self.pid, self.returncode = pid, None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else has waited for it
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, seconds=None):
        limit = None if seconds is None else time.monotonic() + seconds
        while self.poll() is None:
            if limit is not None and time.monotonic() >= limit:
                raise subprocess.TimeoutExpired("the process that makes helpers", seconds)
            time.sleep(0.001)

    def kill(self):
        _kill(self.pid)


def _twin(ours, control):
    """A fork of this process as the server; None if the system has no room for one."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()  # or helpers would print it again
    # Python would swallow a KeyboardInterrupt in what runs at a fork, and the child would print it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with warnings.catch_warnings():
        # Python counts the threads of NumPy's BLAS, which make themselves anew in the child
        warnings.simplefilter("ignore")
        try:
            pid = os.fork()
        except OSError:
            pid = None
    if pid != 0:
        return _unmasked(pid, mask)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        import gc

        import jax

        gc.freeze()
        ours.close()
        os.setpgid(0, 0)  # Ctrl-C is for the program
        _die_with_parent()
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
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


def _unmasked(pid, mask):
    """The _Twin of a process, or None, after the interrupts that have waited."""
    twin = None if pid is None else _Twin(pid)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    except BaseException:
        if twin is not None:
            twin.kill()
            twin.wait()
        raise
    return twin


def _is_quiet():
    """Whether this process may be forked: nothing but its main thread runs, and JAX has not
    started its own."""
    return (
        sys.platform == "linux"
        and not startup_barrier.is_device_in_use()
        and threading.active_count() == 1
        and threading.current_thread() is threading.main_thread()
    )


def _foresee():
    """Called just before JAX starts its threads: makes the server if the program seems to need one soon."""
    if available and _Server.process is None and _is_quiet() and _speaks_of_workers():
        with contextlib.suppress(OSError):
            start()


# packages that have no program's names
_ASIDE = frozenset((*sys.stdlib_module_names, "paddle_jax", "paddle", "jax", "jaxlib", "numpy"))


def _speaks_of_workers():
    """Whether the script or cell names workers, or a module of the program has DataLoader among its names."""
    loader = getattr(sys.modules.get("paddle_jax.io.reader"), "DataLoader", None)
    if loader is None:
        return False
    others = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] not in _ASIDE]
    if any(getattr(module, "__dict__", {}).get("DataLoader") is loader for module in others):
        return True
    with contextlib.suppress(OSError, TypeError, AttributeError):  # typed in, or not a file
        return bool(
            re.search(rb"num_workers(?!\s*=\s*0\b)", Path(sys.modules["__main__"].__file__).read_bytes())
        )
    return False


def _dropped():
    """Ends the server, and with it all helpers."""
    process, control = _Server.process, _Server.control
    _Server.process = _Server.control = None
    if control is not None:
        control.close()
    if process is not None:
        try:
            process.wait(_GRACE + 3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _asked(*message, descriptors=(), answer=True):
    """Sends an order to the server and takes its answer."""
    with _Server.lock:
        if _Server.process is None or _Server.process.poll() is not None:
            _started()
        try:
            _send(_Server.control, message, *descriptors)
            return _receive(_Server.control)[0] if answer else None
        except BaseException:
            # an interrupt between order and answer: the next answer would be taken for another order's
            _dropped()
            raise


def fork(target):
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
            for last in (False, True):
                try:
                    pid = _asked("fork", target, descriptors=[theirs.fileno()])
                except OSError:
                    pid = None
                if pid is not None:
                    return pid, ours
                if last or _Server.process is None:
                    break
                with _Server.lock:
                    _dropped()
        raise RuntimeError(
            "no helper process can be made: the process that makes them does not start; "
            "its own message is on standard error"
        )
    except BaseException:
        ours.close()
        raise


def status(pid):
    """The exit code of a helper that has ended, negative for a signal; None if it is not known."""
    try:
        return _asked("status", pid)
    except OSError:
        return None


def end(pid):
    """Lets a helper go: it is killed if it does not end soon by itself."""
    with contextlib.suppress(OSError):
        if _Server.process is not None:
            _asked("end", pid, answer=False)


def _in_child():
    """The server belongs to the parent."""
    if _Server.control is not None:
        _Server.control.close()
    _Server.process, _Server.control, _Server.lock = None, None, threading.Lock()


if available:
    os.register_at_fork(after_in_child=_in_child)
    atexit.register(_dropped)
    startup_barrier.before_first_device.append(_foresee)
