"""Starting processes from a program: each runs a function of it."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import multiprocessing.spawn
import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.reduction import ForkingPickler
from typing import Any

from paddle_jax import _paths
from paddle_jax._core.process_group import failure_detector
from paddle_jax._core.process_group.startup_barrier import MARK
from paddle_jax.alias import install_as_paddle

__all__ = ["MultiprocessContext", "spawn"]

_GRACE = 3.0  # seconds between asking a process to end and ending it
_OPTIONS = {
    "start_method",
    "gpus",
    "xpus",
    "ips",
    "backend",
    "selected_devices",
    "master",
    "options",
    "print_config",
}
_BACKENDS = ("auto", "bkcl", "gloo", "heter", "nccl", "xccl")
# names of older programs, which change nothing
_OLD_OPTIONS = {"started_port", "cluster_node_ips", "node_ip", "use_paddlecloud"}
_starting = threading.Lock()  # the environment belongs to the whole program


class _ReturnQueue:
    """What the function of one process returns: an end of a pipe, from which one value comes.

    Attributes:
        connection: multiprocessing.connection.Connection, or None after the value or the end of the process.
    """

    def __init__(self, connection: multiprocessing.connection.Connection) -> None:
        self.connection: multiprocessing.connection.Connection | None = connection
        self._content: bytes | None = None

    def receive(self) -> None:
        """Takes the value out of the pipe. A process with a large value waits until that is done."""
        if self.connection is None:
            return
        # A process that fails closes the pipe without a value.
        with suppress(EOFError, OSError):
            self._content = self.connection.recv_bytes()
        self.connection.close()
        self.connection = None

    def get(self) -> Any:
        """The value; waits until the function has returned.

        Raises:
            EOFError: the function has raised, or the value has been given already.
        """
        self.receive()
        # A value is given once, as a queue does.
        content, self._content = self._content, None
        if content is None:
            raise EOFError(
                "spawn: return_queues: got no value; each process gives one, where its function returns"
            )
        return pickle.loads(content)  # what a process of this program has written

    def empty(self) -> bool:
        """Whether `get` would have to wait, or has nothing to give."""
        if self.connection is not None and self.connection.poll():
            self.receive()
        return self._content is None


class MultiprocessContext:
    """The processes that `spawn` has started.

    Attributes:
        processes: list of multiprocessing.Process.
        return_queues: list of queues; the `get()` of each gives what the function of that process returned.
    """

    def __init__(self, processes: Any, errors: Any, return_queues: Any) -> None:
        self.processes = processes
        self.errors = errors
        self.return_queues = return_queues

    def join(self, timeout: Any = None) -> bool:
        """Waits for the processes, at most so many seconds.

        Returns:
            True when all have ended, False when some still run.
        Raises:
            Exception: one has failed; its traceback is the text. The others are ended.
        """
        limit = None if timeout is None else time.monotonic() + timeout
        # Processes may end in any order.
        while running := [process for process in self.processes if process.exitcode is None]:
            if limit is None:
                left = None
            else:
                left = max(limit - time.monotonic(), 0)
            # Values are taken while processes run: one whose pipe is full does not end.
            returning = [queue for queue in self.return_queues if queue.connection is not None]
            sources = [process.sentinel for process in running] + [queue.connection for queue in returning]
            ready = multiprocessing.connection.wait(sources, left)
            if not ready:
                return False
            for queue in returning:
                if queue.connection in ready:
                    queue.receive()
            # One failure ends all, as the others would wait for it.
            self._raise_if_failed(ready)
        # Also those that had ended before this call, for which nothing waited.
        self._raise_if_failed([process.sentinel for process in self.processes])
        return True

    def _raise_if_failed(self, sentinels: Any) -> None:
        for rank, process in enumerate(self.processes):
            if process.sentinel in sentinels:
                # The sentinel may be ready a moment before the exit code is.
                process.join()
                if process.exitcode:
                    self.end()
                    raise Exception(self._text(rank, process.exitcode))

    def _text(self, rank: Any, code: Any) -> str:
        texts = {}
        for each, end in enumerate(self.errors):
            with suppress(EOFError, OSError):
                if end.poll():
                    texts[each] = end.recv()  # a text, written by what this program has started
        own = [each for each, (follows, _) in texts.items() if not follows]
        if own and rank not in own:  # the one that ended first had lost its connection to one that failed
            rank = own[0]
        if rank in texts:
            return f"Process {rank} terminated with the following error:\n{texts[rank][1]}"
        if code < 0:
            return f"Process {rank} terminated with signal {signal.Signals(-code).name}."
        return f"Process {rank} terminated with exit code {code}."

    def end(self) -> None:
        """Ends all processes."""
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        # One limit for all processes together.
        limit = time.monotonic() + _GRACE
        for process in self.processes:
            process.join(max(limit - time.monotonic(), 0))
            if process.is_alive():
                process.kill()
                process.join()


def spawn(
    func: Callable[..., Any],
    args: Any = (),
    nprocs: int = -1,
    join: Any = True,
    daemon: Any = False,
    **options: Any,
) -> MultiprocessContext:
    """Runs a function in several new processes, which can communicate: each calls `init_parallel_env`.

    Args:
        func: callable that can be pickled: a function at the top of a module. Its module is imported in each
            process, so a program must call spawn below `if __name__ == "__main__":`. What it returns comes
            from `return_queues` of the result, so that must be something that can be pickled.
        args: tuple, its arguments. The number of the process comes from paddle.distributed.get_rank().
        nprocs: int, how many. Default -1: one for each accelerator that is named by gpus, or by the
            environment; else one for each core.
        join: wait until all have ended. Default True.
        daemon: end the processes when the program ends. Default False.
        options: gpus or selected_devices, numbers of accelerators such as "0,1", one for each process;
            master, "host:port" at which they meet (default: a free port of this machine); backend, "gloo" for
            CPUs; print_config, whether to print the variables of each process. start_method is "spawn",
            since JAX does not live on in a fork.
    Returns:
        A MultiprocessContext, whose `join` waits.
    Raises:
        Exception: a process has failed (with join); its traceback is the text. ValueError: an option is
            unknown, or does not fit.
    Example:
        >>> if __name__ == "__main__":  # doctest: +SKIP
        ...     paddle.distributed.spawn(train, args=("data",), nprocs=2)
    """
    _check_options(options)
    devices = _devices(options)
    # Paddle's default is -1: as many processes as there are devices.
    if nprocs > 0:
        count = nprocs
    else:
        count = len(devices) or os.cpu_count()
    if devices and len(devices) < count:
        raise ValueError(
            f"spawn: gpus: got {','.join(devices)}; there must be one for each of the {count} processes"
        )
    main = _main()
    payload = _Payload((func, tuple(args)))
    context = multiprocessing.get_context("spawn")
    processes = []
    errors = []
    return_queues = []
    # The environment is changed for each process in turn.
    with _starting:
        for rank, variables in enumerate(_variables(count, devices, options)):
            if options.get("print_config"):
                print(f"spawn: process {rank}: {variables}")
            error_end, error_start = context.Pipe(duplex=False)
            result_end, result_start = context.Pipe(duplex=False)
            # A program that knows this package as `paddle` needs the same name in the new process.
            alias = _paths.Paths.root == "paddle"
            process = context.Process(
                target=_run, args=(payload, main, alias, error_start, result_start), daemon=daemon
            )
            with ExitStack() as stack:
                stack.enter_context(_changed_environment(variables))
                stack.enter_context(_main_later())
                process.start()
            # Only the new process may hold the writing ends: else its death would not end the pipes.
            error_start.close()
            result_start.close()
            processes.append(process)
            errors.append(error_end)
            return_queues.append(_ReturnQueue(result_end))
    started = MultiprocessContext(processes, errors, return_queues)
    if join:
        try:
            started.join()
        except BaseException:
            # An interrupt must not leave processes behind.
            started.end()
            raise
    return started


def _check_options(options: dict[str, Any]) -> None:
    unknown = set(options) - _OPTIONS - _OLD_OPTIONS
    if unknown:
        raise ValueError(
            f"spawn: options: got {', '.join(sorted(unknown))}; allowed are {', '.join(sorted(_OPTIONS))}"
        )
    if options.get("backend", "auto") not in _BACKENDS:
        raise ValueError(
            f"spawn: backend: got {options['backend']!r}; it must be one of {', '.join(_BACKENDS)}"
        )
    for name in sorted(_OLD_OPTIONS & set(options)):
        warnings.warn(
            f"spawn: options: {name} is deprecated, and changes nothing; leave it out",
            DeprecationWarning,
            stacklevel=3,
        )
    if options.get("start_method", "spawn") not in ("spawn", None):
        raise ValueError(
            f"spawn: start_method: got {options['start_method']!r}; it must be 'spawn': "
            "JAX's threads do not live on in a fork"
        )


def _devices(options: dict[str, Any]) -> list[str]:
    """The numbers of accelerators that the options name."""
    devices = options.get("gpus") or options.get("selected_devices") or options.get("xpus")
    if not devices:
        return []
    # Paddle takes a text with commas.
    return [part for part in str(devices).split(",") if part]


class _Payload:
    """A function and its arguments, which a new process reads only when it has its environment and `paddle`
    set. They are pickled while it starts: queues, locks and events can travel only then.

    Args:
        content: what travels.
    """

    def __init__(self, content: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        # Reading the pickle gives bytes; `_run` reads these after its set-up.
        return bytes, (bytes(ForkingPickler.dumps(self.content)),)


def _variables(count: Any, devices: Any, options: Any) -> Iterator[Any]:
    """The variables of each process, as dicts; None takes a variable away."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count + 1)]
        for probe in probes:
            # All probes stay bound until each has its port, so no two get the same.
            probe.bind(("127.0.0.1", 0))
        # Free ports of this machine, one for each process and one for the coordinator.
        ports = [probe.getsockname()[1] for probe in probes]
    here = [f"127.0.0.1:{port}" for port in ports[1:]]
    master = options.get("master") or f"127.0.0.1:{ports[0]}"
    common = {
        "PADDLE_MASTER": master,
        "PADDLE_TRAINERS_NUM": str(count),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(here),
        MARK: None,
        "MASTER_ADDR": None,
        "MASTER_PORT": None,
    }
    # gloo runs on the CPU.
    if options.get("backend") == "gloo":
        common |= {"JAX_PLATFORMS": "cpu", "PADDLE_DISTRI_BACKEND": "gloo"}
    for rank in range(count):
        own = {"PADDLE_TRAINER_ID": str(rank), "PADDLE_CURRENT_ENDPOINT": here[rank]}
        if devices:
            own["FLAGS_selected_gpus"] = devices[rank]
        yield common | own


