"""Layers and losses with their gradients, compiled for a chip that is not there.

It prints the bytes that are read and written, the memory between, and the number of transposes and copies.

    python benchmarks/aot_operations.py [--target h100] [operation ...]

The compilers must be installed (docs/aot.md).
"""

import argparse

import paddle_jax as paddle
from paddle_jax import aot, nn
from paddle_jax.static import InputSpec

IMAGES = [32, 64, 56, 56]
OPERATIONS = {
    "cross_entropy": (lambda: None, [2048, 131_072]),
    "embedding": (lambda: nn.Embedding(131_072, 256), [4096]),
    "conv2d": (lambda: nn.Conv2D(64, 64, 3, padding=1), IMAGES),
    "batch_norm": (lambda: nn.BatchNorm2D(64), IMAGES),
    "layer_norm": (lambda: nn.LayerNorm(1024), [8192, 1024]),
    "group_norm": (lambda: nn.GroupNorm(8, 64), IMAGES),
    "instance_norm": (lambda: nn.InstanceNorm2D(64), IMAGES),
}


def loss_with_gradients(x):
    """Of logits: the loss and their gradient, with labels that are computed."""
    x.stop_gradient = False
    labels = paddle.arange(x.shape[0]) * 7 % x.shape[1]
    loss = nn.functional.cross_entropy(x, labels)
    loss.backward()
    return loss, x.grad


def step_of(layer):
    """A step of a layer: the loss, and the gradients of its parameters and of its input."""

    def step(x):
        inputs = []
        if x.dtype.is_floating:
            x.stop_gradient = False
            inputs = [x]
        loss = (layer(x) ** 2).mean()
        loss.backward()
        return loss, [leaf.grad for leaf in [*layer.parameters(), *inputs]]

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(".")[0])
    parser.add_argument("operations", nargs="*", default=OPERATIONS)
    parser.add_argument("--target", default="h100")
    given = parser.parse_args()
    for name in given.operations:
        build, shape = OPERATIONS[name]
        layer = build()
        step = loss_with_gradients if layer is None else step_of(layer)
        dtype = "int64" if name == "embedding" else "float32"
        report = aot.compile(step, InputSpec(shape, dtype), target=given.target)
        if not report.compiles:
            print(f"{name}: {report.error}")
            continue
        moves = [f"{report.text.count(f' {kind}(')} {kind}" for kind in ("transpose", "copy")]
        size = f"{report.bytes / 2**20:8.0f} MiB read and written"
        between = f"{report.temporaries / 2**20:6.1f} between"
        print(f"{name:14} {size}, {between}, {', '.join(moves)}", flush=True)


if __name__ == "__main__":
    main()
