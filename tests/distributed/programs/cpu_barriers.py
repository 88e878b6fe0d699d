"""Barriers of processes that are in no process group: each says when it came and when it went on."""

import os
import sys
import time

import paddle_jax.distributed as dist

rank = int(os.environ["RANK_OF_TEST"])
dist.gloo_init_parallel_env(rank, 2, sys.argv[1])
for turn in range(2):
    # The other process is late in each turn.
    if rank == turn:
        time.sleep(0.4)
    came = time.time()
    dist.gloo_barrier()
    print(came, time.time())
dist.gloo_release()
dist.gloo_release()
try:
    dist.gloo_barrier()
except AssertionError as error:
    print(error)
