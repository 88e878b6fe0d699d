"""Static programs that are fed other sizes in each run: those that are new run operation by operation, and
give what the real Paddle gives."""

import numpy as np
import pytest

from tests.static.engines import Built

SIZES = (8, 12, 20, 9, 8, 33)


def text(P):
    ids = P.static.data("x", [-1, -1], "int64")
    hidden = P.nn.Conv1D(6, 8, 3, padding=1, data_format="NLC")(P.nn.Embedding(50, 6)(ids))
    scores = P.nn.Linear(8, 3)(P.nn.functional.relu(hidden).max(1))
    loss = P.nn.functional.cross_entropy(scores, P.static.data("y", [-1, 1], "int64"))
    P.optimizer.Adam(0.05).minimize(loss)
    return [loss, scores]


def pictures(P):
    x = P.static.data("x", [-1, 3, 6, -1], "float32")
    hidden = P.nn.BatchNorm2D(4)(P.nn.Conv2D(3, 4, 3, padding=1)(x))
    n = P.shape(hidden)[3]
    hidden = hidden.reshape([P.shape(hidden)[0], 4, 6 * n]).mean(2) / n.astype("float32")
    loss = P.nn.functional.cross_entropy(P.nn.Linear(4, 3)(hidden), P.static.data("y", [-1, 1], "int64"))
    P.optimizer.Momentum(0.1, weight_decay=0.01).minimize(loss)
    return [loss]


def slopes(P):
    x = P.static.data("x", [-1, -1], "float32")
    x.stop_gradient = False
    y = (x * x).cumsum(1) + P.arange(P.shape(x)[1]).astype("float32")
    return [y, *P.static.gradients([y.sum(), y.max()], [x]), P.zeros([P.shape(x)[1], 2])]


def feed_of(build, size):
    rng = np.random.default_rng(size)
    y = rng.integers(0, 3, (2, 1))
    if build is text:
        return {"x": rng.integers(0, 50, (2, size)), "y": y}
    shape = (2, 3, 6, size) if build is pictures else (2, size)
    return {"x": rng.random(shape, dtype="float32"), "y": y}


@pytest.mark.own_process
@pytest.mark.parametrize("build", [text, pictures, slopes], ids=lambda f: f.__name__)
def test_new_sizes(oracle, build):
    import paddle_jax

    theirs, ours = Built(oracle, build), Built(paddle_jax, build)
    for name in ours.names():
        ours.set(name, theirs.get(name))
    for size in SIZES:
        feed = feed_of(build, size)
        for got, want in zip(ours.run(feed), theirs.run(feed), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-5)
    for name in ours.names():
        np.testing.assert_allclose(ours.get(name), theirs.get(name), rtol=2e-3, atol=1e-4)
    runs = {entry for entry in ours.main.compiled_runs.values() if entry.fed_shapes}
    assert [len(entry.compiled_shapes) for entry in runs] == [1]  # the first size
