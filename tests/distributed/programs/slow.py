"""Two processes that make steps together, of which one takes longer for its part. Ends when
the time is over."""

import sys
import time

import paddle_jax as paddle

dist = paddle.distributed
slow, seconds = int(sys.argv[1]), float(sys.argv[2])
dist.init_parallel_env()
x, begin, over = paddle.ones([4]), time.monotonic(), paddle.zeros([1])
while float(over) == 0:
    if dist.get_rank() == slow:
        time.sleep(0.1)
    dist.all_reduce(x)
    over = paddle.to_tensor([float(time.monotonic() - begin > seconds)])
    dist.all_reduce(over)
