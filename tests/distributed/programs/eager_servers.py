"""An eager program with parameter servers: `nn.Embedding(sparse=True)` and a layer, steps of SGD. Each worker
prints the last values of rows and of the layer."""

import json
import sys

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from tests.distributed.programs.servers import SLOTS, WIDTH, batch


class Net(paddle.nn.Layer):
    """The network of `servers.py`."""

    def __init__(self):
        super().__init__()
        constant = paddle.nn.initializer.Constant
        attr = paddle.ParamAttr(name="table", initializer=constant(0.5))
        self.table = paddle.nn.Embedding(1 << 60, WIDTH, sparse=True, weight_attr=attr)
        self.layer = paddle.nn.Linear(
            WIDTH,
            1,
            paddle.ParamAttr(initializer=constant(0.25)),
            paddle.ParamAttr(initializer=constant(0.0)),
        )

    def forward(self, ids):
        """[B, SLOTS] to [B, 1]."""
        return self.layer(self.table(ids).sum(1))


def main():
    steps = int(sys.argv[1])
    fleet.init(is_collective=False)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    net = Net()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = False
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, parameters=net.parameters()), strategy)
    fleet.init_worker()
    for step in range(fleet.completed_rounds(), steps):
        fed = batch(step, fleet.worker_index())
        loss = ((net(paddle.to_tensor(fed["ids"])) - paddle.to_tensor(fed["label"])) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    total = fleet.util.all_reduce(fleet.worker_index() + 1)
    ids = [(number - 5) * 1000003 for number in range(25)]
    with paddle.no_grad():
        rows = net.table(paddle.to_tensor(ids)).tolist()
    found = {
        "rows": dict(zip(ids, rows, strict=True)),
        "weight": net.layer.weight.tolist(),
        "bias": net.layer.bias.tolist(),
        "total": total,
        "slots": SLOTS,
    }
    fleet.barrier_worker()
    fleet.stop_worker()
    print("RESULT", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
