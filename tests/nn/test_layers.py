"""Every layer class against the real Paddle: printing, names, state, outputs and gradients."""

import numpy as np
import pytest

import paddle_jax
from tests.nn.layer_cases import ALL

MODES = [(case, training) for case in ALL for training in (True, False) if not (training and case.random)]
TOLERANCE = {"rtol": 2e-5, "atol": 2e-5}


@pytest.fixture(params=ALL, ids=str)
def case(request):
    return request.param


@pytest.fixture
def pair(case, oracle):
    """The layer of the real Paddle and ours, with the same values."""
    layers = []
    for paddle in (oracle, paddle_jax):
        with paddle.utils.unique_name.guard():
            layers.append(case.build(paddle))
    theirs, ours = layers
    ours.set_state_dict({name: value.numpy() for name, value in theirs.state_dict().items()})
    return theirs, ours


def leaves(out):
    if out is None:
        return []
    if isinstance(out, list | tuple):
        return [leaf for item in out for leaf in leaves(item)]
    return [out]


def inputs_of(paddle, case):
    made = [None if a is None else paddle.to_tensor(a) for a in case.arrays()]
    for tensor in made:
        if tensor is not None and "float" in str(tensor.dtype):
            tensor.stop_gradient = False
    return made


def state_of(layer):
    return {
        name: (list(t.shape), str(t.dtype), t.name, t.stop_gradient) for name, t in layer.state_dict().items()
    }


def test_prints_and_names_alike(pair):
    theirs, ours = pair
    assert repr(ours) == repr(theirs)
    assert ours.full_name() == theirs.full_name()
    assert list(state_of(ours).items()) == list(state_of(theirs).items())
    assert [(n, p.name, p.trainable) for n, p in ours.named_parameters()] == [
        (n, p.name, p.trainable) for n, p in theirs.named_parameters()
    ]
    assert [n for n, _ in ours.named_sublayers(include_self=True)] == [
        n for n, _ in theirs.named_sublayers(include_self=True)
    ]


@pytest.mark.parametrize(
    ("case", "training"), MODES, ids=[f"{case}-{'train' if training else 'eval'}" for case, training in MODES]
)
@pytest.mark.filterwarnings("ignore")
def test_computes_alike(case, pair, oracle, training):
    grads = []
    for paddle, layer in zip((oracle, paddle_jax), pair, strict=True):
        layer.train() if training else layer.eval()
        inputs = inputs_of(paddle, case)
        out = [o for o in leaves(layer(*inputs))]
        values = [np.asarray(o.numpy()) for o in out]
        floats = [o for o in out if "float" in str(o.dtype) and not o.stop_gradient]
        if case.grad and floats and (training or case.random):
            rng = np.random.default_rng(3)
            total = sum(
                (o * paddle.to_tensor(rng.standard_normal(tuple(o.shape)).astype(np.float32))).sum()
                for o in floats
            )
            total.backward()
        tensors = {f"input {i}": t for i, t in enumerate(inputs) if t is not None} | dict(
            layer.named_parameters()
        )
        grads.append(
            (
                values,
                {n: None if t.grad is None else t.grad.numpy() for n, t in tensors.items()},
                layer.state_dict(),
            )
        )
    (want, want_grads, want_state), (got, got_grads, got_state) = grads
    assert [g.dtype for g in got] == [w.dtype for w in want]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, **TOLERANCE)
    for name, value in want_state.items():
        np.testing.assert_allclose(got_state[name].numpy(), value.numpy(), **TOLERANCE, err_msg=name)
    for name, grad in want_grads.items():
        if grad is None:  # labels: ours have a gradient where the real Paddle has none
            assert got_grads[name] is None or name not in ("input 0", *want_state), name
        else:
            np.testing.assert_allclose(got_grads[name], grad, **TOLERANCE, err_msg=name)


def test_one_value_per_channel_leaves_zeros_as_gradients(oracle):
    """Not None: weight decay then acts on them."""
    for P in (oracle, paddle_jax):
        norm = P.nn.BatchNorm2D(3)
        norm.weight.set_value(np.array([1.0, 2.0, 3.0], "float32"))
        optimizer = P.optimizer.SGD(0.5, parameters=norm.parameters(), weight_decay=0.1)
        x = P.full([1, 3, 1, 1], 2.0)
        x.stop_gradient = False
        y = norm(x)
        y.sum().backward()
        assert y.flatten().tolist() == [2.0] * 3 and x.grad.flatten().tolist() == [1.0] * 3
        assert norm.weight.grad.tolist() == norm.bias.grad.tolist() == [0.0] * 3
        optimizer.step()
        np.testing.assert_allclose(norm.weight.numpy(), [0.95, 1.9, 2.85], 1e-6)


def test_casts_and_padding_rows_compile_nothing():
    """The shape of each parameter would be a program of its own."""
    compiled = paddle_jax.metrics.snapshot()["compile"]
    net = paddle_jax.nn.Sequential(*[paddle_jax.nn.Linear(i, i + 1) for i in range(2, 6)])
    before = net[0].weight.numpy()
    before[0, 0] = 1e6
    net[0].weight.set_value(before)
    net(paddle_jax.ones([1, 2])).sum().backward()
    gradient = net[3].bias.grad.numpy()
    net.float16()
    assert net[0].weight.dtype == net[3].bias.grad.dtype == paddle_jax.float16
    assert net[0].weight[0, 0].item() == np.inf
    np.testing.assert_allclose(net[0].weight[1].numpy(), before[1], rtol=1e-3)
    np.testing.assert_allclose(net[3].bias.grad.numpy(), gradient, rtol=1e-3)
    net.bfloat16()
    net.to(dtype="float64")
    np.testing.assert_allclose(net[0].weight[1].numpy(), before[1], rtol=1e-2)
    table = paddle_jax.nn.Embedding(5, 3, padding_idx=-2).weight.numpy()
    assert [bool(row.any()) for row in table] == [True, True, True, False, True]
    assert paddle_jax.metrics.snapshot()["compile"] == compiled
