"""paddle_jax.func: against formulas, loops over single samples, nested paddle.grad, and each other."""

import itertools

import numpy as np
import pytest

R = np.random.RandomState(8)
X, W, B = R.randn(4, 3), R.randn(3, 2), R.randn(5, 4, 3)


@pytest.fixture
def func(paddle):
    return paddle.func


@pytest.fixture
def net(paddle):
    return paddle.nn.Sequential(paddle.nn.Linear(3, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, 2)).to(
        dtype="float64"
    )


def close(got, want, rtol=1e-9):
    np.testing.assert_allclose(
        got.numpy() if hasattr(got, "numpy") else got,
        want.numpy() if hasattr(want, "numpy") else want,
        rtol=rtol,
        atol=1e-12,
    )


def nested(paddle, f, x, order):
    """Derivatives of the sum by nested paddle.grad, one row at a time."""
    x = x.clone().detach()
    x.stop_gradient = False
    found = [f(x)]
    for _ in range(order):
        found.append(paddle.grad(found[-1].sum(), x, create_graph=True)[0])
    return found


VMAPPED = {
    "rows": (lambda p, x: p.nn.functional.softmax(x) * x.sum(), [X], 0, 0),
    "columns": (lambda p, x: p.cumsum(x), [X], 1, 1),
    "last": (lambda p, x: p.sort(x, 0), [X], -1, 0),
    "shared": (lambda p, x, w: x @ w, [X, W], (0, None), 0),
    "two": (lambda p, x, w: (x * 2, w.T), [B, B], (0, 0), (0, 1)),
    "matrices": (lambda p, x: p.linalg.inv(x @ x.T + p.eye(4, dtype="float64")), [B], 0, 0),
    "indices": (lambda p, x, i: x[i.astype("int64")] + x[0], [X, np.arange(4) % 3], 0, 0),
    "in place": (lambda p, x: p.zeros([3], "float64").add_(x), [X], 0, 0),
    "control": (lambda p, x: p.where(x > 0, x, p.exp(x)), [X], 0, 0),
    "convolution": (lambda p, x: p.nn.functional.conv1d(x[None], p.ones([2, 4, 2], "float64")), [B], 0, 0),
}


@pytest.mark.parametrize("case", VMAPPED)
def test_vmap_is_a_loop(case, func, paddle):
    f, arrays, in_axes, out_axes = VMAPPED[case]
    tensors = [paddle.to_tensor(a) for a in arrays]
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arrays)
    got = func.vmap(lambda *a: f(paddle, *a), in_axes, out_axes)(*tensors)
    size = next(a.shape[x] for a, x in zip(arrays, axes, strict=True) if x is not None)
    rows = [
        f(paddle, *[t if x is None else t.unbind(x)[i] for t, x in zip(tensors, axes, strict=True)])
        for i in range(size)
    ]
    if isinstance(got, tuple):
        for k, part in enumerate(got):
            close(part, paddle.stack([r[k] for r in rows], out_axes[k]))
    else:
        close(got, paddle.stack(rows, out_axes))


def test_vmap_of_structures(func, paddle):
    x = paddle.to_tensor(X)
    got = func.vmap(
        lambda d, flag, scale=None: {"a": d["x"] * scale, "b": [d["y"], flag]},
        in_axes=({"x": 0, "y": None}, None),
    )({"x": x, "y": x}, "text", scale=x[:, 0])
    close(got["a"], X * X[:, :1])
    close(got["b"][0], np.broadcast_to(X, (4, 4, 3)))
    assert got["b"][1] == "text"


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda f, x: f.vmap(lambda a: a, in_axes=None)(x), "no Tensor with a batch axis"),
        (lambda f, x: f.vmap(lambda a, b: a, in_axes=(0, 1))(x, x), r"batches of \[3, 4\]"),
        (lambda f, x: f.vmap(lambda a: a, in_axes=2)(x), "from -2 to 1"),
        (lambda f, x: f.vmap(lambda a: a, in_axes=(0, 0))(x), "2 entries"),
        (lambda f, x: f.vmap(lambda a: a, out_axes=None)(x), "differs between samples"),
        (lambda f, x: f.vmap(lambda a: a, in_axes=({"x": 0},))(x), "does not fit"),
        (lambda f, x: f.vmap(lambda a: a, randomness="none"), "'different', 'same'"),
    ],
)
def test_vmap_refuses(call, match, func, paddle):
    with pytest.raises(ValueError, match=match):
        call(func, paddle.to_tensor(X))


