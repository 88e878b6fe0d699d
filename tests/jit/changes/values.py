"""Each kind of value, in each kind of place."""

import collections
import dataclasses
import enum
import functools
import types

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.changes.cases import CASES, Config


class Mode(enum.Enum):
    LOW, HIGH = 1, 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


Point = collections.namedtuple("Point", "a b")

VALUES = {  # how it is used, before, after
    "float": (lambda v: v, 2.0, 3.0),
    "int": (lambda v: v, 2, 3),
    "bool": (lambda v: 2.0 if v else 3.0, True, False),
    "complex": (lambda v: v.imag, 2j, 3j),
    "text": (lambda v: 2.0 if v == "relu" else 3.0, "relu", "tanh"),
    "bytes": (lambda v: float(v[0]), b"\2", b"\3"),
    "none": (lambda v: 2.0 if v is None else 3.0, None, 1),
    "enum": (lambda v: v.value + 1.0, Mode.LOW, Mode.HIGH),
    "tuple": (lambda v: v[1], (1.0, 2.0), (1.0, 3.0)),
    "namedtuple": (lambda v: v.b, Point(1.0, 2.0), Point(1.0, 3.0)),
    "frozen dataclass": (lambda v: v.scale, Frozen(), Frozen(3.0)),
    "range": (lambda v: float(len(v)), range(2), range(3)),
    "minus zero": (lambda v: 2.0 if str(v) == "0.0" else 3.0, 0.0, -0.0),
    "numpy number": (lambda v: float(v), np.float32(2), np.float32(3)),
    "numpy array": (lambda v: float(v[1]), np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    "frozenset": (lambda v: float(len(v)), frozenset("ab"), frozenset("abc")),
    "function": (lambda v: v(1.0), lambda a: a + 1, lambda a: a + 2),
    "partial": (lambda v: v(), functools.partial(float, 2), functools.partial(float, 3)),
    "class": (lambda v: v.scale, Config, type("Other", (), {"scale": 3.0})),
    "dtype": (lambda v: 2.0 if v == paddle.float32 else 3.0, paddle.float32, paddle.int32),
    "slice": (lambda v: float(sum([1, 2, 3][v])), slice(0, 2), slice(0, 3)),
}
setting = None


def as_member(value):
    return staticmethod(value) if isinstance(value, types.FunctionType) else value


def _placed(use, before, after, place):
    def make():
        if place == "global":
            globals()["setting"] = before
            return (lambda x: x * use(setting)), lambda: globals().__setitem__("setting", after)
        if place == "closure":
            value = before

            def change():
                nonlocal value
                value = after

            return (lambda x: x * use(value)), change
        if place == "class":
            cls = type("Holder", (), {"value": before})
            cls.value = as_member(before)
            holder = cls()
            return (lambda x: x * use(holder.value)), lambda: setattr(cls, "value", as_member(after))
        if place == "module":
            module = types.ModuleType("settings")
            module.value = before
            return (lambda x: x * use(module.value)), lambda: setattr(module, "value", after)
        layer = nn.Linear(2, 2)
        layer.value = before
        return (lambda x: layer(x) * use(layer.value)), lambda: setattr(layer, "value", after)

    return make


for _name, (_use, _before, _after) in VALUES.items():
    for _place in ("global", "closure", "class", "module", "layer"):
        CASES[f"{_name} in a {_place}"] = _placed(_use, _before, _after, _place)
