"""Convolutions, pooling, normalisation and attention of paddle.sparse.nn: against the real Paddle, and
against dense ones."""

import jax
import numpy as np
import pytest

import paddle_jax
from tests.distribution.engines import agree
from tests.sparse.test_sparse import parts

SHAPE = [2, 4, 5, 6, 3]


def places(shape, count, seed=0, ordered=False):
    """Different coordinates. The real Paddle's gradients are right for sorted ones only."""
    cells = np.random.default_rng(seed).choice(int(np.prod(shape)), count, replace=False)
    cells = np.sort(cells) if ordered else cells
    return np.stack(np.unravel_index(cells, tuple(shape)))


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def sparse(engine, shape=SHAPE, count=14, dtype="float32", values=None):
    values = numbers(count, shape[-1]) if values is None else values
    return engine.sparse.sparse_coo_tensor(
        places(shape[:-1], count), values.astype(dtype), shape, stop_gradient=False
    )


def evaluate(engine, expression):
    def tensor(*shape, dtype="float32"):
        return engine.to_tensor(numbers(*shape, seed=2).astype(dtype), stop_gradient=False)

    flat = lambda dtype="float32": sparse(engine, [2, 5, 6, 3], 9, dtype)  # noqa: E731
    volume = lambda dtype="float32": sparse(engine, dtype=dtype)  # noqa: E731
    rows = lambda: engine.to_tensor(np.eye(3, dtype="float32")).to_sparse_csr()  # noqa: E731
    full = lambda: engine.ones(SHAPE)  # noqa: E731
    return eval(
        expression,
        {
            "F": engine.sparse.nn.functional,
            "N": engine.sparse.nn,
            "T": tensor,
            "X": volume,
            "Y": flat,
            "C": rows,
            "D": full,
        },
    )


CASES = [
    "F.conv3d(X(), T(3,3,3,3,4))",
    "F.conv3d(X(), T(3,3,3,3,4), T(4), padding=1)",
    "F.conv3d(X(), T(3,3,3,3,4), T(4), stride=2, padding=1)",
    "F.conv3d(X(), T(2,1,3,3,4), None, [1,2,3], (0,1,2))",
    "F.conv3d(X(), T(2,2,2,3,2), None, 2)",
    "F.conv3d(X(), T(3,3,3,3,4), None, 1, 2, 2)",
    "F.conv3d(X(), T(3,3,3,3,4), padding='SAME')",
    "F.conv3d(X(), T(3,3,3,3,4), padding='valid')",
    "F.conv3d(X(), T(3,3,3,3,4), padding=[1,2,1,2,1,2])",
    "F.conv3d(X(), T(3,3,3,3,4), padding=[1,1,2,2,0,0])",
    "F.conv3d(X(), T(3,3,3,3,4), padding=[[0,0],[1,1],[2,2],[1,1],[0,0]])",
    "F.conv3d(X('float64'), T(3,3,3,3,4,dtype='float64'), padding=1)",
    "F.conv3d(X('float64'), T(3,3,3,3,4))",
    "F.conv3d(X(), T(3,3,3,3,4), padding=-1)",
    "F.conv3d(X(), T(3,3,3,3,4), padding='x')",
    "F.conv3d(X(), T(3,3,3,3,4), groups=3)",
    "F.conv3d(X(), T(3,3,3,3,4), data_format='NCDHW')",
    "F.conv3d(D(), T(3,3,3,3,4))",
    "F.conv3d(C(), T(3,3,3,3,4))",
    "F.conv3d(X(), T(3,3,3,4))",
    "F.conv3d(X(), T(3,3,3,3,4), padding=[[1,1],[1,1],[1,1]])",
    "F.conv2d(Y(), T(3,3,3,4))",
    "F.conv2d(Y(), T(3,3,3,4), T(4), 2, 1)",
    "F.conv2d(Y(), T(3,2,3,4), None, [1,2], [[0,0],[1,1],[2,2],[0,0]])",
    "F.conv2d(Y(), T(3,3,3,4), padding='SAME')",
    "F.conv2d(X(), T(3,3,3,4))",
    "F.conv2d(Y(), T(3,3,3,4), groups=3)",
    "F.conv2d(Y(), T(3,3,3,4), data_format='NCHW')",
    "F.subm_conv3d(X(), T(3,3,3,3,4))",
    "F.subm_conv3d(X(), T(3,3,3,3,4), T(4), 2, 1)",
    "F.subm_conv3d(X(), T(3,1,5,3,4), padding='SAME')",
    "F.subm_conv3d(X(), T(1,1,1,3,4), T(4))",
    "F.subm_conv3d(X(), T(3,3,3,3,4), groups=3)",
    "F.subm_conv3d(X(), T(3,3,3,3,4), data_format='NCDHW')",
    "F.subm_conv2d(Y(), T(3,3,3,4), T(4), 1, 1)",
    "F.subm_conv2d(Y(), T(5,3,3,4), key='a')",
    "F.subm_conv2d(Y('float64'), T(3,3,3,4,dtype='float64'))",
    "F.max_pool3d(X(), 2)",
    "F.max_pool3d(X(), 2, 1)",
    "F.max_pool3d(X(), 3, 2, 1)",
    "F.max_pool3d(X(), [1,2,3], [1,1,2], [0,1,1])",
    "F.max_pool3d(X(), 2, 2, ceil_mode=True)",
    "F.max_pool3d(X(), 2, 2, 'SAME')",
    "F.max_pool3d(X('float64'), 2)",
    "F.max_pool3d(D(), 2)",
    "F.max_pool3d(X(), 2, data_format='NCDHW')",
    "F.max_pool3d(X(), 2, 2, [1,0,1,0,1,0])",
    "N.MaxPool3D(2, 1)(X())",
    "N.BatchNorm(3)(X())",
    "N.BatchNorm(3, data_format='NHWC')(Y())",
    "N.BatchNorm(3, use_global_stats=True)(X())",
    "N.BatchNorm(3, data_format='x')(X())",
    "N.BatchNorm(3)(D())",
    "N.BatchNorm(3)(C())",
    "N.BatchNorm(3, epsilon=0.1, weight_attr=None)(X('float32'))",
    "repr(N.Conv3D(2,4,3))",
    "repr(N.SubmConv3D(2,4,(3,1,3),stride=2,padding=(1,0,1)))",
    "repr(N.Conv2D(2,4,3,stride=2,padding='SAME'))",
    "repr(N.SubmConv2D(2,3,3,key='k',bias_attr=False))",
    "repr(N.Conv3D(2,4,3,padding=2,dilation=(1,2,1)))",
    "repr(N.BatchNorm(4))",
    "repr(N.BatchNorm(4,data_format='NHWC',name='x'))",
    "repr(N.SyncBatchNorm(4))",
    "repr(N.MaxPool3D(2,stride=3,padding=1,ceil_mode=True))",
    "N.Conv3D(2,4,3,groups=2)",
    "N.Conv3D(2,4,3,padding_mode='reflect')",
    "N.Conv3D(2,4,3,data_format='NCDHW')",
    "N.Conv3D(2,4,(3,3))",
    "N.Conv3D(2,4,3,stride='a')",
    "N.Conv3D(2,4,3,padding=-1)",
    "N.SubmConv3D(2,4,3,backend='x')",
    "repr(N.SubmConv3D(2,4,3,backend='igemm'))",
    "N.Conv3D(2,4,3,weight_attr=False)",
    "N.Conv2D(2,4,3,data_format='NCHW')",
    "[list(p.shape) for p in N.SubmConv2D(2,3,(3,1)).parameters()]",
    "list(N.BatchNorm(4).state_dict())",
]


