"""paddle.geometric and its older names against the real Paddle; random neighbours by their frequencies."""

import numpy as np
import pytest

import paddle_jax
from tests.distribution.engines import agree, outcome

X = "T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])"
SRC, DST = "T([0, 1, 2, 0], 'int32')", "T([1, 2, 1, 0], 'int32')"
ROW, PTR = (
    "T([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7], 'int64')",
    "T([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13], 'int64')",
)
NODES, EIDS = "T([0, 8, 1, 2], 'int64')", "T(np.arange(13) + 100, 'int64')"
OLD, AROUND, COUNT = "T([0, 1, 2], 'int64')", "T([8, 9, 0, 4, 7, 6, 7], 'int64')", "T([2, 3, 2], 'int32')"

SEGMENTS = [
    f"{X}, T([0, 0, 1], 'int64')",
    f"{X}, T([0, 0, 1], 'int32')",
    f"{X}, T([1, 1, 3], 'int64')",
    f"{X}, T([[0], [0], [1]], 'int64')",
    "T([[1, 2], [4, 4]], 'int64'), T([0, 0], 'int64')",
    "T([[1, 2], [3, 4]], 'int32'), T([0, 1], 'int64')",
    "T([[1, 2], [3, 4]], 'float16'), T([0, 1], 'int64')",
    "T([[1.0, 2.0], [3.0, 4.0]], 'float64'), T([0, 0], 'int64')",
    "T(np.ones([2, 2, 2])), T([0, 0], 'int64')",
    "T([1.0, 2.0]), T([0, 1], 'int64')",
    f"{X}, T([2, 0, 1], 'int64')",
    f"{X}, T([0, 0], 'int64')",
    f"{X}, T([0, 0, 1])",
    "T(1.0), T(0, 'int64')",
    "T([[1.0], [3.0]]), T([-1, 0], 'int64')",
    "[[1.0]], T([0], 'int64')",
]
RECEIVED = [
    f"{X}, {SRC}, {DST}, '{{}}'",
    f"{X}, {SRC}, {DST}, '{{}}', out_size=2",
    f"{X}, {SRC}, {DST}, '{{}}', out_size=5",
    f"{X}, {SRC}, {DST}, '{{}}', out_size=0",
    f"{X}, {SRC}, {DST}, '{{}}', out_size=T([4], 'int32')",
    f"T([[1, 2], [3, 4], [5, 6]], 'int64'), {SRC}, {DST}, '{{}}'",
    f"{X}, T([0, 1], 'int64'), T([0, 0], 'int64'), '{{}}'",
    f"T([1.0, 2.0, 3.0]), {SRC}, {DST}, '{{}}'",
    f"{X}, T([], 'int32'), T([], 'int32'), '{{}}'",
    f"{X}, T([0, 1], 'int64'), T([0, 0, 1], 'int64'), '{{}}'",
    f"{X}, {SRC}, T([1, 2, 1, 0], 'int64'), '{{}}'",
    f"{X}, T([0, 5], 'int64'), T([0, 1], 'int64'), '{{}}'",
    f"{X}, T([0, 1], 'int64'), T([0, 5], 'int64'), '{{}}'",
]
COMBINED = [
    f"G.send_ue_recv({X}, T([1.0, 2.0, 3.0, 4.0]), {SRC}, {DST}, '{{0}}', '{{1}}')",
    f"G.send_ue_recv({X}, T([[1.0], [2.0], [3.0], [4.0]]), {SRC}, {DST}, '{{0}}', '{{1}}', out_size=4)",
]
BOTH_ENDS = [
    f"G.send_uv({X}, {X}, {SRC}, {DST}, '{{}}')",
    f"G.send_uv({X}, T([[1.0], [2.0], [3.0]]), {SRC}, {DST}, '{{}}')",
    f"G.send_uv({X}, T([[1.0, 2.0]]), {SRC}, T([0, 0, 0, 0], 'int32'), '{{}}')",
    f"G.send_uv(T([1.0, 2.0, 3.0]), T([1.0, 2.0, 3.0]), {SRC}, {DST}, '{{}}')",
    f"G.send_uv(T([1, 2, 3], 'int64'), T([1, 2, 3], 'int64'), {SRC}, {DST}, '{{}}')",
]
OTHERS = [
    f"G.send_ue_recv(T(np.ones([3, 1, 2])), T(np.ones([4, 2, 1])), {SRC}, {DST})",
    f"G.send_ue_recv(T([1.0, 2.0, 3.0]), T([1.0, 2.0, 3.0, 4.0]), {SRC}, {DST})",
    f"G.send_ue_recv({X}, T([1.0, 2.0]), {SRC}, {DST})",
    f"G.send_ue_recv({X}, T([[1.0, 2.0, 3.0]] * 4), {SRC}, {DST})",
    f"G.send_ue_recv({X}, T([1, 2, 3, 4], 'int64'), {SRC}, {DST})",
    f"G.send_ue_recv({X}, T([1.0, 2.0, 3.0, 4.0]), {SRC}, {DST}, 'foo')",
    f"G.send_ue_recv({X}, T([1.0, 2.0, 3.0, 4.0]), {SRC}, {DST}, 'add', 'foo')",
    f"G.send_u_recv({X}, {SRC}, {DST}, 'foo')",
    f"G.send_u_recv({X}, [0, 1], [0, 1])",
    "G.send_u_recv(T([[True]], 'bool'), T([0], 'int64'), T([0], 'int64'))",
    f"G.send_uv({X}, {X}, {SRC}, {DST}, 'foo')",
    f"G.send_uv({X}, T([[1.0, 2.0, 3.0]] * 3), {SRC}, {DST})",
    f"G.send_uv({X}, {X}, {SRC}, T([1, 2], 'int32'))",
    f"G.reindex_graph({OLD}, {AROUND}, {COUNT})",
    f"G.reindex_graph({OLD}, {AROUND}, {COUNT}, T([-1] * 10, 'int32'), T([-1] * 10, 'int32'))",
    "G.reindex_graph(T([0, 1, 2], 'int32'), T([8, 9, 0, 4, 7, 6, 7], 'int32'), T([2, 3, 2], 'int32'))",
    f"G.reindex_graph({OLD}, {AROUND}, T([2, 3, 2], 'int64'))",
    (
        f"G.reindex_graph({OLD}, T([8, 9, 0, 4, 7, 6, 7, 0, 2, 3, 5, 1], 'int64'), T([2, 3, 2, 1, "
        "3, 1], 'int32'))"
    ),
    f"G.reindex_graph({OLD}, T([8, 9], 'int32'), {COUNT})",
    "G.reindex_graph(T([0.0]), T([8.0]), T([1], 'int32'))",
    (
        f"G.reindex_heter_graph({OLD}, [{AROUND}, T([0, 2, 3, 5, 1], 'int64')], [{COUNT}, T([1, "
        "3, 1], 'int32')])"
    ),
    f"G.reindex_heter_graph({OLD}, {AROUND}, {COUNT})",
    f"G.sample_neighbors({ROW}, {PTR}, {NODES}, sample_size=2)",
    f"G.sample_neighbors({ROW}, {PTR}, {NODES}, sample_size=0)",
    f"G.sample_neighbors({ROW}, {PTR}, {NODES}, 5, {EIDS}, True)",
    f"G.sample_neighbors({ROW}, {PTR}, T([7, 0], 'int64'), sample_size=3)",
    f"G.sample_neighbors({ROW}, {PTR}, T([], 'int64'))",
    f"G.sample_neighbors({ROW}, {PTR}, {NODES}, return_eids=True)",
    f"G.sample_neighbors({ROW}, {PTR}, T([0], 'int32'))",
    "G.sample_neighbors(T([1.0]), T([0.0, 1.0]), T([0.0]))",
    f"G.weighted_sample_neighbors({ROW}, {PTR}, T(np.ones(13)), {NODES}, 2)",
    f"G.weighted_sample_neighbors({ROW}, {PTR}, T(np.ones(13)), {NODES}, 2, {EIDS}, True)",
    f"G.weighted_sample_neighbors({ROW}, {PTR}, T(np.ones(13)), {NODES}, return_eids=True)",
    f"G.weighted_sample_neighbors({ROW}, {PTR}, T(np.ones(13), 'float64'), {NODES})",
    f"I.segment_mean({X}, T([0, 0, 1], 'int64'))",
    f"I.graph_send_recv({X}, {SRC}, {DST}, 'max')",
    f"I.graph_send_recv({X}, {SRC}, {DST}, 'foo')",
    f"I.graph_reindex({OLD}, {AROUND}, {COUNT})",
    f"I.graph_reindex({OLD}, {AROUND}, {COUNT}, flag_buffer_hashtable=True)",
    f"I.graph_sample_neighbors({ROW}, {PTR}, {NODES}, sample_size=5)",
    f"I.graph_sample_neighbors({ROW}, {PTR}, {NODES}, return_eids=True)",
    f"I.graph_sample_neighbors({ROW}, {PTR}, {NODES}, flag_perm_buffer=True)",
    f"I.graph_khop_sampler({ROW}, {PTR}, {NODES}, [2])",
    f"I.graph_khop_sampler({ROW}, {PTR}, T([7], 'int64'), [1])",
    f"I.graph_khop_sampler({ROW}, {PTR}, {NODES}, [])",
    f"I.graph_khop_sampler({ROW}, {PTR}, {NODES}, [-1], return_eids=True)",
]
HOWS, KINDS = ("sum", "mean", "max", "min"), ("add", "sub", "mul", "div")
CASES = [
    *[f"G.segment_{how}({case})" for how in HOWS for case in SEGMENTS],
    *[f"G.send_u_recv({case.format(how)})" for how in HOWS for case in RECEIVED],
    *[case.format(kind, how) for how in HOWS for kind in KINDS for case in COMBINED],
    *[case.format(kind) for kind in KINDS for case in BOTH_ENDS],
    *OTHERS,
]


