"""`paddle_jax.metrics`: the numbers of counters.py as a JSON snapshot, and for Prometheus over HTTP.

No port is open unless the program or the environment asks for it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from jax._src import xla_bridge  # no public function tells whether a device is in use without starting it

from paddle_jax._core.base import flags
from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.launch_variables import rank

PORT = "FLAGS_metrics_port"
ADDRESS = "FLAGS_metrics_address"
LOOPBACK = "127.0.0.1"
_BEGUN = time.time()


class _Endpoint:
    """The HTTP endpoint.

    Attributes:
        server: the HTTP server, or None.
        thread: its thread, or None.
        lock: Lock, held while they change.
    """

    server: Any = None
    thread: threading.Thread | None = None
    lock = threading.Lock()


def snapshot() -> dict[str, Any]:
    """What the process has done so far, as a dict that JSON can hold. Counting is always on and costs nothing
    that can be measured.

    Returns:
        dict: `time` and `uptime_seconds`; `rank`; `steps` (of optimizers, eager, compiled or in static
        programs); `compile` with `count` and `seconds` for each tier (`operation`: kernels of single
        operations; `segment`: sequences that recur; `to_static`, `executor`: functions and static programs;
        `optimizer`: update rules), and `from_cache`: how many of them were loaded from the cache directory;
        `operations` with `segments`, `compiled_segments` and `interpreted`; `memory`: by device `allocated`,
        `reserved`, `peak` and `limit` in bytes (accelerators; empty before one is used), and `process`: the
        bytes that the process holds; `malloc_failed`; `data` with `batches` and `wait_seconds`; `collectives`
        with `count` and `wait_seconds`.
    Example:
        >>> from paddle_jax import metrics
        >>> opt = paddle.optimizer.SGD(0.1, parameters=[paddle.create_parameter([2], "float32")])
        >>> before = metrics.snapshot()["steps"]
        >>> opt.step()
        >>> metrics.snapshot()["steps"] - before
        1
    """
    now = time.time()
    return {
        "time": now,
        "uptime_seconds": now - _BEGUN,
        "rank": rank(),
        "steps": Counters.steps,
        "compile": {
            **{
                tier: {"count": count, "seconds": seconds}
                for tier, (count, seconds) in Counters.compiles.items()
            },
            "from_cache": Counters.programs_from_cache,
        },
        "operations": {
            "segments": log.total("segments"),
            "compiled_segments": log.total("compiled_runs"),
            "interpreted": log.total("interpreted_ops"),
        },
        "memory": {"process": _process_bytes(), "devices": dict(_devices())},
        "malloc_failed": Counters.failed_allocations,
        "data": {"batches": Counters.batches, "wait_seconds": Counters.data_seconds},
        "collectives": {"count": Counters.collectives, "wait_seconds": Counters.collective_seconds},
    }


def _process_bytes() -> int | None:
    """Bytes of memory that the process holds; None where the system does not say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def _devices() -> Iterator[tuple[str, dict[str, int]]]:
    """(name, figures) of the accelerators in use; this does not start them."""
    for device in jax.local_devices() if xla_bridge.backends_are_initialized() else ():
        if device.platform != "cpu":
            figures = device.memory_stats()
        else:
            figures = None
        if figures:
            allocated = figures.get("bytes_in_use", 0)
            yield (
                f"{device.platform}:{device.id}",
                {
                    "allocated": allocated,
                    "reserved": figures.get("pool_bytes", figures.get("bytes_reserved", allocated)),
                    "peak": figures.get("peak_bytes_in_use", allocated),
                    "limit": figures.get("bytes_limit", 0),
                },
            )


