"""A pipeline of two stages in which something goes wrong on the second one, as the argument says."""

import os
import sys
import time

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer

WHAT = sys.argv[1]


class Doubled(paddle.nn.Layer):
    """A Linear; the fifth on the second stage, in its third micro-batch, goes wrong."""

    steps = 0

    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 4)

    def forward(self, x):
        Doubled.steps += 1
        if fleet.worker_index() == 1 and Doubled.steps == 5:
            if WHAT == "raise":
                raise ValueError("a bad batch")
            if WHAT == "kill":
                os._exit(9)
            if WHAT == "freeze":
                time.sleep(60)
        return self.linear(x)


def main():
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1, "pp_degree": 2}
    count = 4
    if WHAT == "accumulate" and os.environ["PADDLE_TRAINER_ID"] == "1":
        count = 2
    strategy.pipeline_configs = {"accumulate_steps": count, "micro_batch_size": 2}
    fleet.init(is_collective=True, strategy=strategy)
    layers = [LayerDesc(Doubled), LayerDesc(Doubled), LayerDesc(Doubled)]
    bounds = [0, 1, 3]
    if WHAT == "bounds" and fleet.worker_index() == 1:
        bounds = [0, 2, 3]
    net = PipelineLayer(layers, num_stages=2, loss_fn=lambda x, y: ((x - y) ** 2).mean(), seg_method=bounds)
    model = fleet.distributed_model(net)
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    rows = [paddle.ones([2 * count, 4]), paddle.zeros([2 * count, 4])]
    for _ in range(2):
        model.train_batch(rows, optimizer)
    print("over")


if __name__ == "__main__":
    main()