def evaluate(engine, expression):
    def tensor(value, dtype="float32"):
        return engine.to_tensor(np.asarray(value, dtype))

    return eval(expression, {"G": engine.geometric, "I": engine.incubate, "T": tensor, "np": np})


@pytest.mark.filterwarnings("ignore::UserWarning")  # the real Paddle's older names warn that they are old
@pytest.mark.parametrize("expression", CASES)
def test_against_the_oracle(expression, oracle):
    theirs, ours = (outcome(lambda e=engine: evaluate(e, expression)) for engine in (oracle, paddle_jax))
    assert agree(theirs, ours), (theirs, ours)


def gradients(engine, name, how):
    """Gradients by nodes and edges, with equal largest values among them."""
    x = engine.to_tensor([[1.0, 2.0], [1.0, 1.0], [0.5, 5.0]], stop_gradient=False)
    y = engine.to_tensor([[1.0], [1.0], [2.0]], stop_gradient=False)
    src, dst = engine.to_tensor([0, 1, 2]), engine.to_tensor([0, 0, 1])
    if name == "segment":
        result = getattr(engine.geometric, f"segment_{how}")(x, dst)
    elif name == "send_u_recv":
        result = engine.geometric.send_u_recv(x, src, dst, how)
    elif name == "send_ue_recv":
        result = engine.geometric.send_ue_recv(x, y, src, dst, "mul", how)
    else:
        result = engine.geometric.send_uv(
            x, x + 1, src, dst, {"sum": "add", "mean": "sub", "max": "mul", "min": "div"}[how]
        )
    weights = engine.to_tensor([[1.0, 10.0], [100.0, 1000.0], [1.0, 1.0]])[: result.shape[0]]
    leaves = [x, y] if name == "send_ue_recv" else [x]
    return [g.numpy() for g in engine.grad((result * weights).sum(), leaves)]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", ["segment", "send_u_recv", "send_ue_recv", "send_uv"])
