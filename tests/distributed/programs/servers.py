"""A static program with parameter servers, for `launch --server_num`: steps of SGD or Adam on a table and a
layer, with data that a formula gives. Worker 0 writes the last values to the file that is given."""

import json
import sys
import time

import jax
import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

WIDTH = 3
ROWS = 4  # examples of a worker
SLOTS = 2


def batch(step, worker):
    """Ids and labels of a worker's batch."""
    draw = np.random.default_rng([step, worker])
    ids = draw.integers(-5, 20, [ROWS, SLOTS]) * 1000003
    return {"ids": ids, "label": draw.normal(size=[ROWS, 1]).astype("float32")}


def network():
    """The loss."""
    ids = paddle.static.data("ids", [None, SLOTS], "int64")
    label = paddle.static.data("label", [None, 1], "float32")
    table = paddle.ParamAttr(name="table", initializer=paddle.nn.initializer.Constant(0.5))
    rows = paddle.static.nn.embedding(ids, [1 << 60, WIDTH], is_sparse=True, param_attr=table)
    weight = paddle.ParamAttr(name="weight", initializer=paddle.nn.initializer.Constant(0.25))
    bias = paddle.ParamAttr(name="bias", initializer=paddle.nn.initializer.Constant(0.0))
    out = paddle.static.nn.fc(rows.sum(1), 1, weight_attr=weight, bias_attr=bias)
    return ((out - label) ** 2).mean()


def main():
    options = json.loads(sys.argv[1])
    paddle.enable_static()
    role = fleet.PaddleCloudRoleMaker()
    fleet.init(role)
    loss = network()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = options["a_sync"]
    strategy.a_sync_configs = {"k_steps": options.get("k_steps", 0)}
    rate = options.get("rate", 0.1)
    inner = getattr(paddle.optimizer, options.get("optimizer", "SGD"))(rate)
    fleet.distributed_optimizer(inner, strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server(options.get("load"))
        fleet.run_server()
        print("devices used:", bool(jax._src.xla_bridge._backends), flush=True)
        return
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    for step in range(fleet.completed_rounds(), options["steps"]):
        fed = batch(step, fleet.worker_index())
        (value,) = exe.run(feed=fed, fetch_list=[loss])
        print(step, float(value), flush=True)
        time.sleep(options.get("pause", 0))
    fleet.barrier_worker()
    if fleet.is_first_worker():
        fleet.save_persistables(exe, options["folder"])
    fleet.barrier_worker()
    fleet.stop_worker()


if __name__ == "__main__":
    main()
