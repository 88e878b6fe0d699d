"""A mixture of experts over processes: each has some of the experts, and sends rows to those of others.

    python -m paddle_jax -m paddle.distributed.launch --nproc_per_node 2 examples/mixture_of_experts.py
    python -m paddle_jax examples/mixture_of_experts.py      all experts in one process

The gate sends each row to its two best experts. Rows travel by an all-to-all between the processes, and so
do their gradients. Weights of experts belong to their process alone; `DataParallel` averages all others.
The data are points of a plane in sixteen rings and sectors, each of which is a class of its own.
"""

import argparse

import numpy as np
import paddle
import paddle.distributed as dist
from paddle import nn
from paddle.incubate.distributed.models.moe import MoELayer

arguments = argparse.ArgumentParser()
arguments.add_argument("--steps", type=int, default=200)
arguments.add_argument("--rows", type=int, default=128)
arguments.add_argument("--width", type=int, default=32)
options = arguments.parse_args()
EXPERTS, CLASSES = 4, 16


class Expert(nn.Layer):
    def __init__(self, number, width):
        super().__init__()
        paddle.seed(100 + number)  # the same weights whichever process has it
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))


class Network(nn.Layer):
    def __init__(self, width, group):
        super().__init__()
        count = dist.get_world_size()
        own = range(dist.get_rank() * EXPERTS // count, (dist.get_rank() + 1) * EXPERTS // count)
        experts = nn.LayerList([Expert(number, width) for number in own])
        paddle.seed(7)
        self.first, self.last = nn.Linear(4, width), nn.Linear(width, CLASSES)
        gate = {"type": "naive", "top_k": 2}
        self.experts = MoELayer(d_model=width, experts=experts, gate=gate, moe_group=group)

    def forward(self, x):
        x = nn.functional.gelu(self.first(x))
        return self.last(x + self.experts(x.unsqueeze(0)).squeeze(0))


def batch(draws):
    """Points as (x, y, sin, cos of the angle), and their classes."""
    radius, angle = draws.rand(options.rows) * 4, draws.rand(options.rows) * 2 * np.pi
    columns = [radius * np.cos(angle), radius * np.sin(angle), np.sin(2 * angle), np.cos(2 * angle)]
    classes = radius.astype("int64") * 4 + (angle / (np.pi / 2)).astype("int64")
    return np.stack(columns, 1).astype("float32"), classes


def main():
    several = dist.get_world_size() > 1
    group = dist.init_parallel_env() if several else None
    net = Network(options.width, group)
    model = paddle.DataParallel(net) if several else net
    optimizer = paddle.optimizer.AdamW(3e-3, parameters=net.parameters())
    draws = np.random.RandomState(0)
    own = slice(dist.get_rank(), None, dist.get_world_size())
    for step in range(options.steps):
        points, classes = (paddle.to_tensor(one[own]) for one in batch(draws))
        loss = nn.functional.cross_entropy(model(points), classes)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if several:
            dist.all_reduce(loss, dist.ReduceOp.AVG)
        if dist.get_rank() == 0 and (step % 50 == 0 or step == options.steps - 1):
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
    print(f"process {dist.get_rank()} has {len(net.experts.experts)} of {EXPERTS} experts", flush=True)


main()
