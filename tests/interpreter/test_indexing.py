"""Gather and scatter in every mode, and windows, against XLA.

Unit tests of `_core.numpy_backend`.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from paddle_jax._core.numpy_backend import Refusal, plan
from paddle_jax.nn.functional.convolve_cpu import Plan, better_than_xla
from tests.interpreter.compare import check

R = np.random.RandomState(4)
X = R.randn(5, 6, 4).astype("float32")
ROWS = np.array([[0, 3], [-1, 9], [4, 4]])
MODES = ["clip", "fill", "promise_in_bounds"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64", "uint8", ml_dtypes.bfloat16])
def test_gather(mode, dtype):
    def gathers(x, i):
        rows = x.at[i].get(mode=mode, wrap_negative_indices=False)
        columns = jnp.moveaxis(x, 1, 0).at[i].get(mode=mode, wrap_negative_indices=False)
        dims = lax.GatherDimensionNumbers(
            offset_dims=(1, 2), collapsed_slice_dims=(1,), start_index_map=(0, 1)
        )
        windows = lax.gather(x, i, dims, (2, 1, 3), mode=mode)
        points = x.at[i[:, 0], i[:, 1]].get(mode=mode, wrap_negative_indices=False)
        along = jnp.take_along_axis(x, jnp.clip(i[:2, :1, None], 0, 4) + jnp.zeros((1, 6, 4), int), axis=0)
        return rows, columns, windows, points, along

    check(gathers, X.astype(dtype), ROWS, ulp=0)


def test_gather_with_batching_dims_unsigned_indices_and_fill():
    batching = {"operand_batching_dims": (0,), "start_indices_batching_dims": (0,)}
    dims = lax.GatherDimensionNumbers(
        offset_dims=(1,), collapsed_slice_dims=(), start_index_map=(1,), **batching
    )
    check(
        lambda x, i: lax.gather(x, i, dims, (1, 3), mode="fill", fill_value=-5.0),
        X[:3, :, 0],
        np.array([[0], [5], [2]]),
        ulp=0,
    )
    check(
        lambda x, i: x.at[i].get(mode="fill", fill_value=3.0),
        X,
        np.array([0, 7, 2**64 - 1], np.uint64),
        ulp=0,
    )
    check(lambda x, i: x[i], np.zeros((0, 3), "float32"), np.zeros((0,), "int64"), ulp=0)
    check(lambda x, i: x[i], X, np.zeros((0, 2), "int64"), ulp=0)


SCATTERS = ["set", "add", "multiply", "min", "max"]


@pytest.mark.parametrize("mode", ["clip", "drop", "promise_in_bounds"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_scatter(mode, dtype):
    def scatters(x, i, u):
        results = []
        for name in SCATTERS:
            at = getattr(x.at[i[:, 0]], name)
            results.append(at(u, mode=mode, wrap_negative_indices=False))
            results.append(
                getattr(x.at[i[:, 0], i[:, 1]], name)(u[:, 0], mode=mode, wrap_negative_indices=False)
            )
        return results

    x, u = X, np.random.RandomState(11).randn(3, 6, 4) * 3
    if dtype == "float16":
        # a sum in which numbers cancel keeps the roundings of larger ones, of which XLA makes fewer
        x, u = np.abs(x), np.abs(u)
    check(scatters, x.astype(dtype), ROWS, u.astype(dtype), ulp=2, signs=False)


def test_scatter_of_windows_and_with_batching_dims():
    batching = {"operand_batching_dims": (0,), "scatter_indices_batching_dims": (0,)}
    dims = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(), scatter_dims_to_operand_dims=(1,), **batching
    )
    x, u, i = X[:3, :, 0], R.randn(3, 1, 2).astype("float32")[:, 0], np.array([[0], [5], [2]])
    check(lambda x, i, u: (lax.scatter_add(x, i, u, dims), lax.scatter(x, i, u, dims, mode="clip")), x, i, u)
    check(lambda x, i: x.at[i].add(1.0), np.zeros((0, 3), "float32"), np.zeros((0,), "int64"))
    check(lambda x, i: x.at[i, 1:3].set(2.0), X, np.array([1, 4]))


def test_scatter_with_a_function_of_ones_own_is_refused():
    dims = lax.ScatterDimensionNumbers(
        update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    function = lambda x, i: lax.scatter_apply(x, i, lambda v: v * 2 + 1, dims, update_shape=(2,))  # noqa: E731
    with pytest.raises(Refusal, match="one's own"):
        plan(jax.make_jaxpr(function)(X[0, 0], ROWS[:2, :1]))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 5),
    st.lists(st.integers(-7, 7), min_size=0, max_size=6),
    st.sampled_from(["clip", "fill"]),
)
def test_rows_taken(n, m, indices, mode):
    x, i = np.arange(float(n * m)).reshape(n, m), np.array(indices, np.int64)
    (got,) = plan(jax.make_jaxpr(lambda x, i: x.at[i].get(mode=mode, wrap_negative_indices=False))(x, i))(
        x, i
    )
    inside = (i >= 0) & (i < n)
    want = np.where(inside[:, None] | (mode == "clip"), x[np.clip(i, 0, n - 1)], np.nan)
    np.testing.assert_array_equal(got, want)


IMAGE, KERNEL = R.randn(2, 4, 7, 8).astype("float32"), R.randn(6, 2, 3, 2).astype("float32")
CONVOLUTIONS = {
    "groups": {"feature_group_count": 2, "window_strides": (1, 1), "padding": "SAME"},
    "strides": {"feature_group_count": 2, "window_strides": (2, 3), "padding": ((1, 2), (0, 1))},
    "dilated": {
        "feature_group_count": 2,
        "window_strides": (1, 2),
        "padding": ((2, 2), (2, 2)),
        "rhs_dilation": (2, 3),
    },
    "transposed": {
        "feature_group_count": 2,
        "window_strides": (1, 1),
        "padding": ((2, 1), (1, 0)),
        "lhs_dilation": (2, 3),
    },
    "negative padding": {
        "feature_group_count": 2,
        "window_strides": (1, 1),
        "padding": ((-1, 2), (-2, -1)),
        "lhs_dilation": (1, 2),
    },
    "reversed": {"feature_group_count": 2, "window_strides": (1, 1), "padding": "VALID"},
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16, "complex64"])
def test_convolution(dtype):
    every = lambda x, w: [lax.conv_general_dilated(x, w, **each) for each in CONVOLUTIONS.values()]  # noqa: E731
    check(every, IMAGE.astype(dtype), KERNEL.astype(dtype), ulp=8, scale=8)


# shapes of the image and the weight, and groups
CONVOLUTIONS_AS_TERMS = {
    "one channel, several rows": ((2, 1, 6, 7), (3, 1, 3, 2), 1),
    "each channel alone": ((2, 4, 6, 7), (4, 1, 3, 3), 4),
    "one channel and several rows in each group": ((2, 3, 6, 5), (6, 1, 2, 2), 3),
    "few positions": ((2, 3, 6, 5), (4, 3, 3, 3), 1),
    "many positions": ((1, 2, 12, 11), (3, 2, 3, 3), 1),
    "more rows than positions": ((1, 2, 3, 3), (20, 2, 3, 3), 1),
    "more rows than positions, in groups": ((1, 4, 3, 4), (40, 2, 3, 3), 2),
}


@pytest.mark.parametrize("name", CONVOLUTIONS_AS_TERMS)
def test_convolution_and_its_gradients_as_terms(name):
    image, weight, groups = CONVOLUTIONS_AS_TERMS[name]
    out = tuple(a - b + 1 for a, b in zip(image[2:], weight[2:], strict=True))
    where = Plan((1, 1), ((0, 0), (0, 0)), (1, 1), out, groups)

    def terms(x, w):
        y, gradients = jax.vjp(lambda x, w: better_than_xla(x, w, where)(x, w, where), x, w)
        return y, *gradients(jnp.cos(y))

    x, w = R.randn(*image).astype("float32"), R.randn(*weight).astype("float32")
    names = {equation.primitive.name for equation in jax.make_jaxpr(terms)(x, w).eqns}
    assert {"convolution_result", "convolution_image", "convolution_kernel"} <= names
    check(terms, x, w, ulp=16, scale=16)


def test_convolution_in_other_layouts_in_groups_of_the_batch_and_its_gradients():
    def layouts(x, w):
        y = lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        z = lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "CHNW"))
        return y, z

    check(layouts, IMAGE.transpose(0, 2, 3, 1), R.randn(3, 2, 4, 5).astype("float32"), ulp=8, scale=8)
    grouped = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", batch_group_count=2)  # noqa: E731
    check(grouped, IMAGE, R.randn(6, 4, 3, 2).astype("float32"), ulp=8, scale=8)
    loss = lambda x, w: (lax.conv_general_dilated(x, w, **CONVOLUTIONS["strides"]) ** 2).sum()  # noqa: E731
    check(jax.grad(loss, (0, 1)), IMAGE, KERNEL, ulp=16, scale=16)
    check(
        lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"),
        IMAGE[0, :, :, :],
        R.randn(3, 7, 2).astype("float32"),
        ulp=8,
        scale=8,
    )
    with pytest.raises(Refusal, match="integers"):
        plan(
            jax.make_jaxpr(lambda x: lax.conv_general_dilated(x, x[:, :, :1, :1], (1, 1), "VALID"))(
                IMAGE.astype("int32")
            )
        )


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_windows(dtype):
    low = np.asarray(-np.inf if dtype != "int32" else np.iinfo(dtype).min, dtype)
    options = {
        "window_dimensions": (1, 1, 3, 2),
        "window_strides": (1, 1, 2, 1),
        "padding": ((0, 0), (0, 0), (1, 1), (0, 1)),
    }

    def windows(x):
        zero = np.zeros((), dtype)
        dilated = options | {"window_dilation": (1, 1, 2, 1), "base_dilation": (1, 1, 1, 2)}
        least = lax.reduce_window(x, -low, lax.min, **options) if dtype != "int32" else x
        most, total = (
            lax.reduce_window(x, low, lax.max, **options),
            lax.reduce_window(x, zero, lax.add, **options),
        )
        return most, total, lax.reduce_window(x, zero + 1, lax.mul, **dilated), least

    check(windows, (IMAGE * 3).astype(dtype), ulp=4, scale=4)
    if dtype == "float32":
        pool = lambda x: lax.reduce_window(x, low, lax.max, **options)  # noqa: E731
        # ties: the first one takes it
        check(jax.grad(lambda x: (pool(x) ** 2).sum()), np.round(IMAGE), ulp=8)
