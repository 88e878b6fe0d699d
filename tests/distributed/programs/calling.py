"""Processes that call functions in each other, as JSON: {name: value}. `python calling.py CASE`."""

import json
import os
import signal
import sys
import threading
import time

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import rpc

RANK = int(os.environ["PADDLE_TRAINER_ID"])
HELD = {"count": 0}
FOUND = {}


class OwnError(Exception):
    def __init__(self, what, number):
        super().__init__(what, number)
        self.number = number


class Unpicklable(Exception):
    def __init__(self, what):
        super().__init__(what)
        self.lock = threading.Lock()


def count(by):
    HELD["count"] += by
    return HELD["count"], RANK


def fail():
    raise OwnError("no", 7)


def fail_badly():
    raise Unpicklable("cannot travel")


def back(name, depth):
    """Calls back and forth."""
    if depth == 0:
        return [RANK]
    return [RANK, *rpc.rpc_sync(name, back, args=(f"worker{RANK}", depth - 1))]


def raised(function):
    started = time.monotonic()
    try:
        function()
    except Exception as error:
        cause = "" if error.__cause__ is None else str(error.__cause__)
        return [type(error).__name__, str(error), cause, time.monotonic() - started]
    return None


def calls():
    if RANK == 0:
        FOUND["counted"] = [rpc.rpc_sync("worker1", count, args=(n,)) for n in (2, 3)]
        FOUND["keywords"] = rpc.rpc_sync("worker1", count, kwargs={"by": 1})
        FOUND["own"] = rpc.rpc_sync("worker0", count, args=(1,))
        futures = [rpc.rpc_async("worker1", pow, args=(2, n)) for n in range(20)]
        FOUND["futures"] = [future.wait() for future in futures]
        x = np.arange(300000, dtype="float32")
        doubled = rpc.rpc_sync("worker1", lambda a, factor: a * factor, args=(x, 2))
        FOUND["array"] = bool((doubled == 2 * x).all() and doubled.flags.writeable)
        tensor = rpc.rpc_sync("worker1", paddle.add, args=(paddle.ones([2]), paddle.ones([2])))
        FOUND["tensor"] = [type(tensor).__name__, tensor.tolist()]
        FOUND["nested"] = rpc.rpc_sync("worker1", back, args=("worker0", 6))
        FOUND["infos"] = [[info.name, info.rank] for info in rpc.get_all_worker_infos()]
        FOUND["one"] = rpc.get_worker_info("worker1")._asdict().keys() == {"name", "rank", "ip", "port"}
        FOUND["errors"] = {
            "raised": raised(lambda: rpc.rpc_sync("worker1", fail)),
            "number": 7,
            "unpicklable": raised(lambda: rpc.rpc_sync("worker1", fail_badly)),
            "unknown": raised(lambda: rpc.rpc_sync("worker9", count)),
            "late": raised(lambda: rpc.rpc_sync("worker1", time.sleep, args=(2,), timeout=0.5)),
            "lock": raised(lambda: rpc.rpc_sync("worker1", count, args=(threading.Lock(),))),
            "twice": raised(lambda: rpc.init_rpc("again", 0, 1, "127.0.0.1:1")),
        }
    FOUND["current"] = list(rpc.get_current_worker_info())[:2]
    rpc.shutdown()
    FOUND["after"] = raised(lambda: rpc.get_all_worker_infos())


def dies():
    """A process is killed while it is called."""
    if RANK == 1:
        time.sleep(60)
    FOUND["gone"] = raised(
        lambda: rpc.rpc_sync("worker1", os.kill, args=(rpc.rpc_sync("worker1", os.getpid), 9))
    )
    FOUND["again"] = raised(lambda: rpc.rpc_sync("worker1", count, args=(1,)))
    started = time.monotonic()
    rpc.shutdown()
    FOUND["ended"] = time.monotonic() - started


def main():
    signal.alarm(100)
    case = sys.argv[1]
    name = "same" if case == "names" else f"worker{RANK}"
    if case in ("names", "sizes"):
        size = 2 + (RANK if case == "sizes" else 0)
        FOUND["refused"] = raised(
            lambda: rpc.init_rpc(name, RANK, size, os.environ["PADDLE_MASTER_ENDPOINT"])
        )
    else:
        rpc.init_rpc(name)
        {"calls": calls, "dies": dies}[case]()
    print(json.dumps(FOUND), flush=True)


main()
