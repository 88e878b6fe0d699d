"""What functions and classes are made of: defaults, bases, methods of Python's protocols."""

import enum

from tests.jit.changes.cases import Box, case, noted


@case
def keyword_defaults_replaced():
    def helper(x, *, by=2.0):
        return x * by

    def change():
        helper.__kwdefaults__ = {"by": 3.0}

    return lambda x: helper(x), change


@case
def class_of_an_object_told_by_type():
    class Other(Box):
        pass

    held = Box()

    def change():
        held.__class__ = Other

    return lambda x: x * len(type(held).__mro__), change


@case
def class_of_an_object_told_by_isinstance():
    class Other:
        pass

    held = Box()

    def change():
        held.__class__ = Other

    return lambda x: x * (2.0 if isinstance(held, Box) else 3.0), change


@case
def bases_of_a_class():
    class Mixin:
        pass

    class Base:
        pass

    class Held(Base):
        pass

    def change():
        Held.__bases__ = (Mixin, Base)

    return lambda x: x * len(Held.__mro__), change


@case
def value_of_an_enumeration():
    class Color(enum.Enum):
        RED = 2

    def change():
        Color.RED._value_ = 3

    return lambda x: x * Color.RED.value, change


def _protocol(name, first, then, read):
    """A case with a method of Python's protocols patched on the class."""

    def make():
        class Held:
            pass

        setattr(Held, name, first)
        held = Held()
        return (lambda x: x * read(held)), lambda: setattr(Held, name, then)

    noted(f"{name} patched", make)


_protocol("__len__", lambda self: 2, lambda self: 3, len)
_protocol("__bool__", lambda self: True, lambda self: False, lambda held: 2.0 if held else 3.0)
_protocol("__getitem__", lambda self, key: 2.0, lambda self, key: 3.0, lambda held: held[0])
_protocol(
    "__iter__", lambda self: iter([2.0]), lambda self: iter([3.0]), lambda held: [item for item in held][0]
)
_protocol("__call__", lambda self: 2.0, lambda self: 3.0, lambda held: held())
