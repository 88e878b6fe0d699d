"""The lowering of pooling for accelerators, whose code the CPU can make but does not use."""

import jax
import numpy as np
import pytest

from paddle_jax.nn.functional import pool_windows
from paddle_jax.nn.functional.pool_windows import Windows, max_values, max_with_index

CASES = [  # shape, kernel, stride, padding, ceil_mode: elements are left over, or windows overhang
    ((1, 2, 7), 2, 2, 0, False),
    ((1, 2, 7), 2, 2, 0, True),
    ((2, 3, 7, 8), 3, 2, 1, False),
    ((2, 3, 7, 10), [2, 3], [2, 4], 0, False),
    ((1, 2, 4, 5, 4), 2, 2, 0, False),
]


@pytest.mark.parametrize("reduce", [max_values, lambda *arguments: max_with_index(*arguments)[0]])
@pytest.mark.parametrize(("shape", "kernel", "stride", "padding", "ceil_mode"), CASES)
def test_gradients_of_both_lowerings(monkeypatch, reduce, shape, kernel, stride, padding, ceil_mode):
    x = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape).astype(np.float32)

    def total(x):
        windows = Windows("max_pool", x, len(shape) - 2, kernel, stride, padding, ceil_mode, False)
        return (reduce(x, windows) ** 2).sum()

    expected = jax.value_and_grad(total)(x)
    monkeypatch.setattr(pool_windows, "on_cpu", lambda: False)
    found = jax.value_and_grad(total)(x)
    for want, got in zip(expected, found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    for platform in ("cuda", "rocm", "tpu"):
        jax.jit(jax.grad(total)).trace(x).lower(lowering_platforms=(platform,))
