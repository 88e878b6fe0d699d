"""`paddle.incubate.multiprocessing`: Python's own, with Tensors."""

import multiprocessing

import numpy as np


def test_tensors_go_through_queues_and_pipes(paddle):
    import paddle_jax.incubate.multiprocessing as mp

    assert not set(multiprocessing.__all__) - set(dir(mp)) and mp.Process is multiprocessing.Process
    x = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3), stop_gradient=False)
    queue = mp.get_context("spawn").Queue()
    queue.put({"x": x})
    found = queue.get(timeout=60)["x"]
    assert (
        isinstance(found, paddle.Tensor)
        and found.tolist() == x.tolist()
        and found.dtype == x.dtype
        and not found.stop_gradient
    )
    left, right = mp.Pipe()
    left.send(x * 2)
    assert right.recv().tolist() == (x * 2).tolist()
