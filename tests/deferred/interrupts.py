"""KeyboardInterrupt at any time: only the statement it hits is lost. Inside JAX it may come out as
another exception.

    python -m tests.deferred.interrupts TIER
"""

import ctypes
import os
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np

import paddle_jax as paddle
from tests.deferred import differential
from tests.deferred.conftest import TIERS
from tests.deferred.test_threads import chain, chain_numpy

VALUE = np.random.RandomState(0).uniform(-1, 1, 4)


class Worker:
    """A thread that computes the same again and again. hits: how often it was interrupted; calm: no more
    interrupts come."""

    def __init__(self):
        self.hits, self.count, self.wrong, self.stop, self.calm = 0, 0, [], False, False
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def round(self):
        base = paddle.to_tensor(VALUE)
        kept, x = chain(paddle, base, 3), base
        for i in range(6):
            x = paddle.tanh(x) * 0.5 + x * (0.1 * i)
        if not np.allclose(x.numpy(), chain_numpy(VALUE, 6), rtol=1e-10) or not np.allclose(
            kept.numpy(), chain_numpy(VALUE, 3), rtol=1e-10
        ):
            self.wrong.append("a wrong number")
        self.count += 1

    def rounds(self):
        while not self.stop:
            try:
                self.round()
            except KeyboardInterrupt:
                self.hits += 1

    def work(self):
        while not self.stop:
            try:
                self.rounds()
            except KeyboardInterrupt:  # it came while the handler above ran
                self.hits += 1
            except Exception as error:
                last = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
                if "jax" not in last.parts or self.calm:
                    self.wrong.append(traceback.format_exc())
                    return
                self.hits += 1


def main():
    sys.unraisablehook = lambda _: None  # an interrupt may hit a callback of the garbage collector
    with differential.tier(paddle, **TIERS[sys.argv[1]]):
        worker = Worker()
        while worker.count < 1 and worker.thread.is_alive():
            time.sleep(0.01)
        random, end = np.random.RandomState(1), time.monotonic() + 1
        while time.monotonic() < end and worker.thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(worker.thread.ident), ctypes.py_object(KeyboardInterrupt)
            )
            time.sleep(random.uniform(0, 0.01))
        time.sleep(0.05)
        before, worker.calm = worker.count, True
        while worker.count < before + 3 and worker.thread.is_alive():  # it still works
            time.sleep(0.01)
        worker.stop = True
        worker.thread.join()
    print(f"{worker.hits} interrupts, {worker.count} rounds", *worker.wrong, flush=True)
    os._exit(int(bool(worker.wrong) or worker.hits <= 10))


if __name__ == "__main__":
    main()
