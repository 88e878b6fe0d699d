"""Two processes of which one does what the argument says; `over` is printed by a process that
came to its end."""

import os
import signal
import sys
import time

import paddle_jax as paddle

dist = paddle.distributed
what = sys.argv[1]
dist.init_parallel_env()
rank, x = dist.get_rank(), paddle.ones([4])
if what == "late":
    time.sleep(3 * rank)
    try:
        dist.all_reduce(paddle.ones([4 + rank]))
    except RuntimeError as error:
        print("caught", type(error).__name__, flush=True)
dist.all_reduce(x)
print("restart", os.environ.get("PADDLE_RESTART_COUNT"), "sum", x.tolist(), flush=True)
if what == "raise" and rank == 1:
    raise ValueError("an error of the user")
if what == "exit" and rank == 1:
    sys.exit(5)
if what in ("exit 0, waits", "exit 0, ends") and rank == 0:
    sys.exit(5)
if what == "exit 1, ends" and rank == 1:
    sys.exit(5)
if what == "end" and rank == 1:
    sys.exit()
if what == "gone" and rank == 1:
    os._exit(9)
if what == "frozen" and rank == 1:
    time.sleep(1.5)  # it tells what it has done once a second
    os.kill(os.getpid(), signal.SIGSTOP)
if what == "first" and os.environ["PADDLE_RESTART_COUNT"] == "0" and rank == 0:
    raise ValueError("the first time")
if what == "sleep":
    child = os.fork() if rank == 1 else 0
    if child == 0 and rank == 1:
        time.sleep(100)
    print("sleeps", os.getpid(), child, flush=True)
    time.sleep(100)
if what == "message" and rank == 1:
    dist.recv(x, 0)
elif what == "message":
    raise KeyError("before the message was sent")
elif what == "other":
    dist.all_gather([], x) if rank else dist.broadcast(x, 0)
elif what in ("raise", "exit", "exit 0, waits", "end", "gone", "frozen", "first"):
    dist.all_reduce(x)
print("over", flush=True)
