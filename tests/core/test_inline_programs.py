"""Programs that run in the thread that calls them.

Unit tests of `_core.base` and `_core.runner`.
"""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.base.inline_programs import running_inline
from paddle_jax._core.runner import compiled_segment
from paddle_jax._core.runner.program_work import is_short

LENGTH = 256


def slow(x):
    for _ in range(60):
        x = jnp.tanh(x @ x)
    return x


def compiled(function, is_inline, *operands):
    """A compiled function that JAX has not seen."""
    jitted = jax.jit(lambda *values: function(*values))
    with running_inline(is_inline):
        jitted.lower(*operands).compile()
    return jitted


@pytest.mark.parametrize("is_inline", [True, False])
def test_result_is_ready_after_the_call(is_inline):
    x = jnp.full((LENGTH, LENGTH), 0.01, jnp.float32)
    run = compiled(slow, is_inline, x)
    jax.block_until_ready(run(x))
    ready = [run(x).is_ready() for _ in range(5)]
    assert all(ready) if is_inline else not all(ready)


def test_other_threads_go_on_meanwhile():
    x = jnp.full((LENGTH, LENGTH), 0.01, jnp.float32)
    run = compiled(lambda x: slow(slow(slow(x))), True, x)
    run(x)
    counts = []
    begun = threading.Event()

    def count():
        for i in range(1_000_000):
            counts.append(i)
            begun.set()
            if stop.is_set():
                return

    stop = threading.Event()
    thread = threading.Thread(target=count)
    thread.start()
    begun.wait()
    # More than the interpreter gives another thread at one of its switches.
    progress = []
    for _ in range(5):
        before = len(counts)
        run(x)
        progress.append(len(counts) - before)
    stop.set()
    thread.join()
    assert max(progress) > 1000


def test_program_of_the_cache_runs_inline_too(tmp_path, monkeypatch):
    hits = []
    count_hits = lambda name, **named: hits.append(name)  # noqa: E731  it is removed by its identity
    jax.monitoring.register_event_listener(count_hits)
    settings = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": 0,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    from jax._src import compilation_cache, monitoring

    try:
        for name, value in settings.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
        x = jnp.full((LENGTH, LENGTH), 0.01, jnp.float32)
        for _ in range(2):
            hits.clear()
            run = compiled(slow, True, x)
        assert "/jax/compilation_cache/cache_hits" in hits
        assert all(run(x).is_ready() for _ in range(5))
    finally:
        monitoring.unregister_event_listener(count_hits)
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


def test_program_with_callbacks_of_its_own():
    def called(x):
        return jax.pure_callback(lambda v: np.float32(v) + 1, jax.ShapeDtypeStruct((), jnp.float32), x)

    run = compiled(called, True, jnp.float32(2))
    assert float(run(jnp.float32(2))) == 3


def test_the_mark_ends_with_the_block():
    with pytest.raises(KeyError), running_inline(True):
        raise KeyError
    x = jnp.full((LENGTH, LENGTH), 0.01, jnp.float32)
    jitted = jax.jit(slow)
    jax.block_until_ready(jitted(x))
    assert not all(jitted(x).is_ready() for _ in range(5))


def segment_of_loop(size, reads):
    """The compiled segment of a training loop that reads its loss at each step, or at the end."""
    compiled_segment.clear()
    layer = paddle.nn.Linear(size, size)
    optimizer = paddle.optimizer.SGD(0.01, parameters=layer.parameters())
    x = paddle.ones([size, size])
    for _ in range(6):
        loss = paddle.tanh(layer(x)).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if reads:
            float(loss)
    float(loss)
    programs = list(compiled_segment._Cache.programs.values())
    assert programs
    return programs[0]


@pytest.mark.parametrize(
    ("size", "reads", "is_inline"),
    [(8, True, True), (8, False, False), (512, True, True), (512, False, False)],
)
def test_segments(size, reads, is_inline):
    paddle.set_flags({"FLAGS_deferred_min_repeats": 2})
    try:
        assert segment_of_loop(size, reads).is_inline is is_inline
    finally:
        paddle.set_flags({"FLAGS_deferred_min_repeats": 0})


def test_estimates_of_loops_and_branches():
    x = jnp.ones((64, 64))

    def scan(length):
        return jax.make_jaxpr(lambda x: jax.lax.scan(lambda c, _: (c @ c, None), x, length=length))(x)

    def loop(x):
        return jax.lax.while_loop(lambda v: v.sum() < 9, lambda v: v + 1, x)

    def branches(x):
        return jax.lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: jax.lax.fori_loop(0, 500, step, v), x)

    def step(i, v):
        return v @ v

    assert is_short(scan(2))
    assert not is_short(scan(100))
    assert not is_short(jax.make_jaxpr(loop)(x))
    assert not is_short(jax.make_jaxpr(branches)(x))
    assert is_short(jax.make_jaxpr(lambda x: x.at[jnp.arange(3)].add(1))(x))
