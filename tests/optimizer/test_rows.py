"""Gradients of some rows (`Embedding(sparse=True)`) and the optimizers that update these rows alone, against
the rules written with NumPy: an update by hand of the rows that were looked up."""

import copy
import pickle

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax import nn

TABLE = np.arange(10, dtype=np.float32).reshape(5, 2) / 7 + 0.3
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3) / 5 - 0.4
STEPS = [[[0, 1]], [[0, 0]], [[2, 0]], [[2, 2], [1, 1]], [[3, 1]], [[2, 2], [2, 0]]]  # ids of each backward
LR = 0.1


class Net(nn.Layer):
    def __init__(self, padding):
        super().__init__()
        start = np.where(np.arange(5)[:, None] == padding, 0, TABLE).astype(np.float32)
        self.table = nn.Embedding(
            5, 2, sparse=True, padding_idx=padding, weight_attr=nn.initializer.Assign(start)
        )
        self.linear = nn.Linear(2, 3, bias_attr=False, weight_attr=nn.initializer.Assign(WEIGHT))

    def forward(self, ids):
        return self.linear(self.table(ids))


def gradients(table, weight, batches, factor, padding):
    """Gradients of (factor * output).sum(), and the rows that were used."""
    to_table, to_weight, used = np.zeros_like(table), np.zeros_like(weight), set()
    for ids in batches:
        out = np.full((len(ids), 3), factor)
        to_weight += table[ids].T @ out
        for row, gradient in zip(ids, out @ weight.T, strict=True):
            if row != padding:
                to_table[row] += gradient
                used.add(row)
    return to_table, to_weight, sorted(used)


def updated(kind, p, g, state, rows, step):
    if kind == "SGD":
        p[rows] -= LR * g[rows]
    elif kind == "Adagrad":
        state[0][rows] += g[rows] ** 2
        p[rows] -= LR * g[rows] / (np.sqrt(state[0][rows]) + 1e-6)
    else:
        if kind == "AdamW":
            p[rows] *= 1 - LR * 0.01
        state[0][rows] = 0.9 * state[0][rows] + 0.1 * g[rows]
        state[1][rows] = 0.999 * state[1][rows] + 0.001 * g[rows] ** 2
        scale = np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        p[rows] -= LR * scale * state[0][rows] / (np.sqrt(state[1][rows]) + 1e-8)


def by_hand(kind, lazy, clip, padding):
    table, weight = TABLE.astype(np.float64), WEIGHT.astype(np.float64)
    table[[] if padding is None else padding] = 0
    states = [[np.zeros_like(p), np.zeros_like(p)] for p in (table, weight)]
    for step, batches in enumerate(STEPS, 1):
        to_table, to_weight, used = gradients(table, weight, batches, float(step), padding)
        norm = np.sqrt((to_table**2).sum() + (to_weight**2).sum())
        factor = 1 if clip is None else clip / max(norm, clip)
        updated(kind, table, to_table * factor, states[0], used if lazy else slice(None), step)
        updated(kind, weight, to_weight * factor, states[1], slice(None), step)
    return table, weight


def made(kind, lazy, clip, padding):
    net = Net(padding)
    more = {"lazy_mode": lazy} if kind.startswith("Adam") else {}
    if clip is not None:
        more["grad_clip"] = nn.ClipGradByGlobalNorm(clip)
    return net, getattr(paddle.optimizer, kind)(LR, parameters=net.parameters(), **more)


def in_turn(net, optimizer, forward, look=lambda step: None):
    for step, batches in enumerate(STEPS, 1):
        for ids in batches:
            (forward(paddle.to_tensor(ids)) * float(step)).sum().backward()
        look(step)
        optimizer.step()
        optimizer.clear_grad()


def eagerly(net, optimizer):
    in_turn(net, optimizer, net)


def forward_compiled(net, optimizer):
    in_turn(net, optimizer, paddle.jit.to_static(net))


def step_compiled(net, optimizer):
    @paddle.jit.to_static
    def step(batches, factor):
        for ids in batches:
            (net(ids) * factor).sum().backward()
        optimizer.step()
        optimizer.clear_grad()

    for number, batches in enumerate(STEPS, 1):
        step(list(map(paddle.to_tensor, batches)), paddle.to_tensor(float(number)))


def looked_at(net, optimizer):
    """The gradient is read, and changed in place to what it is."""

    def look(step):
        with paddle.no_grad():
            net.table.weight.grad.scale_(1.0)

    in_turn(net, optimizer, net, look)


