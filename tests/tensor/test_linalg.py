"""What the generated op test cannot compare: factorisations whose signs, phases or order are free, random
methods, float8."""

import numpy as np
import pytest

import paddle_jax as paddle

R = np.random.RandomState


def make(*shape, seed=0, kind="float64"):
    a = R(seed).randn(*shape)
    return (a + 1j * R(seed + 1).randn(*shape)).astype(kind) if "complex" in kind else a.astype(kind)


def values(*tensors):
    return [t.numpy() for t in tensors]


@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (2, 3, 3)])
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_svd_and_qr_rebuild(shape, kind):
    x = make(*shape, kind=kind)
    u, s, vh = values(*paddle.linalg.svd(paddle.to_tensor(x)))
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, x, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False))
    q, r = values(*paddle.linalg.qr(paddle.to_tensor(x)))
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    identity = np.zeros((*shape[:-2], q.shape[-1], q.shape[-1])) + np.eye(q.shape[-1])
    np.testing.assert_allclose(np.swapaxes(q.conj(), -1, -2) @ q, identity, atol=1e-12)


def test_svd_full_matrices_and_complete_qr_have_square_factors():
    x = paddle.to_tensor(make(3, 2))
    assert [list(t.shape) for t in paddle.linalg.svd(x, True)] == [[3, 3], [2], [2, 2]]
    q, r = values(*paddle.linalg.qr(x, "complete"))
    np.testing.assert_allclose(q @ r, make(3, 2), atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (3, 3)])
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_gradient_of_full_svd_against_differences(shape, kind):
    """Of what does not depend on phases: moduli of the leading vectors, the values, and the projection on the
    surplus columns."""
    x, direction, k = make(*shape, kind=kind), make(*shape, seed=5, kind=kind), min(shape[-2:])

    def loss(t):
        u, s, vh = paddle.linalg.svd(t, True)
        surplus = u[..., k:]
        parts = [
            u[..., :k].abs() ** 2,
            s,
            vh[..., :k, :].abs() ** 2,
            paddle.matmul(surplus, surplus.conj().mT).abs() ** 2,
        ]
        return sum((p * paddle.to_tensor(make(*p.shape, seed=9))).sum() for p in parts)

    t = paddle.to_tensor(x, stop_gradient=False)
    (g,) = paddle.grad(loss(t), [t])
    up, down = (loss(paddle.to_tensor(x + sign * 1e-6 * direction)).item() for sign in (1, -1))
    assert np.real(np.conj(g.numpy()) * direction).sum() == pytest.approx(
        (up - down) / 2e-6, rel=1e-5, abs=1e-6
    )


@pytest.mark.parametrize("side", ["L", "U"])
def test_gradient_of_eigh_is_symmetric(side, oracle):
    grads = []
    for module in (paddle, oracle):
        x = module.to_tensor(make(3, 3), stop_gradient=False)
        w, v = module.linalg.eigh(x, side)
        grads.append(
            module.grad([(w * 2).sum() + (v.abs() * module.to_tensor(make(3, 3, seed=4))).sum()], [x])[
                0
            ].numpy()
        )
    np.testing.assert_allclose(*grads, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("side", ["L", "U"])
def test_eigh_reads_one_triangle(side):
    x = make(3, 3)
    half = np.tril(x, -1) if side == "L" else np.triu(x, 1)
    full = half + half.T + np.diag(np.diag(x))
    w, v = values(*paddle.linalg.eigh(paddle.to_tensor(x), side))
    np.testing.assert_allclose(v @ np.diag(w) @ v.T, full, atol=1e-12)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(full))


@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_eig_solves_its_equation(kind):
    x = make(2, 4, 4, kind=kind)
    w, v = values(*paddle.linalg.eig(paddle.to_tensor(x)))
    np.testing.assert_allclose(x @ v, v * w[..., None, :], atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), np.ones((2, 4)))
    np.testing.assert_allclose(
        np.sort_complex(values(paddle.linalg.eigvals(paddle.to_tensor(x)))[0][0]),
        np.sort_complex(np.linalg.eigvals(x[0])),
    )


def test_gradient_of_eigenvectors_against_differences():
    """A function that does not depend on the phase: the moduli of the components of the eigenvectors."""
    x, u = make(3, 3, seed=4), make(3, 3, seed=9)
    weights = paddle.to_tensor(make(3, 3, seed=2))

    def loss(a):
        _, v = paddle.linalg.eig(a)
        return (paddle.abs(v) * weights).sum()

    t = paddle.to_tensor(x, stop_gradient=False)
    (g,) = paddle.grad([loss(t)], [t])
    step = 1e-6
    slope = (loss(paddle.to_tensor(x + step * u)).item() - loss(paddle.to_tensor(x - step * u)).item()) / (
        2 * step
    )
    np.testing.assert_allclose((g.numpy() * u).sum(), slope, rtol=1e-5)


