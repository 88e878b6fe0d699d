"""What code outside `_core` asks of the value that a Tensor holds.

A Tensor holds a jax array, a `LazyArray`, a tracer, a `Symbol` of a static program, or `Uninitialized`.

| function | for |
| --- | --- |
| `numpy_dtype`, `plain_shape`, `element_count` | dtype and lengths, without Paddle's classes round them |
| `holds_tracer`, `holds_symbol`, `holds_abstract`, `holds_uninitialized` | the kind of value |
| `held_value` | the value as it is: to recognize it or to look at its kind |
| `unwrap` | the same for a Tensor or anything else |
| `held_symbol` | the Symbol of a Variable |
| `computed_array` | the array; runs pending operations |
| `read_raw` (tensor.py) | the value to compute with: a Capture makes it an input of its program |
| `assign_from` | an assignment in place, which views and versions show |
| `replace_held`, `set_slot` | another value that no view, version or Frame hears of |

`host_value` and `host_elements` of tensor.py give NumPy arrays.
"""

from __future__ import annotations

from typing import Any

import jax.core
import numpy as np

from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES, Symbol
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.tensor import Tensor, read_raw


def numpy_dtype(tensor: Tensor) -> np.dtype:
    """The dtype as NumPy has it; `Tensor.dtype` is Paddle's."""
    return tensor._raw.dtype


def plain_shape(tensor: Tensor) -> tuple[Any, ...]:
    """The lengths of the axes as a tuple; `Tensor.shape` is a list of a class of its own.

    A length of a static program that is not known is -1, or a Length while such lengths are recorded.
    """
    return tensor._raw.shape


def element_count(tensor: Tensor) -> int:
    """The number of elements; `Tensor.size` can be called too, or is a Variable."""
    return tensor._raw.size


def holds_tracer(tensor: Tensor) -> bool:
    """Whether the value is a tracer: the code runs inside a JAX trace."""
    return isinstance(tensor._raw, jax.core.Tracer)


def holds_symbol(tensor: Tensor) -> bool:
    """Whether the value is a Symbol: the Tensor belongs to a static program."""
    return type(tensor._raw) is Symbol


def holds_abstract(tensor: Tensor) -> bool:
    """Whether the value is a tracer or a Symbol, which has no elements to look at."""
    raw = tensor._raw
    # asked first, since it takes a fifth of the time
    return type(raw) is not LazyArray and isinstance(raw, ABSTRACT_TYPES)


def holds_uninitialized(tensor: Tensor) -> bool:
    """Whether no value was ever assigned, as to a parameter made under LazyGuard."""
    return type(tensor._raw) is Uninitialized


def held_value(tensor: Tensor) -> Any:
    """The value as the Tensor holds it, to recognize it or to look at its kind.

    It runs no operation, and no Frame hears of it. To compute with the value, use `read_raw`.
    """
    return tensor._raw


def unwrap(value: Any) -> Any:
    """What a Tensor holds, as `held_value`; anything else as it is."""
    if isinstance(value, Tensor):
        return value._raw
    return value


def held_symbol(variable: Tensor) -> Symbol:
    """The Symbol of a Variable. That of a persistent one is looked up in the program being recorded."""
    return variable._raw


def computed_array(tensor: Tensor) -> Any:
    """The jax array or tracer, or a NumPy array for host numbers; runs pending operations.

    Unlike `Tensor._value` it raises no errors of pending value checks, and no Frame hears of it.
    """
    return to_array(tensor._raw)


def assign_from(target: Tensor, source: Tensor) -> None:
    """Gives a Tensor the value of another one in place. Its views and its version show the change; its
    history stays."""
    target._rebind(read_raw(source))


def replace_held(tensor: Tensor, value: Any) -> None:
    """Replaces what a Tensor holds, and tells no view, version or Frame.

    For a value that stands for the same elements (an array for its tracer), and for restoring an earlier one.
    """
    tensor._raw = value


# As `replace_held` for Tensors of the class itself and Parameters; a call of C that no signal can interrupt.
set_slot = Tensor._raw.__set__
