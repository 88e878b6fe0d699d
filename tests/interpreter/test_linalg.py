"""Factorisations and Fourier transforms against XLA, which calls the same LAPACK: signs and
orders included."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.interpreter.compare import check

R = np.random.RandomState(6)
TYPES = ["float32", "float64", "complex64", "complex128"]


def matrix(dtype, *shape):
    a = R.randn(*shape) + (1j * R.randn(*shape) if np.dtype(dtype).kind == "c" else 0)
    return a.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_factorisations(dtype):
    a, tall = matrix(dtype, 2, 5, 5), matrix(dtype, 2, 6, 4)
    spd = a @ a.conj().swapaxes(1, 2) + 5 * np.eye(5, dtype=dtype)

    def factors(a, tall, spd):
        wide = tall.swapaxes(1, 2)
        results = [lax.linalg.cholesky(spd), lax.linalg.lu(a), lax.linalg.lu(tall), lax.linalg.lu(wide)]
        results += [lax.linalg.eigh(spd), lax.linalg.eigh(spd, lower=False)]
        results += [
            lax.linalg.qr(tall, full_matrices=False),
            lax.linalg.qr(tall, full_matrices=True),
            lax.linalg.qr(wide, full_matrices=False),
        ]
        results += [
            lax.linalg.svd(tall, full_matrices=False),
            lax.linalg.svd(wide, full_matrices=True),
            lax.linalg.svd(tall, compute_uv=False),
        ]
        results += [
            lax.linalg.eig(a),
            lax.linalg.schur(a),
            lax.linalg.hessenberg(a),
            lax.linalg.tridiagonal(spd),
        ]
        return jax.tree.leaves(results)

    check(factors, a, tall, spd, ulp=8, scale=64, signs=False)


@pytest.mark.parametrize("dtype", TYPES)
def test_solvers(dtype):
    a, b = matrix(dtype, 2, 4, 4) + 4 * np.eye(4, dtype=dtype), matrix(dtype, 2, 4, 3)

    def solved(a, b):
        results = []
        for lower in (True, False):
            for options in (
                {"transpose_a": True},
                {"conjugate_a": True, "transpose_a": True},
                {"unit_diagonal": True},
                {"conjugate_a": True},
            ):
                results.append(lax.linalg.triangular_solve(a, b, left_side=True, lower=lower, **options))
            results.append(lax.linalg.triangular_solve(a, b.swapaxes(1, 2), left_side=False, lower=lower))
        diagonals = [a[..., k] for k in range(3)]
        return [
            *results,
            jnp.linalg.solve(a, b),
            jnp.linalg.inv(a),
            jnp.linalg.det(a),
            lax.linalg.tridiagonal_solve(*diagonals, b),
        ]

    check(solved, a, b, ulp=8, scale=256, signs=False)


def test_failures_give_nan():
    bad = np.array([[1.0, 2], [2, 1]])
    check(lambda a: (lax.linalg.cholesky(a), lax.linalg.eigh(a), lax.linalg.lu(a)), bad, ulp=8)
    check(
        lambda a: (lax.linalg.lu(a), lax.linalg.eig(a)[0], lax.linalg.svd(a, compute_uv=False)), bad * np.nan
    )


def test_gradients_of_factorisations():
    a = matrix("float64", 3, 3) + 3 * np.eye(3)
    check(
        jax.grad(
            lambda a: (
                jnp.linalg.slogdet(a)[1] + jnp.linalg.svd(a, compute_uv=False).sum() + jnp.linalg.inv(a).sum()
            )
        ),
        a,
        ulp=64,
        scale=64,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fourier(dtype):
    x = R.randn(3, 4, 9).astype(dtype)

    def transforms(x):
        z = jnp.fft.fft2(x)
        half = jnp.fft.rfftn(x)
        return [
            jnp.fft.fft(x),
            z,
            jnp.fft.ifft2(z),
            half,
            jnp.fft.irfftn(half, s=x.shape),
            jnp.fft.irfft(z, n=10),
            jnp.fft.rfft(x[..., :1]),
        ]

    check(transforms, x, ulp=4, scale=16)
    check(jax.grad(lambda x: jnp.abs(jnp.fft.rfft(x)).sum()), x, ulp=8, scale=16)
