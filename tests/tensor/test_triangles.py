"""Functions that read one triangle of a matrix, or a matrix as Hermitian: the other triangle holds numbers
that would show."""

import numpy as np
import pytest

import paddle_jax

T = np.array([[2.0, 100.0, -50.0], [1.0, 3.0, 70.0], [0.5, -1.0, 4.0]])
MORE = np.stack([T, np.array([[1.0, 9.0, 9.0], [1.0, 1.0, 9.0], [1.0, 1.0, 1.0]])])
COMPLEX = T + 1j * np.array([[0.5, -3.0, 2.0], [1.0, -0.5, 4.0], [3.0, 2.0, 1.0]])
FACTOR = np.array([[4.0, 1.0, 0.5], [0.2, 5.0, 0.3], [0.1, -0.4, 6.0]])
SIDE = np.array([[1.0], [2.0], [3.0]])
CALLS = [
    *[f"matrix_rank({x}, hermitian=True)" for x in ("T", "MORE", "COMPLEX", "SINGULAR", "SINGULAR.t()")],
    "matrix_rank(T, tol=0.1, hermitian=True)",
    *[f"pinv({x}, hermitian=True)" for x in ("T", "MORE", "COMPLEX")],
    *[f"eigh({x}, {side!r})[0]" for x in ("T", "MORE", "COMPLEX") for side in "LU"],
    *[f"eigvalsh({x}, {side!r})" for x in ("T", "MORE", "COMPLEX") for side in "LU"],
    *[
        f"{call}, upper={up})"
        for call in (
            "cholesky(FACTOR",
            "cholesky_solve(SIDE, FACTOR",
            "cholesky_inverse(FACTOR",
            "triangular_solve(FACTOR, SIDE",
        )
        for up in (True, False)
    ],
    *[
        f"triangular_solve(FACTOR, SIDE, upper={up}, {what}=True)"
        for up in (True, False)
        for what in ("transpose", "unitriangular")
    ],
]


def result(module, call):
    arrays = {
        "T": T,
        "MORE": MORE,
        "COMPLEX": COMPLEX,
        "FACTOR": FACTOR,
        "SIDE": SIDE,
        "SINGULAR": np.array([[1.0, 2.0], [0.0, 0.0]]),
    }
    return eval(
        "L." + call,
        {"L": module.linalg, **{k: module.to_tensor(v) for k, v in arrays.items()}},
    ).numpy()


@pytest.mark.parametrize("call", CALLS)
def test_as_the_oracle(call, oracle):
    want, got = result(oracle, call), result(paddle_jax, call)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9)


def test_rank_reads_the_lower_triangle_as_numpy_does():
    for x in (T, MORE, COMPLEX, np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 0.0]])):
        got = paddle_jax.linalg.matrix_rank(paddle_jax.to_tensor(x), hermitian=True).numpy()
        np.testing.assert_array_equal(got, np.linalg.matrix_rank(x, hermitian=True))
