"""The compilers for chips that are not there: where they are installed, and the processes that run them.

Each platform has one child process, which stays until this one ends. So nothing of a compiler for TPUs or
GPUs is loaded here: the devices and the running programs of this process stay as they are.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.machinery
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
from typing import Any

from paddle_jax.aot.compiler_process import receive, send
from paddle_jax.aot.target import Target

FOLDER = "PADDLE_JAX_COMPILERS"
_MODULES = {"cpu": ("jaxlib",), "tpu": ("libtpu",), "cuda": ("jax_plugins.xla_cuda12", "nvidia.cuda_nvcc")}
_INSTALL = "pip install 'paddle_jax[aot]'"
_SCRIPT = pathlib.Path(__file__).with_name("compiler_process.py")
# Without a GPU XLA does not try out ways of a product, and Triton may not fit. With one it takes cuBLAS then.
_NO_TILES = "Couldn't find output tile sizes"
_WITHOUT_TRITON = {"xla_gpu_enable_triton_gemm": False}
_FAILURE = re.compile(r"^F\d{4} [^\]\n]*\] (.*)$", re.MULTILINE)  # a fatal line of Google's logs
_MAX_LOG = 2000  # characters of what a compiler has printed that an error shows


class CompilerError(RuntimeError):
    """A compiler has refused a program, or has ended.

    Attributes:
        kind: str, name of the exception class of XLA, or "ended" or "timeout".
    """

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        self.kind = kind


def module_path(name: str) -> str | None:
    """The folder of an installed package, found without importing it."""
    folders = search_path()
    for part in name.split("."):
        # Importing a plugin would register it with the JAX of this process.
        spec = importlib.machinery.PathFinder.find_spec(part, folders)
        if spec is None or not spec.submodule_search_locations:
            return None
        folders = list(spec.submodule_search_locations)
    return folders[0]


def search_path() -> list[str]:
    """The folders that packages are imported from, with that of the compilers."""
    extra = os.environ.get(FOLDER)
    return [*sys.path, *([extra] if extra else [])]


def missing(platform: str) -> list[str]:
    """The packages that the compiler of a platform lacks."""
    return [name for name in _MODULES[platform] if module_path(name) is None]


def require(target: Target) -> None:
    """Raises an error where the compiler of a target is not installed."""
    if missing(target.platform):
        raise ModuleNotFoundError(
            f"compile: target: the compiler for {target.chip.title} is not installed; {_INSTALL}, "
            f"or pip install it into another folder, which {FOLDER} names"
        )


def _environment(platform: str) -> dict[str, str]:
    """The environment of the child process."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "2"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, search_path()))
    user_flags = os.environ.get("XLA_FLAGS", "").split()
    if platform == "cuda":
        # the last one of two counts; a compiler stops the process at a flag that it does not know
        chosen = [flag for flag in user_flags if flag.startswith("--xla_gpu_")]
        flags = [f"--xla_gpu_cuda_data_dir={module_path('nvidia.cuda_nvcc')}", "--xla_gpu_autotune_level=0"]
        environment["XLA_FLAGS"] = " ".join([*flags, *chosen])
    elif platform == "tpu":
        # libtpu ends the process at flags of other platforms.
        environment["XLA_FLAGS"] = ""
        environment["TPU_SKIP_MDS_QUERY"] = "1"
        environment["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"  # a running program may hold the lock of the library
    else:
        environment["XLA_FLAGS"] = " ".join(user_flags)
    return environment


class _Process:
    """A child process with a compiler.

    Attributes:
        process: the Popen object.
        log: file with what its libraries print.
        requests, replies: the streams to it and from it.
        lock: held during a request.
        timed_out: bool, whether a request took too long, so that it was killed.
    """

    def __init__(self, environment: dict[str, str], platform: str) -> None:
        # A file, since nobody reads while the compiler runs: a pipe could fill up.
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        self.lock = threading.Lock()
        self.timed_out = False
        self.process = subprocess.Popen(
            [sys.executable, str(_SCRIPT), platform],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
        )
        self.requests: Any = self.process.stdin
        self.replies: Any = self.process.stdout

    def request(self, header: dict[str, Any], body: bytes, timeout: float | None) -> Any:
        """Sends a request; returns the reply, or None if the process has ended."""
        timer = threading.Timer(timeout or 0.0, self._kill_late)
        if timeout is not None:
            timer.start()
        try:
            send(self.requests, header, body)
            return receive(self.replies)
        except (BrokenPipeError, ValueError):
            return None
        finally:
            timer.cancel()

    def _kill_late(self) -> None:
        # Noted, since the system kills a process in the same way where memory is short.
        self.timed_out = True
        self.process.kill()

    def last_words(self) -> str:
        """The message of the check that ended it; without one, the end of what its libraries have printed."""
        self.log.seek(0)
        text = self.log.read().decode(errors="replace").strip()
        failure = _FAILURE.search(text)
        return failure[1].strip() if failure else text[-_MAX_LOG:]

    def stop(self) -> None:
        """Ends it."""
        for stream in (self.requests, self.replies):
            with contextlib.suppress(OSError):
                stream.close()
        self.process.kill()
        self.process.wait()
        self.log.close()


_processes: dict[tuple[str, str], _Process] = {}
_lock = threading.Lock()


def _process_for(target: Target, devices: int) -> tuple[tuple[str, str], _Process]:
    """The child process for a target, started if need be."""
    environment = _environment(target.platform)
    if target.platform == "cpu":
        environment["XLA_FLAGS"] += f" --xla_force_host_platform_device_count={devices}"
    # XLA reads its flags once for each process.
    key = (target.platform, environment["XLA_FLAGS"])
    with _lock:
        process = _processes.get(key)
        # A program that a compiler does not survive must not harm later ones.
        if process is None or process.process.poll() is not None:
            if process is not None:
                process.stop()
            process = _processes[key] = _Process(environment, target.platform)
    return key, process


def compile_module(
    target: Target,
    module: bytes,
    partitions: int,
    options: dict[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[dict[str, Any], str]:
    """Compiles a module of StableHLO for a target.

    Args:
        target: Target.
        module: the module as bytecode or text.
        partitions: number of devices that the module is made for.
        options: settings of XLA for this program.
        timeout: seconds after which the compiler is stopped, or None.
    Returns:
        (what XLA says of the program, its text).
    Raises:
        CompilerError: XLA refuses the program, the compiler has ended, or it took too long.
    """
    require(target)
    _, process = _process_for(target, partitions)
    header = {"topology": target.topology, "partitions": partitions, "options": options or {}}
    with process.lock:
        found = process.request(header, module, timeout)
        if found is None:
            words = process.last_words()
            process.stop()
            if process.timed_out:
                raise CompilerError(f"the compiler took more than {timeout:g} s", "timeout")
            raise CompilerError(f"the compiler has ended: {words}", "ended")
    reply, text = found
    if _NO_TILES in reply.get("error", "") and options is None:
        return compile_module(target, module, partitions, _WITHOUT_TRITON, timeout)
    if "error" in reply:
        raise CompilerError(reply["error"], reply["kind"])
    return reply, text.decode()


def stop_all() -> None:
    """Ends the child processes."""
    with _lock:
        for process in _processes.values():
            process.stop()
        _processes.clear()


atexit.register(stop_all)