def test_gradients(name, how, oracle):
    for theirs, ours in zip(gradients(oracle, name, how), gradients(paddle_jax, name, how), strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-5)


@pytest.mark.parametrize("how", HOWS)
def test_second_derivatives(how, paddle):
    """Of the sum of squares of what is received: twice the number of times that a row counts in what it is
    received with, as a quotient says."""
    src, dst = paddle.to_tensor([0, 1, 2, 0]), paddle.to_tensor([0, 0, 1, 1])
    at = np.array([[1.0, 2.0], [3.0, 1.0], [0.5, 5.0]])

    def first(values):
        x = paddle.to_tensor(values, stop_gradient=False)
        (gradient,) = paddle.grad(
            paddle.geometric.send_u_recv(x, src, dst, how).pow(2).sum(), [x], create_graph=True
        )
        return x, gradient

    x, gradient = first(at)
    (second,) = paddle.grad(gradient.sum(), [x])
    quotient = (first(at + 1e-5)[1] - first(at - 1e-5)[1]).numpy() / 2e-5
    np.testing.assert_allclose(second, quotient, 1e-6, 1e-8)


def test_in_compiled_functions_and_programs(paddle):
    src, dst = np.array([0, 1, 2, 0]), np.array([1, 2, 1, 0])
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")

    def passed(x, src, dst):
        return (
            paddle.geometric.send_u_recv(x, src, dst, "mean") + paddle.geometric.send_uv(x, x, src, dst).sum()
        )

    eager = passed(*map(paddle.to_tensor, (x, src, dst))).numpy()
    compiled = paddle.jit.to_static(passed)(*map(paddle.to_tensor, (x, src, dst)))
    np.testing.assert_allclose(compiled, eager, 1e-6)
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            inputs = [
                paddle.static.data("x", [-1, 2], "float32"),
                *[paddle.static.data(n, [-1], "int64") for n in ("src", "dst")],
            ]
            result = passed(*inputs)
        (found,) = paddle.static.Executor().run(
            program, feed={"x": x, "src": src, "dst": dst}, fetch_list=[result]
        )
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, eager, 1e-6)


