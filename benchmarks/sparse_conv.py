"""Times sparse 3-D convolutions on a CPU: python benchmarks/sparse_conv.py [paddle_jax|paddle] (the real
Paddle needs minutes)."""

import functools as ft
import importlib
import sys
import time

import numpy as np

CASES = ((64, 20000, 16, 32), (200, 8000, 64, 64))  # side of a cube, kept elements, channels in, channels out


def sample(side, count, channels):
    """Sorted coordinates and values."""
    rng = np.random.default_rng(0)
    cells = np.sort(rng.choice(side**3, count, replace=False))
    return (
        np.stack(np.unravel_index(cells, (1, side, side, side))),
        rng.standard_normal((count, channels)).astype("float32"),
    )


def milliseconds(function, repeats):
    """The least of several runs, after warm-up."""
    found = []
    for i in range(repeats + 3 if repeats > 1 else 1):
        start = time.perf_counter()
        function()
        found += [time.perf_counter() - start] * (i >= 3 or repeats == 1)
    return 1e3 * min(found)


def main(name):
    paddle = importlib.import_module(name)
    functional = paddle.sparse.nn.functional
    for side, count, inner, outer in CASES:
        places, values = sample(side, count, inner)
        x = paddle.sparse.sparse_coo_tensor(
            paddle.to_tensor(places), paddle.to_tensor(values), [1, side, side, side, inner]
        )
        weight = paddle.to_tensor(
            np.random.default_rng(1).standard_normal((3, 3, 3, inner, outer)).astype("float32")
        )
        for label, settings in (("subm_conv3d", {"padding": 1}), ("conv3d", {"stride": 2, "padding": 1})):
            call = ft.partial(getattr(functional, label), x, weight, **settings)
            spent = milliseconds(lambda call=call: call().values().numpy(), 5 if name == "paddle_jax" else 1)
            print(
                f"{name} {label} {settings}: {side}^3, {count} elements, {inner} -> {outer} channels: "
                f"{spent:.0f} ms"
            )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "paddle_jax")
