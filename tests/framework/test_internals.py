"""What libraries take from Paddle's inside: facts about modes and processes, small classes, sparse
matrices, recomputation."""

import itertools

import numpy as np
import pytest

FACTS = {
    "modes": lambda m: (
        m.in_dynamic_mode(),
        m.framework.in_dynamic_or_pir_mode(),
        m.base.framework.in_pir_mode(),
        m.framework.use_pir_api(),
    ),
    "processes": lambda m: (
        m.distributed.get_rank(),
        m.distributed.get_world_size(),
        m.distributed.is_initialized(),
    ),
    "float16 on a CPU": lambda m: (m.amp.is_float16_supported(), m.amp.is_bfloat16_supported()),
    "eager tensor": lambda m: m.framework.core.eager.Tensor is m.Tensor and m.base.core is m.framework.core,
    "parameter": lambda m: isinstance(m.nn.Linear(1, 1).weight, m.base.framework.EagerParamBase),
    "static values": lambda m: [
        isinstance(m.ones([1]), kind) for kind in (m.static.Variable, m.base.framework.Variable, m.pir.Value)
    ],
    "dtype by its old name": lambda m: str(m.cast(m.ones([2]), m.base.core.VarDesc.VarType.INT64).dtype),
    "input spec": lambda m: repr(m.static.InputSpec([None, 3], "float32", "x").batch(4).unbatch()),
    "input specs": lambda m: m.static.InputSpec([2], "int64") == m.static.InputSpec((2,), "int64"),
    "input spec of an array": lambda m: repr(m.static.InputSpec.from_numpy(np.zeros([2, 1]), "a")),
    "prim": lambda m: [switched(m, value) for value in (True, False)],
    "flatten": lambda m: m.utils.flatten({"b": [1, (2,)], "a": (3, None)}),
    "map_structure": lambda m: m.utils.map_structure(
        lambda a, b: a + b, {"a": [1, (2,)], "b": 3}, {"a": [1, (2,)], "b": 3}
    ),
    "pack_sequence_as": lambda m: m.utils.pack_sequence_as({"b": [0, (0,)], "a": 0}, [1, 2, 3]),
    "compose": lambda m: m.vision.transforms.Compose([abs, lambda x: x + 1])(-2),
    "as it is": lambda m: m.jit.not_to_static(lambda x: -x)(-2),
    "place": lambda m: str(m.device._convert_to_place("cpu")),
}


def switched(m, value):
    core = m.base.core
    core.set_prim_eager_enabled(value), core._set_prim_all_enabled(value)
    return (
        core._is_eager_prim_enabled(),
        core._is_fwd_prim_enabled(),
        core._is_bwd_prim_enabled(),
        core._is_all_prim_enabled(),
    )


@pytest.mark.parametrize("name", FACTS)
def test_facts(name, paddle, oracle):
    assert FACTS[name](paddle) == FACTS[name](oracle)


def test_static_value_cannot_be_made(paddle):
    with pytest.raises(TypeError):
        paddle.pir.Value()


def test_to_static_gives_the_same_results(paddle):
    class Doubling:
        @paddle.jit.to_static
        def twice(self, x):
            return x * 2

    layer = paddle.nn.Linear(2, 2)
    assert Doubling().twice(paddle.ones([1])).item() == 2.0
    assert paddle.jit.to_static(layer, input_spec=[paddle.static.InputSpec([None, 2])]) is layer
    assert paddle.jit.to_static(full_graph=True)(abs)(-1) == 1


def sparse(m, **options):
    return m.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 4], **options)


def test_sparse_tensor(paddle, oracle):
    ours, theirs = sparse(paddle), sparse(oracle)
    for part in ("indices", "values", "to_dense"):
        assert np.array_equal(np.asarray(getattr(ours, part)()), np.asarray(getattr(theirs, part)()))
    assert (list(ours.shape), ours.nnz(), ours.is_sparse_coo(), str(ours.dtype)) == (
        list(theirs.shape),
        theirs.nnz(),
        True,
        str(theirs.dtype),
    )
    turned = [m.sparse.transpose(s, [1, 0]).to_dense().numpy() for m, s in ((paddle, ours), (oracle, theirs))]
    assert np.array_equal(*turned)
    for m in (paddle, oracle):
        joined = m.sparse.coalesce(m.sparse.sparse_coo_tensor([[2, 0, 2], [1, 1, 1]], [1.0, 2.0, 4.0]))
        assert (joined.indices().tolist(), joined.values().tolist(), list(joined.shape)) == (
            [[0, 2], [1, 1]],
            [2.0, 5.0],
            [3, 2],
        )