@pytest.mark.parametrize("how", ["add", "sub", "mul", "div"])
def test_many_edges_without_gradients(how, paddle):
    """More edges than fit a block of the host's loop; dividing by zero says nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(-2, 3, (2, 50, 3)).astype("float32")
    ends = rng.integers(0, 50, (2, 20000))
    found = paddle.geometric.send_uv(
        paddle.to_tensor(x), paddle.to_tensor(y), *map(paddle.to_tensor, ends), how
    )
    with np.errstate(all="ignore"):
        call = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[how]
        np.testing.assert_array_equal(found.numpy(), call(x[ends[0]], y[ends[1]]))


def test_nothing_to_add_up(paddle):
    for how in HOWS:
        found = getattr(paddle.geometric, f"segment_{how}")(paddle.zeros([0, 2]), paddle.zeros([0], "int64"))
        assert tuple(found.shape) == (0, 2)


def test_all_neighbours(paddle):
    """sample_size=-1, with which the real Paddle ends the process."""
    row, ptr, nodes, eids = (evaluate(paddle, e) for e in (ROW, PTR, NODES, EIDS))
    found = paddle.geometric.sample_neighbors(row, ptr, nodes, eids=eids, return_eids=True)
    assert [f.tolist() for f in found] == [
        [3, 7, 9, 7, 0, 9, 1],
        [2, 2, 2, 1],
        [100, 101, 111, 112, 102, 103, 104],
    ]
    found = paddle.incubate.graph_khop_sampler(row, ptr, paddle.to_tensor([0]), [-1, -1], eids, True)
    # 0 has the neighbours 3 and 7; 3 has 4, 7 has none
    assert [f.tolist() for f in found] == [
        [[1], [2], [3]],
        [[0], [0], [1]],
        [0, 3, 7, 4],
        [0],
        [100, 101, 105],
    ]
    with pytest.raises(IndexError, match="input_nodes"):
        paddle.geometric.sample_neighbors(row, ptr, paddle.to_tensor([10]))


@pytest.mark.parametrize("weighted", [False, True])
def test_frequencies_of_neighbours(weighted, paddle):
    """Two of three neighbours: each is left out as often as it should be, never drawn twice, and a weight
    of 0 comes last."""
    copies = 4000
    row, ptr = paddle.to_tensor([5, 6, 7]), paddle.to_tensor([0, 3])
    nodes = paddle.zeros([copies], "int64")
    weights = np.array([1.0, 2.0, 5.0])
    if weighted:
        found, count = paddle.geometric.weighted_sample_neighbors(
            row, ptr, paddle.to_tensor(weights.astype("float32")), nodes, 2
        )
        shares = weights / weights.sum()
        left_out = [
            sum(
                shares[i] * shares[j] / (1 - shares[i])
                for i in range(3)
                for j in range(3)
                if {i, j} == {0, 1, 2} - {k}
            )
            for k in range(3)
        ]
    else:
        found, count = paddle.geometric.sample_neighbors(row, ptr, nodes, 2)
        left_out = [1 / 3] * 3
    assert count.tolist() == [2] * copies
    pairs = found.numpy().reshape(copies, 2)
    assert np.all(pairs[:, 0] < pairs[:, 1])
    seen = [np.mean(~np.any(pairs == node, 1)) for node in (5, 6, 7)]
    np.testing.assert_allclose(seen, left_out, atol=5 * np.sqrt(0.25 / copies))
    paddle.seed(3)
    first = paddle.geometric.sample_neighbors(row, ptr, nodes, 1)[0].tolist()
    assert first != paddle.geometric.sample_neighbors(row, ptr, nodes, 1)[0].tolist()
    paddle.seed(3)
    assert first == paddle.geometric.sample_neighbors(row, ptr, nodes, 1)[0].tolist()
