"""Attention over a sequence that is cut among devices: keys and values travel in a ring.

    python -m paddle_jax examples/long_context.py      eight devices that the CPU stands in for
    python -m paddle_jax examples/long_context.py --devices 1      the same losses on one

Each sequence has a table of its own from marks to values, which the first quarter of the positions shows. All
later positions ask for the value of their mark. So attention must reach over the pieces of all devices, and
no device has all keys. Losses are those of one device.
"""

import argparse
import os

arguments = argparse.ArgumentParser()
arguments.add_argument("--devices", type=int, default=8)
arguments.add_argument("--length", type=int, default=256)
arguments.add_argument("--steps", type=int, default=100)
arguments.add_argument("--width", type=int, default=32)
options = arguments.parse_args()
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={options.devices}"
)

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402

MARKS, HEADS = 16, 2


class Finder(nn.Layer):
    """One layer of causal attention over [batch, sequence] of marks."""

    def __init__(self, width):
        super().__init__()
        self.marks, self.values = nn.Embedding(MARKS, width), nn.Embedding(MARKS + 1, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, MARKS)

    def forward(self, marks, values):
        x = self.marks(marks) + self.values(values)
        rows, length, width = x.shape
        q, k, v = self.qkv(x).reshape([rows, length, HEADS, -1]).chunk(3, axis=-1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.reshape([rows, length, width]))


def batch(draws):
    """Marks, the values that the first positions show, and the values of all marks."""
    marks = draws.randint(0, MARKS, (4, options.length))
    answers = np.stack([draws.permutation(MARKS)[row] for row in marks])
    shown = np.arange(options.length) < options.length // 4
    return [paddle.to_tensor(one) for one in (marks, np.where(shown, answers + 1, 0), answers)]


def main():
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "cp_degree": options.devices}
    fleet.init(is_collective=True, strategy=strategy)
    paddle.seed(1)
    net = Finder(options.width)
    optimizer = paddle.optimizer.AdamW(1e-2, parameters=net.parameters())
    model, optimizer = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer)
    whole, piece = options.length, options.length // options.devices
    print(
        f"scores of a head: {whole} x {whole} on one device, {piece} x {piece} on each of {options.devices}"
    )
    draws = np.random.RandomState(0)
    for step in range(options.steps):
        marks, values, answers = batch(draws)
        loss = F.cross_entropy(model(marks, values).reshape([-1, MARKS]), answers.reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if step % 25 == 0 or step == options.steps - 1:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)


main()
