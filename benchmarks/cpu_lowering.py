"""Time of an op's lowerings on the CPU: XLA's own against the one paddle_jax chooses there.

    python benchmarks/cpu_lowering.py [convolution|other] [--rounds 8]

Prints a Markdown table: milliseconds of the result, of the gradient of x and, for convolutions, of that of
the weight. Both lowerings take turns, the fastest round counts. Docs: docs/design/cpu-lowering.md.
"""

import argparse
import contextlib
import time
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import paddle_jax  # noqa: F401  sets 64-bit types and precision as users have them
from paddle_jax.nn.functional import convolve, pool_windows
from paddle_jax.tensor import cumulative, lowering, search

# name: shape of x, shape of weight, stride, padding, groups
CONVOLUTIONS = {
    "3x3, 64 ch, 8 images of 16x16": ((8, 64, 16, 16), (64, 64, 3, 3), 1, 1, 1),
    "3x3, 256 ch, 8 of 4x4": ((8, 256, 4, 4), (256, 256, 3, 3), 1, 1, 1),
    "3x3 stride 2, 256 to 512 ch, 8 of 4x4": ((8, 256, 4, 4), (512, 256, 3, 3), 2, 1, 1),
    "3x3, 512 ch, 8 of 2x2": ((8, 512, 2, 2), (512, 512, 3, 3), 1, 1, 1),
    "3x3, 16 ch, 1 of 16x16": ((1, 16, 16, 16), (16, 16, 3, 3), 1, 1, 1),
    "1x1, 64 to 256 ch, 2 of 56x56": ((2, 64, 56, 56), (256, 64, 1, 1), 1, 0, 1),
    "1x1 stride 2, 256 to 512 ch, 8 of 4x4": ((8, 256, 4, 4), (512, 256, 1, 1), 2, 0, 1),
    "LeNet 3x3, 1 to 6 ch, 64 of 28x28": ((64, 1, 28, 28), (6, 1, 3, 3), 1, 1, 1),
    "LeNet 5x5, 6 to 16 ch, 64 of 14x14": ((64, 6, 14, 14), (16, 6, 5, 5), 1, 0, 1),
    "3x3, 128 ch in 32 groups, 2 of 16x16": ((2, 128, 16, 16), (128, 4, 3, 3), 1, 1, 32),
    "3x3, 256 ch in 8 groups, 4 of 28x28": ((4, 256, 28, 28), (256, 32, 3, 3), 1, 1, 8),
    "depthwise 3x3, 64 ch, 8 of 28x28": ((8, 64, 28, 28), (64, 1, 3, 3), 1, 1, 64),
    "depthwise 3x3 stride 2, 96 ch, 2 of 56x56": ((2, 96, 56, 56), (96, 1, 3, 3), 2, 1, 96),
    "3-d 3x3x3, 64 ch, 2 of 8x8x8": ((2, 64, 8, 8, 8), (64, 64, 3, 3, 3), 1, 1, 1),
    "1-d 5, 64 ch, 16 of length 4": ((16, 64, 4), (64, 64, 5), 1, 2, 1),
}
FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def convolutions():
    """(name, function, arrays, arguments to differentiate by)."""
    for name, (image, kernel, stride, padding, groups) in CONVOLUTIONS.items():
        n, random = len(image) - 2, np.random.default_rng(0)
        arrays = [jnp.asarray(random.standard_normal(shape), jnp.float32) for shape in (image, kernel)]

        def call(x, weight, n=n, arguments=(stride, padding, 1, groups)):
            return convolve.convolve("conv", n, x, weight, None, *arguments, FORMATS[n])

        yield name, call, arrays, (0, 1)


def others():
    """As `convolutions`, for everything else."""

    def pooled(kernel, stride, padding):
        return lambda x: pool_windows.max_values(
            x, pool_windows.Windows("pool", x, 2, kernel, stride, padding, False, False)
        )

    def averaged(kernel, stride, padding):
        return lambda x: pool_windows.mean_values(
            x, pool_windows.Windows("pool", x, 2, kernel, stride, padding, False, False), True, None
        )

    random = np.random.default_rng(0)
    yield from (
        (name, call, [jnp.asarray(random.standard_normal(shape), jnp.float32)], (0,) if by else ())
        for name, call, shape, by in [
            ("maximum 2x2, 64 x 6 x 28 x 28", pooled(2, 2, 0), (64, 6, 28, 28), True),
            ("maximum 3x3 stride 2, 8 x 64 x 32 x 32", pooled(3, 2, 1), (8, 64, 32, 32), True),
            ("mean 2x2, 64 x 16 x 28 x 28", averaged(2, 2, 0), (64, 16, 28, 28), True),
            ("argsort, 256 x 1000", lowering.stable_order, (256, 1000), False),
            ("argsort, 200000", lowering.stable_order, (200_000,), False),
            (
                "argmax, 256 x 1000",
                lambda x: search._arg_extreme("argmax", jnp.argmax, -jnp.inf, x, 1, False, "int64"),
                (256, 1000),
                False,
            ),
            *(
                (
                    f"{f.__name__}, {' x '.join(map(str, shape))}, axis {axis}",
                    lambda x, f=f, axis=axis: f(x, axis),
                    shape,
                    True,
                )
                for shape, axis in [((256, 1000), 1), ((1000, 256), 0)]
                for f in (sums, products, log_sums)
            ),
        ]
    )


def sums(x, axis):
    return lowering.running(jnp.add, jnp.cumsum, x, axis)


def products(x, axis):
    return lowering.running(jnp.multiply, jnp.cumprod, x, axis)


def log_sums(x, axis):
    return cumulative._log_sums(x, axis)


@contextlib.contextmanager
def as_on_an_accelerator():
    """Makes the ops take the lowering they have away from the CPU."""
    with contextlib.ExitStack() as stack:
        for module in (convolve, pool_windows, lowering, search):
            stack.enter_context(mock.patch.object(module, "on_cpu", lambda: False))
        stack.enter_context(mock.patch.object(cumulative, "_log_sums", jax.lax.cumlogsumexp))
        yield


def jobs(call, arrays, by):
    """Compiled functions without arguments: the result, then the gradient by each argument."""
    # a new function: what was traced for the other lowering is cached
    found = [jax.jit(lambda *given: call(*given)).lower(*arrays).compile()]
    cotangent = jnp.ones_like(found[0](*arrays)) if by else None
    for k in by:

        def gradient(g, *arrays, k=k):
            return jax.vjp(lambda v: call(*arrays[:k], v, *arrays[k + 1 :]), arrays[k])[1](g)

        found.append(jax.jit(gradient).lower(cotangent, *arrays).compile())
    return [
        lambda f=f, given=given: jax.block_until_ready(f(*given))
        for f, given in zip(found, [arrays, *[(cotangent, *arrays)] * len(by)], strict=True)
    ]


def once(job):
    start = time.perf_counter()
    job()
    return (time.perf_counter() - start) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="?", choices=["convolution", "other"])
    parser.add_argument("--rounds", type=int, default=8)
    args = parser.parse_args()
    print("| op | XLA's: result / gradients, ms | ours |\n| --- | --- | --- |")
    for name, call, arrays, by in [
        *(convolutions() if args.which != "other" else []),
        *(others() if args.which != "convolution" else []),
    ]:
        with as_on_an_accelerator():
            theirs = jobs(call, arrays, by)
        ours = jobs(call, arrays, by)
        times = np.min([[once(job) for job in theirs + ours] for _ in range(args.rounds)], 0).reshape(2, -1)
        print(
            f"| {name} | " + " | ".join(" / ".join(f"{t:.3g}" for t in row) for row in times) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