def test_vmap_randomness(func, paddle):
    x = paddle.ones([200, 50])
    dropped = func.vmap(lambda a: paddle.nn.functional.dropout(a, 0.3))(x).numpy()
    assert 0.68 < (dropped != 0).mean() < 0.72
    assert len({row.tobytes() for row in dropped != 0}) == 200
    same = func.vmap(lambda a: paddle.nn.functional.dropout(a, 0.3), randomness="same")(x).numpy()
    assert (
        len({row.tobytes() for row in same}) == 1 and same.tobytes() != dropped[:1].repeat(200, 0).tobytes()
    )
    inner = func.vmap(func.vmap(lambda a: a + paddle.rand([])))(paddle.zeros([20, 30])).numpy()
    assert len(set(inner.ravel().tolist())) == 600 and abs(inner.mean() - 0.5) < 0.05
    paddle.seed(5)
    want = [paddle.rand([2]).tolist() for _ in range(3)]
    paddle.seed(5)
    got = [
        func.jvp(lambda a: paddle.rand([2]) + 0 * a, (paddle.zeros([2]),), (paddle.ones([2]),))[0].tolist(),
        paddle.rand([2]).tolist(),
    ]
    assert got == want[:2]  # the same numbers as without a transform, and the generator goes on


def test_layers_outside_get_gradients(func, net, paddle):
    x = paddle.to_tensor(X)
    close(func.vmap(net)(x), net(x))
    close(func.vmap(func.vmap(net))(paddle.to_tensor(B)), net(paddle.to_tensor(B)))
    want = paddle.grad(net(x).square().sum(), net.parameters())
    for got in (
        paddle.grad(func.vmap(net)(x).square().sum(), net.parameters()),
        paddle.grad(
            func.vmap(func.value_and_grad(lambda a: net(a).square().sum()))(x)[0].sum(), net.parameters()
        ),
    ):
        for a, b in zip(got, want, strict=True):
            close(a, b)
    second = paddle.grad(
        func.vmap(func.grad(lambda a: net(a).square().sum()))(x).square().sum(), net.parameters()
    )
    leaf = paddle.to_tensor(X, stop_gradient=False)
    direct = paddle.grad(net(leaf).square().sum(), leaf, create_graph=True)[0]
    for a, b in zip(
        second, paddle.grad(direct.square().sum(), net.parameters(), allow_unused=True), strict=True
    ):
        close(a, b if b is not None else np.zeros(a.shape))


def test_results_join_the_tape(func, paddle):
    x = paddle.to_tensor(X[0], stop_gradient=False)
    for transformed, want in (
        (func.jacfwd(lambda a: a**3), 6 * X[0]),
        (func.jacrev(lambda a: a**3), 6 * X[0]),
        (lambda a: func.hessian(lambda b: (b**4).sum())(a), 24 * X[0]),
        (lambda a: func.jvp(lambda b: b**3, (a,), (paddle.ones_like(a),))[1], 6 * X[0]),
        (lambda a: func.taylor(lambda b: b**3, a)[2], np.full(3, 6.0)),
        (lambda a: func.grad(lambda b: (b**3).sum())(a), 6 * X[0]),
    ):
        close(paddle.grad(transformed(x).sum(), x)[0], want)
        with paddle.no_grad():
            assert transformed(x).stop_gradient
        assert transformed(x.detach()).stop_gradient


