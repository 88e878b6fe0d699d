"""A program that starts two processes; run it as `python -m paddle_jax spawning.py WHAT`."""

import multiprocessing
import sys

import paddle
import paddle.distributed as dist


def work(what, factor, ranks):
    dist.init_parallel_env()
    x = paddle.full([2], factor)
    dist.all_reduce(x)
    if what == "raise" and dist.get_rank() == 1:
        raise ValueError("an error of the user")
    dist.all_reduce(x)
    ranks.put(dist.get_rank())
    print("rank", dist.get_rank(), x.tolist(), flush=True)


if __name__ == "__main__":
    ranks = multiprocessing.get_context("spawn").Queue()
    context = dist.spawn(work, (sys.argv[1], 3.0, ranks), nprocs=2, backend="gloo")
    print("queue", sorted([ranks.get(timeout=5), ranks.get(timeout=5)]))
    print("ended", [process.exitcode for process in context.processes])
