"""Sparse Tensors in compiled functions: with a bound on their elements, or one sentence that
says what to do."""

import copy

import jax
import numpy as np
import pytest

SHAPE = [1, 4, 5, 4]


def dense(seed=0, share=0.3, channels=2, kind="float64"):
    rng = np.random.RandomState(seed)
    return (rng.randn(*SHAPE, channels) * (rng.rand(*SHAPE, 1) < share)).astype(kind)


def compiled(paddle, function):
    return paddle.jit.to_static(function, full_graph=True)


def test_from_dense(paddle):
    """Room left over is filled up; coalesce leaves what is there; gradients reach the elements."""
    sparse, values = compiled(paddle, lambda x: paddle.bounded.to_sparse_coo(x, 4, 60)), dense()
    count = (values != 0).any(-1).sum()
    for x in (values, dense(1), dense(2, 0.0), dense(3, 0.01)):
        made = sparse(paddle.to_tensor(x))
        assert made.nnz() == 60 and list(made.shape) == list(x.shape)
        np.testing.assert_array_equal(made.to_dense(), x)
    places = np.stack(np.nonzero((values != 0).any(-1)))
    made = paddle.bounded.to_sparse_coo(paddle.to_tensor(values), 4, 60)
    np.testing.assert_array_equal(made.indices().numpy()[:, :count], places)
    np.testing.assert_array_equal(made.indices().numpy()[:, count:], np.repeat(places[:, -1:], 60 - count, 1))
    np.testing.assert_array_equal(made.coalesce().indices(), places)
    x = paddle.to_tensor(values, stop_gradient=False)
    (sparse(x).values() ** 2).sum().backward()
    np.testing.assert_allclose(x.grad, 2 * values)


@pytest.mark.parametrize("eager", [True, False])
def test_too_many(paddle, eager):
    """A bound that is too small is an error that names both numbers, in a compiled function
    when it is called."""
    x = paddle.to_tensor(dense())
    count = int((dense() != 0).any(-1).sum())

    def short(x):
        return paddle.bounded.to_sparse_coo(x, 4, count - 1).values().sum()

    with pytest.raises(
        ValueError, match=rf"bounded.to_sparse_coo: nnz: got {count - 1} for {count} elements"
    ):
        float((short if eager else compiled(paddle, short))(x))
    a, b = (paddle.sparse.sparse_coo_tensor([[0, 1, n]], [1.0, 2.0, 3.0], [9]) for n in (2, 3))
    add = (lambda f: f) if eager else (lambda f: compiled(paddle, f))
    with pytest.raises(ValueError, match="bounded.sparse_add: nnz: got 3 for 4"):
        float(add(lambda a, b: paddle.bounded.sparse_add(a, b, 3).values().sum())(a, b))
    with pytest.raises(ValueError, match="bounded.coalesce: nnz: got 2 for 3"):
        float(add(lambda a: paddle.bounded.coalesce(a, 2).values().sum())(a))


