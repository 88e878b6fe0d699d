"""The child process that compiles for a chip that is not there.

    python compiler_process.py PLATFORM DEVICES

XLA's compilers for TPUs and GPUs want settings before they are loaded, and may end the process that they are
in. So they run here, and this file needs JAX alone. It reads requests from standard input and writes replies
to standard output: a line of JSON, then as many bytes as its "size" says.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, BinaryIO

_MEMORY = ("argument", "output", "temp", "alias", "generated_code", "host_temp")


def receive(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next message: its header and its body; None at the end of the stream."""
    line = stream.readline()
    if not line:
        return None
    header = json.loads(line)
    return header, stream.read(header["size"])


def send(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Writes a message."""
    stream.write(json.dumps({**header, "size": len(body)}).encode() + b"\n" + body)
    stream.flush()


class _Compiler:
    """The compilers of this process.

    Attributes:
        platform: str, "cpu", "tpu" or "cuda".
        topologies: dict from the description of a topology to its devices.
    """

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.topologies: dict[str, Any] = {}

    def devices(self, topology: dict[str, str]) -> Any:
        """The devices of a topology: stand-ins, except for a CPU."""
        import jax
        from jax.experimental import topologies

        if self.platform == "cpu":
            return jax.devices("cpu")
        key = json.dumps(topology, sort_keys=True)
        if key not in self.topologies:
            described = topologies.get_topology_desc(platform=self.platform, **topology)
            self.topologies[key] = described.devices
        return self.topologies[key]

    def compile(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Compiles a module of StableHLO; returns what XLA says about the program, and its text."""
        import numpy as np
        from jax._src import compiler  # the public way compiles what it has traced itself
        from jax._src.interpreters import mlir
        from jaxlib import _jax
        from jaxlib.mlir import ir

        start = time.perf_counter()
        count = header["partitions"]
        devices = list(self.devices(header["topology"]))[:count]
        options = compiler.get_compile_options(
            num_replicas=1,
            num_partitions=count,
            device_assignment=np.array([[device.id for device in devices]]),
            env_options_overrides=header["options"],
        )
        with mlir.make_ir_context():
            module = ir.Module.parse(body)
            client = devices[0].client
            # The client of a CPU is a real one, which compiles only what it also loads.
            if self.platform == "cpu":
                compiled = client.compile_and_load(module, _jax.DeviceList(tuple(devices)), options)
            else:
                compiled = client.compile(module, _jax.DeviceList(tuple(devices)), options)
        seconds = time.perf_counter() - start
        memory = compiled.get_compiled_memory_stats()
        reply = {
            "seconds": seconds,
            "memory": {name: getattr(memory, f"{name}_size_in_bytes", 0) for name in _MEMORY},
            "reserved": getattr(memory, "peak_memory_in_bytes", 0),
        }
        try:
            text = "\n".join(part.to_string() for part in compiled.hlo_modules())
        # A compiler that is newer than jaxlib may write instructions that jaxlib cannot read.
        except Exception as error:
            reply["unreadable"] = f"{error}"
            text = ""
        return reply, text.encode()


def main(platform: str) -> None:
    """Answers requests until standard input ends."""
    # Replies keep the standard output; whatever else is printed goes to the standard error.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print does not belong into the replies
    import jax

    # As in the program: otherwise 64-bit numbers would be cut.
    jax.config.update("jax_enable_x64", True)
    compiler = _Compiler(platform)
    while (request := receive(sys.stdin.buffer)) is not None:
        try:
            reply, text = compiler.compile(*request)
        except Exception as error:
            reply = {"error": f"{error}", "kind": type(error).__name__}
            text = b""
        send(channel, reply, text)


if __name__ == "__main__":
    main(sys.argv[1])