def outcome(engine, expression):
    try:
        found = evaluate(engine, expression)
        return parts(found) if hasattr(found, "is_sparse") else repr(found)
    except Exception as error:
        return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


@pytest.mark.own_process(alone=True)  # calls that damage the memory of the real Paddle are near
@pytest.mark.parametrize("part", range(4))
def test_against_the_oracle(part, oracle):
    for expression in CASES[part::4]:
        theirs, ours = (outcome(engine, expression) for engine in (oracle, paddle_jax))
        assert agree(theirs, ours), (expression, theirs, ours)


GRADIENTS = {
    "conv3d": lambda F, x, w, b: F.conv3d(x, w, b, stride=2, padding=1),
    "subm_conv3d": lambda F, x, w, b: F.subm_conv3d(x, w, b),
    "max_pool3d": lambda F, x, w, b: F.max_pool3d(x, 3, 2, 1),
}


@pytest.mark.own_process
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_the_oracle(name, oracle):
    found = []
    for engine in (oracle, paddle_jax):
        values = engine.to_tensor(numbers(14, 3), stop_gradient=False)
        x = engine.sparse.sparse_coo_tensor(
            engine.to_tensor(places(SHAPE[:-1], 14, ordered=True)), values, SHAPE, stop_gradient=False
        )
        weight, bias = (
            engine.to_tensor(numbers(*shape, seed=3), stop_gradient=False) for shape in ([3, 3, 3, 3, 4], [4])
        )
        y = GRADIENTS[name](engine.sparse.nn.functional, x, weight, bias).to_dense()
        (y * engine.to_tensor(numbers(*y.shape, seed=4))).sum().backward()
        found.append([None if p.grad is None else p.grad.numpy() for p in (values, weight, bias)])
    assert found[0][0] is not None
    for theirs, ours in zip(*found, strict=True):
        assert (theirs is None) == (ours is None)
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, 1e-5, 1e-5)


