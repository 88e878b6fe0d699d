"""Scripts: code that calls compiled functions several times, and returns what a user could see of it.

A script takes `compile`, which is `to_static` or gives the function as it is. It is compared with itself as
plain Python.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from tests.deferred import differential

SCRIPTS: "dict[str, Script]" = {}


@dataclasses.dataclass(frozen=True)
class Script:
    """Code that calls compiled functions.

    Attributes:
        name: in the names of tests.
        run: function of `compile` that gives nested values.
        op_by_op: whether what it does cannot be compiled, so that `to_static` runs it op by op.
        precision: relative and absolute.
        interpreter: whether small programs run in NumPy, which rounds float16 after each operation.
    """

    name: str
    run: Callable[[Callable], Any]
    op_by_op: bool = False
    precision: tuple[float, float] = (2e-5, 2e-6)
    interpreter: bool = True


def add(made: Script) -> None:
    """Adds a script under its name."""
    assert made.name not in SCRIPTS, f"two scripts have the name {made.name}"
    SCRIPTS[made.name] = made


def script(function: Callable) -> Callable:
    """Adds a function of `compile`."""
    add(Script(function.__name__, function))
    return function


def effect(function: Callable) -> Callable:
    """Adds a function of `compile` whose code may run op by op."""
    add(Script(function.__name__, function, op_by_op=True))
    return function


def plain(function: Callable) -> Callable:
    """The function as it is."""
    return function


def whole(function: Callable) -> Callable:
    """The function compiled whole."""
    return paddle.jit.to_static(function, full_graph=True)


MODES = {"not_deferred": plain, "to_static": paddle.jit.to_static, "full_graph": whole}


def modes_of(one: Script) -> list[str]:
    """The names of the modes of a script; without the deferred tier only effects run, for time."""
    if one.op_by_op:
        return ["not_deferred", "to_static"]
    return ["to_static", "full_graph"]


def check(one: Script, mode: str) -> None:
    """Fails where a script gives something else in a mode than as plain Python."""
    with differential.flags(paddle, interpreter=one.interpreter):
        expected = values(one, plain)
        with differential.flags(paddle, deferred="off" if mode == "not_deferred" else "sync"):
            got = values(one, MODES[mode])
    assert len(got) == len(expected)
    for value, right in zip(got, expected, strict=True):
        if isinstance(right, np.ndarray | float):
            np.testing.assert_allclose(value, right, *one.precision)
            assert np.asarray(value).dtype == np.asarray(right).dtype
        else:
            assert value == right


def values(one: Script, compile: Callable) -> list:
    """What a script gives, without lists and dicts around it."""
    paddle.seed(0)
    return list(flat(one.run(compile)))


def flat(value: Any) -> Iterator[Any]:
    """The values in lists, tuples and dicts, with the keys."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from flat(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from flat(item)
    else:
        yield value


def data(*shape, seed=0, dtype="float32"):
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def small():
    paddle.seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def trainer(net, opt):
    """A training step on the sum of a network's outputs."""

    def step(x):
        loss = net(x).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def see(layer):
    return [value.numpy() for value in layer.state_dict().values()]
