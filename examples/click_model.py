"""A click model on parameter servers: 2 servers and 2 workers on this machine.

    python -m paddle_jax -m paddle.distributed.launch --server_num 2 --trainer_num 2 examples/click_model.py

Without the launcher it trains alone. Add `--elastic_level 1` and end a server or a worker by `kill -9`; the
ids are in `log/default.pod0.log`. The job goes on, and the last values are the same.

The data are synthetic: each id of 8 features has a hidden weight, and the sum of an example's weights decides
how likely a click is.
"""

import argparse

import numpy as np
import paddle
from paddle.distributed import fleet

FEATURES = 8
BATCH = 256


def batch(step, worker):
    """Ids [BATCH, FEATURES] and clicks [BATCH, 1] of a worker's step."""
    draw = np.random.default_rng([7, step, worker])
    numbers = draw.integers(0, 500, [BATCH, FEATURES])
    weights = np.sin(numbers * (1 + np.arange(FEATURES)))
    clicked = draw.random([BATCH, 1]) < 1 / (1 + np.exp(-2 * weights.sum(1, keepdims=True)))
    ids = numbers + 500 * np.arange(FEATURES)
    return ids.astype("int64"), clicked.astype("float32")


def network():
    """(loss, chances of a click) of the inputs `ids` and `clicked`."""
    ids = paddle.static.data("ids", [None, FEATURES], "int64")
    clicked = paddle.static.data("clicked", [None, 1], "float32")
    table = paddle.ParamAttr(name="features", initializer=paddle.nn.initializer.Normal(0, 0.1))
    rows = paddle.static.nn.sparse_embedding(ids, [500 * FEATURES, 8], param_attr=table)
    hidden = paddle.static.nn.fc(rows.flatten(1), 32, activation="relu")
    logits = paddle.static.nn.fc(hidden, 1)
    loss = paddle.nn.functional.binary_cross_entropy_with_logits(logits, clicked)
    return loss, paddle.nn.functional.sigmoid(logits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--mode", choices=["sync", "async", "geo"], default="sync")
    given = parser.parse_args()
    paddle.enable_static()
    paddle.seed(1)
    fleet.init(is_collective=False)
    loss, chances = network()
    test = paddle.static.default_main_program().clone(for_test=True)
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = given.mode != "sync"
    if given.mode == "async":
        strategy.a_sync_configs = {"send_queue_size": 1}  # late gradients of Adam mislead
    if given.mode == "geo":
        strategy.a_sync_configs = {"k_steps": 10}
    fleet.distributed_optimizer(paddle.optimizer.Adam(0.01), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    for step in range(fleet.completed_rounds(), given.steps):
        ids, clicked = batch(step, fleet.worker_index())
        (value,) = exe.run(feed={"ids": ids, "clicked": clicked}, fetch_list=[loss])
        if step % 50 == 0:
            print(f"step {step}: loss {float(value):.4f}", flush=True)
    fleet.barrier_worker()
    if fleet.is_first_worker():
        ids, clicked = batch(-1 % 2**32, 0)
        (found,) = exe.run(test, feed={"ids": ids, "clicked": clicked}, fetch_list=[chances])
        right = ((found > 0.5) == (clicked > 0.5)).mean()
        print(f"accuracy on other data: {right:.3f}", flush=True)
    fleet.barrier_worker()
    fleet.stop_worker()


if __name__ == "__main__":
    main()
