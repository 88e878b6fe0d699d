"""Operations of ours that Paddle does not have, in a program: `paddle_jax.<name>` with the
attributes as one text."""

import ast

import numpy as np

from paddle_jax._core import dtype as dtypes
from paddle_jax._core.ops.op import Op
from paddle_jax._core.ops.record import OWN
from paddle_jax._core.values.lengths import is_length
from paddle_jax.framework.pickle_names import CorruptFileError
from paddle_jax.framework.pir.builder import NotWritable

PREFIX = "paddle_jax."


def encode(attrs) -> str:
    """The attributes of an operation as text.

    Raises:
        NotWritable: one depends on lengths of the inputs, or is of a type that has no text.
    """
    return repr({name: _plain(name, value) for name, value in attrs.items()})


def _plain(name, value):
    if is_length(value):
        raise NotWritable(f"{name}={value}: it depends on lengths of the inputs; "
                          "give these lengths as numbers in input_spec")
    if isinstance(value, tuple):
        return tuple([_plain(name, v) for v in value])
    if isinstance(value, dtypes.DType):
        return {"dtype": value.np.name}
    if isinstance(value, np.dtype):
        return {"numpy": value.name}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    raise NotWritable(f"{name}={value!r}: a {type(value).__name__} has no form in a file")


def _value(plain):
    if isinstance(plain, tuple):
        return tuple([_value(v) for v in plain])
    if isinstance(plain, dict):
        ((kind, text),) = plain.items()
        return {"dtype": dtypes.convert, "numpy": np.dtype, "float": float}[kind](text)
    return plain


def identity(op) -> str:
    """What an operation of ours is called in files: the same wherever its code stands."""
    return op.record.id or op.name


def find(name) -> Op | None:
    """The declared operation of a name in a program: nothing is imported for it, and nothing but
    operations can be named.

    Files that were written when the module was part of the name are read by its last part, or by what the
    record says in `formerly`.
    """
    if not name.startswith(PREFIX):
        return None
    return OWN.get(name.removeprefix(PREFIX)) or OWN.get(name.rpartition(".")[2])


def call(op, text, operands):
    """Runs an operation with the attributes in a text."""
    try:
        attrs = {name: _value(value) for name, value in ast.literal_eval(text).items()}
        # an older file may lack what has a default
        defaults = {name: one.default for name, one in op.signature.parameters.items()}
        values = tuple([attrs.get(name, defaults[name]) for name in op.attrs])
    except Exception as error:
        raise CorruptFileError(f"the attributes of {op.name} are damaged ({type(error).__name__})") from error
    return op.call(operands, values)
