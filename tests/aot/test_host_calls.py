"""What TPUs lack runs on the host: it compiles, with gradients, and gives NumPy's values.

Unit tests of `_core.numpy_backend.host_calls`.
"""

import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import paddle_jax as paddle
from paddle_jax._core.numpy_backend import host_calls
from paddle_jax.aot import capture, compilers
from paddle_jax.aot import compile as compile_for
from paddle_jax.aot.chips import CHIPS
from paddle_jax.static import InputSpec
from paddle_jax.tensor import lowering

linalg = paddle.linalg
fft = paddle.fft

# (function, shape, dtype, whether it calls the host on a TPU)
CASES = [
    (linalg.eig, [3, 3], "float32", True),
    (linalg.eigvals, [2, 3, 3], "complex64", True),
    (linalg.eig, [3, 3], "float64", True),
    (fft.fft, [2, 5], "complex128", True),
    (fft.rfft, [2, 8], "float64", True),
    (fft.fft, [2, 5], "complex64", False),
    (linalg.svdvals, [3, 2], "float32", False),
    (linalg.cond, [3, 3], "float32", False),
    (linalg.pinv, [3, 2], "float64", True),
    (linalg.slogdet, [3, 3], "float64", True),
    (linalg.slogdet, [3, 3], "float32", False),
]
NAMES = [f"{function.__name__}-{dtype}" for function, _, dtype, _ in CASES]


def with_gradient(function):
    """A function that gives a result, and the gradient of the squares of all results."""

    def f(x):
        x.stop_gradient = False
        results = function(x)
        if not isinstance(results, tuple | list):
            results = [results]
        total = sum((each.abs() ** 2).sum() for each in results)
        return results[0], paddle.grad(total, x)[0]

    return f


def lowered(function, shape, dtype, platform):
    traced = capture.trace(with_gradient(function), [InputSpec(shape, dtype)], {}, platform).traced
    return traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.filterwarnings("ignore:.*TPUs have no implementation")
@pytest.mark.parametrize(("function", "shape", "dtype", "by_host"), CASES, ids=NAMES)
def test_lowered_for_tpus(function, shape, dtype, by_host):
    text = lowered(function, shape, dtype, "tpu")
    assert ("stablehlo.send" in text) == ("stablehlo.recv" in text) == by_host
    assert not re.search(r'"stablehlo.(send|recv)".*f64', text)  # numbers cross in 32 bits


def test_infinite_parts_cross_to_the_host():
    zero, infinite = np.zeros(1, np.float32), np.full(1, np.inf, np.float32)
    found = host_calls._join([zero, zero, infinite, zero], np.dtype("complex128"))
    assert found.real == 0 and found.imag == np.inf


@pytest.mark.parametrize("name", ["sinh", "digamma", "copysign", "frexp", "signbit", "floor_divide"])
def test_signs_of_float64_take_no_bits(name):
    """XLA's compiler for TPUs fails at the bits of a float64."""
    operands = [InputSpec([3], "float64")] * (2 if name in ("copysign", "floor_divide") else 1)
    traced = capture.trace(getattr(paddle, name), operands, {}, "tpu").traced
    text = traced.lower(lowering_platforms=("tpu",)).as_text()
    assert "bitcast_convert" in text and not re.search(r"bitcast_convert.*f64", text)


def test_signs_and_powers_without_bits_of_float64(monkeypatch):
    monkeypatch.setattr(lowering, "has_float64", lambda: False)
    x = np.array([1 - 2**-30, 1, -1, 0, -0.0, 3.5, 1e-30, -7e20, 3.4e38, np.inf, -np.inf, np.nan, -np.nan])
    signs = np.signbit(x)
    np.testing.assert_array_equal(lowering.sign_bit(jnp.asarray(x)), signs)
    copied = lowering.copy_sign(jnp.asarray(np.abs(x)), jnp.asarray(x))
    np.testing.assert_array_equal(np.signbit(copied), signs)
    finite = x[np.isfinite(x)]
    for got, want in zip(lowering.mantissa_and_exponent(jnp.asarray(finite)), np.frexp(finite), strict=True):
        np.testing.assert_array_equal(got, want)


def test_zeros_keep_their_signs_on_the_way():
    parts = host_calls._split(np.array([0.0, -0.0, -1.0]), np)
    assert np.signbit(host_calls._join(parts, np.dtype("float64"))).tolist() == [False, True, True]


