"""What an accelerator does during a recording, from JAX's own profiler: the kernels that
ran, and how long."""

from __future__ import annotations

import collections
import gzip
import json
import pathlib
import tempfile
from typing import Any

import jax


class Trace:
    """A profile of JAX along with a recording; kernels: [(name, seconds, calls)] once it has stopped,
    the longest first."""

    kernels: list[Any]

    def __init__(self) -> None:
        self.kernels, self._folder = [], tempfile.TemporaryDirectory()
        try:
            jax.profiler.start_trace(self._folder.name)
        except RuntimeError:  # the user runs JAX's profiler already
            self._folder.cleanup()
            self._folder = None

    def stop(self) -> None:
        """Stops and reads the profile."""
        if self._folder is None:
            return
        jax.profiler.stop_trace()
        # A file for each machine of the recording, under a folder named after the time.
        for path in pathlib.Path(self._folder.name).rglob("*.trace.json.gz"):
            self.kernels += kernels(json.loads(gzip.decompress(path.read_bytes())))
        self._folder.cleanup()


def kernels(trace: dict[str, Any]) -> list[tuple[Any, int, int]]:
    """[(name, seconds, calls)] of what ran on devices, from a chrome trace of JAX."""
    events = trace.get("traceEvents", ())
    # Devices beside the host, whose operations are in the recording already.
    devices = {
        e["pid"]
        for e in events
        if e.get("name") == "process_name"
        and "/device:" in e["args"]["name"]
        and "CPU" not in e["args"]["name"]
    }
    rows = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e.get("name") == "thread_name" and e["pid"] in devices
    }
    # A kernel runs many times; its runs are summed.
    total = collections.Counter()
    calls = collections.Counter()
    for event in events:
        row = rows.get((event.get("pid"), event.get("tid")), "")
        if (
            event.get("ph") == "X"
            and event["pid"] in devices
            # the rows of GPUs and TPUs that have kernels; others repeat the same time
            and (row.startswith("Stream") or row == "XLA Ops")
        ):
            total[event["name"]] += event.get("dur", 0) * 1e-6
            calls[event["name"]] += 1
    return [(name, seconds, calls[name]) for name, seconds in total.most_common()]