class _Collector:
    """The collector that prometheus_client calls at each scrape.

    Attributes:
        core: the module prometheus_client.core.
    """

    def __init__(self, core: Any) -> None:
        self.core = core

    def collect(self) -> Iterator[Any]:
        """The metrics of a snapshot."""
        values = snapshot()
        rows = [
            ("steps", "Steps of optimizers.", values["steps"]),
            ("gpu_malloc_failed", "Allocations for which there was no memory.", values["malloc_failed"]),
            ("data_batches", "Batches of DataLoaders.", values["data"]["batches"]),
            (
                "data_wait_seconds",
                "Seconds that the program waited for batches.",
                values["data"]["wait_seconds"],
            ),
            ("collectives", "Calls between processes.", values["collectives"]["count"]),
            (
                "collective_wait_seconds",
                "Seconds in calls between processes.",
                values["collectives"]["wait_seconds"],
            ),
            ("segments", "Sequences of operations that were run.", values["operations"]["segments"]),
            (
                "compiled_segments",
                "Those of them that ran as compiled programs.",
                values["operations"]["compiled_segments"],
            ),
            (
                "interpreted_operations",
                "Operations run by the interpreter.",
                values["operations"]["interpreted"],
            ),
            (
                "compiles_from_cache",
                "Programs loaded from the cache directory.",
                values["compile"].pop("from_cache"),
            ),
        ]
        for name, text, value in rows:
            yield self.core.CounterMetricFamily(f"paddle_{name}", text, value=value)
        yield from self._tiers(values["compile"])
        yield from self._memory(values["memory"])

    def _tiers(self, tiers: dict[str, dict[str, float]]) -> Iterator[Any]:
        for name, key, text in (
            ("compiles", "count", "Programs compiled."),
            ("compile_seconds", "seconds", "Seconds of compiling."),
        ):
            family = self.core.CounterMetricFamily(f"paddle_{name}", text, labels=["tier"])
            for tier, figures in tiers.items():
                family.add_metric([tier], figures[key])
            yield family

    def _memory(self, memory: dict[str, Any]) -> Iterator[Any]:
        if memory["process"] is not None:
            yield self.core.GaugeMetricFamily(
                "paddle_process_memory_bytes", "Bytes that the process holds.", value=memory["process"]
            )
        for key in ("allocated", "reserved", "peak", "limit"):
            family = self.core.GaugeMetricFamily(
                f"paddle_memory_{key}_bytes", f"Memory of accelerators: {key}.", labels=["device"]
            )
            for device, figures in memory["devices"].items():
                family.add_metric([device], figures[key])
            yield family


def start(port: int = 0, address: str = LOOPBACK) -> int:
    """Lets Prometheus read the numbers at `http://address:port/metrics`. Needs prometheus_client: pip install
    'paddle_jax[metrics]'.

    A thread answers; the program does not wait. Only programs on this machine can ask unless another
    address is given; there is no password. The environment can do the same without a change of the
    program: FLAGS_metrics_port=9400 (each rank of a launched job takes the port 9400 + rank),
    FLAGS_metrics_address.

    Args:
        port: int. Default 0: one that is free.
        address: str, of the network interface. Default "127.0.0.1"; "0.0.0.0" lets everybody ask who can
            reach the machine.
    Returns:
        int, the port.
    Raises:
        ImportError: prometheus_client is missing. RuntimeError: it is on already. OSError: the port is taken.
    Example:
        >>> import paddle_jax.metrics
        >>> port = paddle_jax.metrics.start()
        >>> paddle_jax.metrics.stop()
    """
    try:
        import prometheus_client
        from prometheus_client import core
    except ImportError as error:
        raise ImportError(
            "metrics.start: it needs the package prometheus_client; install it with: "
            "pip install 'paddle_jax[metrics]'; metrics.snapshot() and "
            "metrics.write(path) work without"
        ) from error
    with _Endpoint.lock:
        if _Endpoint.server is not None:
            raise RuntimeError(
                f"metrics.start: it is on already, at port {_Endpoint.server.server_port}; "
                "call metrics.stop() first"
            )
        registry = prometheus_client.CollectorRegistry()
        registry.register(_Collector(core))
        _Endpoint.server, _Endpoint.thread = prometheus_client.start_http_server(port, address, registry)
        return _Endpoint.server.server_port


def stop() -> None:
    """Closes the endpoint; does nothing where there is none.

    Example:
        >>> from paddle_jax import metrics
        >>> metrics.stop()
    """
    with _Endpoint.lock:
        server = _Endpoint.server
        thread = _Endpoint.thread
        _Endpoint.server = None
        _Endpoint.thread = None
    if server is not None and thread is not None:
        server.shutdown()
        server.server_close()
        thread.join()


def start_from_environment() -> None:
    """Opens the endpoint that the environment asks for. An error is logged, and the program goes on."""
    port = os.environ.get(PORT)
    if not port or port == "0":
        return
    try:
        start(int(port) + rank(), os.environ.get(ADDRESS, LOOPBACK))
    except (ImportError, OSError, ValueError, OverflowError) as error:
        logging.getLogger(__package__).warning("%s=%s: no metrics: %s", PORT, port, error)


def _serve(port: int) -> None:
    """Restarts the endpoint at another port; 0 ends it."""
    stop()
    if port:
        start(port + rank(), flags.value_of("metrics_address"))


flags.declare("metrics_port", 0, _serve)
flags.declare("metrics_address", LOOPBACK)
