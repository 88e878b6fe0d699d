"""Placements of results and gradients are those of Paddle 3.3.1, on a mesh of two devices.

The table holds what its CPU build gave on two processes. R: Replicate, P: a Partial sum, S0: Shard(0). Each
entry is "layouts of a, b and w -> layout of the result". Where Paddle keeps a Partial, or gathers first, the
layout here is in OTHERS.
"""

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import Partial, ProcessMesh, Replicate, Shard, shard_tensor

F = paddle.nn.functional
MESH = ProcessMesh([0, 1], ["x"])
PLACEMENTS = {"R": Replicate(), "P": Partial(), "S0": Shard(0), "S1": Shard(1), "S2": Shard(2)}
SAME = "R -> R, S0 -> S0, S1 -> S1"
DRAW = np.random.RandomState(0)
DATA = {"a": DRAW.rand(4, 6), "b": DRAW.rand(4, 6), "w": DRAW.rand(6, 8)}

ONE = {  # of a
    "a.exp()": SAME + ", P -> R",
    "F.relu(a)": SAME + ", P -> R",
    "F.gelu(a)": SAME + ", P -> R",
    "a * 2": SAME + ", P -> R",
    "a.astype('float64')": SAME,
    "a.clip(0.2, 0.9)": SAME + ", P -> R",
    "F.softmax(a)": "R -> R, S0 -> S0, P -> R",
    "F.softmax(a, axis=0)": "R -> R, S1 -> S1, P -> R",
    "F.layer_norm(a, 6)": "R -> R, S0 -> S0, P -> R",
    "a.sum(axis=0)": "R -> R, S1 -> S0, P -> R",
    "a.mean(axis=1, keepdim=True)": "R -> R, S0 -> S0, P -> R",
    "a.max(axis=0)": "R -> R, S1 -> S0, P -> R",
    "a.prod()": "R -> R, S0 -> R, S1 -> R, P -> R",
    "a.argmax(axis=1)": "R -> R, S0 -> S0, S1 -> R, P -> R",
    "a.cumsum(axis=0)": "R -> R, S1 -> S1, P -> R",
    "a.transpose([1, 0])": "R -> R, S0 -> S1, S1 -> S0",
    "a.reshape([24])": "R -> R, S0 -> S0, S1 -> R",
    "a.reshape([2, 2, 6])": "R -> R, S0 -> S0, S1 -> S2",
    "a.reshape([4, 2, 3])": SAME,
    "a.unsqueeze(0)": "R -> R, S0 -> S1, S1 -> S2, P -> R",
    "a.flatten()": "R -> R, S0 -> S0, S1 -> R",
    "a.split(2, axis=0)[0]": "R -> R, S1 -> S1, P -> R",
    "a.split(2, axis=1)[0]": "R -> R, S0 -> S0, S1 -> R",
    "a[1:3]": "R -> R, S0 -> R, S1 -> S1, P -> R",
    "a[1]": "R -> R, S0 -> R, S1 -> S0, P -> R",
    "a.tile([2, 1])": "R -> R, S0 -> R, S1 -> S1, P -> R",
    "a.expand([3, 4, 6])": "R -> R, S0 -> S1, S1 -> S2, P -> R",
}
TWO = {  # of a and b
    "a + b": "R R -> R, R S0 -> S0, R S1 -> S1, R P -> R, S0 S0 -> S0, S1 R -> S1, P P -> R",
    "a * b": "R R -> R, R S0 -> S0, S0 R -> S0, S0 S0 -> S0, S1 S1 -> S1",
    "paddle.concat([a, b], 0)": "R R -> R, R S1 -> S1, S1 S1 -> S1, P P -> R",
    "paddle.concat([a, b], 1)": "R R -> R, R S0 -> S0, S0 S0 -> S0, P P -> R",
    "paddle.stack([a, b], 0)": "R R -> R, R S0 -> S1, S1 R -> S2, S1 S1 -> S2",
    "paddle.where(a > 0.5, a, b)": "R R -> R, S0 R -> S0, S0 S0 -> S0, S1 S1 -> S1, P P -> R",
}
MATMUL = {  # of a and w
    "a @ w": "R R -> R, R S1 -> S1, S0 R -> S0, S0 S0 -> S0, S0 S1 -> S1, S1 S1 -> S1",
}
GRADIENTS = {  # of the second name, for the sum of the first
    ("a @ w", "a"): "R R -> R, S0 R -> S0, S1 R -> S1, S1 S0 -> S1",
    ("a @ w", "w"): "R R -> R, R S0 -> S0, R S1 -> S1, S1 S0 -> S0",
    ("a * b", "a"): "R R -> R, S0 R -> S0, S1 R -> S1, S0 S0 -> S0, S1 S1 -> S1",
    ("a * b", "b"): "R R -> R, R S0 -> S0, R S1 -> S1, S0 S0 -> S0, S1 S1 -> S1",
}
OTHERS = {  # Paddle has Partial for the first six, Replicate for the last three
    "a @ w": "S1 S0 -> R, R S0 -> R, S1 R -> R",
    "a.sum()": "S0 -> R, S1 -> R",
    "a.mean(axis=0)": "S0 -> R",
    "a.max(axis=1)": "S1 -> R",
    "a.transpose([1, 0])": "P -> R",
    "a * b": "P P -> R",
    "F.softmax(a)": "S1 -> S1",
    "a.cumsum(axis=0)": "S0 -> S0",
    "paddle.concat([a, b], 0)": "S0 S0 -> S0",
}


