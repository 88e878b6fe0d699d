"""Threads that work for others: in order, to the end, whatever is raised in the thread that asks.

Unit tests of `_core.process.background`.
"""

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from paddle_jax._core.process.background import Worker

ROOT = Path(__file__).resolve().parents[2]


def test_in_order_and_errors_come_out():
    worker, seen = Worker(complete=True), []

    def fails():
        raise OSError("no room")

    tasks = [
        worker.submit(lambda i=i: (time.sleep(0.01), seen.append((i, threading.get_ident()))))
        for i in range(5)
    ]
    bad = worker.submit(fails)
    with pytest.raises(OSError, match="no room"):
        bad.wait()
    assert [i for i, _ in seen] == list(range(5)) and all(t.done for t in tasks) and bad.done
    assert len({thread for _, thread in seen} | {threading.get_ident()}) == 2
    worker.submit(lambda: seen.append(None)).wait()
    assert seen[-1] is None


def run(text, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("complete", [True, False])
def test_the_end_of_the_process(complete):
    """It waits for the running one, and for the others where that is asked for."""
    done = run(f"""
        import time
        from paddle_jax._core.process.background import Worker
        worker = Worker(complete={complete})
        for i in range(3):
            worker.submit(lambda i=i: (time.sleep(0.5), print(i, flush=True)))
        time.sleep(0.2)
    """)
    assert done.returncode == 0 and done.stdout.split() == ["0", "1", "2"][: 3 if complete else 1], (
        done.stderr
    )


def test_the_end_of_the_process_cancels_what_another_worker_waits_for():
    """The end waits for the first worker; the second one, which it waits for, begins nothing more."""
    done = run("""
        import atexit, threading, time
        from paddle_jax._core.process.background import CancelledTaskError, Worker

        first, second = Worker(complete=False), Worker(complete=False)
        has_begun, has_ended = threading.Event(), threading.Event()

        def wait_for_second():
            has_begun.set()
            has_ended.wait()
            try:
                second.submit(lambda: print("called", flush=True)).wait()
            except CancelledTaskError as error:
                print(error, flush=True)

        first.submit(wait_for_second)
        has_begun.wait()
        atexit.register(has_ended.set)
        second.submit(int).wait()
    """)
    assert done.returncode == 0 and done.stdout == "the process ends\n", done.stderr


@pytest.mark.slow
def test_interrupted_at_any_moment():
    """Asking, looking and waiting are interrupted, thousands of times; what was taken on is done once, and
    the process ends."""
    done = run("""
        import random, signal
        from paddle_jax._core.process.background import Worker

        class Hit(BaseException):
            pass

        def hit(number, frame):
            raise Hit

        def ask(worker, taken, seen):
            for i in range(1000):
                task = worker.submit(lambda i=i: seen.append(i))
                taken.append(task)
                taken[i // 2].done
                if i % 5 == 0:
                    task.wait()
            signal.pause()

        signal.signal(signal.SIGALRM, hit)
        source, hits = random.Random(1), 0
        for trial in range(1500):
            worker, taken, seen = Worker(complete=True), [], []
            try:
                signal.setitimer(signal.ITIMER_REAL, source.uniform(1e-5, 4e-4))
                ask(worker, taken, seen)
            except Hit:
                hits += 1
            worker.submit(int).wait()
            assert all(t.done for t in taken), len(taken)
            assert seen[:len(taken)] == list(range(len(taken))), (len(taken), seen)
            assert len(seen) - len(taken) in (0, 1), (len(taken), len(seen))
        print(hits)
    """)
    assert done.returncode == 0 and int(done.stdout) == 1500, done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_starts_anew():
    done = run("""
        import os, time
        from paddle_jax._core.process.background import Worker
        worker = Worker(complete=True)
        worker.submit(lambda: time.sleep(1))
        child = os.fork()
        if child == 0:
            worker.submit(lambda: print("child", flush=True)).wait()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert done.returncode == 0 and done.stdout == "child\n", done.stderr
