"""Attributes of classes and objects, and what classes of the user do with them."""

import argparse
import array
import collections
import dataclasses
import functools
import operator
import types

import numpy as np

from tests.jit.changes.cases import CASES, Box, Config, case


class Base:
    scale = 2.0
    table = {"k": 2.0}
    items = [2.0]
    array = None

    def method(self):
        return 2.0

    @staticmethod
    def static():
        return 2.0

    @classmethod
    def of_class(cls):
        return 2.0

    @property
    def prop(self):
        return self._prop


def fresh():
    """A class of its own for each case."""
    made = types.new_class(
        "Fresh",
        (),
        {},
        lambda ns: ns.update({k: v for k, v in vars(Base).items() if k not in ("__dict__", "__weakref__")}),
    )
    made.table, made.items, made.array = {"k": 2.0}, [2.0], np.array([2.0, 2.0])
    thing = made()
    thing._prop = 2.0
    return made, thing


def _of_class(read, change):
    def make():
        cls, thing = fresh()
        return (lambda x: x * read(thing)), lambda: change(cls, thing)

    return make


for _name, _read, _change in (
    ("a class attribute", lambda t: t.scale, lambda c, t: setattr(c, "scale", 3.0)),
    ("an attribute set over that of the class", lambda t: t.scale, lambda c, t: setattr(t, "scale", 3.0)),
    ("a dict of a class", lambda t: t.table["k"], lambda c, t: c.table.update(k=3.0)),
    ("a list of a class", lambda t: t.items[0], lambda c, t: c.items.__setitem__(0, 3.0)),
    ("an array of a class", lambda t: float(t.array.sum()), lambda c, t: c.array.fill(3.0)),
    (
        "a method patched on a class",
        lambda t: t.method(),
        lambda c, t: setattr(c, "method", lambda self: 3.0),
    ),
    ("a method patched on an object", lambda t: t.method(), lambda c, t: setattr(t, "method", lambda: 3.0)),
    (
        "a static method patched",
        lambda t: t.static(),
        lambda c, t: setattr(c, "static", staticmethod(lambda: 3.0)),
    ),
    (
        "a class method patched",
        lambda t: t.of_class(),
        lambda c, t: setattr(c, "of_class", classmethod(lambda cls: 3.0)),
    ),
    ("a property patched", lambda t: t.prop, lambda c, t: setattr(c, "prop", property(lambda self: 3.0))),
    ("what a property reads", lambda t: t.prop, lambda c, t: setattr(t, "_prop", 3.0)),
    ("getattr with a name", lambda t: getattr(t, "sca" + "le"), lambda c, t: setattr(t, "scale", 3.0)),
    ("getattr with a default", lambda t: getattr(t, "new", 2.0), lambda c, t: setattr(t, "new", 3.0)),
    ("hasattr", lambda t: 2.0 if hasattr(t, "new") else 1.0, lambda c, t: setattr(t, "new", 3.0)),
    ("vars", lambda t: vars(t)["_prop"], lambda c, t: vars(t).update(_prop=3.0)),
    ("the dict of an object", lambda t: t.__dict__["_prop"], lambda c, t: t.__dict__.update(_prop=3.0)),
    ("an attrgetter", operator.attrgetter("_prop"), lambda c, t: setattr(t, "_prop", 3.0)),
    (
        "the class of an object",
        lambda t: t.method(),
        lambda c, t: setattr(t, "__class__", type("Sub", (c,), {"method": lambda self: 3.0})),
    ),
    (
        "a method added to a base class",
        lambda t: t.items[0] if not hasattr(t, "later") else 3.0,
        lambda c, t: setattr(c, "later", 1),
    ),
):
    CASES[_name] = _of_class(_read, _change)


@dataclasses.dataclass(slots=True)
class Slots:
    scale: float = 2.0


@case
def a_slots_dataclass():
    held = Slots()
    return (lambda x: x * held.scale), lambda: setattr(held, "scale", 3.0)


@case
def a_dataclass():
    held = Config()
    return (lambda x: x * held.scale), lambda: setattr(held, "scale", 3.0)


@case
def an_argparse_namespace():
    args = argparse.Namespace(scale=2.0)
    return (lambda x: x * args.scale), lambda: setattr(args, "scale", 3.0)


@case
def a_user_dict():
    held = collections.UserDict(scale=2.0)
    return (lambda x: x * held["scale"]), lambda: held.update(scale=3.0)


