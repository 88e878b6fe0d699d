"""A program that starts two processes; run it as `python -m paddle_jax spawning.py WHAT`."""

import multiprocessing
import sys

import paddle
import paddle.distributed as dist

LENGTH = 1 << 18  # more than a pipe holds


def work(what, factor, ranks):
    dist.init_parallel_env()
    x = paddle.full([2], factor)
    dist.all_reduce(x)
    if what == "raise" and dist.get_rank() == 1:
        raise ValueError("an error of the user")
    dist.all_reduce(x)
    ranks.put(dist.get_rank())
    print("rank", dist.get_rank(), x.tolist(), flush=True)
    return LENGTH + dist.get_rank(), bytes(LENGTH)


if __name__ == "__main__":
    ranks = multiprocessing.get_context("spawn").Queue()
    context = dist.spawn(work, (sys.argv[1], 3.0, ranks), nprocs=2, backend="gloo")
    returned = [queue.get() for queue in context.return_queues]
    assert returned == [(LENGTH + rank, bytes(LENGTH)) for rank in range(2)]
    assert all(queue.empty() for queue in context.return_queues)
    print("queue", sorted([ranks.get(timeout=5), ranks.get(timeout=5)]))
    print("ended", [process.exitcode for process in context.processes])