def test_sums_and_repeated_coordinates(paddle):
    rng = np.random.RandomState(0)
    parts = [
        paddle.sparse.sparse_coo_tensor(rng.randint(0, 5, (2, 30)), rng.randn(30, 3), [5, 6, 3])
        for _ in range(2)
    ]
    add = compiled(paddle, lambda a, b: paddle.bounded.sparse_add(a, b, 40))
    merge = compiled(paddle, lambda a: paddle.bounded.coalesce(a, 30))
    np.testing.assert_allclose(
        add(*parts).to_dense(), parts[0].to_dense().numpy() + parts[1].to_dense().numpy()
    )
    merged, wanted = merge(parts[0]), parts[0].coalesce()
    np.testing.assert_array_equal(merged.indices().numpy()[:, : wanted.nnz()], wanted.indices())
    np.testing.assert_allclose(merged.values().numpy()[: wanted.nnz()], wanted.values())
    assert not merged.values().numpy()[wanted.nnz() :].any()


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("dilation", [1, 2])
def test_submanifold_convolution(paddle, dilation, repeated):
    """Coordinates are known when the function runs only: the result is that of the ordinary function, for
    each pattern from one program."""
    layer = paddle.sparse.nn.SubmConv3D(2, 3, [3, 2, 3], dilation=dilation).astype("float64")
    layer.bias.set_value(np.array([0.5, -1.0, 2.0]))
    traces = []

    def net(x):
        traces.append(1)
        return paddle.sparse.nn.functional.relu(layer(x)).to_dense()

    run = compiled(paddle, lambda x: net(paddle.bounded.to_sparse_coo(x, 4, 70)))
    direct = compiled(paddle, net)
    for seed in (0, 1, 2, 0):
        x = paddle.to_tensor(dense(seed))
        sparse = x.to_sparse_coo(4)
        if repeated:
            sparse = paddle.sparse.sparse_coo_tensor(
                paddle.concat([sparse.indices()] * 2, 1), paddle.concat([sparse.values()] * 2), sparse.shape
            )
            wanted = paddle.sparse.nn.functional.relu(layer(sparse)).to_dense()
            np.testing.assert_allclose(direct(sparse), wanted, 1e-9, 1e-12)
        else:
            wanted = paddle.sparse.nn.functional.relu(layer(sparse)).to_dense()
            np.testing.assert_allclose(run(x), wanted, 1e-9, 1e-12)
    assert len(traces) == (3 if repeated else 1)  # one for each number of elements, one for the bound
    grads = []
    for made in (run(x), wanted) if not repeated else (direct(sparse), wanted):
        made.square().sum().backward()
        grads.append(layer.weight.grad.numpy())
        layer.weight.clear_gradient()
    np.testing.assert_allclose(*grads, 1e-9)


def test_submanifold_convolution_of_a_large_volume(paddle):
    """Volumes too large for a table of all their cells, and elements of none."""
    layer = paddle.sparse.nn.SubmConv3D(2, 3, 3).astype("float64")
    run, rng = compiled(paddle, lambda x: layer(x)), np.random.RandomState(0)
    for count in (80, 0):
        places = np.concatenate([np.zeros((1, count), "int64"), rng.randint(0, 4, (3, count)) + 296])
        x = paddle.sparse.sparse_coo_tensor(
            paddle.to_tensor(places), paddle.to_tensor(rng.randn(count, 2)), [1, 300, 300, 300, 2]
        )
        got, wanted = run(x), layer(x)
        at = np.ravel_multi_index(tuple(got.indices().numpy()), (1, 300, 300, 300))
        sums = np.zeros((wanted.nnz(), 3))
        np.add.at(sums, np.unique(at, return_inverse=True)[1], got.values().numpy())
        np.testing.assert_allclose(sums, wanted.values(), 1e-9, 1e-12)


def test_products_and_results_by_rows(paddle):
    """Sparse Tensors are arguments and results; a product with unknown coordinates works as it is."""
    x = dense(4)[0, 0, :, :, 0]
    sparse = paddle.to_tensor(x).to_sparse_coo(2)
    product = compiled(paddle, lambda x, y: paddle.sparse.matmul(paddle.bounded.to_sparse_coo(x, 2, 12), y))
    np.testing.assert_allclose(product(paddle.to_tensor(x), paddle.to_tensor(x.T.copy())), x @ x.T)
    double, rows = (
        compiled(paddle, lambda a: {"twice": paddle.sparse.multiply(a, 2.0), "a": a}),
        paddle.to_tensor(x).to_sparse_csr(),
    )
    for given in (sparse, rows):
        found = double(given)
        assert type(found["twice"]) is type(given)
        np.testing.assert_allclose(found["twice"].to_dense(), 2 * x)
        np.testing.assert_allclose(found["a"].to_dense(), x)
    doubled = jax.jit(lambda a: paddle.sparse.multiply(a, 2.0))(sparse)
    np.testing.assert_allclose(doubled.to_dense(), 2 * x)


def test_softmax_of_rows_in_a_compiled_function(paddle):
    rows = paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 1, 0], [1.0, 3.0, 5.0], [2, 2])
    made = compiled(paddle, lambda a: paddle.sparse.nn.functional.softmax(a).values())(rows)
    np.testing.assert_allclose(made, [1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2)), 1], 1e-6)


