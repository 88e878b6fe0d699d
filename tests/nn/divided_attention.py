"""Attention on stand-in devices, for test_fused_attention.py.

python -m tests.nn.divided_attention            values by parts against the whole
python -m tests.nn.divided_attention CHIP       what the compiler of a chip makes of a step, as JSON
"""

import functools as ft
import json
import re
import sys

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax import aot
from paddle_jax.nn.functional import fused_attention
from paddle_jax.nn.functional.partitioned_attention import Layout, divided

HEADS, WIDTH, LENGTH = 8, 64, 256
SETTINGS = {"causal": False, "scale": 0.3, "precision": "highest"}

# (heads of keys, shape of the mask, axes of the batch, axes of the heads, repeats of the keys)
CASES = [
    (1, (4, 1, 16, 24), ("a",), ("b",), 2),
    (2, (1, 8, 16, 24), (), ("a", "b"), 2),
]


def abstract_mesh(sizes, names):
    """A mesh without devices, on which XLA chooses the layouts, in each version of JAX."""
    return AbstractMesh(sizes, names, axis_types=(AxisType.Auto,) * len(names))


def check_values():
    """Compares attention and its gradients by parts with the same as a whole."""
    mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    copies = NamedSharding(mesh, PartitionSpec())
    numbers = np.random.default_rng(0)
    plain = ft.partial(fused_attention._plain, **SETTINGS)
    plain_gradient = ft.partial(fused_attention._plain_grad, **SETTINGS)

    def both(forward, gradient, ct, *operands):
        results = forward(*operands)
        return [*results, *gradient(*operands, *results, ct)]

    for key_heads, mask, batch, heads, repeats in CASES:
        shapes = [(4, 16, 8, 4)] * 2 + [(4, 24, key_heads, 4)] * 2 + ([mask] if mask else [])
        operands = [numbers.normal(size=shape).astype("float32") for shape in shapes]
        layout = Layout(abstract_mesh((2, 2), ("a", "b")), batch, heads, repeats)
        parts = divided(plain, layout, False), divided(plain_gradient, layout, True)
        want = jax.jit(ft.partial(both, plain, plain_gradient))(*operands)
        found = jax.jit(ft.partial(both, *parts))(*jax.device_put(operands, copies))
        for one, other in zip(found, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


class Attention(paddle.nn.Layer):
    """Attention with weights that are cut over the axis mp of a mesh."""

    def __init__(self, mesh):
        super().__init__()
        size = HEADS * WIDTH
        self.inputs = paddle.nn.LayerList([paddle.nn.Linear(size, size, bias_attr=False) for _ in range(3)])
        self.output = paddle.nn.Linear(size, size, bias_attr=False)
        self.to(dtype="bfloat16")
        for layer in self.inputs:
            layer.weight = dist.shard_tensor(layer.weight, mesh, [dist.Replicate(), dist.Shard(1)])
        self.output.weight = dist.shard_tensor(self.output.weight, mesh, [dist.Replicate(), dist.Shard(0)])

    def forward(self, x):
        q, k, v = (layer(x).reshape([*x.shape[:2], HEADS, WIDTH]) for layer in self.inputs)
        y = paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.reshape(x.shape))


def compiled(chip):
    """Calls, shapes and collectives of a step with gradients, compiled for eight chips."""
    mesh = dist.ProcessMesh(np.arange(8).reshape(2, 4), dim_names=["dp", "mp"])
    net = Attention(mesh)
    x = paddle.ones([4, LENGTH, HEADS * WIDTH]).astype("bfloat16")
    x = dist.shard_tensor(x, mesh, [dist.Shard(0), dist.Replicate()])

    def step(x):
        net(x).square().sum().backward()
        return [each.grad for each in net.parameters()]

    report = aot.compile(step, x, target=chip)
    lines = [line for line in report.text.splitlines() if "custom_call_target" in line]
    return {
        "calls": re.findall(r'custom_call_target="([^"]*)"', report.text),
        "shapes": [shape for line in lines for shape in re.findall(r"\w+\[[\d,]+\]", line)],
        "collectives": sorted({each.kind for each in report.collectives}),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(compiled(sys.argv[1])))
    else:
        check_values()
