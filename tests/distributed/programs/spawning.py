"""A program that starts two processes; run it as `python -m paddle_jax spawning.py WHAT`."""

import sys

import paddle
import paddle.distributed as dist


def work(what, factor):
    dist.init_parallel_env()
    x = paddle.full([2], factor)
    dist.all_reduce(x)
    if what == "raise" and dist.get_rank() == 1:
        raise ValueError("an error of the user")
    dist.all_reduce(x)
    print("rank", dist.get_rank(), x.tolist(), flush=True)


if __name__ == "__main__":
    context = dist.spawn(work, (sys.argv[1], 3.0), nprocs=2, backend="gloo")
    print("ended", [process.exitcode for process in context.processes])
