"""Operations of ours that Paddle does not have, in a program: `paddle_jax.<name>` with the
attributes as one text. Lengths that are not fixed are operands after the others; the text says which."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.kernels.op_record import OWN
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.ops.op import Op
from paddle_jax._core.tensors.tensor import Tensor, host_value
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.pickle_names import CorruptFileError

PREFIX = "paddle_jax."


def encode(attrs: dict[str, Any]) -> tuple[Any, ...]:
    """(the attributes of an operation as text, list of the numbers among them that depend on lengths).

    Raises:
        NotWritable: one is of a type that has no text.
    """
    numbers = []
    return repr({name: _plain(name, value, numbers) for name, value in attrs.items()}), numbers


def _plain(name: str, value: float, numbers: Sequence[Any]) -> Any:
    if is_length(value):
        numbers.append(value)
        return {"number": len(numbers) - 1}
    # Any nesting, as of paddings.
    if isinstance(value, tuple):
        return tuple([_plain(name, v, numbers) for v in value])
    # A dict with one key marks what is no literal of Python.
    if isinstance(value, dtypes.DType):
        return {"dtype": value.np.name}
    if isinstance(value, np.dtype):
        return {"numpy": value.name}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        # `repr` keeps all digits, and infinity, which is no literal.
        return {"float": repr(value)}
    raise NotWritable(f"{name}={value!r}: a {type(value).__name__} has no form in a file")


def _value(plain: Any, numbers: Sequence[Any]) -> Any:
    if isinstance(plain, tuple):
        return tuple([_value(v, numbers) for v in plain])
    if isinstance(plain, dict):
        ((kind, text),) = plain.items()
        if kind == "number":
            given = numbers[text]
            # A length that is known, or the Tensor that computes it.
            return (host_value(given, "a length") if isinstance(given, Tensor) else given).item()
        return {"dtype": dtypes.convert, "numpy": np.dtype, "float": float}[kind](text)
    return plain


def _count(plain: Any) -> int:
    """How many numbers attributes take from operands."""
    if isinstance(plain, tuple):
        return sum(map(_count, plain))
    return int(isinstance(plain, dict) and "number" in plain)


def identity(op: Callable[..., Any]) -> str:
    """What an operation of ours is called in files: the same wherever its code stands."""
    return op.record.id or op.name


def find(name: str) -> Op | None:
    """The declared operation of a name in a program: nothing is imported for it, and nothing but
    operations can be named.

    Files that were written when the module was part of the name are read by its last part, or by what the
    record says in `formerly`.
    """
    if not name.startswith(PREFIX):
        return None
    # Older names have the module in front.
    return OWN.get(name.removeprefix(PREFIX)) or OWN.get(name.rpartition(".")[2])


def call(
    op: Callable[..., Any], text: str, operands: Any, tensor: Callable[..., Any]
) -> Tensor | tuple[Tensor, ...]:
    """Runs an operation with the attributes in a text. tensor: function that makes Tensors of operands."""
    try:
        texts = ast.literal_eval(text)
        own = len(operands) - sum(map(_count, texts.values()))
        attrs = {name: _value(value, operands[own:]) for name, value in texts.items()}
        # Newer versions of an op may have further attributes.
        # an older file may lack what has a default
        defaults = {name: one.default for name, one in op.signature.parameters.items()}
        values = tuple([attrs.get(name, defaults[name]) for name in op.attrs])
    except TracedValueError:
        raise  # a length that depends on values: the model runs operation by operation
    except Exception as error:
        raise CorruptFileError(f"the attributes of {op.name} are damaged ({type(error).__name__})") from error
    return op.call([tensor(value) for value in operands[:own]], values)
