"""Convolution layers on the CPU against the real Paddle, both in this process, in turn.

    python -W ignore benchmarks/convolutions.py [--only depthwise] [--seconds 0.6]

Prints a Markdown table of milliseconds and ratios: the result alone, read, and the result with the gradients
of x, weight and bias, all read. Undecorated calls, float32, after the deferred tier has settled; the fastest
of the rounds counts.
"""

import argparse
import importlib
import time

import numpy as np

# name: channels in, out, size, images, layer arguments
LAYERS = {
    "3x3": (64, 64, 28, 8, {"kernel_size": 3, "padding": 1}),
    "3x3, many channels": (256, 256, 14, 8, {"kernel_size": 3, "padding": 1}),
    "1x1": (64, 256, 28, 8, {"kernel_size": 1}),
    "1x1, many channels": (512, 128, 14, 8, {"kernel_size": 1}),
    "depthwise 3x3": (96, 96, 28, 8, {"kernel_size": 3, "padding": 1, "groups": 96}),
    "depthwise 5x5 stride 2": (96, 96, 28, 8, {"kernel_size": 5, "padding": 2, "stride": 2, "groups": 96}),
    "7x7 stride 2": (3, 64, 112, 4, {"kernel_size": 7, "padding": 3, "stride": 2}),
    "3x3 dilated by 2": (64, 64, 28, 8, {"kernel_size": 3, "padding": 2, "dilation": 2}),
    "transposed 4x4 stride 2": (
        64,
        32,
        14,
        8,
        {"kernel_size": 4, "padding": 1, "stride": 2, "transposed": True},
    ),
    "transposed 3x3": (64, 64, 14, 8, {"kernel_size": 3, "padding": 1, "transposed": True}),
    "transposed 2x2 stride 2": (64, 32, 28, 8, {"kernel_size": 2, "stride": 2, "transposed": True}),
}


def job(paddle, name, data_format, learn):
    """A function without arguments that gives NumPy arrays: the result, or the gradients."""
    inner, outer, size, images, arguments = LAYERS[name]
    arguments = dict(arguments)
    kind = paddle.nn.Conv2DTranspose if arguments.pop("transposed", False) else paddle.nn.Conv2D
    layer, random = kind(inner, outer, data_format=data_format, **arguments), np.random.default_rng(0)
    for value in layer.parameters():
        value.set_value(random.standard_normal(value.shape).astype("float32"))
    x = random.standard_normal((images, inner, size, size)).astype("float32")
    x = paddle.to_tensor(
        x if data_format == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1)), stop_gradient=False
    )
    wanted = [x, *layer.parameters()]
    g = paddle.to_tensor(np.random.default_rng(1).standard_normal(layer(x).shape).astype("float32"))

    def forward():
        with paddle.no_grad():
            return [layer(x).numpy()]

    def both():
        return [v.numpy() for v in paddle.grad(layer(x), wanted, g)]

    return both if learn else forward


def once(call):
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def measured(jobs, seconds):
    """The least time of each of the jobs, which take turns."""
    stop, times = time.perf_counter() + seconds, []
    while time.perf_counter() < stop or len(times) < 5:
        times.append([once(call) for call in jobs])
    return np.min(times, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--formats", default="NCHW,NHWC")
    parser.add_argument("--seconds", type=float, default=0.6, help="how long a row is measured")
    args = parser.parse_args()
    ours, theirs = (importlib.import_module(name) for name in ("paddle_jax", "paddle"))
    ours.set_flags({"FLAGS_interpreter": False})  # the steady state: compiled code, as after some dozen calls
    print(
        "| layer | format | result: ours, ms | oracle | ratio | with gradients: "
        "ours, ms | oracle | ratio |\n" + "| --- " * 8 + "|"
    )
    for name in [name for name in LAYERS if args.only in name]:
        for data_format in args.formats.split(","):
            row = []
            for learn in (False, True):
                jobs = [job(engine, name, data_format, learn) for engine in (ours, theirs)]
                for got, want in zip(*(call() for call in jobs), strict=True):
                    np.testing.assert_allclose(got, want, 1e-3, 1e-4 * np.abs(want).max())
                for _ in range(4):
                    jobs[0]()
                a, b = measured(jobs, args.seconds)
                row.append(f"{a:.3g} | {b:.3g} | {a / b:.2f}")
            print(f"| {name} | {data_format} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