def entries(table):
    for key, text in table.items():
        for entry in text.split(", "):
            layouts, wanted = entry.split(" -> ")
            yield key, layouts.split(), PLACEMENTS[wanted]


def operands(text, layouts=None):
    """The Tensors that an expression names, in the layouts or on one device."""
    code = compile(text, "table", "eval")
    names = [name for name in DATA if name in code.co_names]
    made = {}
    for position, name in enumerate(names):
        made[name] = paddle.to_tensor(DATA[name].astype("float32"))
        if layouts is not None:
            made[name] = shard_tensor(made[name], MESH, [PLACEMENTS[layouts[position]]])
        made[name].stop_gradient = False
    return made


def result(text, tensors):
    return eval(text, {"paddle": paddle, "F": F}, tensors)


@pytest.mark.parametrize("text", sorted({*ONE, *TWO, *MATMUL, *OTHERS}))
def test_results(text):
    whole = result(text, operands(text)).numpy()
    for table in (ONE, TWO, MATMUL, OTHERS):
        for _, layouts, wanted in entries({text: table[text]} if text in table else {}):
            made = result(text, operands(text, layouts))
            assert made.placements == [wanted], layouts
            np.testing.assert_allclose(made.numpy(), whole, rtol=1e-5)


@pytest.mark.parametrize(("text", "name"), GRADIENTS)
def test_gradients(text, name):
    whole = operands(text)
    result(text, whole).sum().backward()
    for _, layouts, wanted in entries({name: GRADIENTS[text, name]}):
        tensors = operands(text, layouts)
        result(text, tensors).sum().backward()
        assert tensors[name].grad.placements == [wanted], layouts
        np.testing.assert_allclose(tensors[name].grad.numpy(), whole[name].grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("placement", ["R", "S0", "S1"])
@pytest.mark.parametrize("text", ["a", "a.mean()", "a * 2"])
def test_a_constant_gradient(text, placement):
    """No value on the mesh goes into it, and still it is there."""
    tensors = operands(text, [placement])
    beside = paddle.ones([2]) * 2
    result(text, tensors).sum().backward()
    assert tensors["a"].grad.placements == [PLACEMENTS[placement]]
    if placement == "R":  # else it is in the program that cuts the gradient
        assert beside.placements is None
    factor = {"a": 1.0, "a.mean()": 1 / 24, "a * 2": 2.0}[text]
    np.testing.assert_allclose(tensors["a"].grad.numpy(), np.full([4, 6], factor), rtol=1e-6)


def test_a_second_pass_keeps_the_layout():
    tensors = operands("a @ w", ["S0", "S1"])
    for _ in range(3):
        (tensors["a"] @ tensors["w"]).sum().backward()
        assert tensors["w"].grad.placements == [Shard(1)]
    wanted = 3 * DATA["a"].sum(axis=0)[:, None] * np.ones((1, 8))
    np.testing.assert_allclose(tensors["w"].grad.numpy(), wanted, rtol=1e-5)
