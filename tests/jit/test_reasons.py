"""`explain()` says of a compiled function why it was compiled again, and why its code was
run more than once."""

import sys

import numpy as np
import pytest

import paddle_jax
import paddle_jax as paddle

RATE = 0.5
TABLE = {"a": [1, 2], "b": {"c": 3}}
ARRAY = np.array([1.0, 2.0], "float32")


class Config:
    """What a user keeps settings in."""

    deep = None
    width = 3


CONFIG = Config()
CONFIG.deep = Config()
CONFIG.deep.rate = 2


def last():
    """The last line of what `explain()` says of compilations."""
    return [line for line in str(paddle_jax.explain()).splitlines() if line.startswith("to_static")][-1]


def told(function, change, undo):
    """What is said of the second compilation, around which something is changed."""
    compiled = paddle.jit.to_static(function)
    compiled(paddle.ones([2]))
    change()
    try:
        compiled(paddle.ones([2]))
    finally:
        undo()
    line = last()
    assert f"read at {__file__}:" in line, line
    return line


def put(store, key, value):
    return lambda: store.__setitem__(key, value)


def of_global(x):
    return x * RATE


def of_attribute(x):
    return x * CONFIG.deep.rate


def of_class(x):
    return x * CONFIG.width


def of_item(x):
    return x * TABLE["b"]["c"]


def of_list(x):
    for number in TABLE["a"]:
        x = x + number
    return x


def of_array(x):
    return x * paddle.to_tensor(ARRAY)


def of_cell():
    step = 1

    def function(x):
        return x * step

    def change(value):
        nonlocal step
        step = value

    return function, change


MODULE = sys.modules[__name__]


@pytest.mark.parametrize(
    "function, store, key, new, words",
    [
        (of_global, MODULE.__dict__, "RATE", 0.25, "RATE was 0.5 and is 0.25"),
        (of_attribute, CONFIG.deep.__dict__, "rate", 4, "CONFIG.deep.rate was 2 and is 4"),
        (of_item, TABLE["b"], "c", 4, "TABLE['b']['c'] was 3 and is 4"),
        (of_list, TABLE["a"], 1, 7, "TABLE['a'] (the content of a list) was (1, 2) and is (1, 7)"),
        (of_array, ARRAY, 0, 5.0, "ARRAY (a NumPy array) has changed"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_change_is_told_by_the_name_that_code_uses(function, store, key, new, words):
    old = store[key]
    assert f": {words} (read at " in told(function, put(store, key, new), put(store, key, old))


def test_a_changed_class_is_named():
    line = told(of_class, lambda: setattr(Config, "width", 5), lambda: setattr(Config, "width", 3))
    assert ": Config.width was 3 and is 5 (read at " in line


def test_a_changed_variable_of_an_enclosing_function_is_named():
    function, change = of_cell()
    assert ": step was 1 and is 8 (read at " in told(function, lambda: change(8), lambda: None)


def test_a_changed_layer_is_named():
    net = paddle.nn.Dropout(0.5)
    compiled = paddle.jit.to_static(lambda x: net(x))
    compiled(paddle.ones([2]))
    net.eval()
    compiled(paddle.ones([2]))
    assert f"training of the Layer {net.full_name()} was True and is False" in last()


@pytest.mark.parametrize(
    "guard, change",
    [
        ("Python state", lambda net: setattr(CONFIG, "width", CONFIG.width + 1)),
        ("Layers and optimizers", lambda net: net.eval()),
        ("stop_gradient", lambda net: setattr(net[0].weight, "stop_gradient", True)),
        ("gradients", lambda net: None),  # there are none before the first call
        ("distinct operands", lambda net: setattr(net[0], "bias", net[2].bias)),
        ("shapes", lambda net: setattr(net[2], "weight", net.create_parameter([2, 1]))),
    ],
)
def test_the_guard_that_failed_is_counted(guard, change):
    net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Dropout(0.5), paddle.nn.Linear(2, 2))

    def function(x):
        loss = net(x).sum() * CONFIG.width
        if guard == "gradients":
            loss.backward()
        return loss

    compiled = paddle.jit.to_static(function)
    compiled(paddle.ones([2, 2]))
    paddle_jax.explain(reset=True)
    change(net)
    compiled(paddle.ones([2, 2]))
    explanation = paddle_jax.explain()
    assert explanation.guard_failures == {guard: 1}, explanation
    assert f"a guard did not hold: {guard} 1." in str(explanation)


class Loud:
    """Its text is code of the user."""

    def __repr__(self):
        raise AssertionError("called for a message")


LOUD = Loud()


def of_loud(x):
    return x if LOUD is None else x + 1


def test_code_of_the_user_is_not_called_for_a_message():
    old = LOUD
    line = told(of_loud, put(MODULE.__dict__, "LOUD", [Loud()]), put(MODULE.__dict__, "LOUD", old))
    assert (
        told(of_loud, put(MODULE.__dict__, "LOUD", Loud()), put(MODULE.__dict__, "LOUD", old)).count(
            "LOUD is another Loud"
        )
        == 1
    )
    assert "LOUD was an object of class Loud and is an object of class list" in line


@pytest.mark.parametrize(
    "function, args, reason",
    [
        (lambda x, n: paddle.where(x > 0, x, n), (2.0,), None),
        (lambda x, n: x.reshape([int(n), 1]), (2,), "with integers counted as constant"),
    ],
)
def test_a_further_run_of_the_code_has_a_reason(function, args, reason):
    compiled = paddle.jit.to_static(function)
    compiled(paddle.ones([2]), *map(paddle.to_tensor, args))
    line = last()
    assert ("was run" in line) is (reason is not None)
    assert reason is None or f"{reason}, since {__file__}:" in line


def test_a_branch_on_a_tensor_has_the_code_run_twice():
    @paddle.jit.to_static
    def branching(x):
        if x.sum() > 0:
            x = x * 2
        return x

    branching(paddle.ones([2]))
    assert "its code was run 2 times: with its control flow converted, since " in last()