def dense_convolution(paddle, x, weight, padding, dilation=1):
    """The same convolution of the dense volume."""
    y = paddle.nn.functional.conv3d(
        x.transpose([0, 4, 1, 2, 3]), weight.transpose([4, 3, 0, 1, 2]), padding=padding, dilation=dilation
    )
    return y.transpose([0, 2, 3, 4, 1])


@pytest.mark.parametrize("kind", ["conv3d", "subm_conv3d", "repeated", "dilated"])
def test_gradients_to_order_three(kind, paddle):
    """Each derivative is the one of the same convolution of dense volumes."""
    shape, F = [1, 3, 4, 3, 2], paddle.sparse.nn.functional
    spots = places(shape[:-1], 6)
    if kind == "repeated":
        spots[:, 5] = spots[:, 0]  # equal coordinates add up
    values, weight = (
        paddle.to_tensor(numbers(*s, seed=5).astype("float64"), stop_gradient=False)
        for s in ([6, 2], [3, 3, 3, 2, 2])
    )
    dilation = 2 if kind == "dilated" else 1
    function = F.conv3d if kind == "conv3d" else F.subm_conv3d
    x = paddle.sparse.sparse_coo_tensor(paddle.to_tensor(spots), values, shape, stop_gradient=False)
    sparse_result = function(x, weight, padding=1, dilation=dilation)
    result = sparse_result.to_dense()
    truth = dense_convolution(paddle, x.to_dense(), weight, dilation, dilation)
    if kind != "conv3d":
        kept = np.zeros(shape[:-1])
        kept[tuple(spots)] = 1
        truth = truth * paddle.to_tensor(kept).unsqueeze(-1)
        assert sparse_result.nnz() == int(kept.sum())
    np.testing.assert_allclose(result, truth, atol=1e-12)
    chains = []
    for y in (result, truth):
        total, chain = (y**3).sum(), []
        for leaf in (values, weight, values):
            (slope,) = paddle.grad(total, [leaf], create_graph=True)
            chain.append(slope.numpy())
            total = (slope**2).sum()
        chains.append(chain)
    for ours, wanted in zip(*chains, strict=True):
        np.testing.assert_allclose(ours, wanted, 1e-9, 1e-9)


def test_kernel_of_even_length_keeps_the_coordinates(paddle):
    x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0], [10.0]], [1, 3, 3, 1])
    y = paddle.sparse.nn.functional.subm_conv2d(x, paddle.arange(1.0, 5.0).reshape([2, 2, 1, 1]))
    assert (y.indices().tolist(), y.values().flatten().tolist()) == ([[0, 0], [0, 1], [0, 1]], [4.0, 41.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda F, x, w: F.conv3d(x, w([3, 3, 3, 2, 4])),  # the real Paddle reads beyond its memory
        lambda F, x, w: F.conv3d(x, w([7, 7, 7, 3, 2])),  # there the result has negative lengths
        lambda F, x, w: F.max_pool3d(x, 9),
    ],
)
def test_what_does_not_fit_is_refused(call, paddle):
    with pytest.raises(ValueError, match="x: got|weight: got"):
        call(paddle.sparse.nn.functional, sparse(paddle), paddle.ones)


def test_nothing_kept(paddle):
    """No element at all: empty results, gradients of zero."""
    F, weight = paddle.sparse.nn.functional, paddle.ones([3, 3, 3, 2, 4])
    weight.stop_gradient = False
    x = paddle.sparse.sparse_coo_tensor(np.zeros((4, 0)), paddle.zeros([0, 2]), [1, 4, 4, 4, 2])
    for y in (F.conv3d(x, weight), F.subm_conv3d(x, weight)):
        assert y.nnz() == 0
        y.values().sum().backward()
    assert weight.grad.abs().sum() == 0
    assert F.max_pool3d(x, 2).shape == [1, 2, 2, 2, 2]