def test_jacobians(func, paddle):
    x, w = paddle.to_tensor(X), paddle.to_tensor(W)
    for jacobian in (func.jacfwd, func.jacrev):
        first = jacobian(lambda a, b: a @ b)(x, w)
        close(first, np.einsum("ik,jl->ijkl", np.eye(4), W.T))
        both = jacobian(lambda a, b: {"y": a @ b, "z": b.sum()}, argnums=(0, 1))(x, w)
        close(both["y"][1], np.einsum("jl,ik->ijkl", np.eye(2), X))
        close(both["z"][0], np.zeros((4, 3)))
        close(both["z"][1], np.ones((3, 2)))
        found, aux = jacobian(lambda a: ((a * a).sum(), (a.sum(), "note")), has_aux=True)(x)
        close(found, 2 * X)
        close(aux[0], X.sum())
        assert aux[1] == "note"
    close(func.hessian(lambda a: (a[0] * a[1] ** 2).sum())(paddle.to_tensor([2.0, 3.0])), [[0, 6], [6, 4]])
    z = paddle.to_tensor(np.array([1 + 2j, 3 - 1j]))
    close(func.jacfwd(lambda a: a**2)(z), np.diag([2 + 4j, 6 - 2j]))


def test_gradients(func, paddle):
    x, w = paddle.to_tensor(X), paddle.to_tensor(W)
    found = func.grad(lambda d, n: (d["x"] @ d["w"]).sum() * n)(
        {"x": x, "w": w, "i": paddle.to_tensor([1])}, 3
    )
    close(found["x"], 3 * np.broadcast_to(W.sum(1), (4, 3)))
    assert found["i"].tolist() == [0]
    (value, aux), (gx, gw) = func.value_and_grad(
        lambda a, b: ((a @ b).sum(), a[0]), argnums=(0, 1), has_aux=True
    )(x, w)
    close(value, (X @ W).sum())
    close(aux, X[0])
    close(gw, np.broadcast_to(X.sum(0)[:, None], (3, 2)))
    assert value.stop_gradient and aux.stop_gradient and gx.stop_gradient
    y, pull = func.vjp(lambda a, b: [a @ b, a.sum()], x, w)
    one = pull([paddle.ones_like(y[0]), paddle.zeros([], "float64")])
    two = pull([paddle.zeros_like(y[0]), paddle.ones([], "float64")])
    close(one[0], np.broadcast_to(W.sum(1), (4, 3)))
    close(two[0], np.ones((4, 3)))
    close(two[1], np.zeros((3, 2)))
    z = paddle.to_tensor(np.array([1 + 2j, 3j]), stop_gradient=False)
    value = (z * z.conj()).real().sum()
    close(func.grad(lambda a: (a * a.conj()).real().sum())(z), paddle.grad(value, z)[0])


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda f, p, x: f.grad(lambda a: a)(x), TypeError, r"shape \[4, 3\]"),
        (lambda f, p, x: f.grad(lambda a: 1.0)(x), TypeError, "returned float"),
        (lambda f, p, x: f.grad(lambda a: a.sum())(p.to_tensor([1])), TypeError, "no floating"),
        (lambda f, p, x: f.grad(lambda a: a.sum(), argnums=1)(x), ValueError, "1 positional"),
        (lambda f, p, x: f.jacrev(lambda a: a, has_aux=True)(x), TypeError, "has_aux"),
        (lambda f, p, x: f.vjp(lambda a: a, x)[1]([x]), ValueError, "structure"),
        (lambda f, p, x: f.jvp(lambda a: a, (x,), (x[0],)), ValueError, "must be alike"),
        (lambda f, p, x: f.jvp(lambda a: a, (x,), ([x],)), ValueError, "structure"),
        (lambda f, p, x: f.taylor(lambda a: a, x, order=0), ValueError, "at least 1"),
        (lambda f, p, x: f.laplacian(lambda a: a, x.sum()), ValueError, "0-D"),
    ],
)
def test_refusals(call, error, match, func, paddle):
    with pytest.raises(error, match=match):
        call(func, paddle, paddle.to_tensor(X))


