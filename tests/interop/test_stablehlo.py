"""Layers as StableHLO: run by JAX alone, in another process, at several lengths; trained
there; damaged files."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.corpus.networks import NETWORKS, example

ALONE = """
import sys, json, numpy as np, jax
from jax import export
jax.config.update("jax_enable_x64", True)
import safetensors.numpy
for prefix in sys.argv[1:]:
    program = export.deserialize(bytearray(open(prefix + ".stablehlo", "rb").read()))
    parameters = safetensors.numpy.load_file(prefix + ".safetensors")
    given = np.load(prefix + ".npz")
    found = {}
    for key in given:
        for i, leaf in enumerate(jax.tree.leaves(program.call(parameters, given[key]))):
            found[f"{key}_{i}"] = np.asarray(leaf)
    np.savez(prefix + "_out.npz", **found)
assert not any(name.startswith("paddle") for name in sys.modules)
"""


class Squeeze(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.pool, self.first, self.second = (
            nn.AdaptiveAvgPool2D(1),
            nn.Conv2D(channels, 2, 1),
            nn.Conv2D(2, channels, 1),
        )

    def forward(self, x):
        return x * nn.functional.hardsigmoid(self.second(nn.functional.relu(self.first(self.pool(x)))))


class Chosen(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(x)


def mobile(_):
    return nn.Sequential(
        nn.Conv2D(3, 8, 3, 2, 1),
        nn.BatchNorm2D(8),
        nn.Hardswish(),
        nn.Conv2D(8, 8, 3, 1, 1, groups=8),
        nn.BatchNorm2D(8),
        Squeeze(8),
        nn.MaxPool2D(3, 2, 1),
        nn.AdaptiveAvgPool2D(2),
        nn.Flatten(),
        nn.Linear(32, 5),
    )


CASES = {
    "mlp": (
        lambda _: nn.Sequential(
            nn.Linear(3, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.1), nn.Linear(8, 2)
        ),
        "float32",
        [None, 3],
        [2, 3],
        [5, 3],
    ),
    "lenet": (
        lambda P: P.vision.models.LeNet(),
        "float32",
        [None, 1, 28, 28],
        [2, 1, 28, 28],
        [3, 1, 28, 28],
    ),
    "resnet18": NETWORKS["resnet18"],
    "mobile": (mobile, "float32", [None, 3, None, None], [2, 3, 32, 32], [3, 3, 24, 40]),
    "vit": (NETWORKS["vit"][0], "float32", [None, 3, 8, 8], [2, 3, 8, 8], [5, 3, 8, 8]),
    "bert": NETWORKS["bert"],
    "lstm": NETWORKS["lstm"],
    "branch": (lambda _: Chosen(), "float32", [None, 3], [2, 3], [7, 3]),
}


def leaves(out):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(out)]


def test_same_in_a_process_with_jax_alone(tmp_path):
    wanted = {}
    for name, (make, dtype, shape, *shapes) in CASES.items():
        net = make(paddle)
        net.train()
        paddle.interop.save_stablehlo(net, str(tmp_path / name), [paddle.static.InputSpec(shape, dtype)])
        assert net.training  # saving leaves the mode as it was
        net.eval()
        given = {f"x{i}": example(dtype, shape, i) for i, shape in enumerate(shapes)}
        np.savez(tmp_path / f"{name}.npz", **given)
        wanted[name] = {
            f"{key}_{i}": leaf
            for key, x in given.items()
            for i, leaf in enumerate(leaves(net(paddle.to_tensor(x))))
        }
        back = paddle.interop.load_stablehlo(str(tmp_path / name))
        for key, x in given.items():
            for i, leaf in enumerate(leaves(back(paddle.to_tensor(x)))):
                np.testing.assert_allclose(
                    leaf, wanted[name][f"{key}_{i}"], rtol=2e-4, atol=2e-5, err_msg=name
                )
    subprocess.run(
        [sys.executable, "-c", ALONE, *[str(tmp_path / name) for name in CASES]],
        check=True,
        cwd=tmp_path,
        timeout=300,
    )
    for name, expected in wanted.items():
        with np.load(tmp_path / f"{name}_out.npz") as file:
            found = dict(file)
        assert sorted(found) == sorted(expected)
        for key, value in expected.items():
            np.testing.assert_allclose(found[key], value, rtol=2e-4, atol=2e-5, err_msg=name)


def test_gradients_as_often_as_it_says(tmp_path):
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = paddle.to_tensor(example("float32", [4, 3]), stop_gradient=False)
    for order in (0, 1, 2):
        path = str(tmp_path / str(order))
        paddle.interop.save_stablehlo(
            net, path, [paddle.static.InputSpec([None, 3], "float32")], vjp_order=order
        )
        back = paddle.interop.load_stablehlo(path)
        assert [n for n, _ in back.named_parameters()] == [n for n, _ in net.named_parameters()]
        if order == 0:
            with pytest.raises(ValueError, match="vjp_order"):
                paddle.grad(back(x).sum(), x)[0].numpy()
            continue
        (want,) = paddle.grad((net(x) ** 2).sum(), x, create_graph=order > 1)
        (got,) = paddle.grad((back(x) ** 2).sum(), x, create_graph=order > 1)
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)
        if order == 2:
            second = [paddle.grad((g * g).sum(), x)[0].numpy() for g in (got, want)]
            np.testing.assert_allclose(second[0], second[1], rtol=1e-5, atol=1e-6)


def test_training_what_was_loaded(tmp_path):
    paddle.interop.save_stablehlo(
        nn.Linear(3, 1), str(tmp_path / "m"), [paddle.static.InputSpec([None, 3], "float32")], vjp_order=1
    )
    model = paddle.interop.load_stablehlo(str(tmp_path / "m"))
    sgd, x = paddle.optimizer.SGD(0.05, parameters=model.parameters()), paddle.ones([4, 3])
    losses = []
    for _ in range(5):
        loss = model(x).square().mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float64"])
def test_other_dtypes(tmp_path, kind):
    net, x = nn.Linear(3, 2).astype(kind), paddle.ones([2, 3]).astype(kind)
    paddle.interop.save_stablehlo(net, str(tmp_path / "m"), [paddle.static.InputSpec([None, 3], kind)])
    got = paddle.interop.load_stablehlo(str(tmp_path / "m"))(x)
    assert got.dtype == net(x).dtype and got.astype("float64").tolist() == net(x).astype("float64").tolist()


def test_wrong_inputs(tmp_path):
    paddle.interop.save_stablehlo(
        nn.Linear(3, 2), str(tmp_path / "m"), [paddle.static.InputSpec([None, 3], "float32")]
    )
    model, x = paddle.interop.load_stablehlo(str(tmp_path / "m")), paddle.ones([2, 3])
    for given in ((), (x, x), (paddle.ones([2, 4]),), (x.astype("float64"),)):
        with pytest.raises(ValueError):
            model(*given)


def test_platforms_in_one_file(tmp_path):
    paddle.interop.save_stablehlo(
        nn.Linear(3, 1), str(tmp_path / "m"), [paddle.static.InputSpec([None, 3], "float32")]
    )
    assert paddle.interop.load_stablehlo(str(tmp_path / "m")).exported.platforms == ("cpu", "cuda", "tpu")


@pytest.mark.parametrize(
    "function, shape",
    [
        (paddle.tanh, [None]),
        (lambda x: paddle.fft.fft(x).real(), [None, 8]),
        (paddle.linalg.det, [None, 3, 3]),
        (lambda x: paddle.linalg.svd(x)[1], [2, 3, 3]),
        (lambda x: paddle.nextafter(x, x + 1), [None]),
    ],
    ids=["tanh", "fft", "det", "svd", "nextafter"],
)
def test_one_file_of_ops_with_rules_for_tpus(tmp_path, function, shape):
    paddle.interop.save_stablehlo(function, str(tmp_path / "m"), [paddle.static.InputSpec(shape, "float32")])
    x = paddle.rand([length or 4 for length in shape])
    got = paddle.interop.load_stablehlo(str(tmp_path / "m"))(x)
    np.testing.assert_allclose(got.numpy(), function(x).numpy(), rtol=1e-5, atol=1e-5)


TABLE = paddle.to_tensor(np.random.default_rng(5).normal(size=(12, 4)).astype("float32"))
F = nn.functional
BOUNDED = {  # function, shape of its input, shapes that the file takes, shapes that it refuses
    "sort": (lambda x: paddle.sort(x, 1), [None, None], [(1, 1), (2, 7)], []),
    "argsort": (lambda x: paddle.argsort(x, 1), [None, None], [(1, 1), (3, 6)], []),
    "topk": (lambda x: paddle.topk(x, 2, 1), [None, None], [(1, 2), (3, 6)], [(1, 1)]),
    "window": (
        lambda x: F.max_pool2d(x, 2, 2),
        [None, 3, None, None],
        [(1, 3, 2, 2), (2, 3, 7, 4)],
        [(1, 3, 1, 4)],
    ),
    "table": (lambda x: x + TABLE[: x.shape[1]], [None, None, 4], [(1, 1, 4), (2, 12, 4)], [(1, 13, 4)]),
    "cumsum": (lambda x: paddle.cumsum(x, 1), [None, None], [(1, 1), (2, 7)], []),
    "cumprod": (lambda x: paddle.cumprod(x, 0), [None, None], [(1, 1), (8, 2), (9, 2)], []),
    "logcumsumexp": (lambda x: paddle.logcumsumexp(x, 1), [None, None], [(1, 1), (2, 7)], []),
    "var": (lambda x: paddle.var(x, 1), [None, None], [(1, 2), (3, 7)], []),
    "std": (lambda x: paddle.std(x), [None, None], [(2, 1), (3, 7)], []),
    "grid": (
        lambda x: F.affine_grid(paddle.ones([1, 2, 3]), [1, 1, x.shape[0], x.shape[1]]),
        [None, None],
        [(1, 1), (2, 1), (3, 5)],
        [],
    ),
    "grid of cells": (
        lambda x: F.affine_grid(paddle.ones([1, 2, 3]), [1, 1, x.shape[0], x.shape[1]], align_corners=False),
        [None, None],
        [(1, 1), (2, 1), (3, 5)],
        [],
    ),
    "cummax": (lambda x: paddle.cummax(x, 1), [None, None], [(1, 1), (2, 7)], []),
}


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.filterwarnings("ignore:save_stablehlo. the file is for lengths")
def test_lengths_with_bounds(tmp_path, name):
    function, shape, taken, refused = BOUNDED[name]
    path = str(tmp_path / "m")
    paddle.interop.save_stablehlo(function, path, [paddle.static.InputSpec(shape, "float32")])
    loaded = paddle.interop.load_stablehlo(path)
    for lengths in taken:
        x = paddle.to_tensor(np.random.default_rng(0).normal(size=lengths).astype("float32"))
        for one, other in zip(jax.tree.leaves(loaded(x)), jax.tree.leaves(function(x)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    for lengths in refused:
        with pytest.raises(ValueError, match="the program was saved for lengths of"):
            loaded(paddle.ones(lengths))


def test_bounds_are_said(tmp_path):
    spec = [paddle.static.InputSpec([None, None, 4], "float32")]
    with pytest.warns(UserWarning, match="for lengths of 1 to 12 along axis 1"):
        paddle.interop.save_stablehlo(BOUNDED["table"][0], str(tmp_path / "m"), spec)


def test_gradients_of_running_sums(tmp_path):
    path = str(tmp_path / "m")
    spec = [paddle.static.InputSpec([None], "float32")]
    paddle.interop.save_stablehlo(lambda x: paddle.cumsum(x * x), path, spec, vjp_order=1)
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    paddle.interop.load_stablehlo(path)(x).sum().backward()
    # 2 x times the number of sums that it is in
    assert x.grad.tolist() == [6.0, 8.0, 6.0]


def by_value(x):
    return x[x > 0]


def drawn(x):
    return x + paddle.uniform([x.shape[0], 3])


def of_two_shapes(x):
    return x[:1] if x.sum() > 0 else x


def by_text(x):
    return x * float(f"{x.shape[0]}.5")


@pytest.mark.parametrize("function", [by_value, of_two_shapes, by_text])
def test_what_needs_a_number_says_so_and_leaves_no_file(tmp_path, function):
    with pytest.raises(
        ValueError,
        match=rf"{function.__name__}: .*test_stablehlo.py:\d+.*; "
        r"give that length as a number",
    ):
        paddle.interop.save_stablehlo(
            function, str(tmp_path / "m"), [paddle.static.InputSpec([None, 3], "float32")]
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "bad", [{"platforms": ["gpu"]}, {"platforms": []}, {"vjp_order": -1}, {"input_spec": None}]
)
def test_arguments(tmp_path, bad):
    given = {"input_spec": [paddle.static.InputSpec([None, 3], "float32")]} | bad
    with pytest.raises(ValueError, match=next(iter(bad))):
        paddle.interop.save_stablehlo(nn.Linear(3, 1), str(tmp_path / "m"), **given)


def test_damaged_files(tmp_path):
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    paddle.interop.save_stablehlo(nn.Linear(3, 2), str(tmp_path / "m"), spec)
    whole = {ending: (tmp_path / f"m.{ending}").read_bytes() for ending in ("stablehlo", "safetensors")}
    want = paddle.interop.load_stablehlo(str(tmp_path / "m"))(paddle.ones([2, 3])).numpy()
    rng = np.random.RandomState(0)
    for ending, data in whole.items():
        changed = [data[:n] for n in (0, 1, 8, len(data) // 2, len(data) - 1)]
        for at in rng.randint(0, len(data), 40):
            changed.append(data[:at] + bytes([data[at] ^ (1 << rng.randint(8))]) + data[at + 1 :])
        changed.append(data.replace(b'"bounds":"[', b'"bounds":"Y'))
        for one in changed:
            (tmp_path / f"m.{ending}").write_bytes(one)
            try:
                got = paddle.interop.load_stablehlo(str(tmp_path / "m"))(paddle.ones([2, 3])).numpy()
            except ValueError as error:
                assert "load_stablehlo" in str(error)
            else:  # a bit of a number, of a name or of a comment
                assert got.shape == want.shape
        (tmp_path / f"m.{ending}").write_bytes(data)
    paddle.interop.save_stablehlo(nn.Linear(3, 4), str(tmp_path / "n"), spec)
    (tmp_path / "m.safetensors").write_bytes((tmp_path / "n.safetensors").read_bytes())
    with pytest.raises(ValueError, match="not of one save"):
        paddle.interop.load_stablehlo(str(tmp_path / "m"))
    with pytest.raises(ValueError, match="does not exist"):
        paddle.interop.load_stablehlo(str(tmp_path / "absent"))


OPEN = [paddle.static.InputSpec([None, None, None], "float32", "x")]


def rows(x):
    total = paddle.zeros([])
    for k, row in enumerate(x):
        total = total + row.sum() * (k + 1)
    return x + total


def halved(x):
    n = x.shape[1]
    while n > 1:
        n = n // 2
        x = x * 0.5 + 1.0 / (n + 1)
    return x


def turned(x):
    if x.shape[1] > x.shape[2]:
        x = x.transpose([0, 2, 1])
    return x * 2


def padded(x):
    h, w = x.shape[1:]
    y = paddle.nn.functional.pad(x.unsqueeze(1), [0, (8 - w % 8) % 8, 0, (4 - h % 4) % 4])
    return y, y[:, 0, :h, :w] * 3


def steps(x):
    for i in range(0, x.shape[2] % 3, 2):  # one step for lengths 1 and 4
        x = x * 0.5 + i
    return {"last": x, "count": x.shape[2]}


def windows(x):
    total, i = paddle.zeros([x.shape[0], x.shape[2]]), 0
    while i + 2 <= x.shape[1]:
        total = total * 0.5 + x[:, i : i + 2].unbind(1)[1]
        i += 1
    if x.shape[1] >= 5:
        total = total + x[:, :5].unbind(1)[4]
    return total


# the functions themselves give the right values
ASKED = {
    "windows": windows,
    "bound_of_either_sign": lambda x: x[: -(x.shape[0] // 2)],
    "remainder": lambda x: x * 2 if x.shape[2] % 2 else x,
    "two_lengths": lambda x: x * 2 if x.shape[1] == x.shape[2] else x,
    "a_number": lambda x: x * 2 if x.shape[1] != 4 else x,
    "among": lambda x: x * 2 if x.shape[1] in (4, 8) else x,
    "shape": lambda x: x * 2 if x.shape == [2, 8, 3] else x,
    "tuple": lambda x: x * 2 if tuple(x.shape[1:]) == (8, 3) else x,
    "dict": lambda x: x * {4: 2.0}.get(x.shape[1], 1.0),
    "not": lambda x: x * 2 if not x.shape[2] - 3 else x,
    "other_shapes": lambda x: x[:, : x.shape[1] // 2] if x.shape[2] % 2 else x[:, :, ::2],
    "halves": lambda x: x[: int(x.shape[0] / 2)] * (x.shape[1] / 2) + round(x.shape[2] * 0.5),
    "numbers": lambda x: paddle.arange(0.0, float(x.shape[1]), 0.5) * max(x.shape[2], 4) ** 0.5,
    "size_in_a_tensor": lambda x: paddle.ones([int(paddle.shape(x)[1]) + 1, 2]),
    "resized": lambda x: paddle.nn.functional.interpolate(
        x.unsqueeze(1), size=[x.shape[2], x.shape[1] * 2], mode="bilinear", align_corners=True
    ),
    "nearest": lambda x: paddle.nn.functional.interpolate(x.unsqueeze(1), scale_factor=1.5),
    "pooled": lambda x: paddle.nn.functional.avg_pool1d(
        paddle.nn.functional.pad(x, [1, 2], data_format="NCL"), 2, padding=1
    ),
    "reflected": lambda x: paddle.nn.functional.pad(
        x, [min(x.shape[2] - 1, 2), 1], mode="replicate", data_format="NCL"
    ),
    "places": lambda x: paddle.nn.functional.one_hot(x.argmax(-1), x.shape[2]),
    "rows": rows,
    "halved": halved,
    "turned": turned,
    "padded": padded,
    "steps": steps,
}


@pytest.mark.parametrize("name", ASKED)
def test_questions_about_lengths(tmp_path, name):
    """Branches and loops by lengths, at lengths that no recording has."""
    function, path = ASKED[name], str(tmp_path / "m")
    paddle.interop.save_stablehlo(function, path, OPEN)
    loaded = paddle.interop.load_stablehlo(path)
    for shape in ((2, 8, 3), (1, 1, 1), (4, 4, 4), (3, 5, 6)):
        x = paddle.to_tensor(np.random.default_rng(0).normal(size=shape).astype("float32"))
        found, want = loaded(x), function(x)
        assert type(found) is type(want)
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(want), strict=True):
            assert list(paddle.shape(one)) == list(paddle.shape(paddle.to_tensor(other)))
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-6)


def nested(x):
    b, h, w = x.shape
    for n in (h, w, b, h + w):
        if n % 2 and n > 3 or h == w:
            x = x[:, : x.shape[1] // 2 + n % 5]
    return x


def test_lengths_of_long_expressions_are_refused_soon(tmp_path):
    """JAX searches for the bounds of such lengths for hours."""
    with pytest.raises(ValueError, match="length"):
        paddle.interop.save_stablehlo(nested, str(tmp_path / "m"), OPEN)


DOUBTFUL = {
    "set": lambda x: x * len({x.shape[1], x.shape[2]}),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_questions_about_lengths_are_refused(tmp_path, name):
    """JAX answers with False where it cannot know; the file would do that for all lengths."""
    with pytest.raises(ValueError, match="length that is not fixed"):
        paddle.interop.save_stablehlo(DOUBTFUL[name], str(tmp_path / "m"), OPEN)
    (dim,) = jax.export.symbolic_shape("n")
    assert (dim == 4) is False  # as before
    assert bool(dim)
    assert not isinstance(dim, int)


# NumPy gives the right values
CUT = [
    lambda x: x[: x.shape[0] - 1],
    lambda x: x[: x.shape[0] // 2],
    lambda x: x[x.shape[0] // 2 :],
    lambda x: x[:, -x.shape[0] :],
    lambda x: x[:, : x.shape[0]],
    lambda x: x[:, x.shape[0] :],
    lambda x: x[:, : -x.shape[0]],
    lambda x: x[x.shape[0] - 1],
    lambda x: x[:, -5:],
    lambda x: x[:, :5],
    lambda x: x[:, 1:-1],
    lambda x: x[:, ::2],
    lambda x: x[:, ::-1],
    lambda x: x * 2 if isinstance(x.shape[1], int) else x,
]


@pytest.mark.parametrize("position", range(len(CUT)))
def test_slices_by_lengths(tmp_path, position):
    function, path = CUT[position], str(tmp_path / "m")
    paddle.interop.save_stablehlo(function, path, OPEN)
    loaded = paddle.interop.load_stablehlo(path)
    for shape in ((2, 8, 3), (3, 5, 5), (1, 2, 2), (5, 1, 7)):
        x = np.random.default_rng(0).normal(size=shape).astype("float32")
        np.testing.assert_array_equal(loaded(paddle.to_tensor(x)).numpy(), function(x))
