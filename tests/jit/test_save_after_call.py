"""`jit.save` without input_spec: the arguments of the last call, however they were passed. Names of inputs
are those that Paddle 3.3.1 gives."""

import collections

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.static import InputSpec

Pair = collections.namedtuple("Pair", "a b")


class Net(paddle.nn.Layer):
    """A Linear layer whose inputs an expression finds."""

    def __init__(self, forward):
        super().__init__()
        self.linear = paddle.nn.Linear(3, 2)
        self.forward = paddle.jit.to_static(forward.__get__(self))


def optional(self, x, y=None, scale=1.0):
    out = self.linear(x) * scale
    return out if y is None else out + y


def mapping(self, d):
    return self.linear(d["x"]) + d["y"]


def ordered(self, d):
    first, second = d.values()
    return first * 2 + second


def nested(self, xs, add=True):
    return self.linear(xs[0]) + xs[1][0] if add else self.linear(xs[0]) - xs[1][0]


def pair(self, xs):
    return self.linear(xs.a) + xs.b


def anything(self, *xs, **more):
    return self.linear(xs[0]) + more["y"]


def by_name_only(self, x, *, y):
    return self.linear(x) + y


def decided(self, x, y=None):
    return self.linear(x) + y if x.sum() > 0 else self.linear(x) - y


X, Y = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3), np.arange(8, dtype="float32").reshape(4, 2)
CALLS = {
    "keyword": (optional, lambda x, y: ((x,), {"y": y}), ["_jst.0.x.0", "_jst.1.y.0"]),
    "keywords in another order": (
        optional,
        lambda x, y: ((), {"y": y, "x": x}),
        ["_jst.0.x.0", "_jst.1.y.0"],
    ),
    "a number by keyword": (optional, lambda x, y: ((x,), {"scale": 2.0}), ["_jst.0.x.0"]),
    "None": (optional, lambda x, y: ((x, None), {}), ["_jst.0.x.0"]),
    "an array": (optional, lambda x, y: ((x,), {"y": y.numpy()}), ["_jst.0.x.0", "_jst.1.y.0"]),
    "dict": (mapping, lambda x, y: (({"y": y, "x": x},), {}), ["_jst.0.d.0", "_jst.0.d.1"]),
    "dict by keyword": (
        mapping,
        lambda x, y: ((), {"d": {"x": x, "y": y, "n": 3}}),
        ["_jst.0.d.0", "_jst.0.d.1"],
    ),
    "order of a dict": (ordered, lambda x, y: (({"z": x, "a": x * 3},), {}), ["_jst.0.d.0", "_jst.0.d.1"]),
    "nested": (nested, lambda x, y: (([x, [y]],), {}), ["_jst.0.xs.0", "_jst.0.xs.1"]),
    "nested tuple": (nested, lambda x, y: (((x, (y,)), False), {}), ["_jst.0.xs.0", "_jst.0.xs.1"]),
    "nested by keyword": (
        nested,
        lambda x, y: ((), {"add": False, "xs": [x, (y,)]}),
        ["_jst.0.xs.0", "_jst.0.xs.1"],
    ),
    "named tuple": (pair, lambda x, y: ((Pair(x, y),), {}), ["_jst.0.xs.0", "_jst.0.xs.1"]),
    "any keywords": (anything, lambda x, y: ((x,), {"y": y}), ["_jst.0.xs.0", "_jst.2.y.0"]),
    "by name only": (by_name_only, lambda x, y: ((x,), {"y": y}), ["_jst.0.x.0", "_jst.1.y.0"]),
    "control flow": (decided, lambda x, y: ((x,), {"y": y}), ["_jst.0.x.0", "_jst.1.y.0"]),
}


def names_of(path):
    config = paddle.inference.Config(path + ".json", path + ".pdiparams")
    return paddle.inference.create_predictor(config).get_input_names()


def tensors(value):
    """The arrays among arguments, as Tensors, in the order of the signature; those of dicts by key."""
    if isinstance(value, dict):
        return [t for key in sorted(value) for t in tensors(value[key])]
    if isinstance(value, list | tuple):
        return [t for item in value for t in tensors(item)]
    return [paddle.to_tensor(value)] if isinstance(value, paddle.Tensor | np.ndarray) else []


