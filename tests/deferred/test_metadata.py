"""Asking for metadata runs nothing; asking for values runs what is needed, once."""

import copy

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("deferred")

METADATA = {
    "shape": lambda t: t.shape,
    "dtype": lambda t: t.dtype,
    "ndim": lambda t: (t.ndim, t.dim(), t.rank if hasattr(t, "rank") else 0),
    "size": lambda t: (t.size, t.numel),
    "stop_gradient": lambda t: t.stop_gradient,
    "name": lambda t: t.name,
    "len": len,
    "place": lambda t: t.place,
    "is_leaf": lambda t: (t.is_leaf, t.grad_fn, t.inplace_version),
    "grad": lambda t: t.grad,
    "identity": lambda t: (hash(t), t is t, id(t)),
    "kind": lambda t: (t.is_floating_point(), t.is_integer(), t.is_complex()),
    "persistable": lambda t: t.persistable,
    "isinstance": lambda t: (isinstance(t, type(t)), callable(t)),
    "element_size": lambda t: t.element_size(),
    "detach": lambda t: t.detach(),
    "copies": lambda t: (t.clone(), copy.copy([t])),
    "attributes": lambda t: (hasattr(t, "nothing"), dir(t)[:2]),
    "comparison": lambda t: (t == t, t > 0),
    "basic index": lambda t: (t[0], t[..., 0], t[1:], t[::-1]),
    "shape function": lambda t: t.T,
    "iteration": list,
    "unbind": lambda t: t.unbind(),
    "in-place": lambda t: (t.add_(t), t.scale_(2.0)),
    "set item": lambda t: t.__setitem__(0, 1.0),
    "cast": lambda t: (t.astype("float64"), t.astype("int64")),
}


@pytest.mark.parametrize("kind", METADATA)
def test_metadata_runs_nothing(paddle, count, kind):
    t = paddle.ones([2, 3]) * 2 + 1
    count("segments")
    METADATA[kind](t)
    assert count("segments") == 0
    t.numpy()
    assert count("segments") == 1


VALUES = {
    "numpy": lambda t: t.numpy(),
    "tolist": lambda t: t.tolist(),
    "item": lambda t: t[0, 0].item(),
    "float": lambda t: float(t.sum()),
    "bool": lambda t: bool((t > 0).any()),
    "int": lambda t: int(t[0, 0]),
    "repr": repr,
    "str": str,
    "format": lambda t: f"{t.sum():.2f}",
    "asarray": np.asarray,
    "jax": lambda t: t.__jax_array__(),
    "dlpack": np.from_dlpack,
    "contains": lambda t: 3.0 in t.flatten(),
    "mask": lambda t: t[t > 0],
    "nonzero": lambda t: t.nonzero(),
    "if": lambda t: 1 if t.sum() > 0 else 2,
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_run_what_is_pending_once(paddle, count, kind):
    t = paddle.ones([2, 3]) * 2 + 1
    u = paddle.ones([3]) * 5
    count("segments")
    VALUES[kind](t)
    assert count("segments") == 1
    u.numpy()
    t.numpy()
    assert count("segments") == 0, "what was recorded before ran with it"


def test_ids_are_checked_without_running_what_is_pending(paddle, count):
    """Each word of a decoder looks up ids that are a part of a Tensor."""
    ids = np.arange(12).reshape(3, 4) % 7
    words = paddle.to_tensor(ids)
    table = paddle.nn.Embedding(7, 4)
    weight = table.weight.numpy()
    count("segments")
    state = paddle.ones([3, 4]) * 2
    loss = 0.0
    for word in range(4):
        state = state + table(words[:, word])
        loss = loss + paddle.nn.functional.cross_entropy(state, words[:, word] % 4)
    loss.backward()
    with pytest.raises(ValueError, match="got 7"):
        table(words[:, 0] + 7)
    assert count("segments") == 0
    np.testing.assert_allclose(state.numpy(), 2 + weight[ids].sum(1), rtol=1e-5)
    assert count("segments") == 1
    assert np.isfinite(table.weight.grad.numpy()).all()


def test_integers_are_read_without_running_what_is_pending(paddle, count):
    numbers = paddle.to_tensor([3, 5])
    x = paddle.ones([2]) * 3
    count("segments")
    k = numbers + 1
    y = x * k.astype("float32")
    read = int(k.sum())
    z = y * k.astype("float32")
    k += 10
    assert (read, k.tolist(), bool((k > 14).all())) == (10, [14, 16], False)
    assert count("segments") == 0
    assert (y.tolist(), z.tolist()) == ([12.0, 18.0], [48.0, 108.0])
    assert count("segments") == 1


def test_an_integer_that_depends_on_floats_runs_what_is_pending(paddle, count):
    x = paddle.to_tensor([1.0, 4.0]) * 3
    y = x + 1
    count("segments")
    assert int(x.argmax()) == 1
    assert count("segments") == 1
    assert y.tolist() == [4.0, 13.0]


def test_layers_optimizers_and_their_descriptions_run_nothing(paddle, count):
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Dropout(0.5))
    optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    x = paddle.ones([5, 3])
    x.numpy()
    count("segments")
    loss = net(x).mean()
    loss.backward()
    repr(net), list(net.named_parameters()), net.state_dict(), len(net), net[0].weight.grad.shape
    assert sum(p.size for p in net.parameters()) > 0
    optimizer.get_lr()
    net.eval(), net.train(), net.full_name()
    assert count("segments") == 0
    optimizer.step()
    optimizer.clear_grad()
    assert count("segments") == 0
    net(x)
    assert count("segments") == 1, "the first op after a step ends the segment"


