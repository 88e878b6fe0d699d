"""Deferred execution with threads, interrupts, forked and spawned processes, data loaders."""

import concurrent.futures
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests import forked_python

ROOT = Path(__file__).resolve().parents[2]


def chain(paddle, x, steps):
    for i in range(steps):
        x = paddle.tanh(x) * 0.5 + x * (0.1 * i)
    return x


def chain_numpy(x, steps):
    for i in range(steps):
        x = np.tanh(x) * 0.5 + x * (0.1 * i)
    return x


def test_results_pending_in_one_thread_are_used_in_others(paddle, tier):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for seed in range(5):
            values = [np.random.RandomState(seed * 10 + i).uniform(-1, 1, 6) for i in range(8)]
            made = list(pool.map(lambda v: chain(paddle, paddle.to_tensor(v), 4), values))
            sums = list(pool.map(lambda i, made=made: made[i] + made[(i + 3) % 8], range(8)))
            here = chain(paddle, sums[0], 2)
            for i, s in enumerate(sums):
                np.testing.assert_allclose(
                    s.numpy(), chain_numpy(values[i], 4) + chain_numpy(values[(i + 3) % 8], 4), rtol=1e-10
                )
            np.testing.assert_allclose(
                here.numpy(),
                chain_numpy(chain_numpy(values[0], 4) + chain_numpy(values[3], 4), 2),
                rtol=1e-10,
            )


def test_many_threads_look_at_the_same_pending_value(paddle, tier):
    for seed in range(6):
        value = np.random.RandomState(seed).uniform(-1, 1, 6)
        x = chain(paddle, paddle.to_tensor(value), 6)
        barrier, found = threading.Barrier(6), [None] * 6

        def look(i, x=x, barrier=barrier, found=found):
            barrier.wait()
            found[i] = (x if i % 2 else x * 1).numpy()

        threads = [threading.Thread(target=look, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for i in range(20):  # this thread goes on recording meanwhile
            x2 = x + i
        for t in threads:
            t.join()
        for f in found:
            np.testing.assert_allclose(f, chain_numpy(value, 6), rtol=1e-10)
        np.testing.assert_allclose(x2.numpy(), chain_numpy(value, 6) + 19, rtol=1e-10)


def test_gradients_of_many_threads_do_not_mix(paddle, tier):
    weight = paddle.to_tensor(np.arange(1.0, 4.0))

    def work(seed):
        value = np.random.RandomState(seed).uniform(-1, 1, 3)
        for _ in range(5):
            x = paddle.to_tensor(value, stop_gradient=False)
            with paddle.no_grad():
                scale = weight * 2
            (paddle.tanh(x) * scale).sum().backward()
            if not np.allclose(x.grad.numpy(), (1 - np.tanh(value) ** 2) * 2 * np.arange(1.0, 4.0)):
                return False
            if not paddle.is_grad_enabled():
                return False
        return True

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(24)))


def test_a_tensor_changed_in_place_by_another_thread(paddle, tier):
    x = paddle.zeros([4])

    def work(i):
        x[i] = float(i + 1)

    for i in range(4):
        y = x + 1
        thread = threading.Thread(target=work, args=(i,))
        thread.start()
        thread.join()
        assert y.tolist() == [float(j + 2) if j < i else 1.0 for j in range(4)]
    assert x.tolist() == [1, 2, 3, 4]


def test_a_thread_that_ends_with_pending_results(paddle, tier):
    found = []

    def work():
        found.append(chain(paddle, paddle.ones([3], "float64"), 5))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_allclose(found[0].numpy(), chain_numpy(np.ones(3), 5), rtol=1e-10)


def test_interrupts_between_and_inside_ops(tier):
    """In a process of its own: an interrupt can hit the C++ code of JAX anywhere, and what it leaves there
    must not meet other tests."""
    done = forked_python.run(["-m", "tests.deferred.interrupts", tier], 300, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


def test_loader_workers_may_use_tensors(paddle, tier):
    class Squares(paddle.io.Dataset):
        def __getitem__(self, i):
            return paddle.full([3], float(i)) ** 2 + 1, i

        def __len__(self):
            return 12

    # what has a lock cannot be pickled, and is read by threads
    for workers, lock in ((0, None), (2, None), (2, threading.Lock())):
        seen, data = [], Squares()
        data.lock = lock
        told = contextlib.nullcontext() if lock is None else pytest.warns(UserWarning, match="threads")
        with told:
            batches = list(paddle.io.DataLoader(data, batch_size=4, num_workers=workers))
        for x, i in batches:
            y = paddle.sqrt(x - 1)
            seen.append((y.sum(1) / 3, i))
        for y, i in seen:
            np.testing.assert_allclose(y.numpy(), i.numpy().ravel(), rtol=1e-6)
        assert len(seen) == 3


FORKED = """
import os, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
import paddle_jax as paddle
def pending():
    return paddle.tanh(paddle.ones([3]) * 2) + 1
for _ in range(3):
    pending().numpy()
x, copy = pending(), np.arange(3.0)
pid = os.fork()
if pid == 0:
    copy[0] = 7                      # a child that stays away from tensors is always fine
    os._exit(0 if x.shape == [3] else 1)
assert os.waitpid(pid, 0)[1] == 0
np.testing.assert_allclose(x.numpy(), np.tanh(2) + 1, rtol=1e-6)
np.testing.assert_allclose((x * 2).numpy(), 2 * np.tanh(2) + 2, rtol=1e-6)
print("fine")
"""

SPAWNED = """
import multiprocessing
import numpy as np
import paddle_jax as paddle
def work(array):
    t = paddle.to_tensor(array) * 2
    return (t + 1).numpy()
if __name__ == "__main__":
    x = paddle.ones([3]) * 3
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        got = pool.map(work, [x.numpy(), np.zeros(3, "float32")])
    np.testing.assert_array_equal(got, [[7, 7, 7], [1, 1, 1]])
    assert x.tolist() == [3, 3, 3]
    print("fine")
"""


@pytest.mark.parametrize("text", [FORKED, SPAWNED], ids=["fork", "spawn"])
def test_other_processes(text, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(text)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.strip() == "fine", done.stderr[-2000:]
