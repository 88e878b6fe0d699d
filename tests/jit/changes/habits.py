"""What people change between two calls in notebooks and scripts: hooks, keys, classes, modules, what
`isinstance` and `logging` say."""

import abc
import contextlib
import dataclasses
import functools
import logging
import os
import types

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.nn import functional as F
from tests.jit.changes.cases import Box, case, noted


def change_of(name, function_of, change):
    """A case of one line: `function_of(held)` is the function, `change(held)` what happens to a fresh box."""

    def make():
        held = Box(k=2.0, items=[0], table={"k": 2.0}, layer=nn.Linear(2, 2), c=paddle.full([2], 2.0))
        return function_of(held), lambda: change(held)

    noted(name, make)


def passed_on(held):
    def inner():
        yield from held.items

    return lambda x: x * (1 + len(list(inner())))


ROWS = (
    ("a list as an index", lambda h: lambda x: x[h.items], lambda h: h.items.append(1)),
    ("an array as an index", lambda h: lambda x: x[np.array(h.items)] * 2, lambda h: h.items.append(1)),
    (
        "an index into a slice that is set",
        lambda h: lambda x: set_rows(x, h.items),
        lambda h: h.items.append(1),
    ),
    (
        "a dict with another unpacked",
        lambda h: lambda x: x * {**h.table, "z": 1.0}["k"],
        lambda h: h.table.update(k=3.0),
    ),
    ("a generator that passes on another one", passed_on, lambda h: h.items.append(1)),
    (
        "stop_gradient of a tensor outside",
        lambda h: lambda x: x * (2.0 if h.c.stop_gradient else 3.0),
        lambda h: setattr(h.c, "stop_gradient", False),
    ),
    (
        "the shape of a tensor outside",
        lambda h: lambda x: x * h.c.shape[0],
        lambda h: setattr(h, "c", paddle.ones([3])),
    ),
    (
        "a tensor only whose shape matters",
        lambda h: lambda x: x * paddle.ones_like(h.c).sum(),
        lambda h: setattr(h, "c", paddle.ones([3])),
    ),
    (
        "a text that formats an attribute",
        lambda h: lambda x: x * float("{.k}".format(h)),  # noqa: UP032
        lambda h: setattr(h, "k", 3.0),
    ),
    (
        "the arguments of a partial",
        lambda h: partial_of(h),
        lambda h: h.partial.__setstate__((F.leaky_relu, (), {"negative_slope": 3.0}, {})),
    ),
)


def set_rows(x, rows):
    y = x.clone()
    y[rows] = 0.0
    return y


def partial_of(held):
    held.partial = functools.partial(F.leaky_relu, negative_slope=2.0)
    return lambda x: held.partial(-x)


for _name, _function_of, _change in ROWS:
    change_of(_name, _function_of, _change)


def gradient_of(layer):
    """A function that gives a gradient of a Layer and clears it."""

    def run(x):
        layer(x).sum().backward()
        gradient = layer.weight.grad.clone()
        layer.clear_gradients()
        return gradient

    return run


@case
def a_gradient_hook_that_is_added():
    layer = nn.Linear(2, 2)
    return gradient_of(layer), lambda: layer.weight.register_hook(lambda g: g * 3)


@case
def a_gradient_hook_that_is_removed():
    layer = nn.Linear(2, 2)
    helper = layer.weight.register_hook(lambda g: g * 3)
    return gradient_of(layer), helper.remove


