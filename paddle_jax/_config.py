"""Settings of JAX that Paddle's semantics need, made before the first array exists."""

import jax

from paddle_jax._core import compile_cache, counters, flags, forked, metrics, uninterrupted
from paddle_jax._core.world import gate

flags.start()
compile_cache.start()
counters.start()
forked.start()
gate.start()
uninterrupted.shield_collector()
jax.config.update("jax_enable_x64", True)  # int64 is Paddle's default integer
jax.config.update("jax_default_matmul_precision", "highest")  # float32 means float32 on every platform
metrics.begin()
