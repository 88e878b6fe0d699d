"""Programs of the persistent compile cache that are called without `jax.jit`.

`jit` traces and lowers a module for each program, and runs Python code of JAX at the first call. That takes
15 ms with the interpreter's lock, and 20 ms more for the first program of a process. XLA needs none of it.
"""

from __future__ import annotations

import collections
import functools as ft
import itertools
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.core
import numpy as np
from jax import monitoring
from jax._src import compilation_cache, compiler, config
from jax._src.interpreters import pxla
from jax.sharding import SingleDeviceSharding

from paddle_jax._core.base.compiler import trim_memory, trimmed_memory
from paddle_jax._core.base.counters import CACHE_HIT, COMPILED, compiling
from paddle_jax._core.base.inline_programs import inline_client
from paddle_jax._core.lazy.device_put import put_uncommitted
from paddle_jax._core.lazy.devices import jax_device
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.runner.background_compiler import submit_to_compiler

# bytes of all arguments, from which free memory is given back before the first call
_LARGE_ARGUMENTS = 32 << 20


class LoadedProgram:
    """A compiled program on one device.

    Args:
        executable: what JAX's cache gave.
        sharding: that of its results.
        results: shapes and dtypes of its results.
    Attributes:
        calls: int, number of its calls.
        _device: the device.
    """

    def __init__(self, executable: Any, sharding: Any, results: Sequence[jax.ShapeDtypeStruct]) -> None:
        avals = [jax.core.ShapedArray(struct.shape, struct.dtype) for struct in results]
        makers = [pxla.global_aval_to_result_handler(aval, sharding, committed=False) for aval in avals]
        self.calls: int = 0
        (self._device,) = sharding.device_set
        self._execute: Callable[[list[Any]], Any] = executable.execute_sharded
        self._take_results = operator.methodcaller("consume_with_handlers", makers)

    def __call__(
        self, arguments: Iterable[Sequence[Any]], store: Callable[[Iterator[Any]], Iterable[Any]]
    ) -> None:
        """Runs it and stores its results; both happen in one call of a C function.

        Args:
            arguments: lists of its arguments: arrays that are not committed to a device.
            store: as of `call_and_store`.
        """
        self.calls += 1
        if self.calls == 2:
            submit_to_compiler(ft.partial(trim_memory, has_pause=False))
        arrays = [
            put_uncommitted(x, self._device) if type(x) is np.ndarray else x
            for x in itertools.chain.from_iterable(arguments)
        ]
        # Moving the arguments out of NumPy's memory has left as much free memory behind.
        if self.calls == 1 and sum(array.nbytes for array in arrays) >= _LARGE_ARGUMENTS:
            trim_memory(has_pause=False)
        results = map(self._take_results, map(self._execute, (arrays,)))
        collections.deque(store(itertools.chain.from_iterable(results)), 0)


def may_call() -> bool:
    """Whether a program may be called so: JAX does not check its results, and no mesh is in use."""
    return not (
        config.debug_nans.value
        or config.debug_infs.value
        or MultiDevice.blocking
        or MultiDevice.read_on_all is not None
    )


def load(
    key: str, results: Sequence[jax.ShapeDtypeStruct], tier: str, device: Any, is_inline: bool
) -> LoadedProgram | None:
    """A program of the cache; None where it cannot be loaded so, and JAX has to find or compile it.

    Args:
        key: JAX's key of the program.
        results: shapes and dtypes of its results.
        tier: the tier that it counts for, see counters.py.
        device: the device that it runs on. That of the calling thread may be another one.
        is_inline: whether it is to run in the thread that calls it.
    """
    start = time.perf_counter()
    try:
        with trimmed_memory(tier):
            program = _load(key, results, jax_device(device), is_inline)
    except Exception:  # a damaged file, or another version of JAX: its own way says what is wrong
        return None
    if program is None:
        return None
    with compiling(tier):
        monitoring.record_event(CACHE_HIT)
        monitoring.record_event_duration_secs(COMPILED, time.perf_counter() - start)
    return program


def _load(
    key: str, results: Sequence[jax.ShapeDtypeStruct], device: Any, is_inline: bool
) -> LoadedProgram | None:
    sharding = SingleDeviceSharding(device)
    options = compiler.get_compile_options(1, 1, np.array([[device]]), backend=device.client)
    client = inline_client(device.client) if is_inline else device.client
    executable, _ = compilation_cache.get_executable_and_time(
        key, options, client, sharding._internal_device_list
    )
    if executable is None:
        return None
    return LoadedProgram(executable, sharding, results)
