"""Paddle's flags about the memory of accelerators as settings of XLA's client, which it reads once, when the
first device is used."""

import os

from paddle_jax._core.base.vlog import vlog

STRATEGIES = ("auto_growth", "naive_best_fit", "thread_local")
DEFAULT_FRACTION = 0.92  # Paddle's; XLA's own is 0.75, also where it grows on demand
_PREALLOCATE, _ALLOCATOR, _UNIFIED = (
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "TF_FORCE_UNIFIED_MEMORY",
)
# XLA refuses to start where both are set
_FRACTION, _OLD_FRACTION = "XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"


def allocator_strategy(value):
    """auto_growth takes memory as it is needed; naive_best_fit takes its share at the start, as
    XLA does by itself."""
    if value not in STRATEGIES:
        raise ValueError(f"FLAGS_allocator_strategy: got {value!r}; allowed are {', '.join(STRATEGIES)}")
    return {_PREALLOCATE: "true" if value == "naive_best_fit" else "false"}


def fraction_of_gpu_memory_to_use(value):
    """The share of the memory of a device that the program may use."""
    if not 0 < value <= 1:
        raise ValueError(
            f"FLAGS_fraction_of_gpu_memory_to_use: got {value}; it must be above 0 and at most 1"
        )
    return {_FRACTION: str(value)}


def use_cuda_malloc_async_allocator(value):
    """CUDA's own pool."""
    return {_ALLOCATOR: "cuda_async"} if value else {_ALLOCATOR: "default"}


def use_system_allocator(value):
    """No pool: each array is given back at once. Slow, for finding out what a program needs."""
    return {_ALLOCATOR: "platform"} if value else {_ALLOCATOR: "default"}


def use_cuda_managed_memory(value):
    """Memory that may lie on the host where the device has no more."""
    return {_UNIFIED: "1" if value else "0"}


FLAGS = {
    function.__name__: function
    for function in (
        allocator_strategy,
        fraction_of_gpu_memory_to_use,
        use_cuda_malloc_async_allocator,
        use_system_allocator,
        use_cuda_managed_memory,
    )
}


def put(name, value):
    """Sets what a flag means, and says so."""
    meaning = FLAGS[name](value)
    if _FRACTION in meaning:
        os.environ.pop(_OLD_FRACTION, None)
    os.environ.update(meaning)
    _say({name: value}, meaning)


def _say(flags, meaning):
    vlog(
        "memory",
        (
            ", ".join(f"FLAGS_{name}={value}" for name, value in flags.items())
            + " for XLA's allocator: "
            + ", ".join(f"{name}={value}" for name, value in meaning.items())
        ),
    )


def start(given):
    """Applies the flags that the environment has, {name: value}. What XLA's own variables say stays; without
    any, memory grows on demand up to Paddle's share."""
    meaning = {key: value for name, flag in given.items() for key, value in FLAGS[name](flag).items()}
    wanted = {_PREALLOCATE: "false", _FRACTION: str(DEFAULT_FRACTION), **meaning}
    if _OLD_FRACTION in os.environ:
        del wanted[_FRACTION]
    new = {key: value for key, value in wanted.items() if key not in os.environ}
    os.environ.update(new)
    if given:
        _say(given, {key: os.environ[key] for key in meaning if key in os.environ})
