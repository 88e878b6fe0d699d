"""Training that goes on when processes or machines are lost, from the last checkpoint.

    python -m paddle_jax -m paddle.distributed.launch --nproc_per_node 2 --elastic_level 1 \\
        examples/elastic_training.py

Kill one of the two processes while it runs: the launcher starts both again, and they take up the last
checkpoint. On several machines `--nnodes 2:4 --master HOST:PORT` lets machines come and go.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import paddle
import paddle.distributed as dist


def data_of(step, rank, size, count=64):
    """The part of the batch of a step that belongs to a process: points of a plane with noise."""
    random = np.random.default_rng(step)
    points = random.normal(size=[count, 4]).astype("float32")
    targets = points @ np.array([[1.0], [-2.0], [0.5], [3.0]], "float32") + 0.25
    return paddle.to_tensor(points[rank::size]), paddle.to_tensor(targets[rank::size])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--folder", default="elastic_checkpoint")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two steps")
    options = parser.parse_args()

    dist.init_parallel_env()
    rank, size = dist.get_rank(), dist.get_world_size()
    restart = os.environ.get("PADDLE_RESTART_COUNT", "0")
    paddle.seed(0)
    net = paddle.nn.Linear(4, 1)
    model = paddle.DataParallel(net)
    optimizer = paddle.optimizer.Adam(0.05, parameters=net.parameters())

    checkpoint = Path(options.folder) / "last.pdparams"
    first = 0
    if checkpoint.exists():
        state = paddle.load(str(checkpoint))
        net.set_state_dict(state["net"])
        optimizer.set_state_dict(state["optimizer"])
        first = state["step"]
    print(f"process {rank} of {size}, restart {restart}, begins with step {first}", flush=True)

    for step in range(first, options.steps):
        points, targets = data_of(step, rank, size)
        loss = ((model(points) - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if rank == 0 and (step + 1) % options.every == 0:
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            paddle.save(state, str(checkpoint))  # the file is written whole or not at all
        time.sleep(options.pause)
    weights = [round(value, 4) for value in net.weight.flatten().tolist()]
    print(f"process {rank}: loss {float(loss):.6f}, weights {weights}", flush=True)


if __name__ == "__main__":
    main()