@contextmanager
def _changed_environment(variables: Any) -> Iterator[None]:
    """The environment with some variables changed: a new process reads it before it imports anything."""
    before = {name: os.environ.get(name) for name in variables}
    try:
        _set(variables)
        yield
    finally:
        _set(before)


def _set(variables: Any) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _main() -> dict[str, Any]:
    """How a new process finds the module of the program that was started: {"name": ...}, {"path":
    ...} or nothing."""
    data = multiprocessing.spawn.get_preparation_data("")
    return {
        key.removeprefix("init_main_from_"): data[key]
        for key in ("init_main_from_name", "init_main_from_path")
        if key in data
    }


@contextmanager
def _main_later() -> Iterator[None]:
    """Lets a new process leave the program's module alone until `_run` imports it: by then `paddle` has to
    mean what it means here."""
    prepared = multiprocessing.spawn.get_preparation_data

    def without(name: Any) -> Any:
        return {key: value for key, value in prepared(name).items() if not key.startswith("init_main")}

    multiprocessing.spawn.get_preparation_data = without
    try:
        yield
    finally:
        multiprocessing.spawn.get_preparation_data = prepared


def _run(payload: bytes, main: Any, alias: Any, errors: Any, results: Any) -> None:
    """Runs in a new process, where a _Payload is the bytes that it was pickled as."""
    try:
        # Before `func` is read, since its module may import `paddle`.
        if alias:
            install_as_paddle()
        # What multiprocessing would have done itself without `_main_later`.
        if "name" in main:
            multiprocessing.spawn._fixup_main_from_name(main["name"])
        elif "path" in main:
            multiprocessing.spawn._fixup_main_from_path(main["path"])
        func, args = pickle.loads(payload)
        result = func(*args)
        # By value: memory that processes share would end with this one.
        results.send_bytes(pickle.dumps(result))
    # The text goes to the parent, as tracebacks cannot be pickled.
    except Exception as error:
        text = traceback.format_exc()
        with suppress(OSError):
            errors.send((isinstance(error, failure_detector.LostError), text))
        print(text, file=sys.stderr, flush=True)
        # The other processes learn of it at once, not by a time limit.
        failure_detector.fail(f"{type(error).__name__}: {error}")