@case
def the_backward_of_a_pylayer():
    class Twice(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def run(x):
        x = x.detach()
        x.stop_gradient = False
        Twice.apply(x).sum().backward()
        return x.grad

    return run, lambda: setattr(Twice, "backward", staticmethod(lambda ctx, g: g * 7))


@case
def a_parameter_of_a_distribution():
    normal = paddle.distribution.Normal(paddle.zeros([]), paddle.ones([]))
    return (lambda x: normal.log_prob(x)), lambda: setattr(normal, "scale", paddle.full([], 3.0))


@case
def the_norm_that_an_optimizer_clips_to():
    layer = nn.Linear(2, 1)
    clip = nn.ClipGradByGlobalNorm(0.5)
    opt = paddle.optimizer.SGD(1.0, parameters=layer.parameters(), grad_clip=clip)

    def run(x):
        before = layer.weight.clone()
        layer(x).sum().backward()
        opt.step()
        opt.clear_grad()
        moved = layer.weight - before
        layer.weight.set_value(before)
        return moved

    return run, lambda: setattr(clip, "clip_norm", 0.01)


@case
def a_method_put_on_tensors():
    paddle.Tensor.paddle_jax_test_scaled = lambda self: self * 2

    def change():
        paddle.Tensor.paddle_jax_test_scaled = lambda self: self * 3

    return (lambda x: x.paddle_jax_test_scaled()), change


@case
def the_call_of_layers():
    class Own(nn.Linear):
        pass

    layer = Own(2, 2)
    return (lambda x: layer(x)), lambda: setattr(Own, "__call__", lambda self, x: self.forward(x) * 3)


@case
def the_bases_of_a_class():
    class One:
        scale = 2.0

    class Two:
        scale = 3.0

    class Mine(One):
        pass

    thing = Mine()
    return (lambda x: x * thing.scale), lambda: setattr(Mine, "__bases__", (Two,))


@case
def an_attribute_of_a_metaclass():
    class Meta(type):
        scale = 2.0

    class Mine(metaclass=Meta):
        pass

    return (lambda x: x * Mine.scale), lambda: setattr(Meta, "scale", 3.0)


@case
def an_attribute_set_over_a_descriptor():
    class Scale:
        def __get__(self, owner, cls):
            return 2.0

    class Mine:
        scale = Scale()

    thing = Mine()
    return (lambda x: x * thing.scale), lambda: thing.__dict__.update(scale=3.0)


@case
def the_subclasses_of_a_class():
    class Upper:
        pass

    class Lower(Upper):
        pass

    kept = [Lower]
    return (
        (lambda x: x * len(Upper.__subclasses__())),
        lambda: kept.append(types.new_class("Other", (Upper,))),
    )


@case
def a_class_registered_with_an_abstract_one():
    class Upper(metaclass=abc.ABCMeta):  # noqa: B024
        pass

    class Mine:
        pass

    thing = Mine()
    return (lambda x: x * (2.0 if isinstance(thing, Upper) else 3.0)), lambda: Upper.register(Mine)


@case
def whether_something_can_be_called():
    class Mine:
        pass

    thing = Mine()
    return (
        (lambda x: x * (2.0 if callable(thing) else 3.0)),
        lambda: setattr(Mine, "__call__", lambda self: None),
    )


@case
def the_default_of_a_dataclass():
    @dataclasses.dataclass
    class Mine:
        scale: float = 2.0

    return (lambda x: x * Mine().scale), lambda: setattr(Mine.__init__, "__defaults__", (3.0,))


@case
def the_level_of_a_logger():
    log = logging.getLogger("paddle_jax_test_changes")
    log.setLevel(logging.INFO)
    return (
        (lambda x: x * (2.0 if log.isEnabledFor(logging.DEBUG) else 3.0)),
        lambda: log.setLevel(logging.DEBUG),
    )


@case
def whether_an_environment_variable_is_there():
    os.environ.pop("PADDLE_JAX_TEST_NEW", None)
    return (
        (lambda x: x * (2.0 if "PADDLE_JAX_TEST_NEW" in os.environ else 3.0)),
        lambda: os.environ.update(PADDLE_JAX_TEST_NEW="1"),
    )


@case
def a_module_that_answers_every_name():
    module = types.ModuleType("paddle_jax_test_answers")
    exec("table = {'scale': 2.0}\ndef __getattr__(name):\n    return table[name]", module.__dict__)  # noqa: S102
    return (lambda x: x * module.scale), lambda: module.table.update(scale=3.0)


@case
def a_masked_array():
    held = np.ma.array([1.0, 2.0], mask=[False, False])
    return (lambda x: x * float(held.sum())), lambda: setattr(held, "mask", [True, False])


@case
def a_view_of_a_dict():
    table = {"a": 2.0}
    values = table.values()
    return (lambda x: x * sum(values)), lambda: table.update(b=3.0)


@case
def a_context_that_is_chosen():
    held = Box(make=lambda: contextlib.nullcontext(2.0))

    def run(x):
        with held.make() as scale:
            return x * scale

    return run, lambda: setattr(held, "make", lambda: contextlib.nullcontext(3.0))
