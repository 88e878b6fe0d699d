"""Where functions have kinks, ties, poles or NaN: the first order is the oracle's, the orders beyond are what
the mathematics says.

At a kink the slope taken is the oracle's; the next orders are those of the pieces beside it, or 0 by symmetry
where these differ.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest

NAN, INF = float("nan"), float("inf")

AS_THE_ORACLE = {
    "abs": ("p.abs(x)", [[0.0, -1.0]]),
    "abs of a complex 0": ("p.abs(p.complex(x, y))", [[0.0, 3.0], [0.0, 4.0]]),
    "sqrt": ("p.sqrt(x)", [[0.0, 1.0]]),
    "rsqrt": ("p.rsqrt(x)", [[0.0, 1.0]]),
    "log": ("p.log(x)", [[0.0, 1.0]]),
    "norm of 0": ("p.norm(x)", [[0.0, 0.0]]),
    "norm 1": ("p.norm(x, 1)", [[0.0, -2.0]]),
    "norm 3 of 0": ("p.norm(x, 3)", [[0.0, 0.0]]),
    "norm inf with ties": ("p.norm(x, float('inf'))", [[1.0, -1.0, 0.5]]),
    "Frobenius norm of 0": ("p.linalg.matrix_norm(x)", [[[0.0, 0.0], [0.0, 0.0]]]),
    "distance 0": ("p.dist(x, y)", [[1.0, 2.0], [1.0, 2.0]]),
    "distance 1 of equals": ("p.dist(x, y, 1)", [[1.0, 2.0], [1.0, 3.0]]),
    "cdist of equals": ("p.cdist(x, y)", [[[1.0, 2.0]], [[1.0, 2.0], [0.0, 0.0]]]),
    "pdist of equals": ("p.pdist(x)", [[[1.0, 2.0], [1.0, 2.0]]]),
    "squares": ("p.pow(x, 2)", [[0.0, -1.0]]),
    "roots": ("p.pow(x, 0.5)", [[0.0, 1.0]]),
    "power 0": ("p.pow(x, 0)", [[0.0, 1.0]]),
    "power 1": ("p.pow(x, 1)", [[0.0, 1.0]]),
    "powers of 0": ("p.pow(x, y)", [[0.0, 0.0, 0.0, -2.0, 2.0], [2.0, 0.0, 1.0, 2.0, 0.0]]),
    "where log": ("p.where(x > 0, p.log(x), x)", [[-1.0, 2.0, 0.0]]),
    "where sqrt": ("p.where(x > 0, p.sqrt(x), x * 0)", [[-1.0, 2.0, 0.0]]),
    "clip": ("p.clip(x, 0.0, 1.0)", [[0.0, 1.0, 0.5, -1.0, 2.0]]),
    "logit with eps": ("p.logit(x, 0.1)", [[0.1, 0.9, 0.05, 0.3]]),
    "hardtanh": ("F.hardtanh(x)", [[-1.0, 1.0, 0.0]]),
    "relu6": ("F.relu6(x)", [[0.0, 6.0, 3.0]]),
    "hardsigmoid": ("F.hardsigmoid(x)", [[-3.0, 3.0, 0.0]]),
    "hardswish": ("F.hardswish(x)", [[-3.0, 3.0, 1.0]]),
    "hardshrink": ("F.hardshrink(x)", [[-0.5, 0.5]]),
    "softshrink": ("F.softshrink(x)", [[-0.5, 0.5]]),
    "thresholded_relu": ("F.thresholded_relu(x)", [[1.0, 2.0]]),
    "relu": ("F.relu(x)", [[0.0, -0.0, 1.0]]),
    "leaky_relu": ("F.leaky_relu(x)", [[0.0]]),
    "elu": ("F.elu(x, 2.0)", [[0.0]]),
    "celu": ("F.celu(x, 2.0)", [[0.0]]),
    "selu": ("F.selu(x)", [[0.0]]),
    "prelu": ("F.prelu(x, y)", [[[0.0]], [0.25]]),
    "softsign": ("F.softsign(x)", [[0.0]]),
    "softplus": ("F.softplus(x)", [[20.0, 800.0, -800.0]]),
    "log_sigmoid": ("F.log_sigmoid(x)", [[0.0, -800.0, 800.0]]),
    "gelu": ("F.gelu(x)", [[40.0, -40.0, 0.0]]),
    "mish": ("F.mish(x)", [[800.0, -800.0, 0.0, 20.0]]),
    "max of ties": ("p.max(x)", [[1.0, 1.0, 0.0]]),
    "amin of ties": ("p.amin(x)", [[1.0, 1.0, 3.0]]),
    "maximum of equals": ("p.maximum(x, y)", [[1.0, 2.0], [1.0, 1.0]]),
    "minimum of equals": ("p.minimum(x, y)", [[1.0, 2.0], [1.0, 1.0]]),
    "fmax with NaN": ("p.fmax(x, y)", [[1.0, 2.0, NAN], [1.0, 1.0, 1.0]]),
    "fmin of equals": ("p.fmin(x, y)", [[1.0, 2.0], [1.0, 1.0]]),
    "median of ties": ("p.median(x)", [[1.0, 1.0, 1.0, 2.0]]),
    "cummax of ties": ("p.cummax(x)[0]", [[1.0, 1.0, 2.0]]),
    "max_pool1d of ties": ("F.max_pool1d(x, 2)", [[[[1.0, 1.0]]]]),
    "maxout of ties": ("F.maxout(x, 2)", [[[[[1.0]], [[1.0]]]]]),
    "sort of ties": ("p.sort(x)", [[1.0, 1.0]]),
    "topk of ties": ("p.topk(x, 1)[0]", [[1.0, 1.0]]),
    "atan2 at the origin": ("p.atan2(x, y)", [[0.0], [0.0]]),
    "hypot at the origin": ("p.hypot(x, y)", [[0.0], [0.0]]),
    "logsumexp with -inf": ("p.logsumexp(x)", [[-INF, 1.0]]),
    "softmax with -inf": ("F.softmax(x)", [[-INF, 1.0]]),
    "log_softmax with -inf": ("F.log_softmax(x)", [[-INF, 1.0]]),
    "cumprod with zeros": ("p.cumprod(x, 0)", [[1.0, 0.0, 3.0, 0.0]]),
    "renorm with a zero row": ("p.renorm(x, 2.0, 0, 1.0)", [[[0.0, 0.0], [3.0, 4.0]]]),
    "normalize of 0": ("F.normalize(x)", [[[0.0, 0.0]]]),
    "l1_loss of equals": ("F.l1_loss(x, y)", [[1.0], [1.0]]),
    "nanmean": ("p.nanmean(x)", [[NAN, 1.0]]),
    "nan_to_num": ("p.nan_to_num(x)", [[NAN, 1.0]]),
    "eigvalsh with equal eigenvalues": ("p.linalg.eigvalsh(x)", [[[1.0, 0.0], [0.0, 1.0]]]),
    "svdvals with equal values": ("p.linalg.svdvals(x)", [[[1.0, 0.0], [0.0, 1.0]]]),
    "svdvals of rank 1": ("p.linalg.svdvals(x)", [[[1.0, 0.0], [0.0, 0.0]]]),
    "pinv of rank 1": ("p.linalg.pinv(x)", [[[1.0, 2.0], [2.0, 4.0]]]),
    "std of equals": ("p.std(x)", [[1.0, 1.0]]),
}

# name: (expression, point, derivatives of order 1, 2, 3 of its sum by x, in a closed form or as symmetry has
# it)
BEYOND = {
    "abs at 0": ("p.abs(x)", 0.0, (0, 0, 0)),
    "relu at 0": ("F.relu(x)", 0.0, (0, 0, 0)),
    "sqrt at 0": ("p.sqrt(x)", 0.0, (INF, -INF, INF)),
    "log at 0": ("p.log(x)", 0.0, (INF, -INF, INF)),
    "x^2 at 0": ("p.pow(x, 2)", 0.0, (0, 2, 0)),
    "x^3 at 0": ("p.pow(x, 3)", 0.0, (0, 0, 6)),
    "x^3 below 0": ("p.pow(x, 3)", -2.0, (12, -12, 6)),
    "x^1.5 at 0": ("p.pow(x, 1.5)", 0.0, (0, INF, -INF)),
    "x^2.5 at 0": ("p.pow(x, 2.5)", 0.0, (0, 0, INF)),
    "square at 0": ("p.square(x)", 0.0, (0, 2, 0)),
    "where with a bad branch": (
        "p.where(x > 0, p.exp(x), p.sin(x))",
        -1.0,
        (np.cos(1), np.sin(1), -np.cos(1)),
    ),
    "clip at its bound": ("p.clip(x, 0.0, 1.0) ** 3", 1.0, (3, 6, 6)),
    "clip outside": ("p.clip(x, 0.0, 1.0) ** 3", 2.0, (0, 0, 0)),
    "maximum of equals": ("p.maximum(x * x, x)", 1.0, (1.5, 1, 0)),
    "norm of a vector of one number": ("p.norm(p.stack([x, x * 0 + 1]))", 0.0, (0, 1, 0)),
    "sinc at 0": ("p.sinc(x)", 0.0, (0, -(np.pi**2) / 3, 0)),
    "i0e at 0": ("p.i0e(x) * p.exp(p.abs(x))", 0.0, (0, 0.5, 0)),
    "i0 at 0": ("p.i0(x)", 0.0, (0, 0.5, 0)),
    "i1 at 0": ("p.i1(x)", 0.0, (0.5, 0, 3 / 8)),
    "prod with one zero": ("p.prod(p.stack([x, x + 2, x + 3]))", 0.0, (6, 10, 6)),
    "prod with two zeros": ("p.prod(p.stack([x, x, x + 3]))", 0.0, (0, 6, 6)),
    "cumprod through a zero": ("p.cumprod(p.stack([x, x, x + 3]), 0)[2]", 0.0, (0, 6, 6)),
    "det of a singular matrix": (
        "p.linalg.det(p.stack([p.stack([x, x]), p.stack([x, x + 1])]))",
        0.0,
        (1, 0, 0),
    ),
    "logaddexp far apart": ("p.logaddexp(x, x * 0)", 800.0, (1, 0, 0)),
    "silu far below": ("F.silu(x)", -800.0, (0, 0, 0)),
    "softplus far above": ("F.softplus(x)", 800.0, (1, 0, 0)),
    "sigmoid far above": ("F.sigmoid(x)", 800.0, (0, 0, 0)),
    "tanh far above": ("p.tanh(x)", 400.0, (0, 0, 0)),
    "logsumexp with -inf": ("p.logsumexp(p.stack([x, x * 0 - float('inf')]))", 1.0, (1, 0, 0)),
    "elu at 0": ("F.elu(x)", 0.0, (1, 1, 1)),
    "gelu at 0": ("F.gelu(x)", 0.0, (0.5, 2 / np.sqrt(2 * np.pi), 0)),
}


def tensors(p, values):
    return [p.to_tensor(np.asarray(v, "float64"), stop_gradient=False) for v in values]


def evaluated(p, text, made):
    return eval(text, {"p": p, "F": p.nn.functional, **dict(zip("xyz", made, strict=False))})  # noqa: S307


def first(p, text, values):
    made = tensors(p, values)
    out = evaluated(p, text, made)
    weight = p.to_tensor(np.random.RandomState(0).uniform(1, 2, out.shape))
    return [g.numpy() for g in p.grad(out, made, grad_outputs=weight)]


@pytest.mark.parametrize("name", AS_THE_ORACLE)
def test_first_order_as_the_oracle(name, oracle, paddle):
    for ours, theirs in zip(
        first(paddle, *AS_THE_ORACLE[name]), first(oracle, *AS_THE_ORACLE[name]), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-12)  # its p-norm adds 1e-6 somewhere


@pytest.mark.parametrize("name", BEYOND)
def test_higher_orders(name, paddle):
    text, point, want = BEYOND[name]
    (x,) = tensors(paddle, [point])
    found, g = [], evaluated(paddle, text, [x])
    for _ in want:
        g = (
            paddle.zeros([], "float64")
            if g.stop_gradient
            else paddle.grad(g.sum(), x, create_graph=True, allow_unused=True)[0]
        )
        g = paddle.zeros([], "float64") if g is None else g
        found.append(g.item())
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9)


def test_complex_gradients_are_conjugates_as_in_paddle(oracle, paddle):
    """For a real loss L the gradient is dL/da + i dL/db: 2 z for |z|^2, conj(f') for Re f with a holomorphic
    f. Second order too."""
    z0 = np.array([0.6 + 0.8j, -1.0 + 0.5j])
    for text, slope, change in (
        ("p.real(x * p.conj(x))", lambda z: 2 * z, lambda z, v: 2 * v),
        ("p.real(p.exp(x))", lambda z: np.conj(np.exp(z)), lambda z, v: np.conj(np.exp(z) * v)),
        ("p.abs(x)", lambda z: z / abs(z), lambda z, v: 1j * z / abs(z) ** 3 * (np.conj(z) * v).imag),
    ):
        for p in (oracle, paddle):
            x = p.to_tensor(z0, stop_gradient=False)
            (g,) = p.grad(evaluated(p, text, [x]).sum(), x)
            # its complex exp computes in float32
            np.testing.assert_allclose(g.numpy(), slope(z0), rtol=1e-6 if p is oracle else 1e-12)
        x = paddle.to_tensor(z0, stop_gradient=False)
        (g,) = paddle.grad(evaluated(paddle, text, [x]).sum(), x, create_graph=True)
        v = np.array([1.0 - 2.0j, 0.5 + 0.3j])
        (h,) = paddle.grad(g, x, grad_outputs=paddle.to_tensor(v))
        # the Hessian of a real loss is symmetric: this is its product with v
        np.testing.assert_allclose(h.numpy(), change(z0, v), rtol=1e-12)


def test_repeated_eigenvalues(paddle):
    """Eigenvalues have a slope where nothing splits them; eigenvectors have none, and say NaN
    instead of a number."""
    x = paddle.to_tensor(np.eye(2), stop_gradient=False)
    values, vectors = paddle.linalg.eigh(x)
    assert np.isnan(paddle.grad(vectors.sum(), x)[0].numpy()).any()
    trace = paddle.linalg.eigvalsh(x).sum()
    np.testing.assert_allclose(paddle.grad(trace, x)[0].numpy(), np.eye(2), atol=1e-12)


class Couple(NamedTuple):
    """Two values of a user."""

    one: Any
    two: Any


def test_a_py_layer_keeps_named_tuples(paddle):
    class Products(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, given):
            return Couple(given.one * 2, given.two * 3)

        @staticmethod
        def backward(ctx, of_one, of_two):
            return of_one * 2

    x = paddle.to_tensor([1.0], stop_gradient=False)
    found = Products.apply(Couple(x, paddle.to_tensor([2.0])))
    assert type(found) is Couple and found.two.tolist() == [6.0]
    found.one.sum().backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize("z", [0.3 + 0.7j, -0.5 + 0.4j, -1.5 - 0.2j, 0.2 - 0.9j, -3 + 2j, 2 - 1j])
def test_acosh_of_complex_numbers(paddle, z):
    """Its derivative is 1 / (sqrt(z - 1) sqrt(z + 1)), also left of the imaginary axis."""
    x = paddle.to_tensor(np.array([z]), stop_gradient=False)
    (gradient,) = paddle.grad(paddle.acosh(x).real().sum(), x, create_graph=True)
    derivative = 1 / (np.sqrt(z - 1) * np.sqrt(z + 1))
    # The gradient of a real part is the conjugate of the derivative.
    np.testing.assert_allclose(gradient.numpy(), [derivative.conjugate()], rtol=1e-12)
    (second,) = paddle.grad(gradient.real().sum(), x)
    np.testing.assert_allclose(second.numpy(), [(-z * derivative**3).conjugate()], rtol=1e-12)
