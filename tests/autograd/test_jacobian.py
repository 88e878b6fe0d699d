"""Jacobians and Hessians, and products with them, against the real Paddle; beyond it against closed forms."""

import numpy as np
import pytest

R = np.random.RandomState(4)
X, Y, B = R.randn(3).astype("float32"), R.randn(2).astype("float32"), R.randn(4, 3).astype("float32")

JACOBIANS = {
    "vector": (lambda m, x, y: m.outer(x, y).sum(0) * x.sum(), (X, Y), {}),
    "number": (lambda m, x: (x**3).sum(), (X,), {}),
    "of a number": (lambda m, x: m.stack([x, x * x]), (X[0],), {}),
    "several results": (lambda m, x, y: (m.exp(x), x.sum() * y), (X, Y), {}),
    "batch": (lambda m, x: (x**2) @ m.ones([3, 2]), (B,), {"batch_axis": 0}),
    "batch of numbers": (lambda m, x: x * x, (X,), {"batch_axis": 0}),
}
HESSIANS = {
    "vector": (lambda m, x: (x**3).sum() * x[0], (X,), {}),
    "two": (lambda m, x, y: (x * x).sum() * (y * y).sum(), (X, Y), {}),  # the real Paddle cannot do x**2 here
    "batch": (lambda m, x: (x**3).sum(-1, keepdim=True) * x[:, :1], (B,), {"batch_axis": 0}),
}
INDICES = [slice(None), 0, -1, (slice(None), 1), (slice(0, 2), slice(None, None, 2)), (1, 0)]


def tensors(module, arrays):
    return [module.to_tensor(a, stop_gradient=False) for a in arrays]


def parts(found):
    return [p for f in found for p in parts(f)] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize(
    ("kind", "name"), [("jacobian", n) for n in JACOBIANS] + [("hessian", n) for n in HESSIANS]
)
def test_as_the_oracle(kind, name, paddle, oracle):
    function, arrays, options = (JACOBIANS if kind == "jacobian" else HESSIANS)[name]
    made = []
    for module in (paddle, oracle):
        xs = tensors(module, arrays)
        made.append(
            parts(
                getattr(module.autograd, kind)(
                    function(module, *xs), xs[0] if len(xs) == 1 else tuple(xs), **options
                )
            )
        )
    assert len(made[0]) == len(made[1])
    for ours, theirs in zip(*made, strict=True):
        assert list(ours.shape) == list(theirs.shape)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-5)
        for index in INDICES[: 3 if len(ours.shape) < 2 else None]:
            np.testing.assert_allclose(ours[index].numpy(), theirs[index].numpy(), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose((ours + 1).numpy(), (theirs + 1).numpy(), rtol=1e-5, atol=1e-5)


REFUSED = {
    "batch axis": lambda m, x: m.autograd.jacobian(x * 2, x, batch_axis=1),
    "matrix": lambda m, x: m.autograd.jacobian(m.ones([2, 3, 4]), x),
    "hessian of a vector": lambda m, x: m.autograd.hessian(x * 2, x),
    "row": lambda m, x: m.autograd.jacobian(x * 2, x)[5],
    "ellipsis": lambda m, x: m.autograd.jacobian(x * 2, x)[...],
    "0-d": lambda m, x: m.autograd.jacobian(x[0] * 2, x[0])[0],
    "hessian function": lambda m, x: m.incubate.autograd.Hessian(lambda t: t * 2, x),
    "direction": lambda m, x: m.incubate.autograd.jvp(lambda t: t * 2, x, m.ones([2])),
    "cotangent": lambda m, x: m.incubate.autograd.vjp(lambda t: t * 2, x, m.ones([2])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_as_the_oracle(name, paddle, oracle):
    with pytest.raises(Exception) as theirs:
        REFUSED[name](oracle, *tensors(oracle, [X]))
    with pytest.raises(theirs.type):
        REFUSED[name](paddle, *tensors(paddle, [X]))


def test_rows_are_computed_when_looked_at(paddle):
    x = paddle.to_tensor(X, stop_gradient=False)
    calls = []
    y = paddle.stack([x.sum() * 1, (x * x).sum()])
    y.register_hook(lambda g: calls.append(1))
    lazy = paddle.autograd.jacobian(y, x)
    assert not calls
    lazy[1], lazy[1, 0], lazy[1:]
    assert len(calls) == 1
    lazy[:]
    assert len(calls) == 2


def test_third_derivative(paddle):
    x = paddle.to_tensor(X.astype("float64"), stop_gradient=False)
    second = paddle.autograd.hessian((x**4).sum(), x)
    third = paddle.autograd.jacobian(second[1], x)[:]
    want = np.zeros((3, 3))
    want[1, 1] = 24 * X.astype("float64")[1]
    np.testing.assert_allclose(third.numpy(), want, rtol=1e-12)


FUNCTIONS = {
    "one": (lambda m: lambda x: m.exp(x) * x.sum(), [X]),
    "two": (lambda m: lambda x, y: (x.sum() * y, m.tanh(x)), [X, Y]),
}


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_products(name, kind, given, paddle, oracle):
    function, arrays = FUNCTIONS[name]
    made = []
    for module in (paddle, oracle):
        xs = [module.to_tensor(a) for a in arrays]
        outs = parts(function(module)(*xs))
        like = xs if kind == "jvp" else outs
        v = (
            [module.to_tensor(np.linspace(-1, 2, t.shape[0], dtype="float32")) for t in like]
            if given
            else None
        )
        found = getattr(module.incubate.autograd, kind)(function(module), xs if len(xs) > 1 else xs[0], v)
        made.append([p.numpy() for p in parts(found)])
    for ours, theirs in zip(*made, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("kind", ["Jacobian", "Hessian"])
def test_matrices_of_functions(kind, batched, paddle, oracle):
    made = []
    for module in (paddle, oracle):
        x = module.to_tensor(B)
        functions = {
            "Jacobian": lambda t: t**2,
            "Hessian": lambda t: (t**3).sum(-1, keepdim=True) if batched else (t**3).sum(),
        }
        made.append(getattr(module.incubate.autograd, kind)(functions[kind], x, is_batched=batched))
    assert tuple(made[0].shape) == tuple(made[1].shape)
    for index in (slice(None), (slice(None), 1), (slice(None), slice(0, 2))):
        np.testing.assert_allclose(made[0][index].numpy(), made[1][index].numpy(), rtol=1e-5, atol=1e-5)
