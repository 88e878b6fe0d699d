"""Tensors on a mesh of eight devices against NumPy: values, layouts, gradients."""

import copy
import itertools

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import (
    Partial,
    ProcessMesh,
    ReduceType,
    Replicate,
    Shard,
    reshard,
    shard_tensor,
    unshard_dtensor,
)
from paddle_jax.distributed.auto_parallel.api import dtensor_from_local, dtensor_to_local, piece
from paddle_jax.distributed.auto_parallel.layout import layout_of

MESH = ProcessMesh(np.arange(8).reshape(2, 4), ["x", "y"])
FLAT = ProcessMesh([3, 1, 6, 4], ["z"])
KINDS = [Replicate(), Partial(), Shard(0), Shard(1)]
PAIRS = [list(each) for each in itertools.product(KINDS, repeat=2)]
DATA = np.arange(64, dtype="float32").reshape(8, 8) - 20


def pieces(x):
    """What each device holds, by its index in the mesh."""
    layout = layout_of(x)
    return {index: piece(x, layout, index).numpy() for index in np.ndindex(*layout.mesh.shape)}


def physical(x):
    """What JAX has put on each device."""
    return {shard.device.id: np.asarray(shard.data) for shard in x._value.addressable_shards}


@pytest.mark.parametrize("mode", ["sync", "off"])
def test_every_pair_of_layouts(mode):
    paddle.set_flags({"FLAGS_deferred": mode})
    sources = PAIRS if mode == "sync" else PAIRS[::5]
    for before in sources:
        x = shard_tensor(DATA, MESH, before)
        for after in PAIRS:
            y = reshard(x, MESH, after)
            assert y.placements == after and y.is_dist()
            assert np.array_equal(y.numpy(), DATA)
            assert y._value.sharding.is_equivalent_to(layout_of(y).sharding((8, 8)), 2)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "bool", "complex64", "uint8"])
def test_dtypes(dtype):
    data = paddle.to_tensor(DATA % 3).astype(dtype)
    for before, after in [(PAIRS[2], PAIRS[8]), (PAIRS[10], PAIRS[7]), (PAIRS[1], PAIRS[3])]:
        y = reshard(shard_tensor(data, MESH, before), FLAT, after[:1])
        assert y.dtype == data.dtype and np.array_equal(y.numpy(), data.numpy())


def test_data_that_was_computed_beside_values_on_a_mesh():
    """Recorded together with them it lies whole on their devices; that is no layout that
    somebody has asked for."""
    beside = (shard_tensor(DATA, MESH, [Shard(0), Shard(1)]) * 2).exp()
    data = paddle.to_tensor(DATA % 3).astype("bool")
    y = shard_tensor(data, MESH, [Replicate(), Shard(0)])
    assert y.placements == [Replicate(), Shard(0)] and np.array_equal(y.numpy(), DATA % 3 != 0)
    assert np.allclose(beside.numpy(), np.exp(DATA * 2), rtol=1e-5)
    with pytest.raises(ValueError, match="use reshard"):
        shard_tensor(y, MESH, [Shard(0)])


def test_devices_hold_their_pieces():
    x = shard_tensor(DATA, MESH, [Shard(0), Shard(1)])
    held = physical(x)
    for (i, j), number in np.ndenumerate(MESH.mesh):
        assert np.array_equal(held[number], DATA[4 * i : 4 * i + 4, 2 * j : 2 * j + 2])
    assert {k: v.tolist() for k, v in pieces(x).items()} == {
        k: held[MESH.mesh[k]].tolist() for k in held_index()
    }
    twice = physical(shard_tensor(DATA, MESH, [Shard(0), Shard(0)]))
    assert all(np.array_equal(twice[n], DATA[n : n + 1]) for n in range(8))
    mixed = physical(shard_tensor(DATA, FLAT, [Shard(1)]))
    assert all(
        np.array_equal(mixed[n], DATA[:, 2 * at : 2 * at + 2]) for at, n in enumerate(FLAT.process_ids)
    )


