"""Operations that ONNX files have as expressions of others, against the real Paddle."""

import math

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.corpus.networks import example
from tests.onnx.test_export import run, session

pytestmark = pytest.mark.own_process
pytest.importorskip("onnxruntime", reason="onnxruntime is not available for this Python")
Spec = ours.static.InputSpec


def some_nan(P, x):
    return P.where(x > 0, P.full_like(x, math.nan), P.floor(x))


def some_infinite(P, x):
    """Infinity and NaN in turn, and 1."""
    return P.concat([x[0] * 0 + one for one in (math.inf, math.nan, math.inf, 1.0)]).unsqueeze(1)


# functions of a matrix of numbers of any dtype
OF_ALL = [
    lambda P, F, x: P.kthvalue(x, 2, 1),
    lambda P, F, x: P.mode(P.floor_divide(x, P.full_like(x, 2)), 0, True),
    lambda P, F, x: P.searchsorted(P.sort(x[0]), x, right=True),
    lambda P, F, x: P.searchsorted(P.sort(x), x + 1, out_int32=True),
    lambda P, F, x: P.kron(x, x[:2, :2]),
    lambda P, F, x: P.trace(x, 1),
    lambda P, F, x: P.diag_embed(x, 1),
    lambda P, F, x: P.diag_embed(x, -1, 0, 2),
    lambda P, F, x: P.cross(x[:, :3], P.flip(x[:, :3], [1]), 1),
    lambda P, F, x: P.histogram(x, 4),
    lambda P, F, x: P.histogram(x, 3, -1, 1),
    lambda P, F, x: P.multiplex([x, x * 2], P.arange(x.shape[0]).astype("int32").unsqueeze(1) % 2),
    lambda P, F, x: P.repeat_interleave(x, P.arange(x.shape[1]), 1),
]
OF_FLOATS = [
    lambda P, F, x: P.kthvalue(some_nan(P, x), 3, 1)[0],
    lambda P, F, x: [P.kthvalue(some_infinite(P, x[:, :1]), k, 0)[0] for k in (1, 2, 3, 4)],
    lambda P, F, x: P.mode(some_infinite(P, x[:, :1])[:3], 0),
    lambda P, F, x: P.index_sample(x, (x > 0).astype("int32")),
    lambda P, F, x: P.bincount(x.abs().astype("int64").flatten(), minlength=2),
    lambda P, F, x: P.bincount(x[0].abs().astype("int32"), x[0]),
    lambda P, F, x: P.histogram(x, 4, weight=x.abs()),
    lambda P, F, x: P.histogram(x, 4, density=True),
    lambda P, F, x: P.linalg.matrix_power(P.matmul(x, x, transpose_y=True), 3),
    lambda P, F, x: P.linalg.multi_dot([x, x.T, x]),
    lambda P, F, x: P.stack([P.dist(x, x * 2, p) for p in (0, 0.5, 1, 2, 3.0, math.inf, -math.inf)]),
    lambda P, F, x: P.renorm(x, 2.0, 0, 1.5),
    lambda P, F, x: P.copysign(x, P.floor(x[:1]) * 0.0 - x[:1]),
    lambda P, F, x: 1 / P.copysign(x * 0, x),
    lambda P, F, x: F.maxout(x[:, :4, None, None], 2, 1),
    lambda P, F, x: F.temporal_shift(P.reshape(P.concat([x] * 8, 1), [-1, 4, 1, 1]), 2, 0.25),
    lambda P, F, x: F.temporal_shift(P.reshape(P.concat([x] * 10, 1), [-1, 5, 1, 1]), 2, 0.3),
    lambda P, F, x: F.temporal_shift(P.reshape(P.concat([x] * 40, 1), [-1, 20, 1, 1]), 2, 0.45),
    lambda P, F, x: F.log_loss(F.sigmoid(x[:, :1]), (x[:, :1] > 0).astype("float32")),
    lambda P, F, x: F.label_smooth(x),
    lambda P, F, x: F.smooth_l1_loss(x, x * 2, delta=0.7),
    lambda P, F, x: F.kl_div(x, F.softmax(x), "batchmean"),
    lambda P, F, x: F.binary_cross_entropy_with_logits(x, F.sigmoid(x), pos_weight=x[0].abs()),
    lambda P, F, x: F.bilinear(x[:, :3], x[:, :3], P.full([2, 3, 3], 0.5), P.ones([1, 2])),
    # what is drawn, where the draw does not matter
    lambda P, F, x: P.sort(P.randperm(7)),
    lambda P, F, x: P.sort(P.multinomial(x[:, :3].abs() + 1, 3)),
    lambda P, F, x: F.gumbel_softmax(x, hard=True).sum(-1),
]
OF_WHOLE_NUMBERS = [
    lambda P, F, x: P.copysign(x, x[:1]),
    lambda P, F, x: P.bincount(x[0].abs(), x[0]),
    lambda P, F, x: P.shard_index(x[:, :1].abs(), 20, 2, 0),
    lambda P, F, x: P.divide(x, P.full_like(x, 2), rounding_mode="trunc"),
]


def flat(results):
    if not isinstance(results, list | tuple):
        return [results]
    return [t for one in results for t in flat(one)]