@pytest.mark.parametrize("name", CALLS)
def test_saved_as_it_was_called(name, tmp_path):
    forward, call, names = CALLS[name]
    x, y = paddle.to_tensor(X), paddle.to_tensor(Y)
    args, kwargs = call(x, y)
    net, path = Net(forward), str(tmp_path / "model")
    want = net(*args, **kwargs).numpy()
    paddle.jit.save(net, path)
    assert names_of(path) == names
    found = paddle.jit.load(path)(*tensors(args), *tensors(kwargs))
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-6, atol=1e-6)
    net.forward.concrete_program  # noqa: B018  it is made of the same call
    assert [list(v.shape) for v in net.forward.outputs] == [list(want.shape)]


def test_the_last_call_counts(tmp_path):
    net = paddle.jit.to_static(paddle.nn.Linear(3, 2))
    path = str(tmp_path / "model")
    for rows in (4, 5, 4):
        net(paddle.ones([rows, 3]))
    paddle.jit.save(net, path)
    program = (tmp_path / "model.json").read_text().replace(" ", "")
    assert "[4,3]" in program
    assert "[5,3]" not in program


def test_methods_with_keywords(tmp_path):
    class Two(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(3, 2)

        @paddle.jit.to_static
        def forward(self, x):
            return self.linear(x)

        @paddle.jit.to_static
        def shifted(self, x, by=None):
            return self.linear(x) + by["b"]

    net, path = Two(), str(tmp_path / "model")
    net(paddle.ones([4, 3]))
    want = net.shifted(paddle.ones([2, 3]), by={"b": paddle.ones([2, 2])}).numpy()
    paddle.jit.save(net, path)
    np.testing.assert_allclose(
        paddle.jit.load(path).shifted(paddle.ones([2, 3]), paddle.ones([2, 2])).numpy(), want, rtol=1e-6
    )


def test_what_cannot_be_told_again_is_refused(tmp_path):
    class Settings:
        __hash__ = None

    net = Net(lambda self, x, how: self.linear(x))
    net(paddle.ones([4, 3]), Settings())
    with pytest.raises(ValueError, match="Settings"):
        paddle.jit.save(net, str(tmp_path / "model"))


SPECS = {
    "dict": (mapping, [{"y": InputSpec([None, 2]), "x": InputSpec([None, 3])}], ["x", "y"]),
    "named dict": (
        mapping,
        [{"y": InputSpec([None, 2], name="yy"), "x": InputSpec([None, 3], name="xx")}],
        ["xx", "yy"],
    ),
    "nested": (nested, [[InputSpec([None, 3]), [InputSpec([None, 2])]]], ["xs_0", "xs_1_0"]),
    "list in a dict": (
        lambda self, d: d["a"][0] + d["a"][1] + d["b"]["c"],
        [{"b": {"c": InputSpec([2])}, "a": [InputSpec([2]), InputSpec([2])]}],
        ["a_0", "a_1", "c"],
    ),
}


@pytest.mark.parametrize("name", SPECS)
def test_names_of_nested_specs(name, tmp_path):
    forward, specs, names = SPECS[name]
    path = str(tmp_path / "model")
    paddle.jit.save(Net(forward), path, input_spec=specs)
    assert names_of(path) == names


def test_what_forward_leaves_in_a_layer_is_taken_back(tmp_path):
    class Counting(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))
            self.last = None

        def forward(self, x):
            self.count = self.count + 1
            self.last = x * self.count
            return self.last

    layer = Counting()
    paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 3])])
    assert layer.last is None and layer.count.item() == 0.0 and layer.training
    assert paddle.jit.load(str(tmp_path / "m"))(paddle.ones([2, 3])).sum().item() == 6.0


def test_a_list_of_all_rows_is_refused(tmp_path):
    def weighted(x):
        total = paddle.zeros([2])
        for index, row in list(enumerate(x)):
            total = total + row * index
        return total

    with pytest.raises(ValueError, match=r"a list holds all rows.* loop over the tensor itself, or give"):
        paddle.jit.save(weighted, str(tmp_path / "model"), input_spec=[InputSpec([None, 2])])


def test_a_named_tuple_may_hold_a_length(tmp_path):
    def sizes(x):
        return paddle.to_tensor(Pair(x.shape[0], 2))

    paddle.jit.save(sizes, str(tmp_path / "model"), input_spec=[InputSpec([None, 2])])
    assert paddle.jit.load(str(tmp_path / "model"))(paddle.ones([5, 2])).tolist() == [5, 2]
