"""Copies of Tensors put aside in the memory of the host."""

import numpy as np
import pytest


@pytest.mark.parametrize("make", ["paddle.arange(4.0)", "paddle.nn.Linear(2, 2).weight"])
def test_offload_and_reload(make, paddle):
    from paddle_jax.incubate.tensor import manipulation

    source, load = eval(make), manipulation.create_async_load()
    before = source.numpy()
    kept, task = manipulation.async_offload(source, load)
    task.cpu_wait()
    assert task.is_completed() and kept.place.is_cpu_place() and type(kept) is type(source)
    with paddle.no_grad():
        source.fill_(0.0)
    back, task = manipulation.async_reload(kept, load)
    task.cpu_wait()
    np.testing.assert_array_equal(back.numpy(), before)
    assert back.place == paddle.ones([1]).place and back.stop_gradient == source.stop_gradient
