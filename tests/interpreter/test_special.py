"""Special functions against XLA and against SciPy in float64: XLA evaluates float32 in float32, with errors
of hundreds of units near zeros.

Unit tests of `_core.numpy_backend`.
"""

import math

import jax
import ml_dtypes
import numpy as np
import pytest
import scipy.special
from jax import lax

from paddle_jax._core.numpy_backend import plan, special
from tests.interpreter.compare import both, check, ulps, values

ONE = {
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "erf_inv": scipy.special.erfinv,
    "lgamma": scipy.special.gammaln,
    "digamma": scipy.special.psi,
    "bessel_i0e": scipy.special.i0e,
    "bessel_i1e": scipy.special.i1e,
}
# to 1.7 units; SciPy's erfc to 7, far out to 500
PYTHONS = {name: np.vectorize(getattr(math, name), otypes=["float64"]) for name in ("erf", "erfc")}
TWO = {"igamma": scipy.special.gammainc, "igammac": scipy.special.gammaincc, "zeta": scipy.special.zeta}


def near(ours, theirs, exact, ulp=2):
    """Each element is within a few units of XLA's or of SciPy's float64 result."""
    with np.errstate(all="ignore"):
        good = (ulps(ours, theirs) <= ulp) | (ulps(ours, exact.astype(ours.dtype)) <= ulp)
        rtol = 3e-2 if ours.dtype.itemsize == 2 else 1e-4
        far = ~np.isclose(
            ours.astype("float64"), theirs.astype("float64"), rtol=rtol, atol=1e-5, equal_nan=True
        )
    assert good.all() and not far.any(), (
        np.argwhere(~good | far)[:3],
        ours[~good | far][:3],
        theirs[~good | far][:3],
    )


@pytest.mark.parametrize("spent", [0, 10**9], ids=["by Python", "by SciPy"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16])
def test_functions_of_one_number(dtype, spent, monkeypatch):
    monkeypatch.setattr(special, "_spent", [spent])
    x = values(dtype)
    x = x[~((x.astype("float64") < -30) & np.isfinite(x))]  # next to poles the last bit of x decides
    ours, theirs = both(lambda x: [getattr(lax, name)(x) for name in ONE], x)
    for (name, exact), a, b in zip((ONE | (PYTHONS if not spent else {})).items(), ours, theirs, strict=True):
        with np.errstate(all="ignore"):
            want = exact(x.astype("float64"))
        keep = np.isfinite(b) & np.isfinite(want) if name in ("lgamma", "digamma") else np.ones(x.shape, bool)
        assert (np.isnan(a) == np.isnan(b)).all() and (np.isinf(a) == np.isinf(b))[
            np.abs(x.astype("float64")) < 1e30
        ].all(), name
        near(a[keep], b[keep], want[keep], 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_two_numbers(dtype):
    grid = np.array([0.1, 0.5, 1, 1.5, 2, 3, 7, 20], dtype)
    a, b = (v.ravel() for v in np.meshgrid(grid, grid))
    ours, theirs = both(lambda a, b: [getattr(lax, name)(a, b) for name in TWO], a, b)
    for name, x, y in zip(TWO, ours, theirs, strict=True):
        want = TWO[name](a.astype("float64"), b.astype("float64"))
        near(x, y, want, 8)
    check(
        lambda a, x: (lax.igamma(a, x), lax.igammac(a, x)),
        np.array([0, -1, 1, 1, np.nan, 2], dtype),
        np.array([1, 1, -1, np.inf, 1, 0], dtype),
    )


def test_incomplete_beta_and_polygamma():
    a, b, x = np.random.RandomState(1).uniform(0.2, 5, (3, 50))
    x = x / 5
    ours, theirs = both(lax.betainc, a, b, x)
    np.testing.assert_allclose(ours[0], scipy.special.betainc(a, b, x), rtol=1e-13)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-11)
    n = np.array([0, 1, 2, 3, 1.5, -1])
    y = np.array([0.5, 1.5, 2.5, -0.5, 1, 1])
    ours, theirs = both(lax.polygamma, n, y)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-11)


def test_digamma_of_zero_inside_a_trace():
    made = plan(jax.make_jaxpr(lax.digamma)(np.zeros(2, "float32")))
    special._digamma_of_zero.cache_clear()
    found = []
    jax.jit(lambda x: [found.extend(made(np.zeros(2, "float32"))), x][1])(1.0)
    np.testing.assert_array_equal(found[0], jax.jit(lax.digamma)(np.zeros(2, "float32")))


def test_polygamma_of_zero_infinity_and_at_poles():
    n, x = (
        v.ravel()
        for v in np.meshgrid([0.0, 1, 2, 3, 4], [0.0, -0.0, -1, -2, -2.5, 0.5, np.inf, -np.inf, np.nan])
    )
    ours, theirs = both(lax.polygamma, n, x)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-11)


def test_normal_draws_follow_the_same_bits():
    # XLA's polynomial in float64 is off by some dozen units
    for dtype, ulp in (("float32", 8), ("float64", 64)):
        check(
            lambda k, d=dtype: jax.random.normal(jax.random.wrap_key_data(k), (2000,), d),
            np.array([1, 2], np.uint32),
            ulp=ulp,
        )


@pytest.mark.parametrize("name", ["erf", "erfc"])  # erfc is used by `gelu`
def test_errors_of_float32_are_nearly_always_the_nearest_numbers(monkeypatch, name):
    """Of 200 000 numbers at most 40 have another last bit. SciPy, whose import takes 0.1 s, is not asked."""
    monkeypatch.setattr(scipy.special, name, None)
    # Where the results are not yet 1, and where they are not yet 0.
    end = {"erf": 4.5, "erfc": 10.5}[name]
    x = np.linspace(-end, end, 200_000, dtype="float32")
    x = np.concatenate([x, np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30], "float32")])
    exact = np.array([*map(getattr(math, name), x.tolist())], "float64").astype("float32")
    (ours,) = plan(jax.make_jaxpr(getattr(lax, name))(x))(x)
    assert ulps(ours, exact).max() <= 1
    assert (ours != exact)[~np.isnan(x)].sum() <= 40