def test_recording_a_backward_pass_and_higher_derivatives_runs_nothing(paddle, count):
    x = paddle.ones([3])
    x.stop_gradient = False
    x.numpy()
    count("segments")
    y = paddle.tanh(x * 2)
    y.register_hook(lambda g: g * 2)
    for _ in range(3):
        (y,) = paddle.grad(y.sum(), x, create_graph=True)
    y.sum().backward()
    assert x.grad.shape == [3] and not y.stop_gradient
    assert count("segments") == 0


def test_errors_of_shape_and_type_come_at_the_call(paddle, count):
    x = paddle.ones([2, 3]) + 1
    count("segments")
    for wrong in (
        lambda: x + paddle.ones([7]),
        lambda: x @ x,
        lambda: paddle.concat([x, paddle.ones([2])]),
        lambda: x.reshape([4]),
        lambda: x[0, 0, 0],
    ):
        with pytest.raises((ValueError, IndexError)):
            wrong()
    assert count("segments") == 0


def test_immediate_execution_makes_no_segments(paddle, count):
    paddle.set_flags({"FLAGS_deferred": "off"})
    count("segments")
    x = paddle.ones([3])
    x.stop_gradient = False
    (paddle.tanh(x) * 2).sum().backward()
    x.grad.numpy()
    assert count("segments") == 0


def test_the_flag_runs_what_is_pending(paddle, count):
    x = paddle.ones([3]) * 2
    count("segments")
    paddle.set_flags({"FLAGS_deferred": "off"})
    assert count("segments") == 1
    assert x.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        ({"FLAGS_deferred": "sometimes"}, ValueError),
        ({"FLAGS_deferred_min_repeats": -1}, ValueError),
        ({"FLAGS_deferred_max_ops": 0}, ValueError),
        ({"FLAGS_deferred": 1}, (TypeError, ValueError)),
    ],
)
def test_flags_refuse_what_makes_no_sense(paddle, flags, error):
    before = paddle.get_flags(list(flags))
    with pytest.raises(error):
        paddle.set_flags(flags)
    assert paddle.get_flags(list(flags)) == before