def check(oracle, tmp_path, functions, dtype, shape, sizes):
    def model(P, x):
        return flat([function(P, P.nn.functional, x) for function in functions])

    ours.onnx.export(lambda x: model(ours, x), str(tmp_path / "m"), [Spec(shape, dtype)])
    for size in sizes:
        x = (example("float32", size) * 3).astype(dtype)
        wanted = [one.numpy() for one in model(oracle, oracle.to_tensor(x))]
        for position, (got, want) in enumerate(zip(run(tmp_path / "m.onnx", x), wanted, strict=True)):
            assert (got.shape, got.dtype) == (want.shape, want.dtype), position
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=str(position))


@pytest.mark.parametrize("case", range(len(OF_ALL + OF_FLOATS)))
def test_open_lengths(oracle, tmp_path, case):
    check(oracle, tmp_path, [(OF_ALL + OF_FLOATS)[case]], "float32", [None, None], ([3, 4], [1, 5]))


@pytest.mark.parametrize("dtype", ["float64", "int64", "int32"])
def test_dtypes(oracle, tmp_path, dtype):
    functions = OF_ALL + ([] if dtype == "float64" else OF_WHOLE_NUMBERS)
    check(oracle, tmp_path, functions, dtype, [3, 4], ([3, 4],))


def test_beams(oracle, tmp_path):
    rng = np.random.default_rng(0)
    tree = ours.nn.functional.gather_tree
    spec = [Spec([None, None, None], "int64", name) for name in ("ids", "parents")]
    ours.onnx.export(tree, str(tmp_path / "m"), spec)
    for steps, batch, beams in ((4, 2, 3), (1, 1, 1)):
        ids, parents = (rng.integers(0, beams, (steps, batch, beams)) for _ in range(2))
        want = oracle.nn.functional.gather_tree(oracle.to_tensor(ids), oracle.to_tensor(parents))
        np.testing.assert_array_equal(run(tmp_path / "m.onnx", ids, parents)[0], want.numpy())


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate"])
def test_padding_of_channels_last(oracle, tmp_path, mode):
    def padded(P, x):
        return P.nn.functional.pad(x, [1, 2, 0, 1], mode=mode, data_format="NHWC")

    ours.onnx.export(lambda x: padded(ours, x), str(tmp_path / "m"), [Spec([None, None, None, 2])])
    x = example("float32", [1, 2, 3, 2])
    want = padded(oracle, oracle.to_tensor(x))
    np.testing.assert_array_equal(run(tmp_path / "m.onnx", x)[0], want.numpy())


def test_operations_of_files_of_paddle(oracle, tmp_path):
    """Those that no function here is saved as."""

    def model(x):
        y = x + 0
        y[0] = 5.0
        moved = oracle.crop(x, [1, 2], [0, 1]), x[:1].expand_as(x), oracle.broadcast_tensors([x, x[:1]])[1]
        made = oracle.tril_indices(3, 3), oracle.eye(3), oracle.logspace(0, 1, 5)
        return x, y, *moved, *made

    path = str(tmp_path / "m")
    spec = oracle.static.InputSpec([None, 4], "float32", "x")
    oracle.jit.save(oracle.jit.to_static(model, input_spec=[spec], full_graph=True), path)
    x = example("float32", [3, 4])
    wanted = oracle.jit.load(path)(oracle.to_tensor(x))
    ours.onnx.export(ours.jit.load(path), path)
    for got, want in zip(run(tmp_path / "m.onnx", x), wanted, strict=True):
        assert got.dtype == want.numpy().dtype
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)


def test_lengths_of_0_in_reshape(tmp_path):
    def turned(x):
        b, h, w = x.shape
        return x[:, : h - 1].reshape([b, w, h - 1])

    ours.onnx.export(turned, str(tmp_path / "m"), [Spec([None, None, None])])
    for shape in ((2, 1, 3), (2, 3, 4)):
        x = example("float32", shape)
        (got,) = run(tmp_path / "m.onnx", x)
        np.testing.assert_array_equal(got, x[:, :-1].reshape(shape[0], shape[2], -1 if shape[1] > 1 else 0))


def test_draws(tmp_path):
    """As often as the chances say, and with another result each time."""

    def drawn(x):
        return ours.multinomial(x, 4000, True), ours.multinomial(x, 2), ours.randperm(200)

    ours.onnx.export(drawn, str(tmp_path / "m"), [Spec([3])])
    model = session(tmp_path / "m.onnx")
    feed = {model.get_inputs()[0].name: np.array([1, 0, 3], "float32")}
    many, both, order = model.run(None, feed)
    np.testing.assert_allclose(np.bincount(many, minlength=3) / 4000, [0.25, 0, 0.75], atol=0.05)
    assert sorted(both) == [0, 2]
    np.testing.assert_array_equal(np.sort(order), np.arange(200))
    assert (order != model.run(None, feed)[2]).any()


def test_statistics_of_nothing(oracle, tmp_path):
    def statistics(P, x):
        return x.mean(), x.mean(1), P.histogram(x, 4, density=True)

    ours.onnx.export(lambda x: statistics(ours, x), str(tmp_path / "m"), [Spec([None, None])])
    x = np.zeros([3, 0], "float32")
    wanted = statistics(oracle, oracle.to_tensor(x))
    for got, want in zip(run(tmp_path / "m.onnx", x), wanted, strict=True):
        np.testing.assert_array_equal(got, want.numpy())


def test_negative_numbers_are_not_counted(tmp_path):
    ours.onnx.export(ours.bincount, str(tmp_path / "m"), [Spec([None], "int64")])
    np.testing.assert_array_equal(run(tmp_path / "m.onnx", np.array([], "int64"))[0], [])
    with pytest.raises(Exception, match="indice"):
        run(tmp_path / "m.onnx", np.array([1, -1]))