@pytest.mark.parametrize("platform", ["cuda", "cpu"])
def test_other_platforms_keep_their_own(platform):
    assert "stablehlo.send" not in lowered(linalg.eigvals, [3, 3], "float32", platform)


def test_one_warning_for_each_line():
    def twice(x):
        return fft.fft(x), fft.fft(x + 1)  # one line

    host_calls._warned.clear()
    operand = [InputSpec([2, 5], "complex128")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            capture.trace(twice, operand, {}, "tpu").traced.lower(lowering_platforms=("tpu",))
    texts = [str(each.message) for each in caught if "TPUs have no implementation" in str(each.message)]
    assert len(texts) == 1 and "test_host_calls.py:" in texts[0] and texts[0].startswith("fft:")


def values(shape, dtype):
    numbers = np.random.default_rng(0)
    made = numbers.normal(size=shape) * 10.0 ** numbers.integers(-6, 6, size=shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * numbers.normal(size=shape)
    return made.astype(dtype)


@pytest.mark.parametrize(
    ("kind", "dtype", "want"),
    [
        (lax.FftType.FFT, "complex128", np.fft.fft),
        (lax.FftType.IFFT, "complex128", np.fft.ifft),
        (lax.FftType.RFFT, "float64", np.fft.rfft),
    ],
)
def test_values_of_transforms(kind, dtype, want):
    """A call of the host from a compiled program of this machine, against NumPy."""
    x = values((3, 8), dtype)
    jaxpr = jax.make_jaxpr(lambda x: lax.fft(x, kind, (8,)))(x)
    equation = (
        next(e for e in jaxpr.eqns if e.primitive.name == "fft")
        if jaxpr.eqns[0].params.get("jaxpr") is None
        else jaxpr.eqns[0].params["jaxpr"].eqns[0]
    )
    outs = [v.aval for v in equation.outvars]
    function = host_calls.host_function(equation.primitive, equation.params, [jaxpr.in_avals[0]], outs)
    (got,) = jax.jit(function)(x)
    assert got.dtype == want(x).dtype
    np.testing.assert_allclose(got, want(x), rtol=1e-12, atol=1e-12 * np.abs(x).max())


def test_values_of_eigenvalues():
    x = values((2, 4, 4), "float32")
    equation = jax.make_jaxpr(lambda x: lax.linalg.eig(x, compute_left_eigenvectors=False))(x).eqns[-1]
    outs = [v.aval for v in equation.outvars]
    function = host_calls.host_function(
        equation.primitive, equation.params, [jax.typeof(jnp.asarray(x))], outs
    )
    found, vectors = jax.jit(function)(x)
    np.testing.assert_allclose(
        x @ vectors, found[:, None, :] * vectors, rtol=1e-3, atol=1e-3 * np.abs(x).max()
    )


def test_numbers_that_are_not_finite():
    x = np.array([1.0, np.inf, -np.inf, np.nan, 1e300, 1 + 1e-12])
    found = host_calls._join(host_calls._split(x, np), x.dtype)
    np.testing.assert_allclose(found[[0, 1, 2, 3, 5]], x[[0, 1, 2, 3, 5]], rtol=1e-14)
    assert np.isinf(found[4])  # beyond float32, as on a TPU itself


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*TPUs have no implementation")
@pytest.mark.parametrize(("function", "shape", "dtype", "by_host"), CASES, ids=NAMES)
def test_compiled_for_tpus(function, shape, dtype, by_host):
    lacking = compilers.missing(CHIPS["v5e"].platform)
    if lacking:
        pytest.skip(f"the compiler for v5e is not installed ({', '.join(lacking)})")
    report = compile_for(with_gradient(function), InputSpec(shape, dtype), target="v5e", timeout=100)
    assert report.compiles, report.error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*TPUs have no implementation")
def test_several_calls_in_one_program():
    """A result and its gradient transform alike: each call has channels of its own."""
    lacking = compilers.missing(CHIPS["v5e"].platform)
    if lacking:
        pytest.skip(f"the compiler for v5e is not installed ({', '.join(lacking)})")

    def back(x):
        return paddle.signal.istft(x, 4, 2, 3)

    operand = InputSpec([2, 3, 9], "complex128")
    report = compile_for(with_gradient(back), operand, target="v5e", timeout=100)
    assert report.compiles, report.error
