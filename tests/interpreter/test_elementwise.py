"""Each elementwise primitive against XLA, on limits, infinities, NaN, zeros of both signs and
numbers of all sizes.

Unit tests of `_core.numpy_backend`.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.numpy_backend import Refusal, plan
from tests.interpreter.compare import both, check, check_all, pairs, values

FLOATS = ["float32", "float64", "float16", ml_dtypes.bfloat16]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int32", "int64", "uint8", "uint32", "uint64"]

EXACT = {
    name: getattr(lax, name)
    for name in ("abs", "neg", "floor", "ceil", "is_finite", "square", "sign", "real", "imag", "conj")
}
EXACT |= {
    "even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
}
EXACT |= {f"power {n}": lambda x, n=n: lax.integer_pow(x, n) for n in (2, 3, 0, -1)}
ELEMENTARY = (
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "log",
    "log1p",
    "expm1",
    "sqrt",
    "rsqrt",
    "cbrt",
)
BINARY = (
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "nextafter",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "shift_left",
    "shift_right_logical",
    "shift_right_arithmetic",
)


@pytest.mark.parametrize("dtype", FLOATS)
def test_exact_functions(dtype):
    check_all(EXACT, values(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_elementary_functions(dtype):
    """Within 2 units of the last place of XLA's result, or of the result in more precision: XLA's float32
    sinh is off by 24 units."""
    x = values(dtype)
    if dtype != "float64":
        names = check_all({name: getattr(lax, name) for name in ELEMENTARY}, x, precise=True)
        assert len(names) == len(ELEMENTARY)
        return
    numpy = {
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "asinh": np.arcsinh,
        "acosh": np.arccosh,
        "atanh": np.arctanh,
    }
    numpy["rsqrt"] = lambda x: 1 / np.sqrt(x)
    with np.errstate(all="ignore"):
        better = [
            numpy.get(name, getattr(np, name, None))(x.astype(np.longdouble)).astype(dtype)
            for name in ELEMENTARY
        ]
    check(lambda x: [getattr(lax, name)(x) for name in ELEMENTARY], x, better=better)


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_that_xla_rounds_step_by_step(dtype):
    """exp2 is exp(x log 2) and logistic 1 / (1 + exp(-x)), each step in the dtype: both carry the error of
    the exponential."""
    x = values(dtype)
    check_all(
        {"exp2": lax.exp2, "logistic": lax.logistic}, x[np.abs(x.astype("float64")) < 60], ulp=4, scale=2
    )


# primitives of JAX 0.12
POLYNOMIAL = getattr(lax, "polynomial", lambda x, c: jnp.polyval(jnp.stack(c[::-1]), x))
ONE_MINUS_SQUARE = getattr(lax, "one_minus_square", lambda x: (1 + x) * (1 - x))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_one_minus_square_and_binary_logarithm(dtype):
    x = values(dtype)
    if np.dtype(dtype).kind == "c":
        x = x[(x != 0) & (np.abs(x) != 1)]
    wide = x.astype("clongdouble" if np.dtype(dtype).kind == "c" else "longdouble")
    with np.errstate(all="ignore"):  # XLA's logarithm of complex128 is off by 1e-11 for some numbers
        better = [np.log2(wide).astype(dtype), (1 + wide) * (1 - wide)]
    check(lambda x: (jnp.log2(x), ONE_MINUS_SQUARE(x)), x, ulp=4, scale=2, better=better, signs=False)


@pytest.mark.parametrize("count", [1, 3, 12])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_polynomials(dtype, count):
    """Also of infinity: JAX runs long ones as a loop from zero, and zero times infinity is NaN."""
    coefficients = list(np.linspace(0.5, 2, count).astype(dtype))
    check(
        lambda x: POLYNOMIAL(x, coefficients),
        np.array([0, -0.0, 0.5, -0.5, 1.5, np.inf, -np.inf, np.nan], dtype),
        ulp=8,
        scale=1,
    )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_functions(dtype):
    """Branch cuts with zeros of both signs. XLA's own error near zeros of the real or imaginary part is
    some hundred units."""
    exact = {name: EXACT[name] for name in ("neg", "real", "imag", "conj", "square")} | {"abs": lax.abs}
    z = values(dtype)
    check_all(exact, z, ulp=4, scale=2, signs=False)
    functions = {name: getattr(lax, name) for name in ELEMENTARY if name != "cbrt"} | {
        "logistic": lax.logistic
    }
    moderate = z[(np.abs(z) < 10) & (np.abs(z) != 1) | (z == 0)]
    for name in ("acosh", "atanh", "log", "rsqrt", "log1p"):
        # poles: infinite parts
        functions[name] = lambda x, f=functions[name]: f(lax.select(x == 0, jnp.full_like(x, 2), x))
    check_all(functions, moderate, scale=32, signs=False)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, *INTEGERS, "bool"])
def test_operations_on_two_operands(dtype):
    check_all(
        {name: getattr(lax, name) for name in BINARY},
        *pairs(dtype),
        scale=2 if "complex" in str(dtype) else 0,
    )


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_the_larger_and_the_smaller(dtype):
    """NaN goes through; of zeros with different signs NumPy and XLA may choose either."""
    check_all(
        {"max": lax.max, "min": lax.min, "clamp": lambda x, y: lax.clamp(jnp.ones_like(x), x, y)},
        *pairs(dtype),
        signs=False,
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_power_and_angle(dtype):
    check_all({"pow": lax.pow, "atan2": lax.atan2}, *pairs(dtype), precise=dtype != "float64", scale=0)
    check(lambda x: lax.pow(x, jnp.asarray(3, "int32")), values(dtype), ulp=4)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    names = ("population_count", "clz", "bitwise_not", "sign", "neg", "square")
    check_all(
        {name: getattr(lax, name) for name in names} | {"power": lambda x: lax.integer_pow(x, 5)},
        values(dtype),
    )


def test_selection():
    x = np.arange(12.0, dtype="float32").reshape(3, 4)
    check(lambda c, a, b: lax.select_n(c, a, b), x > 4, x, -x)
    check(lambda c, a, b: lax.select_n(c, a, b), np.bool_(True), x, -x)
    large = np.random.RandomState(1).randn(200, 300)
    for dtype in ("float64", "float32", "int32", "float16", "complex64"):
        check(
            lambda a: (
                lax.select(a.real > 0, -a, a),
                a * (a.real > 1).astype(a.dtype),
                jnp.where(a.real < 0, 3, a),
            ),
            large.astype(dtype),
            ulp=0,
        )
    check(
        lambda c, a, b, d: lax.select_n(c, a, b, d),
        np.arange(12, dtype="int32").reshape(3, 4) % 3,
        x,
        -x,
        x * 2,
    )


@pytest.mark.parametrize("count", [12, 5000, 70000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "float16", "complex64"])
def test_selection_against_zero(dtype, count):
    """NaN and infinity are taken or left, and -0.0 is no 0.0."""
    x = np.random.RandomState(1).randn(count) * 3
    x[:8] = 0.0, -0.0, 1.5, -2.5, 3.5, 1, -1, 7
    if dtype.startswith("float"):
        x[8:12] = np.nan, np.inf, -np.inf, np.nan
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
    which = np.random.RandomState(2).rand(count) > 0.5
    check(
        lambda which, x: (
            jnp.where(which, x, 0),
            jnp.where(which, 0, x),
            lax.select(which, x, jnp.zeros_like(x)),
            lax.select(which, jnp.full_like(x, -0.0), x),
            jnp.where(which[:4, None], x[:4], 0),
        ),
        which,
        x,
        ulp=0,
    )


def test_a_product_with_a_truth_value_selects():
    """XLA's simplifier makes it a selection, except in bfloat16: infinity times false is 0."""
    x = np.array([-1, np.nan, -np.inf, 2, -0.0, 0.25])
    with np.errstate(all="ignore"):
        for dtype in (*FLOATS, "complex64"):
            check(
                lambda a: (a * (a.real > 1).astype(a.dtype), (a.real > 1).astype(a.dtype) * 2 * a),
                x.astype(dtype),
                ulp=0,
            )