@pytest.mark.parametrize("masks", [False, True])
def test_attention(masks, paddle):
    """As with dense matrices in which what is not kept is minus infinity."""
    batch, heads, length, width = 2, 2, 5, 3
    rng = np.random.default_rng(0)
    q, k, v = (
        paddle.to_tensor(rng.standard_normal((batch, heads, length, width)), stop_gradient=False)
        for _ in range(3)
    )
    kept = rng.random((batch * heads, length, length)) < 0.6
    kept[:, range(length), range(length)] = True
    padding, pairs = rng.random((batch, length)) < 0.8, rng.random((length, length)) < 0.8
    mask = paddle.to_tensor(kept.astype("float64")).to_sparse_csr()
    extra = [paddle.to_tensor(m.astype("float64")) for m in (padding, pairs)] if masks else []
    found = paddle.sparse.nn.functional.attention(q, k, v, mask, *extra)
    seen = kept.reshape(batch, heads, length, length)
    if masks:
        seen = seen & padding[:, None, None, :] & pairs
    scores = paddle.exp(q @ k.transpose([0, 1, 3, 2]) / width**0.5) * paddle.to_tensor(seen.astype("float64"))
    truth = scores / scores.sum(-1, keepdim=True).clip(min=1e-300) @ v
    np.testing.assert_allclose(found, truth, atol=1e-12)
    weights = paddle.to_tensor(rng.standard_normal(truth.shape))
    ours, wanted = (paddle.grad((y * weights).sum(), [q, k, v]) for y in (found, truth))
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_attention_refuses(paddle):
    x, mask = paddle.ones([1, 2, 4, 8]), paddle.ones([2, 4, 4])
    with pytest.raises(NotImplementedError, match="sparse_mask"):
        paddle.sparse.nn.functional.attention(x, x, x, mask)
    with pytest.raises(ValueError, match="sparse_mask"):
        paddle.sparse.nn.functional.attention(x, x, x, paddle.ones([1, 4, 4]).to_sparse_csr())


def net_of(engine):
    N = engine.sparse.nn

    class Net(engine.nn.Layer):
        def __init__(self):
            super().__init__()
            self.body = engine.nn.Sequential(
                N.SubmConv3D(3, 8, 3),
                N.BatchNorm(8),
                N.ReLU(),
                N.Conv3D(8, 8, 3, stride=2, padding=1),
                N.ReLU(),
                N.SubmConv3D(8, 4, 3),
            )
            self.head = engine.nn.Linear(4, 2)

        def forward(self, x):
            return self.head(self.body(x).to_dense().mean([1, 2, 3]))

    return Net()


@pytest.mark.own_process
def test_a_net_trains_as_in_the_oracle(oracle):
    """Ten steps from the same weights on a fresh sparse batch each: the same losses."""
    start = {name: value.numpy() for name, value in net_of(oracle).state_dict().items()}
    losses = []
    for engine in (oracle, paddle_jax):
        net, found = net_of(engine), []
        net.set_state_dict({name: engine.to_tensor(value) for name, value in start.items()})
        optimizer = engine.optimizer.Adam(0.02, parameters=net.parameters())
        for step in range(10):
            # without gradients for x the real Paddle crashes
            x = engine.sparse.sparse_coo_tensor(
                places(SHAPE[:-1], 14, step % 2, True),
                numbers(14, 3, seed=step % 2),
                SHAPE,
                stop_gradient=False,
            )
            loss = engine.nn.functional.cross_entropy(net(x), engine.to_tensor(np.array([0, 1])))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            found.append(float(loss))
        losses.append(found)
    np.testing.assert_allclose(losses[1], losses[0], 2e-3)
    assert losses[1][-1] < 0.7 * losses[1][0]


def test_synchronised_layers(paddle):
    """Layers of sparse and of dense Tensors are each replaced by their own kind, with the same parameters."""
    N = paddle.sparse.nn
    net = paddle.nn.Sequential(
        N.Conv3D(3, 4, 3), N.BatchNorm(4), paddle.nn.Sequential(paddle.nn.BatchNorm1D(4))
    )
    weight = net[1].weight
    made = N.SyncBatchNorm.convert_sync_batchnorm(net)
    assert (
        made is net
        and type(net[1]) is N.SyncBatchNorm
        and type(net[2][0]) is paddle.nn.SyncBatchNorm
        and net[1].weight is weight
    )
    x = sparse(paddle, [1, 4, 4, 4, 3])
    plain = N.BatchNorm(4)
    np.testing.assert_allclose(net[1](net[0](x)).values(), plain(net[0](x)).values(), 1e-6)


def test_in_a_compiled_function(paddle):
    """Coordinates that are constants are used, those of arguments looked at before; where this cannot be one
    sentence says so."""
    layer, x = paddle.sparse.nn.SubmConv3D(3, 4, 3), sparse(paddle)
    compiled = paddle.jit.to_static(
        lambda scale: layer(paddle.sparse.multiply(x.detach(), 2.0)).values() * scale
    )
    np.testing.assert_allclose(
        compiled(paddle.to_tensor(3.0)), 3 * layer(paddle.sparse.multiply(x, 2.0)).values(), 1e-5, 1e-6
    )

    def moved(indices):
        return layer(paddle.sparse.sparse_coo_tensor(indices, paddle.ones([14, 3]), SHAPE)).values()

    compiled = paddle.jit.to_static(moved)
    for seed in (0, 1, 0):
        indices = paddle.to_tensor(places(SHAPE[:-1], 14, seed))
        np.testing.assert_allclose(compiled(indices), moved(indices), 1e-5, 1e-6)
    with pytest.raises(Exception, match="being compiled does not know"):
        jax.jit(lambda indices: moved(paddle.to_tensor(indices))._value)(places(SHAPE[:-1], 14))
