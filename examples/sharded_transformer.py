"""A character Transformer on a mesh of 2 x 4 devices: data, tensor and state parallelism by saying
what lies where.

    python -m paddle_jax examples/sharded_transformer.py      eight devices that the CPU stands in for
    python -m paddle_jax examples/sharded_transformer.py --mesh 1 1      the same model on one

The model is written for one device. `cut` says how weights lie: those of the first layer of a pair by
columns, those of the second by rows, so that one sum over the "mp" devices per pair is enough. Batches are
cut along "dp", the states of the optimizer as well (ShardingStage1).
"""

import argparse
import os
import sys
from pathlib import Path

arguments = argparse.ArgumentParser()
arguments.add_argument("--mesh", type=int, nargs=2, default=[2, 4])
arguments.add_argument("--stage", type=int, default=1, choices=[0, 1, 2, 3])
arguments.add_argument("--steps", type=int, default=100)
arguments.add_argument("--batch-size", type=int, default=16)
arguments.add_argument("--context", type=int, default=32)
arguments.add_argument("--width", type=int, default=64)
arguments.add_argument("--checkpoint", default="sharded_transformer")
options = arguments.parse_args()

# How many devices a CPU stands in for is fixed when the first one is used.
count = options.mesh[0] * options.mesh[1]
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={count}"

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import paddle.distributed as dist  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402

TEXT = Path(__file__).read_text(encoding="utf-8") * 4
LETTERS = sorted(set(TEXT))
DATA = np.array([LETTERS.index(letter) for letter in TEXT])


class Block(nn.Layer):
    def __init__(self, width, heads=4):
        super().__init__()
        self.before, self.between, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).reshape([batch, length, self.heads, -1]).chunk(3, axis=-1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.reshape([batch, length, width]))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Transformer(nn.Layer):
    def __init__(self, width, context, blocks=2):
        super().__init__()
        self.letters, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(LETTERS))

    def forward(self, letters):
        x = self.letters(letters) + self.places(paddle.arange(letters.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def cut(name, layer, mesh):
    axes = {"qkv": (1, 0), "up": (1, 0), "out": (0, None), "down": (0, None)}.get(name.split(".")[-1])
    for key, axis in zip(("weight", "bias"), axes or (), strict=False):
        placement = dist.Replicate() if axis is None else dist.Shard(axis)
        setattr(layer, key, dist.shard_tensor(getattr(layer, key), mesh, [dist.Replicate(), placement]))


def batches(mesh):
    random = np.random.RandomState(0)
    while True:
        starts = random.randint(0, len(DATA) - options.context - 1, options.batch_size)
        windows = np.stack([DATA[start : start + options.context + 1] for start in starts])
        yield (
            dist.shard_tensor(windows[:, :-1], mesh, [dist.Shard(0)]),
            dist.shard_tensor(windows[:, 1:], mesh, [dist.Shard(0)]),
        )


def main():
    paddle.seed(0)
    mesh = dist.ProcessMesh(np.arange(count).reshape(options.mesh), dim_names=["dp", "mp"])
    net = dist.shard_layer(Transformer(options.width, options.context), mesh, cut)
    optimizer = paddle.optimizer.AdamW(
        3e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    if options.stage:
        optimizer = dist.shard_optimizer(
            optimizer, getattr(dist, f"ShardingStage{options.stage}")("dp", mesh)
        )

    @paddle.jit.to_static
    def step(x, y):
        loss = F.cross_entropy(net(x).reshape([-1, len(LETTERS)]), y.reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    data = batches(mesh)
    if hasattr(dist, "plan"):
        plan = dist.plan(step, *next(data))
        print(
            f"each of {count} devices needs {plan.peak // 1024} KiB and receives "
            f"{plan.moved // 1024} KiB in a step"
        )
    for number, (x, y) in zip(range(options.steps), data, strict=False):
        loss = step(x, y)
        if number % 20 == 0 or number == options.steps - 1:
            print(f"step {number}: loss {float(loss):.4f}")

    dist.save_state_dict(net.state_dict(), options.checkpoint)
    again = Transformer(options.width, options.context)  # on one device
    dist.load_state_dict(again.state_dict(), options.checkpoint)
    x, y = next(data)
    losses = [
        F.cross_entropy(model(x).reshape([-1, len(LETTERS)]), y.reshape([-1])).item()
        for model in (net, again)
    ]
    print(f"loss after loading on one device: {losses[1]:.4f}, difference {abs(losses[0] - losses[1]):.1e}")


if __name__ == "__main__":
    sys.exit(main())
