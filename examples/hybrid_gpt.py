"""A character GPT by fleet with data, tensor and pipeline parallelism: dp x mp x pp.

    python -m paddle_jax examples/hybrid_gpt.py      one process, eight devices that the CPU stands in for
    python -m paddle_jax -m paddle.distributed.launch --nproc_per_node 4 examples/hybrid_gpt.py --dp 1
    python -m paddle_jax examples/hybrid_gpt.py --dp 1 --mp 1 --pp 1      the same losses on one device

The program is the same for all three. With a launcher each process has the layers of its stage, and draws its
part of each weight. Without one, weights are whole, and lie on the devices of the process in parts.
`--schedule` chooses the order of the steps of a stage in one process.
"""

import argparse
import os
from pathlib import Path

arguments = argparse.ArgumentParser()
for degree in ("dp", "mp", "pp"):
    arguments.add_argument(f"--{degree}", type=int, default=2)
arguments.add_argument("--steps", type=int, default=60)
arguments.add_argument("--micro-batches", type=int, default=4)
arguments.add_argument("--batch-size", type=int, default=16)
arguments.add_argument("--context", type=int, default=32)
arguments.add_argument("--width", type=int, default=64)
arguments.add_argument("--schedule", default="1F1B", choices=["1F1B", "FThenB"])
options = arguments.parse_args()

if "PADDLE_TRAINERS_NUM" not in os.environ:
    # How many devices a CPU stands in for is fixed when the first one is used.
    count = options.dp * options.mp * options.pp
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={count}"
    )

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import paddle.distributed as dist  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402

parallel = fleet.meta_parallel
TEXT = Path(__file__).read_text(encoding="utf-8") * 4
LETTERS = sorted(set(TEXT))
LETTERS += ["?"] * (-len(LETTERS) % 8)  # a multiple of the parts that the vocabulary is cut into
DATA = np.array([LETTERS.index(letter) for letter in TEXT])


class Embedding(nn.Layer):
    def __init__(self, width, context):
        super().__init__()
        self.letters = parallel.VocabParallelEmbedding(len(LETTERS), width)
        self.places = nn.Embedding(context, width)

    def forward(self, ids):
        return self.letters(ids) + self.places(paddle.arange(ids.shape[1]))


class Block(nn.Layer):
    """A layer of the Transformer; sizes come from what it gets, so it does not know the degrees."""

    def __init__(self, width, heads=4):
        super().__init__()
        self.size = width // heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = parallel.ColumnParallelLinear(width, 3 * width, has_bias=True, gather_output=False)
        self.out = parallel.RowParallelLinear(width, width, input_is_parallel=True)
        self.up = parallel.ColumnParallelLinear(width, 4 * width, has_bias=True, gather_output=False)
        self.down = parallel.RowParallelLinear(4 * width, width, input_is_parallel=True)

    def forward(self, x):
        qkv = self.qkv(self.before(x))
        rows, length, width = qkv.shape
        q, k, v = qkv.reshape([rows, length, -1, 3 * self.size]).chunk(3, axis=-1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.reshape([rows, length, width // 3]))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Head(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.out = parallel.ColumnParallelLinear(width, len(LETTERS), has_bias=False, gather_output=False)

    def forward(self, x):
        return self.out(self.norm(x))


class Loss(nn.Layer):
    def __init__(self):
        super().__init__()
        self.entropy = parallel.ParallelCrossEntropy()

    def forward(self, logits, labels):
        return self.entropy(logits, labels).mean()


def batches():
    """The rows of this process of each batch."""
    hcg = fleet.get_hybrid_communicate_group()
    replicas, replica = hcg.get_data_parallel_world_size(), hcg.get_data_parallel_rank()
    draws = np.random.RandomState(0)
    for _ in range(options.steps):
        starts = draws.randint(0, len(DATA) - options.context - 1, options.batch_size)
        own = np.array_split(starts, replicas)[replica]
        rows = np.stack([DATA[start : start + options.context + 1] for start in own])
        yield [paddle.to_tensor(rows[:, :-1]), paddle.to_tensor(rows[:, 1:])]


def main():
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {
        "dp_degree": options.dp,
        "mp_degree": options.mp,
        "pp_degree": options.pp,
    }
    strategy.pipeline_configs = {
        "accumulate_steps": options.micro_batches,
        "micro_batch_size": options.batch_size // options.micro_batches // options.dp,
        "schedule_mode": options.schedule,
    }
    fleet.init(is_collective=True, strategy=strategy)
    describe = parallel.LayerDesc
    net = parallel.PipelineLayer(
        [
            describe(Embedding, options.width, options.context),
            *(describe(Block, options.width) for _ in range(4)),
            describe(Head, options.width),
        ],
        topology=fleet.get_hybrid_communicate_group().topology(),
        loss_fn=Loss(),
        seg_method="layer:Block",
    )
    model = fleet.distributed_model(net)
    optimizer = paddle.optimizer.AdamW(
        3e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    optimizer = fleet.distributed_optimizer(optimizer)
    for step, batch in enumerate(batches()):
        loss = model.train_batch(batch, optimizer)
        if dist.get_rank() == 0 and (step % 20 == 0 or step == options.steps - 1):
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
    if dist.get_rank() == 0:
        parameters = list(net.named_parameters())
        name, weight = next((n, p) for n, p in parameters if n.endswith("qkv.weight"))
        print(f"{name} here: {weight.shape}, {weight.placements or 'on one device'}", flush=True)


main()