def test_sparse_product(paddle):
    """The real Paddle has no such kernel on a CPU."""
    dense = np.random.default_rng(1).normal(size=[4, 2])
    matrix, y = (
        sparse(paddle, stop_gradient=False, dtype="float64"),
        paddle.to_tensor(dense, stop_gradient=False),
    )
    for right, expected in ((y, dense), (y[:, 0], dense[:, 0])):
        assert np.allclose(paddle.sparse.matmul(matrix, right).numpy(), matrix.numpy() @ expected)
    (matrix @ y).sum().backward()
    assert np.allclose(matrix.values().grad, dense.sum(1)[[1, 2, 0]]) and np.allclose(
        y.grad, matrix.numpy().sum(0)[:, None].repeat(2, 1)
    )


@pytest.mark.parametrize(
    "arguments", [([[0, 5], [0, 0]], [1.0, 2.0], [2, 2]), ([[0, 1]], [1.0], None), ([0, 1], [1.0, 2.0], None)]
)
def test_sparse_refuses(arguments, paddle):
    with pytest.raises(ValueError, match="sparse_coo_tensor"):
        paddle.sparse.sparse_coo_tensor(*arguments)


def test_recompute_gives_the_same_gradients(paddle):
    recompute, found = paddle.distributed.fleet.utils.recompute, []
    for again in (False, True):
        paddle.seed(3)
        layers = [paddle.nn.Linear(3, 3), paddle.nn.Dropout(0.5), paddle.nn.Linear(3, 2)]
        block = lambda x, scale, layers=layers: layers[2](layers[1](layers[0](x).tanh())) * scale  # noqa: E731
        x = paddle.to_tensor([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]], stop_gradient=False)
        y = recompute(block, x, 2.0) if again else block(x, 2.0)
        (y * y).sum().backward()
        found.append([y, x.grad, *[p.grad for layer in layers for p in layer.parameters()]])
    for a, b in itertools.zip_longest(*found):
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-5)


def test_recompute_without_gradients_calls_the_function(paddle):
    layer = paddle.nn.Linear(2, 1)
    paddle.distributed.fleet.utils.recompute(layer, paddle.ones([1, 2]), use_reentrant=False).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0], [1.0]]


def test_forward_grad_and_grad(paddle):
    prim = paddle.incubate.autograd
    x = paddle.to_tensor([1.0, 3.0], "float64", stop_gradient=False)
    direction = paddle.to_tensor([2.0, 0.5], "float64")
    assert prim.forward_grad(x**3, x, direction).tolist() == [6.0, 13.5]
    both = prim.forward_grad([x * x, x + 1], [x])
    assert [t.tolist() for t in both] == [[2.0, 6.0], [1.0, 1.0]]
    second = prim.forward_grad(prim.forward_grad(x**4, x), x)
    assert np.allclose(second.numpy(), [12.0, 108.0])
    first = prim.grad(x**3, x)
    assert np.allclose(first.numpy(), [3.0, 27.0]) and np.allclose(
        prim.grad(first, [x])[0].numpy(), [6.0, 18.0]
    )
    assert prim.grad(x * 2, x, direction).tolist() == [4.0, 1.0]
    unused = paddle.ones([2], "float64")
    unused.stop_gradient = False
    assert prim.grad(x * 2, unused).tolist() == [0.0, 0.0]
    with pytest.raises(TypeError):
        prim.grad(1.0, x)
    with pytest.raises(RuntimeError):
        prim.forward_grad(x * 2, x, paddle.ones([3]))
    assert not prim.prim_enabled()
    prim.enable_prim()
    assert prim.prim_enabled()
    prim.disable_prim()


def test_several_processes_have_no_group(paddle, monkeypatch):
    from paddle_jax.distributed.fleet.utils import hybrid_parallel_util

    hybrid_parallel_util.fused_allreduce_gradients([], None)
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(RuntimeError, match="global group is not initialized"):
        hybrid_parallel_util.fused_allreduce_gradients([], None)