@case
def a_chain_map():
    first, second = {}, {"scale": 2.0}
    held = collections.ChainMap(first, second)
    return (lambda x: x * held["scale"]), lambda: first.update(scale=3.0)


@case
def a_bytearray():
    held = bytearray(b"\2\2")
    return (lambda x: x * float(held[0])), lambda: held.__setitem__(0, 3)


@case
def an_array_of_the_array_module():
    held = array.array("d", [2.0])
    return (lambda x: x * held[0]), lambda: held.__setitem__(0, 3.0)


@case
def a_counter():
    held = collections.Counter(a=2)
    return (lambda x: x * held["a"]), lambda: held.update("a")


@case
def a_set():
    held = {1, 2}
    return (lambda x: x * len(held)), lambda: held.add(3)


@case
def membership():
    held = {"a"}
    return (lambda x: x * (2.0 if "b" in held else 3.0)), lambda: held.add("b")


@case
def an_own_class_with_getitem():
    class Table:
        def __init__(self):
            self.held = {"k": 2.0}

        def __getitem__(self, key):
            return self.held[key]

        def __len__(self):
            return len(self.held)

    table = Table()
    return (lambda x: x * table["k"] * len(table)), lambda: table.held.update(k=3.0)


@case
def an_own_class_with_len():
    class Table:
        size = 2

        def __len__(self):
            return self.size

    table = Table()
    return (lambda x: x * len(table)), lambda: setattr(table, "size", 3)


@case
def an_own_class_that_is_true_or_not():
    class Flag:
        on = True

        def __bool__(self):
            return self.on

    flag = Flag()
    return (lambda x: x * 2 if flag else x * 3), lambda: setattr(flag, "on", False)


@case
def an_own_iterable():
    class Items:
        def __init__(self):
            self.held = [1.0, 1.0]

        def __iter__(self):
            return iter(self.held)

    items = Items()
    return (lambda x: x * sum([i for i in items])), lambda: items.held.append(1.0)


@case
def an_own_descriptor():
    class Scale:
        value = 2.0

        def __get__(self, owner, cls):
            return self.value

    scale = Scale()
    thing = type("Owner", (), {"scale": scale})()
    return (lambda x: x * thing.scale), lambda: setattr(scale, "value", 3.0)


@case
def an_own_getattr():
    class Settings:
        def __init__(self):
            self.held = {"scale": 2.0}

        def __getattr__(self, name):
            return self.held[name]

    settings = Settings()
    return (lambda x: x * settings.scale), lambda: settings.held.update(scale=3.0)


@case
def an_own_operator():
    class Number:
        value = 2.0

        def __mul__(self, other):
            return other * self.value

    number = Number()
    return (lambda x: number * x), lambda: setattr(number, "value", 3.0)


@case
def an_own_equality():
    class Kind:
        value = 2

        def __eq__(self, other):
            return self.value == other

        __hash__ = None

    kind = Kind()
    return (lambda x: x * (2.0 if kind == 2 else 3.0)), lambda: setattr(kind, "value", 3)


@case
def a_cached_property_thrown_away():
    class Thing:
        base = 2.0

        @functools.cached_property
        def scale(self):
            return self.base

    thing = Thing()
    assert thing.scale == 2.0

    def change():
        thing.base = 3.0
        del thing.scale

    return (lambda x: x * thing.scale), change


@case
def a_super_method():
    class Upper:
        def scale(self):
            return 2.0

    class Lower(Upper):
        def scale(self):
            return super().scale() + 1

    thing = Lower()
    return (lambda x: x * thing.scale()), lambda: setattr(Upper, "scale", lambda self: 5.0)


@case
def a_private_attribute():
    class Thing:
        def __init__(self):
            self.__scale = 2.0

        def set(self, value):
            self.__scale = value

        def run(self, x):
            return x * self.__scale

    thing = Thing()
    return thing.run, lambda: thing.set(3.0)


@case
def an_object_that_is_called():
    class Thing:
        scale = 2.0

        def __call__(self, x):
            return x * self.scale

    thing = Thing()
    return (lambda x: thing(x)), lambda: setattr(thing, "scale", 3.0)


@case
def an_object_in_an_object_that_is_replaced():
    thing = Box(inner=Box(inner=Box(scale=2.0)))
    return (lambda x: x * thing.inner.inner.scale), lambda: setattr(thing.inner, "inner", Box(scale=3.0))