def scaled(net, optimizer):
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0)
    scaler._check_dtype = lambda: None  # it is for float16
    for step, batches in enumerate(STEPS, 1):
        for ids in batches:
            scaler.scale((net(paddle.to_tensor(ids)) * float(step)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()


def resumed(net, optimizer):
    def look(step):
        if step == 4:
            state = {name: value.numpy() for name, value in optimizer.state_dict().items()}
            optimizer.set_state_dict(pickle.loads(pickle.dumps(state)))

    in_turn(net, optimizer, net, look)


WAYS = [eagerly, forward_compiled, step_compiled, looked_at, scaled, resumed]
KINDS = [("Adam", True), ("Adam", False), ("AdamW", True), ("SGD", False), ("Adagrad", False)]
CASES = [(way, *KINDS[0], 0.5, 1) for way in WAYS]
CASES += [(eagerly, *kind, None, None) for kind in KINDS]
CASES += [(forward_compiled, *kind, None, None) for kind in KINDS[:2]]


@pytest.mark.parametrize(
    ("way", "kind", "lazy", "clip", "padding"),
    CASES,
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_used_rows_are_updated(way, kind, lazy, clip, padding):
    net, optimizer = made(kind, lazy, clip, padding)
    way(net, optimizer)
    wanted = by_hand(kind, lazy, clip, padding)
    for got, want in zip((net.table.weight, net.linear.weight), wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=2e-4, atol=1e-5)


def table(**more):
    layer = nn.Embedding(
        5, 2, sparse=True, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Assign(TABLE), **more)
    )
    return layer, layer.weight, paddle.optimizer.Adam(LR, parameters=layer.parameters(), lazy_mode=True)


def changed(weight):
    """The rows that are not as at the start."""
    return sorted(np.flatnonzero((weight.numpy() != TABLE).any(axis=1)).tolist())


def through_backward(layer, weight, ids):
    layer(paddle.to_tensor(ids)).sum().backward()


def through_grad(layer, weight, ids):
    (weight.grad,) = paddle.grad(layer(paddle.to_tensor(ids)).sum(), [weight])


def through_a_hook(layer, weight, ids):
    weight.register_hook(lambda gradient: gradient * 2)
    through_backward(layer, weight, ids)


def through_two(layer, weight, ids):
    for one in ids:
        through_backward(layer, weight, [one])


def with_zeros(layer, weight, ids):
    (layer(paddle.to_tensor(ids)) * 0).sum().backward()


@pytest.mark.parametrize("way", [through_backward, through_grad, through_a_hook, through_two])
def test_rows_are_known(way):
    layer, weight, optimizer = table()
    way(layer, weight, [3, 1, 3])
    optimizer.step()
    assert changed(weight) == [1, 3]
    optimizer.clear_grad()
    assert weight.grad is None
    with_zeros(layer, weight, [1])  # its running mean moves it
    before = weight.numpy()
    optimizer.step()
    assert np.flatnonzero((weight.numpy() != before).any(axis=1)).tolist() == [1]


def test_other_gradients_reach_all_rows():
    layer, weight, optimizer = table()
    (layer(paddle.to_tensor([0])).sum() + (weight * paddle.to_tensor(TABLE)).sum()).backward()
    optimizer.step()
    assert changed(weight) == [0, 1, 2, 3, 4]
    layer, weight, optimizer = table(regularizer=paddle.regularizer.L2Decay(0.1))
    through_backward(layer, weight, [0])
    optimizer.step()
    assert changed(weight) == [0, 1, 2, 3, 4]


def test_a_gradient_of_rows_is_a_tensor():
    layer, weight, _ = table()
    through_backward(layer, weight, [3, 1, 3])
    want = np.zeros((5, 2), np.float32)
    want[[1, 3]] = [[1, 1], [2, 2]]
    grad = weight.grad
    for same in (grad, copy.copy(grad), copy.deepcopy(grad), pickle.loads(pickle.dumps(grad)), grad.clone()):
        assert isinstance(same, paddle.Tensor)
        np.testing.assert_array_equal(same.numpy(), want)
    np.testing.assert_array_equal((grad * 2).sum().item(), 12)
    (twice,) = paddle.grad((layer(paddle.to_tensor([3, 1, 3])) ** 2).sum(), [weight], create_graph=True)
    (again,) = paddle.grad(twice.sum(), [weight])
    np.testing.assert_array_equal(again.numpy(), 2 * want)


def test_what_is_refused():
    layer, weight, _ = table()
    through_backward(layer, weight, [0])
    optimizer = paddle.optimizer.Adam(LR, parameters=[weight], weight_decay=0.1)
    with pytest.raises(RuntimeError, match="weight_decay"):
        optimizer.step()
    with pytest.raises(AttributeError, match="scale_grad_by_freq"):
        nn.functional.embedding(paddle.to_tensor([0]), weight, sparse=True, scale_grad_by_freq=True)
