"""Does the installation work? `paddle.utils.run_check()` and `python -m paddle_jax check`."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.tensors.place import parse
from paddle_jax._core.tensors.random import get_rng_state, seed, set_rng_state
from paddle_jax.version import full_version

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.base.libpaddle import CPUPlace


_PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "flax", "optax", "ml_dtypes")
_STEPS = 5


def _trained(place: CPUPlace) -> tuple[list[Any], float]:
    """(losses, seconds) of a few steps of training on a device: eager, then compiled."""
    # A check must not change the random numbers of the program that calls it.
    before = get_rng_state()
    seed(0)
    # The user's random numbers go on as before.
    try:
        return _steps(place)
    finally:
        set_rng_state(before)


def _steps(place: CPUPlace) -> tuple[list[Any], float]:
    # these packages import `utils`, and only a check needs them
    from paddle_jax import jit, nn, optimizer  # lazy: import time
    from paddle_jax.device import device  # lazy: import time
    from paddle_jax.tensor.random import randn  # lazy: import time

    with device(place):
        net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
        sgd, x, y = optimizer.SGD(0.02, parameters=net.parameters()), randn([8, 16]), randn([8, 1])

        def step() -> Tensor:
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        start = time.perf_counter()
        losses = []
        for run in (step, jit.to_static(step)):
            losses += [run().item() for _ in range(_STEPS)]
        return losses, time.perf_counter() - start


def _step_works(place: CPUPlace) -> tuple[bool, str]:
    """(whether training on a device lowers the loss, the line that says so)."""
    try:
        losses, seconds = _trained(place)
    except Exception as error:
        return False, f"{place}: FAILED: {type(error).__name__}: {error}"
    # Eager and compiled steps train the same network, so every one must improve on the one before.
    if not all(a > b for a, b in zip(losses[:-1], losses[1:], strict=True)):
        return (
            False,
            (
                f"{place}: FAILED: the loss of {2 * _STEPS} steps does not fall: "
                f"{', '.join(f'{loss:.3g}' for loss in losses)}"
            ),
        )
    return (
        True,
        (
            f"{place}: ok, loss {losses[0]:.3f} to {losses[-1]:.3f} in {2 * _STEPS} steps, eager and "
            f"compiled, {seconds:.2f} s"
        ),
    )


def run_check() -> None:
    """Trains a small network for a few steps, eager and compiled, on every device of the current kind, and
    says whether it worked.

    Raises:
        RuntimeError: it did not.
    Example:
        >>> paddle.utils.run_check() # doctest: +ELLIPSIS
        Running verify PaddlePaddle program ...
        PaddlePaddle works well on 1 CPU...
    """
    print("Running verify PaddlePaddle program ... ")
    devices = jax.local_devices()
    for device in devices:
        works, text = _step_works(parse(device))
        if not works:
            raise RuntimeError(f"run_check: {text}; `python -m paddle_jax check` tells what is installed")
    if devices[0].platform in ("gpu", "cuda", "rocm"):
        kind = "GPU"
    else:
        kind = devices[0].platform.upper()
    print(f"PaddlePaddle works well on {len(devices)} {kind}{'s' if len(devices) > 1 else ''}.")
    print("PaddlePaddle is installed successfully! Let's start deep learning with PaddlePaddle now.")


def _versions() -> Iterator[Any]:
    yield f"paddle_jax with the API of PaddlePaddle {full_version}, {Path(__file__).parents[1]}"
    yield f"Python {platform.python_version()}, {sys.executable}, {platform.platform()}"
    for name in _PACKAGES:
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{name} is missing"
    language = "C" if extension is not None else "Python, since no extension module was built"
    yield f"operations are recorded in {language}"
    # Packages of plugins have the version of CUDA in their names.
    plugins = sorted(
        {
            d.name
            for d in importlib.metadata.distributions()
            if (d.name or "").startswith(("jax-cuda", "jax-rocm", "libtpu"))
        }
    )
    yield f"plugins of jax: {', '.join(plugins) or 'none, so only the CPU is used'}"


def _settings() -> Iterator[Any]:
    chosen = sorted(
        f"{k}={v}" for k, v in os.environ.items() if k.startswith(("FLAGS_", "JAX_", "XLA_", "CUDA_VISIBLE"))
    )
    yield f"environment: {', '.join(chosen) or 'nothing set'}"
    yield _cache()


def _cache() -> str:
    folder = jax.config.jax_compilation_cache_dir
    if folder is None:
        return "compiled programs are not kept on disk"
    if Path(folder).is_dir():
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
    else:
        files = []
    return (
        f"compiled programs are kept in {folder}: {len(files)} files, "
        f"{sum(path.stat().st_size for path in files) / 1e6:.1f} MB"
    )


def _memory(device: Any) -> str:
    figures = device.memory_stats() or {}
    if "bytes_limit" in figures:
        return (
            f"{figures.get('bytes_in_use', 0) / 2**20:.0f} of {figures['bytes_limit'] / 2**20:.0f} MiB in use"
        )
    # Only Linux has this file.
    with_memory = Path("/proc/meminfo")
    if device.platform != "cpu" or not with_memory.is_file():
        return "memory not known"
    rows = dict(line.split(":") for line in with_memory.read_text().splitlines())
    free, total = (int(rows[key].split()[0]) / 1024 for key in ("MemAvailable", "MemTotal"))
    return f"{free:.0f} of {total:.0f} MiB free, {os.cpu_count()} cores"


def _ports_work() -> tuple[bool, str]:
    """(whether processes of this machine can talk, the line that says so). A launched process names
    its own address."""
    mine = os.environ.get("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:0")
    host, _, port = mine.rpartition(":")
    try:
        with (
            socket.create_server((host, int(port))) as server,
            socket.create_connection(server.getsockname()[:2], timeout=5),
        ):
            return True, f"ports: {host} accepts connections" + (f" at {port}" if port != "0" else "")
    except (OSError, ValueError) as error:
        return (
            False,
            f"ports: FAILED: {mine}: {error}; another program may have it, or a firewall stand between",
        )


def _summed(devices: Any) -> np.ndarray:
    """What a sum over devices gives on each."""
    mesh = jax.sharding.Mesh(np.array(devices), ("d",))
    spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    parts = jax.device_put(np.arange(1.0, 1 + len(devices)), spread)
    total = jax.shard_map(
        lambda x: jax.lax.psum(x, "d"), mesh=mesh, in_specs=spread.spec, out_specs=spread.spec
    )
    return np.asarray(jax.jit(total)(parts))


def _collectives_work(devices: Sequence[Any]) -> tuple[bool, str]:
    """(whether devices of a kind can add up numbers, the line that says so)."""
    count = len(devices)
    kind = devices[0].platform
    try:
        found = _summed(devices)
    except Exception as error:
        return False, f"collectives on {count} {kind} devices: FAILED: {type(error).__name__}: {error}"
    # Each device has to see the sum of all.
    if (found != count * (count + 1) / 2).any():
        return (
            False,
            f"collectives on {count} {kind} devices: FAILED: the sum of 1 to {count} is {found.tolist()}",
        )
    return True, f"collectives on {count} {kind} devices: ok"


def check() -> int:
    """Prints versions, settings, ports, devices with their memory, whether training works on each, and
    collectives where there are several; returns 0, or 1 where something does not work."""
    for line in (*_versions(), *_settings()):
        print(line)
    devices = [
        *jax.local_devices(),
        *([] if jax.default_backend() == "cpu" else jax.local_devices(backend="cpu")),
    ]
    for device in devices:
        print(f"device {parse(device)}: {device.device_kind}, {_memory(device)}")
    good = True
    for device in devices:
        works, text = _step_works(parse(device))
        good = good and works
        print(f"training on {text}")
    kinds = {device.platform: [d for d in devices if d.platform == device.platform] for device in devices}
    for works, text in (
        _ports_work(),
        *[_collectives_work(same) for same in kinds.values() if len(same) > 1],
    ):
        good = good and works
        print(text)
    print("everything works" if good else "something does not work: see FAILED above")
    if good:
        return 0
    return 1