FUNCTIONS = {
    "polynomial": lambda p, x: 3 * x**4 - x**3 / (x * x + 2),
    "trigonometric": lambda p, x: p.sin(x) * p.cos(2 * x) + p.atan2(x, x + 3),
    "activations": lambda p, x: (
        p.nn.functional.gelu(x) + p.nn.functional.silu(x) * p.tanh(x) + p.nn.functional.softplus(x)
    ),
    "rational": lambda p, x: p.exp(-x * x) / p.sqrt(1 + x * x) + p.log1p(x * x),
    "special": lambda p, x: p.erf(x) + p.lgamma(x * x + 1),
    "softmax": lambda p, x: p.nn.functional.softmax(p.concat([x, x * x], -1)),
    "norm": lambda p, x: p.nn.functional.layer_norm(p.concat([x, x * x, p.sin(x)], -1), 3),
    "indices": lambda p, x: p.concat([x[:, :1] ** 3, x.flip(0)], -1)[:, ::-1],
    "matrices": lambda p, x: p.linalg.inv(p.einsum("ni,j->nij", x, p.ones([1], "float64")) ** 2 + 1)[:, 0],
    "relu and where": lambda p, x: p.nn.functional.relu(x) ** 3 + p.where(x > 0, x**2, x**5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_taylor_is_nested_grad(name, func, paddle):
    x = paddle.to_tensor(R.uniform(0.2, 1.5, (3, 1)) * np.array([[1], [-1], [1]]))
    order, f = 4, FUNCTIONS[name]
    got = func.taylor(lambda a: f(paddle, a), x, order=order)
    want = [f(paddle, x)]
    # the gradient of the sum over rows of one column, taken again and again
    for column in range(want[0].shape[1]):
        for k, derivative in enumerate(
            nested(
                paddle,
                lambda a: f(paddle, a)[:, column : column + 1],  # noqa: B023
                x,
                order,
            )
        ):
            if name != "indices" or k == 0:  # flip mixes the rows
                close(got[k][:, column : column + 1], derivative, rtol=1e-7)
    if name == "indices":
        close(got[2][:, -1:], 6 * x)


def test_taylor_of_a_network(func, net, paddle):
    x = paddle.to_tensor(X)
    column = paddle.zeros_like(x)
    column[:, 1] = 1.0
    got = func.taylor(net, x, column, 3)
    leaf = paddle.to_tensor(X, stop_gradient=False)
    u = net(leaf)[:, 0].sum()
    for k in range(1, 4):
        u = paddle.grad(u, leaf, create_graph=True)[0][:, 1]
        close(got[k][:, 0], u, rtol=1e-8)
        u = u.sum()
    loss = got[3].square().mean()
    third = paddle.stack([grad3(paddle, net, leaf, c) for c in range(2)], 1)
    for a, b in zip(
        paddle.grad(loss, net.parameters(), allow_unused=True),
        paddle.grad(third.square().mean(), net.parameters(), allow_unused=True),
        strict=True,
    ):
        if a is not None and b is not None:
            close(a, b, rtol=1e-7)


def grad3(paddle, net, leaf, c):
    u = net(leaf)[:, c]
    for _ in range(3):
        u = paddle.grad(u.sum(), leaf, create_graph=True)[0][:, 1]
    return u


def test_laplacian(func, net, paddle):
    x = paddle.to_tensor(X)
    u, laplacian = func.laplacian(net, x)
    close(u, net(x))
    for row, c in itertools.product(range(4), range(2)):
        hessian = func.hessian(lambda a, c=c: net(a)[c])(x[row])
        close(laplacian[row, c], paddle.trace(hessian), rtol=1e-8)
    deep = paddle.to_tensor(B)
    close(func.laplacian(lambda a: (a**3).sum(-1), deep)[1], 6 * B.sum(-1))


def test_hvp_without_the_hessian(func, net, paddle):
    x, v = paddle.to_tensor(X[0]), paddle.to_tensor(X[1])
    f = lambda a: net(a).square().sum()  # noqa: E731
    close(func.hvp(f, (x,), (v,)), func.hessian(f)(x) @ v)
    parts = func.hvp(lambda a, b: (a * b).sum() ** 2, (x, v), (v, x))
    s = (X[0] * X[1]).sum()
    t = (X[1] ** 2).sum() + (X[0] ** 2).sum()
    close(parts[0], 2 * t * X[1] + 2 * s * X[0])


def test_compositions_agree(func, paddle):
    x = paddle.to_tensor(X[0])
    f = lambda a: (a.sin() * a.sum()).sum()  # noqa: E731
    want = func.hessian(f)(x)
    for got in (
        func.jacrev(func.grad(f))(x),
        func.jacfwd(func.jacrev(f))(x),
        func.jacrev(func.jacfwd(f))(x),
        func.vmap(lambda v: func.hvp(f, (x,), (v,)))(paddle.eye(3, dtype="float64")),
        func.vmap(lambda v: func.vjp(func.grad(f), x)[1](v)[0])(paddle.eye(3, dtype="float64")),
    ):
        close(got, want)
    third = func.jacfwd(func.jacfwd(func.jacrev(f)))(x)
    step = 1e-4
    for i in range(3):
        shift = paddle.to_tensor(np.eye(3)[i] * step)
        np.testing.assert_allclose(
            third[..., i].numpy(),
            ((func.hessian(f)(x + shift) - func.hessian(f)(x - shift)) / (2 * step)).numpy(),
            atol=1e-6,
        )


def test_constants_stay_constants(func, paddle):
    """What Paddle's tape does not follow no transform follows either."""
    x = paddle.to_tensor([3.0], dtype="float64")

    def unrecorded(a):
        with paddle.no_grad():
            c = a * a
        return c * a

    for f in (
        lambda a: a.detach() * a,
        lambda a: paddle.to_tensor(a) * 0 + a.detach() * a,
        lambda a: a * a.clone().detach_(),
    ):
        found = [
            func.jacfwd(f)(x),
            func.jacrev(f)(x),
            func.jvp(f, (x,), (paddle.ones_like(x),))[1],
            func.grad(f)(x),
        ]
        assert [d.item() for d in found] == [3.0] * 4
    assert func.jacfwd(unrecorded)(x).item() == func.grad(unrecorded)(x).item() == 9.0
    outer = paddle.to_tensor([2.0], dtype="float64", stop_gradient=False)
    shared = outer.detach()  # the same array in two roles
    y = func.vmap(lambda a: (a * outer * shared).sum())(x.reshape([1, 1]))
    assert paddle.grad(y.sum(), outer)[0].item() == 6.0


def _two_sources(paddle, way):
    """Gradients by two Tensors that share one array, and that a function used in a transform reads both."""
    x = paddle.to_tensor([1.0, 2.0], dtype="float64", stop_gradient=False)
    y = x.detach()
    y.stop_gradient = False
    out = way(lambda row: (row * x).sum() * (y**2).sum(), paddle.to_tensor(X[:, :2]))
    return paddle.grad(out.sum(), [x, y])


@pytest.mark.parametrize("name", ["vmap", "jacfwd", "nested"])
def test_two_tensors_with_one_array(name, func, paddle):
    ways = {
        "vmap": lambda f, rows: func.vmap(f)(rows),
        "jacfwd": lambda f, rows: paddle.stack([func.jacfwd(f)(row) for row in rows]),
        "nested": lambda f, rows: func.vmap(lambda r: func.vmap(f)(r[None]))(rows),
    }
    loops = {
        **dict.fromkeys(ways, lambda f, rows: paddle.stack([f(r) for r in rows])),
        "jacfwd": lambda f, rows: paddle.stack([func.grad(f)(row) for row in rows]),
    }
    for got, want in zip(_two_sources(paddle, ways[name]), _two_sources(paddle, loops[name]), strict=True):
        close(got, want)


def test_two_values_with_one_array_inside(func, paddle):
    """The same of values inside a transform, read in one within it: also by the gradient of what was
    recorded before."""

    def inside(rows):
        u = rows * 1
        v = u.detach()
        u.stop_gradient = v.stop_gradient = False
        w = (u**2 * v).sum()
        both = func.vmap(lambda r: r * sum(g.sum() for g in paddle.grad(w, [u, v], create_graph=True)))(
            paddle.ones([3], "float64")
        ).sum()
        return paddle.stack(
            paddle.grad(
                both + func.vmap(lambda r: r * (u * v**2).sum())(paddle.ones([2], "float64")).sum(), [u, v]
            )
        )

    x = paddle.to_tensor(X)
    want = paddle.stack([paddle.stack([3 * (2 * r + 2 * r) + 2 * r**2, 3 * 2 * r + 4 * r * r]) for r in x])
    close(func.vmap(inside)(x), want)
    close(paddle.jit.to_static(inside)(x[0]), want[0])


def test_detached_with_a_gradient_of_its_own(func, paddle):
    """Nothing flows back through a detached value that wants a gradient for itself."""

    def f(x):
        y = x * 1.0
        z = y.detach()
        z.stop_gradient = False
        return (y * z * z).sum()

    x = paddle.to_tensor(X[:1], stop_gradient=False)
    (want,) = paddle.grad(f(x), x)
    close(want, X[:1] ** 2)
    for way in (paddle.jit.to_static(f), func.vmap(f)):
        close(paddle.grad(way(x).sum(), x)[0], want)
    close(func.jacfwd(f)(x[0]), want[0])


def test_state_outside(func, paddle):
    norm = paddle.nn.BatchNorm1D(3, momentum=0.5).to(dtype="float64")
    x = paddle.to_tensor(X)
    y, _ = func.jvp(norm, (x,), (x,))
    close(norm._mean, 0.5 * X.mean(0))
    func.value_and_grad(lambda a: norm(a).sum())(x)
    func.jacrev(lambda a: norm(a).sum())(x)
    close(norm._mean, X.mean(0) * (1 - 0.5**3))
    with pytest.raises(ValueError, match=f"{norm._mean.name}.*eval"):
        func.vmap(norm)(paddle.to_tensor(B))
    close(norm._mean, X.mean(0) * (1 - 0.5**3))
    assert func.vmap(norm.eval())(paddle.to_tensor(B)).shape == [5, 4, 3]
    counter = paddle.zeros([], "int64")

    def counting(a):
        counter.add_(paddle.ones([], "int64"))
        return a * counter

    assert func.vmap(counting)(paddle.ones([3])).tolist() == [1, 1, 1] and counter.item() == 1
    kept = paddle.zeros([3], "float64")
    with pytest.raises(ZeroDivisionError):
        func.vmap(lambda a: kept.add_(a) / (1 // 0))(x)
    assert kept.tolist() == [0, 0, 0]


def test_equal_programs_are_compiled_once(func, paddle):
    from paddle_jax._core.execution import trace

    x = paddle.to_tensor(X)
    bias = [paddle.to_tensor(X[i]) for i in range(3)]
    for i in range(3):
        func.vmap(lambda a: paddle.nn.functional.dropout(a * 2 + bias[i], 0.5))(x)  # noqa: B023  used at once
        if i == 0:
            before = len(trace._kernels)
    assert len(trace._kernels) == before
    func.vmap(lambda a: a * 3 + bias[0])(x)
    assert len(trace._kernels) == before + 1


def test_py_layers_keep_their_gradient(func, paddle):
    class Odd(paddle.autograd.PyLayer):  # its gradient is not the derivative
        @staticmethod
        def forward(ctx, x, factor, others):
            ctx.save_for_backward(x, others[0])
            return x * factor * others[0], x.floor()

        @staticmethod
        def backward(ctx, g, _):
            x, y = ctx.saved_tensor()
            return g * 7 * x * y, g * 100

    x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])
    f = lambda a, b: Odd.apply(a, 2.0, [b])[0].sum()  # noqa: E731
    for derivative in (func.grad(f, (0, 1)), func.jacrev(f, (0, 1))):
        a, b = derivative(x, y)
        assert a.tolist() == [21, 56] and b.tolist() == [100, 100]
    a, b = func.vmap(func.jacrev(f, (0, 1)))(x.reshape([2, 1]), y.reshape([2, 1]))
    assert a.flatten().tolist() == [21, 56] and b.flatten().tolist() == [100, 100]
    assert func.hessian(f)(x, y).tolist() == [[21, 0], [0, 28]]


def test_functional_call(func, net, paddle):
    x = paddle.to_tensor(X)
    state = {name: (p * 2).detach() for name, p in net.named_parameters()}
    before = net(x)
    doubled = func.functional_call(net, state, x)
    inner = paddle.tanh(x @ state["0.weight"] + state["0.bias"])
    close(doubled, inner @ state["2.weight"] + state["2.bias"])
    close(net(x), before)
    tied = paddle.nn.LayerList([paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)])
    tied[1].weight = tied[0].weight
    tied.forward = lambda a: tied[1](tied[0](a))
    eye = paddle.eye(3)
    out = func.functional_call(
        tied,
        {"0.weight": eye * 2, "0.bias": paddle.zeros([3]), "1.bias": paddle.zeros([3])},
        paddle.ones([1, 3]),
    )
    assert out.tolist() == [[4, 4, 4]]
    with pytest.raises(KeyError, match="'9.weight'"):
        func.functional_call(net, {"9.weight": x}, x)
    with pytest.raises(ValueError, match="shape"):
        func.functional_call(net, {"0.bias": x}, x)
    norm = paddle.nn.BatchNorm1D(3)
    state = {name: t.clone().detach() for name, t in norm.state_dict().items()}
    func.functional_call(norm, state, paddle.to_tensor(X.astype("float32")))
    assert norm._mean.tolist() == [0, 0, 0] and state["_mean"].tolist() != [0, 0, 0]


def test_per_sample_gradients(func, net, paddle):
    x = paddle.to_tensor(X)
    loss = lambda state, a: func.functional_call(net, state, a).square().sum()  # noqa: E731
    state = dict(net.named_parameters())
    each = func.vmap(func.grad(loss), in_axes=(None, 0))(state, x)
    for i in range(4):
        for name, want in zip(
            state, paddle.grad(net(x[i]).square().sum(), list(state.values())), strict=True
        ):
            close(each[name][i], want)


def test_ensembles(func, paddle):
    nets = [paddle.nn.Linear(3, 2) for _ in range(3)]
    x = paddle.to_tensor(X.astype("float32"))
    run = func.vmap(lambda state, a: func.functional_call(nets[0], state, a), in_axes=(0, None))
    out = run(func.stack_states(nets), x)
    for i, one in enumerate(nets):
        np.testing.assert_allclose(out[i].numpy(), one(x).numpy(), rtol=1e-5)
    out[1].sum().backward()
    assert not nets[0].weight.grad.any() and bool(nets[1].weight.grad.any())
    with pytest.raises(ValueError, match="same kind"):
        func.stack_states([nets[0], paddle.nn.BatchNorm1D(2)])


def test_backward_to_what_lies_outside_is_refused(paddle):
    net = paddle.nn.Linear(2, 1)

    def loss(x):
        out = net(x).sum()
        out.backward()
        return out

    with pytest.raises(RuntimeError, match="reaches linear"):
        paddle.func.vmap(loss)(paddle.ones([3, 2]))
    assert net.weight.grad is None
    inside = paddle.func.vmap(lambda x: ((x * x).sum().backward(), x.grad)[1])(paddle.to_tensor([[1.0, 2.0]]))
    assert inside.tolist() == [[2.0, 4.0]]
