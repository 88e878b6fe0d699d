"""How long stages of a pipeline wait, beside the formula: 4 processes, 8 micro-batches.

    python benchmarks/bubbles.py

A block waits instead of computing, 50 ms forward, and 50 ms backward for each of its input and its weight. So
a few cores stand for many devices.
"""

import functools
import statistics
import time

import jax
import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

dist = paddle.distributed
STAGES, MICRO_BATCHES, STEPS = 4, 8, 7
PART = 50  # milliseconds of a forward step, and of each half of a backward step
# name, schedule_mode, chunks a stage, the part of its work that a stage waits
CASES = [
    ("FThenB", "FThenB", 1, (STAGES - 1) / MICRO_BATCHES),
    ("1F1B", "1F1B", 1, (STAGES - 1) / MICRO_BATCHES),
    ("2 chunks a stage", "1F1B", 2, (STAGES - 1) / (2 * MICRO_BATCHES)),
    ("ZB-H1", "ZBH1", 1, (STAGES - 1) / (3 * MICRO_BATCHES)),
]


def waited(x: jax.Array, milliseconds: int) -> jax.Array:
    """The same array, some time later."""

    def wait(value: jax.Array) -> np.ndarray:
        time.sleep(milliseconds / 1e3)
        return np.asarray(value)

    return jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _product(x: jax.Array, weight: jax.Array, milliseconds: int) -> jax.Array:
    return waited(x @ weight, milliseconds)


def _forward(x: jax.Array, weight: jax.Array, milliseconds: int) -> tuple:
    return _product(x, weight, milliseconds), (x, weight)


def _backward(milliseconds: int, kept: tuple, gradient: jax.Array) -> tuple:
    x, weight = kept
    return waited(gradient @ weight.T, milliseconds), waited(x.T @ gradient, milliseconds)


_product.defvjp(_forward, _backward)
slow_product = paddle.register_op("x weight")(_product)


class Block(paddle.nn.Layer):
    """A linear layer that takes its time."""

    def __init__(self, milliseconds: int) -> None:
        super().__init__()
        self.milliseconds = milliseconds
        self.weight = self.create_parameter([8, 8])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return slow_product(x, self.weight, milliseconds=self.milliseconds)


def step_seconds(mode: str, chunks: int) -> float:
    """Seconds of a step, the median."""
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "pp_degree": STAGES}
    strategy.pipeline_configs = {
        "accumulate_steps": MICRO_BATCHES,
        "micro_batch_size": 2,
        "schedule_mode": mode,
    }
    fleet.init(is_collective=True, strategy=strategy)
    parallel = fleet.meta_parallel
    net = parallel.PipelineLayer(
        [parallel.LayerDesc(Block, PART // chunks) for _ in range(STAGES * chunks)],
        topology=fleet.get_hybrid_communicate_group().topology(),
        loss_fn=paddle.nn.MSELoss(),
        seg_method="layer:Block",
        num_virtual_pipeline_stages=chunks if chunks > 1 else None,
    )
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.01, parameters=net.parameters()))
    model = fleet.distributed_model(net)
    rows = paddle.ones([2 * MICRO_BATCHES, 8])
    times = []
    for _ in range(STEPS):
        dist.barrier()
        begin = time.perf_counter()
        model.train_batch([rows, rows], optimizer)
        dist.barrier()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[2:])  # the first ones compile


def work() -> None:
    """One process."""
    busy = 3e-3 * PART * MICRO_BATCHES
    for name, mode, chunks, share in CASES:
        seconds = step_seconds(mode, chunks)
        if dist.get_rank() == 0:
            cells = [f"{1e3 * number:.0f}" for number in (busy * (1 + share), seconds)]
            print(
                "|", " | ".join([name, *cells, f"{share:.3f}", f"{seconds / busy - 1:.3f}"]), "|", flush=True
            )


if __name__ == "__main__":
    print(
        "| schedule | step by formula, ms | step, ms | waiting by formula | waiting |\n" + "| --- " * 5 + "|"
    )
    dist.spawn(work, (), nprocs=STAGES, backend="gloo")