def test_the_sign_of_zero_in_complex_division_and_its_infinities():
    z = np.array([1, 1j, np.inf, complex(np.inf, np.inf), 0, complex(1, np.nan), 3 - 4j])
    a, b = (x.ravel() for x in np.meshgrid(z, z))
    ours, theirs = both(lax.div, a, b)
    for x, y in zip(ours, theirs, strict=True):
        nan = np.isnan(x) & np.isnan(y)
        np.testing.assert_array_equal(np.isinf(x), np.isinf(y))
        np.testing.assert_allclose(x[~nan & np.isfinite(y)], y[~nan & np.isfinite(y)], rtol=1e-15)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_divided_by_one_number(dtype):
    info = np.iinfo(dtype)
    numbers = [n for n in (info.min, info.min + 1, *range(-7, 8), info.max) if info.min <= n <= info.max]
    x = np.array(numbers, dtype)
    for divisor in x:
        for elements in (x, x[:0], x[3], x[x >= 0]):
            check(lambda a, b: (lax.div(a, b), lax.rem(a, b)), elements, np.asarray(divisor))


@pytest.mark.parametrize("function", [lax.max, lax.pow, lax.atan2])
def test_refused_for_complex_numbers(function):
    z = jax.ShapeDtypeStruct((3,), "complex64")
    with pytest.raises(Refusal, match="complex"):
        plan(jax.make_jaxpr(function)(z, z))


@pytest.mark.parametrize("source", [*FLOATS, *COMPLEX, *INTEGERS, "bool"])
def test_conversion(source):
    targets = [*FLOATS, *COMPLEX, *INTEGERS, "bool"] if "complex" not in str(source) else COMPLEX
    check_all({str(t): lambda x, t=t: lax.convert_element_type(x, t) for t in targets}, values(source))


def test_bits_as_another_type():
    x = values("float64")
    check(lambda x: (lax.bitcast_convert_type(x, "int64"), lax.bitcast_convert_type(x, "uint32")), x)
    check(lambda x: lax.bitcast_convert_type(x, "float64"), np.arange(8, dtype="uint32").reshape(4, 2))
    check(lambda x: lax.bitcast_convert_type(x, "int16"), values("float16"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reduced_precision(dtype):
    sizes = ((8, 7), (5, 10), (4, 3), (8, 23), (11, 30))
    check_all({str(s): lambda x, s=s: lax.reduce_precision(x, *s) for s in sizes}, values(dtype), ulp=0)