@pytest.mark.parametrize(
    "call, sentence",
    [
        ("x.to_sparse_coo(4)", r"to_sparse_coo: .* use paddle_jax.bounded.to_sparse_coo\(x, 4, nnz\)"),
        ("x[0, 0, :, :, 0].to_sparse_csr()", "to_sparse_csr: .* use paddle_jax.bounded.to_sparse_coo"),
        ("s.coalesce()", "coalesce: .* bound their elements with the functions of paddle_jax.bounded"),
        ("S.add(s, s)", "add: .* bound their elements"),
        (
            "S.nn.functional.conv3d(s, paddle.ones([3, 3, 3, 2, 1], x.dtype))",
            "sparse convolution: .* make sparse Tensors outside of it",
        ),
        ("S.sum(s, 0)", "sparse coordinates: .* bound their elements"),
    ],
)
def test_reasons_for_running_op_by_op(paddle, call, sentence):
    def function(x, s):
        return eval(call, {"x": x, "s": s, "S": paddle.sparse, "paddle": paddle}).values().sum()

    x = paddle.to_tensor(dense())
    with pytest.warns(UserWarning, match=sentence) as caught:
        result = compiled(paddle, function)(x, x.to_sparse_coo(4))
    assert result.item() == function(x, x.to_sparse_coo(4)).item()
    assert str(caught[0].message).count("\n") == 0


def test_filling_that_would_count_is_refused(paddle):
    N, x = paddle.sparse.nn, paddle.bounded.to_sparse_coo(paddle.to_tensor(dense(kind="float32")), 4, 60)
    flat = paddle.bounded.to_sparse_coo(paddle.to_tensor(dense()[0, 0, :, :, 0]), 2, 12)
    for call in (
        lambda: N.BatchNorm(2)(x),
        lambda: N.functional.max_pool3d(x, 2),
        lambda: N.functional.softmax(flat),
        lambda: paddle.sparse.mask_as(flat.to_dense(), flat),
        lambda: paddle.sparse.masked_matmul(paddle.ones([5, 2]), paddle.ones([2, 4]), flat),
        lambda: N.BatchNorm(2)(N.functional.relu(x)),
    ):
        with pytest.raises(ValueError, match=r"call its coalesce\(\) first"):
            call()
    N.BatchNorm(2)(x.coalesce())
    net = paddle.nn.Sequential(N.SubmConv3D(2, 2, 3), N.ReLU(), N.BatchNorm(2))
    exact = x.coalesce()
    np.testing.assert_allclose(compiled(paddle, net)(exact).values(), net(exact).values(), 1e-4, 1e-5)
    with pytest.raises(ValueError, match=r"call its coalesce\(\) first"):
        compiled(paddle, net)(x)


@pytest.mark.parametrize(
    "call",
    [
        lambda S, x: S.cast(x, "int32", "float64"),
        lambda S, x: S.cast(x, None, "float64"),
        lambda S, x: S.transpose(x, [1, 0]),
        lambda S, x: S.reshape(x, [3, 2]),
        lambda S, x: S.slice(x, [0], [1], [2]),
        lambda S, x: S.sum(S.reshape(x, [2, 3]), []),
        lambda S, x: S.tanh(x),
        lambda S, x: S.pow(x, 2),
        lambda S, x: S.multiply(x, 2.0),
        lambda S, x: S.divide(x, 2.0),
        lambda S, x: S.add(x, x),
        lambda S, x: S.subtract(S.sparse_coo_tensor(x.indices(), x.values(), x.shape), x),
        lambda S, x: x.detach(),
        lambda S, x: copy.deepcopy(x),
    ],
)
def test_filling_stays_filling(paddle, call):
    """A result with the same coordinates refuses what filling would count in."""
    x = paddle.bounded.to_sparse_coo(paddle.to_tensor([[0.0, 0, 2], [0, 3, 1]]), 2, nnz=6)
    with pytest.raises(ValueError, match=r"call its coalesce\(\) first"):
        paddle.sparse.nn.functional.softmax(call(paddle.sparse, x))


