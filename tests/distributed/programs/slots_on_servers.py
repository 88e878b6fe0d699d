"""Data sets in a job with parameter servers: shuffles, trains, and counts over all workers."""

import json
import sys

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet


def main():
    folder = sys.argv[1]
    paddle.enable_static()
    fleet.init(is_collective=False)
    ids = paddle.static.data("ids", [None, 2], "int64")
    label = paddle.static.data("label", [None, 1], "float32")
    zeros = paddle.nn.initializer.Constant(0.0)
    rows = paddle.static.nn.sparse_embedding(ids, [1, 1], param_attr=paddle.ParamAttr("table", zeros))
    loss = (rows.sum(1) * label).sum()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = sys.argv[2] == "async"
    fleet.distributed_optimizer(paddle.optimizer.SGD(1.0), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=3, thread_num=2, use_var=[ids, label])
    files = fleet.util.get_file_shard([f"{folder}/{name}" for name in "abc"])
    dataset.set_filelist(files)
    dataset.load_into_memory()
    before = dataset.get_memory_data_size(fleet)
    dataset.global_shuffle(fleet)
    own = dataset.get_shuffle_data_size()
    exe.train_from_dataset(dataset=dataset, fetch_list=[loss], fetch_info=["loss"], print_period=1)
    fleet.barrier_worker()
    found = {
        "files": len(files),
        "before": before,
        "after": dataset.get_shuffle_data_size(fleet),
        "own": own,
        "sum": fleet.metrics.sum(np.array([1.0, own])).tolist(),
        "acc": fleet.metrics.acc(np.array([own]), np.array([2 * own])),
    }
    if fleet.is_first_worker():
        fleet.save_persistables(exe, folder)
    fleet.barrier_worker()
    fleet.stop_worker()
    print("RESULT", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
