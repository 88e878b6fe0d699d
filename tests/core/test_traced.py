"""Inside a function that JAX compiles: what needs a value says so and names the way out; the functions of
paddle_jax.bounded work there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], "float32")

NEED_VALUES = {
    "nonzero": (lambda p, x: p.nonzero(x), "bounded.nonzero"),
    "argwhere": (lambda p, x: p.argwhere(x), "bounded.nonzero"),
    "where": (lambda p, x: p.where(x > 0), "bounded.nonzero"),
    "masked_select": (lambda p, x: p.masked_select(x, x > 0), "bounded.masked_select"),
    "mask as an index": (lambda p, x: x[x > 0], "bounded.masked_select"),
    "unique": (lambda p, x: p.unique(x), "bounded.unique"),
    "unique_consecutive": (lambda p, x: p.unique_consecutive(x), "bounded.unique"),
    "repeat_interleave": (lambda p, x: p.repeat_interleave(x, x[0].astype("int64"), 1), "output_size"),
    "bincount": (lambda p, x: p.bincount(x.astype("int64").flatten()), "scatter_nd_add"),
    "sequence_mask": (lambda p, x: p.nn.functional.sequence_mask(x.astype("int64")), "maxlen"),
    "one_hot": (lambda p, x: p.nn.functional.one_hot(x.astype("int64"), -1), "num_classes"),
    "arange": (lambda p, x: p.arange(x.sum()), "outside"),
    "shape": (lambda p, x: p.reshape(x, [x.sum().astype("int64"), -1]), "outside"),
    "numpy": (lambda p, x: x.numpy(), "outside"),
    "tolist": (lambda p, x: x.tolist(), "outside"),
    "item": (lambda p, x: x.sum().item(), "outside"),
    "float": (lambda p, x: float(x.sum()), "outside"),
    "int": (lambda p, x: int(x.sum()), "outside"),
    "range": (lambda p, x: range(x.sum()), "outside"),
    "array": (lambda p, x: np.asarray(x), "outside"),
}


def compiled(function, *arrays):
    """The function over Tensors, run inside jax.jit."""

    def inner(*values):
        out = function(*map(paddle_jax.to_tensor, values))
        return list(map(jnp.asarray, out)) if isinstance(out, tuple) else jnp.asarray(out)

    return jax.jit(inner)(*map(jnp.asarray, arrays))


@pytest.mark.parametrize("name", NEED_VALUES)
def test_names_the_way_out(name, paddle):
    function, way_out = NEED_VALUES[name]
    with pytest.raises(jax.errors.TracerArrayConversionError, match=way_out) as caught:
        compiled(lambda x: function(paddle, x), X)
    assert "being compiled" in str(caught.value)


@pytest.mark.parametrize("size", [0, 2, 3, 5])
def test_bounded(size, paddle):
    found = np.argwhere(X)[:size]
    got = compiled(lambda x: paddle.bounded.nonzero(x, size, fill_value=-1), X)
    assert got.dtype == "int64"
    np.testing.assert_array_equal(got, np.concatenate([found, np.full((size - len(found), 2), -1)]))
    chosen = X[X > 0][:size]
    got = compiled(lambda x: paddle.bounded.masked_select(x, x > 0, size, fill_value=7), X)
    np.testing.assert_array_equal(got, np.concatenate([chosen, np.full(size - len(chosen), 7, "float32")]))
    values, counts = (a[:size] for a in np.unique(X, return_counts=True))
    got, times = compiled(lambda x: paddle.bounded.unique(x, size, fill_value=9), X)
    np.testing.assert_array_equal(got, np.concatenate([values, np.full(size - len(values), 9, "float32")]))
    np.testing.assert_array_equal(times, np.concatenate([counts, np.zeros(size - len(counts), "int64")]))


def test_bounded_gradient_and_refusals(paddle):
    x = paddle.to_tensor(X, stop_gradient=False)
    (paddle.bounded.masked_select(x, x > 0, 2) * paddle.to_tensor([3.0, 5.0])).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[3, 0, 5], [0, 0, 0]])
    assert paddle.bounded.masked_select(x, paddle.to_tensor([True, False, True]), 9).shape == [9]
    for name in ("nonzero", "unique"):
        with pytest.raises(ValueError, match="size"):
            getattr(paddle.bounded, name)(x, -1)
    with pytest.raises(ValueError, match="0-D"):
        paddle.bounded.nonzero(x.sum(), 2)
