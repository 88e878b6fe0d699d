"""Options of `spawn` and the queues of its results, without processes."""

import multiprocessing
import pickle

import pytest

from paddle_jax.distributed import spawn
from paddle_jax.distributed.spawn import _ReturnQueue


@pytest.mark.parametrize("name", ["started_port", "cluster_node_ips", "node_ip", "use_paddlecloud"])
def test_deprecated_options(name):
    # The other option ends the call before it starts a process.
    with pytest.warns(DeprecationWarning, match=name), pytest.raises(ValueError, match="start_method"):
        spawn(print, start_method="fork", **{name: 1})


def test_unknown_backend():
    with pytest.raises(ValueError, match="backend: got 'mpi'; it must be one of auto"):
        spawn(print, nprocs=1, backend="mpi")


def test_queue_of_a_result():
    reading, writing = multiprocessing.Pipe(duplex=False)
    queue = _ReturnQueue(reading)
    assert queue.empty()
    writing.send_bytes(pickle.dumps({"loss": 0.5}))
    assert not queue.empty() and queue.get() == {"loss": 0.5} and queue.empty()
    with pytest.raises(EOFError, match="each process gives one"):
        queue.get()


def test_queue_of_a_process_that_fails():
    reading, writing = multiprocessing.Pipe(duplex=False)
    queue = _ReturnQueue(reading)
    writing.close()
    assert queue.empty()
    with pytest.raises(EOFError, match="where its function returns"):
        queue.get()
