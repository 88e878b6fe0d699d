"""Parts of op bodies whose accuracy counts."""

import jax
import numpy as np
import pytest

from paddle_jax.tensor.inner import log_one_plus_exp, negative_log_sigmoids

X = np.array([-np.inf, -120.0, -30.0, -1.5, -0.0, 0.0, 0.3, 20.0, 100.0, np.inf])
DTYPES = [("float32", 1e-6), ("float64", 1e-14)]


def logs(x):
    """log(1 + exp(x)) in float64, where log1p loses nothing."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def slopes(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("dtype, rtol", DTYPES)
def test_log_one_plus_exp_and_its_derivatives(dtype, rtol):
    x = X.astype(dtype)
    exact = x.astype("float64")
    slope = jax.grad(log_one_plus_exp)
    # below the smallest normal number XLA gives 0
    atol = np.finfo(dtype).tiny
    np.testing.assert_allclose(log_one_plus_exp(x), logs(exact), rtol, atol)
    np.testing.assert_allclose(jax.vmap(slope)(x), slopes(exact), rtol, atol)
    curvatures = slopes(exact) * slopes(-exact)
    np.testing.assert_allclose(jax.vmap(jax.grad(slope))(x), curvatures, rtol, np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype, rtol", DTYPES)
def test_both_logarithms_and_their_slopes_keep_their_digits(dtype, rtol):
    x = X.astype(dtype)
    exact = x.astype("float64")
    atol = np.finfo(dtype).tiny
    of_positive, of_negative = negative_log_sigmoids(x)
    np.testing.assert_allclose(of_positive, logs(-exact), rtol, atol)
    np.testing.assert_allclose(of_negative, logs(exact), rtol, atol)
    for number, expected in enumerate((-slopes(-exact), slopes(exact))):
        slope = jax.vmap(jax.grad(lambda x, number=number: negative_log_sigmoids(x)[number]))
        np.testing.assert_allclose(slope(x), expected, rtol, atol)
