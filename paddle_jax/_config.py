"""Settings of JAX that Paddle's semantics need, made before the first array exists."""

import gc

_THRESHOLD = gc.get_threshold()
_MAX_FROZEN = 50_000  # objects of the program that may be frozen with those of the import
_OBJECTS_BEFORE = len(gc.get_objects())
# imported code is no garbage, and the collector would take a fifth of the time
gc.set_threshold(500_000, *_THRESHOLD[1:])


def collect_as_before() -> None:
    """Ends the import: the collector runs as before, but not over the imported objects.

    Else collections would go through all of them: 60 to 90 ms in the middle of the user's operations. In a
    process that has done little else they are frozen. In others they count as old, since objects of the
    program that are frozen with them would never be collected.
    """
    if not gc.get_freeze_count():  # unfreezing would undo what the program froze itself
        gc.freeze()
        if _OBJECTS_BEFORE > _MAX_FROZEN:
            gc.unfreeze()  # into the oldest generation
    gc.set_threshold(*_THRESHOLD)


from paddle_jax._core.base.jax_import import quick_plugin_search  # noqa: E402

with quick_plugin_search():
    import jax

from paddle_jax._core.base import (  # noqa: E402
    compiler,
    counters,
    flags,
    interrupt_safe,
    memory_flags,
    traceback_displays,
)
from paddle_jax._core.kernels import (  # noqa: E402
    constant_updates,
    index_halves,
    loop_counts,
    product_precision,
    random_counts,
    random_rounds,
)
from paddle_jax._core.numpy_backend import host_calls  # noqa: E402
from paddle_jax._core.process import compile_cache, metrics  # noqa: E402
from paddle_jax._core.process_group import startup_barrier  # noqa: E402
from paddle_jax._core.runner import after_fork, runner_flags  # noqa: E402

compiler.tune_malloc()
flags.start()
traceback_displays.install()
memory_flags.start()
runner_flags.start()
compile_cache.start()
counters.start()
after_fork.install()
startup_barrier.start()
interrupt_safe.shield_garbage_collector()
jax.config.update("jax_enable_x64", True)  # int64 is Paddle's default integer
jax.config.update("jax_default_matmul_precision", "highest")  # float32 means float32 on every platform
product_precision.start()
host_calls.start()
random_counts.start()
random_rounds.start()
index_halves.start()
constant_updates.start()
loop_counts.start()
metrics.start_from_environment()
