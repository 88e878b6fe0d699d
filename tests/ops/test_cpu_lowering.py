"""What is computed in another way on the CPU agrees with XLA's own way: values, first and second derivatives,
forward mode, vmap.

Unit tests of `_core.numpy_backend`.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core import numpy_backend
from paddle_jax._core.numpy_backend.cost import CONVOLUTIONS as CONVOLUTION_NAMES
from paddle_jax.nn.functional import convolve, convolve_cpu
from paddle_jax.nn.functional.convolve_cpu import Plan, better_than_xla
from paddle_jax.tensor import cumulative, lowering

# shape of x, shape of weight, stride, padding, dilation, groups, the function chosen
CONVOLUTIONS = {
    "weight heavier than the images": ((2, 8, 4, 4), (16, 8, 3, 3), 1, 1, 1, 1, convolve_cpu.multiplied),
    "image smaller than the kernel": ((2, 3, 2, 2), (4, 3, 3, 3), 2, 1, 1, 1, convolve_cpu.multiplied),
    "1x1, stride 2": ((2, 3, 5, 4), (4, 3, 1, 1), 2, 0, 1, 1, convolve_cpu.multiplied),
    "groups, dilated": ((2, 4, 6, 5), (6, 2, 3, 2), 1, 1, 2, 2, convolve_cpu.multiplied),
    "one channel": ((2, 1, 5, 6), (3, 1, 3, 3), 1, 1, 1, 1, convolve_cpu.single_channel),
    "depthwise": ((2, 3, 5, 6), (3, 1, 3, 3), 2, 1, 1, 3, convolve_cpu.depthwise),
    "depthwise, doubled": ((2, 3, 5, 6), (6, 1, 3, 3), 1, 1, 1, 3, convolve_cpu.single_channel),
    "3-d": ((1, 2, 4, 3, 4), (3, 2, 2, 3, 2), 1, 1, 1, 1, convolve_cpu.multiplied_light),
    "light weight": ((3, 2, 7, 6), (3, 2, 3, 2), 1, 1, 1, 1, convolve_cpu.multiplied_light),
    "1-d": ((2, 3, 7), (4, 3, 3), 2, 1, 1, 1, convolve_cpu.multiplied),
}


def operands(name):
    image, kernel, stride, padding, dilation, groups, chosen = CONVOLUTIONS[name]
    random, n = np.random.default_rng(3), len(image) - 2
    out = tuple(
        (s + 2 * padding - dilation * (k - 1) - 1) // stride + 1
        for s, k in zip(image[2:], kernel[2:], strict=True)
    )
    plan = Plan((stride,) * n, ((padding, padding),) * n, (dilation,) * n, out, groups)
    return *(jnp.asarray(random.standard_normal(s)) for s in (image, kernel)), plan, chosen


def by_xla(x, weight, plan):
    letters = convolve.SPATIAL[x.ndim - 2]
    return lax.conv_general_dilated(
        x,
        weight,
        plan.strides,
        plan.pads,
        rhs_dilation=plan.dilations,
        feature_group_count=plan.groups,
        dimension_numbers=("NC" + letters, "OI" + letters, "NC" + letters),
    )


def derivatives(function, x, weight):
    """Values, gradients, Hessian times a vector, and tangents."""

    def loss(*given):
        return jnp.sum(jnp.sin(function(*given)))

    gradients = jax.grad(loss, (0, 1))
    second = jax.grad(lambda *given: sum(jnp.sum(jnp.cos(g)) for g in gradients(*given)), (0, 1))
    return [
        function(x, weight),
        *gradients(x, weight),
        *second(x, weight),
        jax.jvp(function, (x, weight), (jnp.cos(x), jnp.sin(weight)))[1],
        jax.grad(loss)(x, weight),
        jax.grad(loss, 1)(x, weight),
        jax.vmap(function, (0, None))(jnp.stack([x, 2 * x]), weight),
        jax.vmap(function, (None, 0))(x, jnp.stack([weight, 2 * weight])),
    ]


def compiled_derivatives(function, x, weight, plan):
    return jax.jit(lambda x, w: derivatives(lambda x, w: function(x, w, plan), x, w))(x, weight)


@functools.cache
def derivatives_by_xla(name):
    x, weight, plan, _ = operands(name)
    return compiled_derivatives(by_xla, x, weight, plan)


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("summed", [False, True])
def test_convolution(name, summed):
    x, weight, plan, chosen = operands(name)
    assert better_than_xla(x, weight, plan) is chosen
    got = compiled_derivatives(convolve_cpu.summed if summed else chosen, x, weight, plan)
    for a, b in zip(got, derivatives_by_xla(name), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_and_its_gradients_are_three_equations_which_the_interpreter_knows(name):
    x, weight, plan, chosen = operands(name)

    def function(x, weight):
        y, pull = jax.vjp(lambda *given: chosen(*given, plan), x, weight)
        return y, *pull(jnp.cos(y))

    closed = jax.make_jaxpr(function)(x, weight)
    assert sorted(e.primitive.name for e in closed.eqns if e.primitive.name != "cos") == sorted(
        CONVOLUTION_NAMES
    )
    for got, want in zip(
        numpy_backend.plan(closed)(np.asarray(x), np.asarray(weight)),
        jax.jit(function)(x, weight),
        strict=True,
    ):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    small = jax.make_jaxpr(function)(x.astype("float16"), weight.astype("float16"))
    ours, theirs = (
        f(np.asarray(x, "float16"), np.asarray(weight, "float16"))
        for f in (numpy_backend.plan(small), jax.jit(function))
    )
    for got, want in zip(ours, theirs, strict=True):
        assert got.dtype == "float16"
        np.testing.assert_allclose(got.astype("float64"), np.asarray(want, "float64"), rtol=0.03, atol=0.03)


@pytest.mark.parametrize("name", ["depthwise", "light weight"])
def test_a_convolution_outside_jit(name):
    x, weight, plan, chosen = operands(name)
    np.testing.assert_allclose(chosen(x, weight, plan), by_xla(x, weight, plan), rtol=1e-10, atol=1e-10)
    per_image = jax.vmap(jax.grad(lambda w, x: chosen(x[None], w, plan).sum()), (None, 0))(weight, x)
    np.testing.assert_allclose(
        per_image.sum(0), jax.grad(lambda w: by_xla(x, w, plan).sum())(weight), rtol=1e-10, atol=1e-10
    )


def test_convolutions_that_are_left_to_xla_or_need_little_room():
    plan = Plan((1, 1), ((1, 1), (1, 1)), (1, 1), (32, 32), 1)
    image, kernel = (jax.ShapeDtypeStruct(s, np.float32) for s in ((8, 64, 32, 32), (64, 64, 3, 3)))
    assert better_than_xla(image, kernel, plan) is None
    assert (
        better_than_xla(image, jax.ShapeDtypeStruct((64, 32, 3, 3), np.float32), plan._replace(groups=2))
        is convolve_cpu.summed
    )
    wide = Plan((1, 1), ((6, 6), (6, 6)), (1, 1), (20, 20), 1)
    assert (
        better_than_xla(
            jax.ShapeDtypeStruct((1, 1, 20, 20), np.float32),
            jax.ShapeDtypeStruct((1, 1, 13, 13), np.float32),
            wide,
        )
        is None
    )


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
)
def test_order_is_stable_and_puts_nan_last(dtype, descending):
    random = np.random.default_rng(1)
    values = np.round(random.standard_normal((7, 40)) * 3)
    if "float" in dtype:
        values[random.random(values.shape) < 0.3] = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
        values[0, :5] = [np.nan, -0.0, 0.0, -np.inf, np.inf]
    values = jnp.asarray(values).astype(dtype)
    if dtype == "int64":
        values = values * (1 << 40) + jnp.asarray(random.integers(-2, 2, values.shape))
    host = np.asarray(values.astype("float64") if "float" in dtype else values)
    # NumPy counts NaN as one value, the largest
    ranks = np.unique(host, return_inverse=True)[1].reshape(host.shape)
    for axis in (0, 1):
        want = np.argsort(-ranks if descending else ranks, axis, kind="stable")
        assert (np.asarray(lowering.stable_order(values, axis, descending)) == want).all()


def log_sums_by_definition(v):
    """One sum for each element: XLA compiles its Hessian in a tenth of the time of lax.cumlogsumexp's."""
    rows = jnp.broadcast_to(v, (v.size, v.size))
    return jax.nn.logsumexp(rows, axis=1, where=jnp.tri(v.size, dtype=bool))


