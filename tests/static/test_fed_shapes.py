"""Feeds whose shape differs from the declared one by axes of length 1, and layers whose first values depend
on arguments, in static programs of both packages."""

import numpy as np
import pytest

import paddle_jax


def ran(module, build, feed):
    """What a program gives that `build` records."""
    module.enable_static()
    try:
        main, startup = module.static.Program(), module.static.Program()
        with module.static.program_guard(main, startup):
            fetched = build(module)
        executor = module.static.Executor(module.CPUPlace())
        executor.run(startup)
        return executor.run(main, feed=feed, fetch_list=fetched)
    finally:
        module.disable_static()


SHAPES = [
    ([-1, 1], [5]),
    ([-1, 1], [1]),
    ([-1, 1], [5, 1, 1]),
    ([-1], [5, 1]),
    ([2, 3], [2, 3, 1]),
    ([-1, 1, 4], [5, 4]),
    ([-1, 4], [5, 1, 4]),
    ([-1, 1, 1], [5]),
    ([1], []),
    ([-1], []),
]


@pytest.mark.parametrize(("declared", "fed"), SHAPES)
def test_axes_of_length_one(declared, fed):
    x = np.arange(np.prod(fed), dtype="float32").reshape(fed)

    def build(module):
        return [module.static.data("x", declared) * 2]

    (got,) = ran(paddle_jax, build, {"x": x})
    np.testing.assert_array_equal(got.reshape(-1), 2 * x.reshape(-1))
    assert got.ndim == len(declared)
    assert all(n in (-1, length) for n, length in zip(declared, got.shape, strict=True))


WRONG = [
    ([2, 3], [3, 3]),
    ([2, 3], [6]),
    ([-1, 3], [2, 4]),
    ([-1, -1], [4]),
    ([-1, 2, 2], [3, 4]),
    ([-1, 1], [5, 2]),
    ([3], [4]),
    ([-1, 3], [3]),
]


@pytest.mark.parametrize(("declared", "fed"), WRONG)
def test_other_lengths_are_refused(declared, fed):
    with pytest.raises(ValueError, match="got shape"):
        ran(
            paddle_jax, lambda module: [module.static.data("x", declared) * 2], {"x": np.ones(fed, "float32")}
        )


@pytest.mark.own_process
@pytest.mark.parametrize("row", [0, 3, -1, None])
def test_embedding_with_a_row_of_zeros(row, oracle):
    ids = np.array([[0, 3, 9]])

    def build(module):
        layer = module.nn.Embedding(
            10,
            4,
            padding_idx=row,
            weight_attr=module.ParamAttr(initializer=module.nn.initializer.Constant(2.0)),
        )
        out = layer(module.static.data("x", [-1, 3], "int64"))
        module.optimizer.SGD(0.5).minimize(out.sum())
        return [out, layer.weight]

    for got, want in zip(ran(paddle_jax, build, {"x": ids}), ran(oracle, build, {"x": ids}), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


# functions of a tensor x [-1, -1, -1] and a size n, a Tensor without axes: lengths that are known
SIZES = [
    lambda P, x, n: P.broadcast_to(x.mean(0, keepdim=True), [n + 1, P.shape(x)[1], P.shape(x)[2]]),
    lambda P, x, n: P.expand(x.mean(0, keepdim=True), [n + 1, P.shape(x)[1], P.shape(x)[2]]),
    lambda P, x, n: P.expand(x.mean(0, keepdim=True), [2, P.shape(x)[1], P.shape(x)[2]]),
    lambda P, x, n: P.nn.functional.one_hot(P.arange(2), n + 3),
    lambda P, x, n: P.nn.functional.one_hot(x.sum(0).astype("int64") * 0, n + 3),
    lambda P, x, n: P.reshape(x, [n, P.shape(x)[1], -1]),
    lambda P, x, n: P.zeros([n, P.shape(x)[1]]),
    lambda P, x, n: P.topk(x, n)[0],
    lambda P, x, n: P.split(x, [n, -1], axis=1)[0],
    lambda P, x, n: P.where(x > n, x, x * 2),
]


@pytest.mark.own_process
@pytest.mark.parametrize("position", range(len(SIZES)))
def test_sizes_that_are_tensors(oracle, position):
    """A length that depends on the value of a Tensor, or on an open one, is open, as in Paddle."""

    def build(module):
        x = module.static.data("x", [-1, -1, -1], "float32")
        found = SIZES[position](module, x, module.static.data("n", [], "int64"))
        shapes.append(list(found.shape))
        return [found]

    shapes = []
    for shape in ((2, 3, 4), (2, 4, 2)):
        feed = {"x": np.arange(np.prod(shape), dtype="float32").reshape(shape), "n": np.asarray(2)}
        (want,), (got,) = ran(oracle, build, feed), ran(paddle_jax, build, feed)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert shapes[-1] == shapes[-2]