def held_index():
    return np.ndindex(2, 4)


def test_lengths_that_do_not_divide():
    for length, count in [(5, 4), (3, 4), (9, 4), (1, 4), (0, 4)]:
        x = shard_tensor(np.arange(length, dtype="float32"), FLAT, [Shard(0)])
        chunk = -(-length // count)
        for (at,), part in pieces(x).items():
            assert (
                part.tolist()
                == list(range(at * chunk, min((at + 1) * chunk, length)))[: max(length - at * chunk, 0)]
            )
        assert x.placements == [Shard(0)] and x._local_shape == [min(chunk, length)]
        assert np.array_equal((x * 2).numpy(), np.arange(length) * 2)
    assert [
        s.stop - s.start
        for s in layout_of(shard_tensor(np.ones(10), MESH, [Shard(0), Shard(0)])).range((10,), (1, 3))
    ] == [0]


REDUCTIONS = {
    "kRedSum": np.sum,
    "kRedMax": np.max,
    "kRedMin": np.min,
    "kRedProd": np.prod,
    "kRedAvg": np.mean,
    "kRedAny": np.any,
    "kRedAll": np.all,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_parts_make_up_the_value(name):
    data = DATA[:2] % 2 == 0 if name in ("kRedAny", "kRedAll") else DATA[:2]
    x = shard_tensor(data, FLAT, [Partial(ReduceType[name])])
    assert np.array_equal(REDUCTIONS[name](np.stack(list(pieces(x).values())), 0), data)
    assert np.array_equal(reshard(x, FLAT, [Shard(1)]).numpy(), data)
    one = dtensor_from_local(paddle.to_tensor(data), FLAT, [Partial(ReduceType[name])])
    assert np.allclose(one.numpy(), REDUCTIONS[name](np.stack([data] * 4), 0))


def test_local_parts():
    part = paddle.to_tensor(DATA[:2, :3], stop_gradient=False)
    whole = dtensor_from_local(part, MESH, [Shard(0), Shard(1)])
    assert np.array_equal(whole.numpy(), np.tile(DATA[:2, :3], (2, 4)))
    (whole * paddle.to_tensor(np.ones((4, 12), "float32"))).sum().backward()
    assert np.array_equal(part.grad.numpy(), np.full((2, 3), 8.0))
    back = dtensor_to_local(whole, MESH, [Shard(0), Shard(1)])
    assert not back.is_dist() and np.array_equal(back.numpy(), DATA[:2, :3])


def test_the_part_of_a_sum_on_other_devices_is_zero():
    # This process drives device 0, which is the second one of this mesh.
    mesh = ProcessMesh([1, 0])
    whole = shard_tensor(np.array([1.0, np.inf, np.nan], "float32"), mesh, [Partial()])
    assert dtensor_to_local(whole, mesh, [Partial()]).tolist() == [0.0, 0.0, 0.0]


def test_gradients_of_every_order_go_back_to_the_source():
    for after in [([Replicate(), Shard(0)], MESH), ([Shard(0)], FLAT), ([Partial(), Partial()], MESH)]:
        x = shard_tensor(DATA / 20, MESH, [Shard(0), Shard(1)])
        x.stop_gradient = False
        y = reshard(x * x, after[1], after[0])
        g = paddle.grad((y * y).sum(), [x], create_graph=True)[0]
        h = paddle.grad(g.sum(), [x], create_graph=True)[0]
        (h * h).sum().backward()
        assert np.allclose(g.numpy(), 4 * (DATA / 20) ** 3, rtol=1e-5)
        assert np.allclose(h.numpy(), 12 * (DATA / 20) ** 2, rtol=1e-5)
        assert np.allclose(x.grad.numpy(), 2 * 12 * (DATA / 20) ** 2 * 24 * DATA / 20, rtol=1e-4)
        assert x.grad.process_mesh == MESH
    x = shard_tensor(DATA, MESH, [Shard(0), Shard(1)])
    x.stop_gradient = False
    y = reshard(x, MESH, [Replicate(), Replicate()])
    (y * 3).sum().backward()
    assert x.grad.placements == [Shard(0), Shard(1)]
    x.clear_gradient(False)
    (unshard_dtensor(x) * 3).sum().backward()
    assert x.grad.placements == [Shard(0), Shard(1)] and x.grad.numpy().max() == 3


def test_backward_twice_is_refused():
    x = shard_tensor(DATA, MESH, [Shard(0)])
    x.stop_gradient = False
    y = reshard(x, MESH, [Replicate()])
    y.backward(paddle.ones_like(y))
    with pytest.raises(RuntimeError, match="freed"):
        y.backward(paddle.ones_like(y))


OPERATIONS = [
    lambda x, w: x + 1,
    lambda x, w: (x @ w).tanh(),
    lambda x, w: x.sum(),
    lambda x, w: x.max(axis=0),
    lambda x, w: x.reshape([4, 16]),
    lambda x, w: x[1:5, ::2],
    lambda x, w: paddle.sort(x, axis=0),
    lambda x, w: paddle.concat([x, w]),
    lambda x, w: x.T,
    lambda x, w: paddle.nn.functional.softmax(x, axis=0),
    lambda x, w: paddle.linalg.norm(x),
    lambda x, w: paddle.where(x > 0, x, w),
    lambda x, w: paddle.nn.functional.layer_norm(x, 8),
    lambda x, w: x.cumsum(0),
    lambda x, w: paddle.einsum("ij,jk->ik", x, w),
    lambda x, w: paddle.gather(x, paddle.to_tensor([3, 1])),
    lambda x, w: x.astype("float64"),
    lambda x, w: x * paddle.ones([8]),
]


@pytest.mark.parametrize("mode", ["sync", "off"])
def test_operations_on_sharded_and_other_tensors(mode):
    paddle.set_flags({"FLAGS_deferred": mode})
    w = np.random.RandomState(0).randn(8, 8).astype("float32")
    for operation in OPERATIONS:
        want = operation(paddle.to_tensor(DATA), paddle.to_tensor(w)).numpy()
        mixed = [shard_tensor(DATA, MESH, [Shard(0), Shard(1)]), paddle.to_tensor(w)]
        sharded = [mixed[0], shard_tensor(w, MESH, [Shard(1), Replicate()])]
        bound = [mixed[0], paddle.to_tensor(w, place=paddle.CPUPlace())]
        for operands in (mixed, sharded, bound):
            got = operation(*operands)
            assert np.allclose(got.numpy(), want, rtol=1e-5, atol=1e-5), operation
            assert got.is_dist()


def test_segments_are_compiled_whole():
    x, w = shard_tensor(DATA, MESH, [Shard(0)]), shard_tensor(DATA.T / 100, MESH, [Replicate(), Shard(1)])
    w.stop_gradient = False
    scale = paddle.to_tensor(2.0)
    paddle.explain(reset=True)
    for _ in range(4):
        loss = ((x @ w).tanh() * scale + 1.0).square().mean()
        loss.backward()
        assert float(loss) > 0
        w.clear_gradient(False)
    report = paddle.explain()
    assert report.compiles == 1 and report.hits == 3 and report.interpreted == 0


def test_in_place_changes_and_copies():
    x = shard_tensor(DATA, MESH, [Shard(0)])
    x.add_(paddle.to_tensor(1.0))
    x[0, 0] = 100.0
    want = DATA + 1
    want[0, 0] = 100
    assert np.array_equal(x.numpy(), want) and np.array_equal(x._local_value().numpy(), want[:4])
    for same in (x.detach(), x.clone(), copy.deepcopy(x), copy.copy(x)):
        assert same.placements == [Shard(0), Replicate()] and np.array_equal(same.numpy(), want)
    uneven = shard_tensor(np.arange(5.0), FLAT, [Shard(0)])
    assert copy.deepcopy(uneven).placements == [Shard(0)]


def test_save_and_load(tmp_path):
    x = shard_tensor(DATA, MESH, [Shard(0), Shard(1)])
    paddle.save({"x": x}, str(tmp_path / "x.pdparams"))
    loaded = paddle.load(str(tmp_path / "x.pdparams"))["x"]
    assert np.array_equal(loaded.numpy(), DATA)
    x.set_value(loaded * 2)
    assert np.array_equal(x.numpy(), DATA * 2)


def test_inside_to_static():
    w = shard_tensor(paddle.create_parameter([8, 8], "float32"), MESH, [Replicate(), Shard(1)])
    x = shard_tensor(DATA / 50, MESH, [Shard(0)])

    def step(x):
        h = reshard((x @ w).tanh(), MESH, [Replicate(), Replicate()])
        return (h * h).mean()

    want = step(x)
    want.backward()
    expected = w.grad.numpy()
    w.clear_gradient(False)
    compiled = paddle.jit.to_static(step)
    for _ in range(2):
        loss = compiled(x)
        loss.backward()
        assert np.allclose(float(loss), float(want), rtol=1e-6)
        assert np.allclose(w.grad.numpy(), expected, rtol=1e-5, atol=1e-7)
        w.clear_gradient(False)


def test_text():
    text = str(shard_tensor(DATA, MESH, [Shard(0), Partial()]))
    mesh = "process_mesh={shape: [2,4], process_ids: [0,1,2,3,4,5,6,7], dim_names: [x,y]}"
    assert f"{mesh}, placements=[Shard(dim=0), Partial(reduce_type=SUM)], GlobalDenseTensor=" in text


def test_what_is_refused():
    x = shard_tensor(DATA, MESH, [Shard(0)])
    for call, error in [
        (lambda: shard_tensor(DATA, MESH, [Shard(2)]), ValueError),
        (lambda: shard_tensor(DATA, MESH, [Shard(0)] * 3), ValueError),
        (lambda: shard_tensor(DATA, None, [Shard(0)]), TypeError),
        (lambda: shard_tensor(DATA, MESH, ["x"]), TypeError),
        (lambda: shard_tensor(x, MESH, [Replicate()]), ValueError),
        (lambda: reshard(paddle.ones([2]), MESH, [Replicate()]), ValueError),
        (lambda: reshard(3, MESH, [Replicate()]), AttributeError),
        (lambda: unshard_dtensor(paddle.ones([2])), ValueError),
        (lambda: shard_tensor(DATA, ProcessMesh([0, 8]), [Shard(0)]), ValueError),
    ]:
        with pytest.raises(error):
            call()
    assert shard_tensor(x, MESH, [Shard(0), Replicate()]) is x


def test_a_result_on_a_mesh_of_one_device_changes_its_layout():
    one = ProcessMesh([0], ["x"])
    x = shard_tensor(paddle.full([2], 3.0), one, [Replicate()])
    x.stop_gradient = False
    y = reshard(x * 2, one, [Shard(0)])
    assert y.placements == [Shard(0)] and y.tolist() == [6.0, 6.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


# the real Paddle says for each that the result is distributed as x is
LIKE = {
    "full_like": lambda x: paddle.full_like(x, 2.0),
    "full_like_dtype": lambda x: paddle.full_like(x, 2, dtype="int64"),
    "zeros_like": paddle.zeros_like,
    "ones_like": paddle.ones_like,
    "fill_": lambda x: x.clone().fill_(3.0),
    "zero_": lambda x: x.clone().zero_(),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: x.clone().uniform_(),
    "exponential_": lambda x: x.clone().exponential_(),
}


@pytest.mark.parametrize("name", LIKE)
@pytest.mark.parametrize("pending", [False, True])
def test_what_is_made_like_a_distributed_tensor_is_distributed(name, pending):
    mesh = ProcessMesh(list(range(8)), dim_names=["x"])
    x = shard_tensor(np.ones((16, 2), "float32"), mesh, [Shard(0)])
    made = LIKE[name](x * 2 if pending else x)
    assert made.is_dist()
    assert made.placements == [Shard(0)]
    assert piece(made, layout_of(made), (0,)).shape == [2, 2]