def test_lu_rebuilds_and_solves():
    for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 3)]:
        x = make(*shape)
        p, lower, upper = values(*paddle.linalg.lu_unpack(*paddle.linalg.lu(paddle.to_tensor(x))))
        np.testing.assert_allclose(p @ lower @ upper, x, atol=1e-12)
    a, b = make(3, 3), make(3, 2, seed=5)
    packed = paddle.linalg.lu(paddle.to_tensor(a))
    for trans, matrix in (("N", a), ("T", a.T)):
        out = paddle.linalg.lu_solve(paddle.to_tensor(b), *packed, trans=trans)
        np.testing.assert_allclose(matrix @ out.numpy(), b, atol=1e-12)


def test_gradients_that_paddle_gets_wrong():
    """Against central differences; the generated test compares only values for these."""
    square, spd = make(3, 3), make(3, 3) @ make(3, 3).T + 3 * np.eye(3)
    pivots = paddle.to_tensor(np.array([2, 2, 3], "int32"))
    rhs = paddle.to_tensor(make(3, 2, seed=7))
    functions = [
        (lambda a: paddle.linalg.cholesky_solve(rhs, a), spd),
        (lambda a: paddle.linalg.lu_solve(rhs, a, pivots, "T"), square),
        (lambda a: paddle.linalg.triangular_solve(a, rhs, False, True, True), square),
        (lambda a: paddle.linalg.pinv(a, 0.5), make(3, 2, seed=3)),
        (lambda a: paddle.linalg.det(a), np.ones((2, 2))),
        (lambda a: paddle.prod(paddle.complex(a, a * a)).abs(), make(4)),
    ]
    for function, point in functions:
        t = paddle.to_tensor(point, stop_gradient=False)
        out = function(t)
        direction, weights = R(8).randn(*point.shape), R(9).randn(*out.shape)
        (g,) = paddle.grad([out], [t], grad_outputs=[paddle.to_tensor(np.asarray(weights))])
        ends = [
            (function(paddle.to_tensor(point + s * 1e-6 * direction)).numpy() * weights).sum()
            for s in (1, -1)
        ]
        np.testing.assert_allclose((g.numpy() * direction).sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


def test_random_low_rank_methods_find_the_leading_part():
    x = make(8, 3) @ make(3, 6, seed=1)
    for lowrank, reference in (
        (lambda t: paddle.linalg.svd_lowrank(t, 3), x),
        (lambda t: paddle.linalg.pca_lowrank(t, 3), x - x.mean(0)),
    ):
        u, s, v = values(*lowrank(paddle.to_tensor(x)))
        np.testing.assert_allclose((u * s) @ v.T, reference, atol=1e-10)


def test_float8_product():
    x, y = np.array([[1.0, 2.0], [-3.0, 0.5]]), np.array([[2.0, 0.0], [1.0, -1.0]])
    a, b = (paddle.to_tensor(v).astype("float8_e4m3fn") for v in (x, y))
    out = paddle.linalg.fp8_fp8_half_gemm_fused(
        a, b, transpose_y=True, bias=paddle.to_tensor([1.0, 1.0]), scale=2.0, act="relu"
    )
    assert out.dtype == paddle.float16
    np.testing.assert_allclose(out.astype("float32").numpy(), np.maximum(2 * x @ y.T + 1, 0))


def test_singular_matrices_are_refused():
    one = paddle.ones([2, 2])
    with pytest.raises(ValueError, match="singular"):
        paddle.linalg.inv(one)
    with pytest.raises(ValueError, match="singular"):
        paddle.linalg.solve(one, paddle.ones([2]))
    with pytest.raises(ValueError, match="positive definite"):
        paddle.linalg.cholesky(-one)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pseudo_inverse_of_singular_matrices(dtype):
    for matrix in (
        np.ones((2, 3)),
        np.arange(9.0).reshape(3, 3),
        np.array([[1.0, 2], [2, 4]]),
        np.zeros((2, 2)),
    ):
        found = paddle.linalg.pinv(paddle.to_tensor(matrix.astype(dtype)))
        np.testing.assert_allclose(found.numpy(), np.linalg.pinv(matrix, rcond=1e-6), atol=1e-5)