@pytest.mark.parametrize(
    "call, last",
    [
        (lambda S, x: x.coalesce(), [3, 1]),
        (lambda S, x: x.to_sparse_csr(), [3, 1]),
        (lambda S, x: S.transpose(x.to_sparse_csr(), [1, 0]), [2, 1]),
        (lambda S, x: S.sum(x, 0, keepdim=True), [3, 3]),
        (lambda S, x: S.multiply(x.coalesce(), x), [9, 1]),
        (lambda S, x: S.add(x, S.sparse_coo_tensor([[1], [2]], [1.0], [2, 3])), [3, 2]),
        (lambda S, x: S.matmul(S.sparse_coo_tensor([[0], [1]], [1.0], [1, 2]), x), [3, 1]),
    ],
)
def test_filling_is_gone_once_equal_coordinates_are_added(paddle, call, last):
    """The softmax of the last row is that of its numbers."""
    x = paddle.bounded.to_sparse_coo(paddle.to_tensor([[0.0, 0, 2], [0, 3, 1]]), 2, nnz=6)
    made = paddle.sparse.nn.functional.softmax(call(paddle.sparse, x))
    powers = np.exp(np.array(last, "float32"))
    np.testing.assert_allclose(made.values().numpy()[-len(last) :], powers / powers.sum(), 1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda S, x: S.pow(x, 0),
        lambda S, x: S.pow(x, -1),
        lambda S, x: S.divide(x, 0),
        lambda S, x: S.divide(x, float("nan")),
        lambda S, x: S.multiply(x, float("inf")),
    ],
)
def test_filling_that_would_not_stay_zero_is_refused(paddle, call):
    x = paddle.bounded.to_sparse_coo(paddle.to_tensor([[0.0, 2.0]]), 2, nnz=2)
    with pytest.raises(ValueError, match=r"call its coalesce\(\) first"):
        call(paddle.sparse, x)
    assert call(paddle.sparse, x.coalesce()).nnz() == 1


@pytest.mark.parametrize(
    "call, kind",
    [
        ("B.to_sparse_coo(x, 6, 3)", ValueError),
        ("B.to_sparse_coo(x, 0, 3)", ValueError),
        ("B.to_sparse_coo(x, 2, -1)", ValueError),
        ("B.coalesce(x, 3)", NotImplementedError),
        ("B.sparse_add(s, x, 3)", NotImplementedError),
        ("B.sparse_add(s, x.to_sparse_coo(3), 99)", ValueError),
    ],
)
def test_refused_arguments(paddle, call, kind):
    x = paddle.to_tensor(dense())
    with pytest.raises(kind, match="bounded"):
        eval(call, {"B": paddle.bounded, "x": x, "s": x.to_sparse_coo(4)})


def far(paddle):
    """(name, the ordinary function, the one with a bound, what it takes besides x)."""
    rng, S, B = np.random.RandomState(5), paddle.sparse.nn.functional, paddle.bounded
    weight, bias = paddle.to_tensor(rng.randn(3, 2, 3, 2, 3)), paddle.to_tensor(rng.randn(3))
    found = {
        "pool": (lambda x: S.max_pool3d(x, [2, 3, 2]), lambda x, nnz: B.sparse_max_pool3d(x, [2, 3, 2], nnz)),
        "pool over": (
            lambda x: S.max_pool3d(x, 3, 1, 1),
            lambda x, nnz: B.sparse_max_pool3d(x, 3, nnz, 1, 1),
        ),
    }
    for moves in (
        dict(),
        dict(stride=2, padding=1),
        dict(stride=[1, 2, 1], padding=[2, 0, 1], dilation=[1, 2, 1]),
    ):
        found[f"conv {moves}"] = (
            lambda x, moves=moves: S.conv3d(x, weight, bias, **moves),
            lambda x, nnz, moves=moves: B.sparse_conv3d(x, weight, nnz, bias, **moves),
        )
    return found


def test_the_largest_of_a_window_may_be_infinite(paddle):
    places = [[0, 0], [0, 1], [0, 1], [0, 1]]
    x = paddle.sparse.sparse_coo_tensor(places, [[np.inf], [2.0]], [1, 2, 2, 2, 1])
    assert paddle.bounded.sparse_max_pool3d(x, 2, 1).values().tolist() == [[np.inf]]