def test_running_log_sums():
    x = np.random.default_rng(0).standard_normal((5, 33)) * 30
    x[1, :4], x[2, 3], x[3, 0] = -np.inf, np.inf, -np.inf
    want = np.logaddexp.accumulate(x, 1)
    # compiled as a whole, since each operation of its own is compiled, too
    log_sums = jax.jit(cumulative._log_sums, static_argnums=1)
    np.testing.assert_allclose(log_sums(jnp.asarray(x), 1), want, rtol=1e-13)
    tiny = jnp.asarray([0.0, -40.0, -41.0])
    # not rounded to 0
    np.testing.assert_allclose(log_sums(tiny, 0), np.logaddexp.accumulate(np.asarray(tiny)), rtol=1e-13)
    finite = jnp.asarray(x[4])
    for derive in (jax.grad, jax.hessian):
        got, want = (
            jax.jit(derive(lambda v, f=f: jnp.sum(jnp.sin(f(v)))))(finite)
            for f in (lambda v: cumulative._log_sums(v, 0), log_sums_by_definition)
        )
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(6,), (3, 7), (2, 0)])
def test_running_sums_and_products(shape):
    x = jnp.asarray(np.random.default_rng(0).standard_normal(shape))
    np.testing.assert_allclose(
        lowering.running(jnp.add, jnp.cumsum, x, len(shape) - 1), np.cumsum(x, -1), rtol=1e-12
    )
    np.testing.assert_allclose(
        lowering.running(jnp.multiply, jnp.cumprod, x, 0), np.cumprod(x, 0), rtol=1e-12
    )