@pytest.mark.parametrize(
    "name",
    [
        "pool",
        "pool over",
        "conv {}",
        "conv {'stride': 2, 'padding': 1}",
        "conv {'stride': [1, 2, 1], 'padding': [2, 0, 1], 'dilation': [1, 2, 1]}",
    ],
)
def test_windows_that_reach_elsewhere(paddle, name):
    """Values, coordinates and gradients of the ordinary function, for each pattern, from elements that are
    filled up themselves."""
    ordinary, within = far(paddle)[name]
    run = compiled(paddle, lambda x: within(paddle.bounded.to_sparse_coo(x, 4, 70), 400))
    for seed, share in ((0, 0.3), (1, 0.8), (2, 0.02)):
        x = dense(seed, share)
        assert x.any()
        mine, theirs = (paddle.to_tensor(x, stop_gradient=False) for _ in range(2))
        got, want = run(mine), ordinary(theirs.to_sparse_coo(4))
        count = want.nnz()
        np.testing.assert_array_equal(got.indices().numpy()[:, :count], want.indices())
        np.testing.assert_array_equal(
            got.indices().numpy()[:, count:], np.repeat(want.indices().numpy()[:, -1:], 400 - count, 1)
        )
        np.testing.assert_allclose(got.values().numpy()[:count], want.values(), 1e-10, 1e-12)
        assert not got.values().numpy()[count:].any()
        for result in (got, want):
            (result.values() ** 2).sum().backward()
        np.testing.assert_allclose(mine.grad, theirs.grad, 1e-10, 1e-12)


@pytest.mark.parametrize(
    "axis, keepdim", [(0, False), (-2, False), ([1, 3], True), ([0, 4], False), (4, True)]
)
def test_sum_over_axes(paddle, axis, keepdim):
    run = compiled(
        paddle, lambda x: paddle.bounded.sparse_sum(paddle.bounded.to_sparse_coo(x, 4, 70), axis, 70, keepdim)
    )
    for seed in range(2):
        x = paddle.to_tensor(dense(seed), stop_gradient=False)
        got = run(x)
        want = dense(seed).sum(tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdim)
        assert list(got.shape) == list(want.shape)
        np.testing.assert_allclose(got.to_dense(), want, 1e-12, 1e-12)
        got.to_dense().sum().backward()
        np.testing.assert_array_equal(
            x.grad, (dense(seed) != 0).any(-1, keepdims=True) * np.ones_like(dense(seed))
        )


def test_images_and_refusals(paddle):
    B, rng = paddle.bounded, np.random.RandomState(1)
    picture, weight = (
        rng.randn(2, 6, 7, 2) * (rng.rand(2, 6, 7, 1) < 0.3),
        paddle.to_tensor(rng.randn(2, 3, 2, 4)),
    )
    x = paddle.to_tensor(picture).to_sparse_coo(3)
    np.testing.assert_allclose(
        B.sparse_conv2d(x, weight, 300).to_dense(),
        paddle.sparse.nn.functional.conv2d(x, weight).to_dense(),
        1e-12,
        1e-12,
    )
    count = paddle.sparse.nn.functional.conv2d(x, weight).nnz()
    for call, kind, said in (
        (
            lambda: B.sparse_conv2d(x, weight, count - 1).values().numpy(),
            ValueError,
            f"sparse_conv2d: nnz: got {count - 1} for {count}",
        ),
        (lambda: B.sparse_conv3d(x, weight, 9), ValueError, "bounded.sparse_conv3d: x: got shape"),
        (lambda: B.sparse_conv2d(x.to_dense(), weight, 9), NotImplementedError, "got Tensor"),
        (lambda: B.sparse_max_pool3d(x, 2, 9), ValueError, "bounded.sparse_max_pool3d: x: got shape"),
        (lambda: B.sparse_sum(x, [0, 1, 2], 9), ValueError, "all 3 axes with coordinates"),
        (lambda: B.sparse_sum(x, 4, 9), ValueError, "for a Tensor of 4 axes"),
        (lambda: B.sparse_sum(x, 0, -1), ValueError, "at least 0"),
    ):
        with pytest.raises(kind, match=said):
            call()
