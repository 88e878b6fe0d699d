"""Operations of Paddle's files that compute gradients, such as `tanh_grad`: the operation that they belong to
runs again, and its derivative is taken.

A file names no operation that a gradient belongs to. It is the one of that name that takes or gives the same
values. What a gradient operation takes besides are the gradients of the results, in order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.tape.backward import gradients
from paddle_jax._core.tape.grad_mode import enable_grad
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.paddle_only_ops import RANDOM
from paddle_jax.framework.model_files.reading_helpers import P, as_tensor

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.program import Op

_SUFFIX = "_grad"
# the first result that a gradient comes for, where it is not the first one of the operation
_FIRST_RESULT = {"cross_entropy_with_softmax": 1}
# the same elements, in the shape or dtype of the first operand
_RESHAPED = ("reshape_grad", "squeeze_grad", "unsqueeze_grad", "flatten_grad")


@dataclasses.dataclass(frozen=True, slots=True)
class Pull:
    """How a gradient operation is computed.

    Attributes:
        forward: Op that it belongs to.
        starts: tuple of the positions of the gradients of its results among the operands.
        is_wanted: tuple of bools, for each result whether anything reads it.
    """

    forward: Op
    starts: tuple[int, ...]
    is_wanted: tuple[bool, ...]


def is_direct(name: str) -> bool:
    """Whether a gradient operation needs no other one."""
    return name in (*_RESHAPED, "cast_grad", "transpose_grad")


def direct(op: Op, operands: Sequence[Any]) -> Any:
    """The result of such a gradient operation."""
    values = list(map(as_tensor, operands))
    if op.name == "transpose_grad":
        return P.transpose(values[0], np.argsort(op.attrs["perm"]).tolist())
    if op.name == "cast_grad":
        return P.cast(values[1], numpy_dtype(values[0]).name)
    return P.reshape(values[1], P.shape(values[0]))


def pulls(ops: Sequence[Op], is_known: Callable[[str], bool]) -> dict[Op, Pull]:
    """The Pulls of the gradient operations among all operations of a program.

    Args:
        ops: all of them, in order.
        is_known: whether there is a rule for an operation.
    Returns:
        {operation: Pull}, without operations for which no other one was found.
    """
    wanted = [op for op in ops if op.name.endswith(_SUFFIX) and not is_known(op.name)]
    if not wanted:
        return {}
    used = {number for op in ops for number in op.inputs}
    changed = {op.inputs[0] for op in ops if op.name.endswith("_") and op.inputs}
    combined = {op.outputs[0]: tuple(op.inputs) for op in ops if op.name == "builtin.combine"}
    found = {}
    for op in wanted:
        name = op.name.removesuffix(_SUFFIX)
        candidates = [one for one in ops if one.name == name and not changed & set(one.inputs)]
        if not is_known(name) or name in RANDOM or op.blocks:
            continue
        pull = _best_pull(op, candidates, combined, used)
        if pull is not None:
            found[op] = pull
    return found


def _best_pull(
    op: Op, candidates: Sequence[Op], combined: dict[int, tuple[int, ...]], used: set[int]
) -> Pull | None:
    """The Pull for the operation that shares most values with a gradient operation."""
    pairs = []
    for forward in candidates:
        own = {combined.get(number, number) for number in (*forward.inputs, *forward.outputs)}
        if 0 in own and op.inputs.count(0) > forward.inputs.count(0):
            continue  # which of the values that are left out is a gradient is not known
        is_own = [combined.get(number, number) in own for number in op.inputs]
        has_other_attributes = any(
            forward.attrs[key] != value for key, value in op.attrs.items() if key in forward.attrs
        )
        starts = tuple([k for k, mine in enumerate(is_own) if not mine])
        if any(is_own) and 0 < len(starts) <= len(forward.outputs) and not has_other_attributes:
            pairs.append((sum(is_own), forward, starts))
    if not pairs:
        return None
    _, forward, starts = max(pairs, key=lambda pair: pair[0])
    return Pull(forward, starts, tuple([number in used for number in op.outputs]))


def pulled_back(pull: Pull, operands: Sequence[Any], inputs: Sequence[Any], apply: Callable[..., Any]) -> Any:
    """The results of a gradient operation.

    Args:
        pull: Pull.
        operands: values of its operands.
        inputs: values of the operands of the operation that it belongs to.
        apply: function of an Op and its operands, gives a list of its results.
    """
    places = [k for k, value in enumerate(inputs) if _has_gradient(value)]
    places = [k for k, is_wanted in zip(places, pull.is_wanted, strict=False) if is_wanted]
    with enable_grad():
        copies = [_copied(value) if k in places else value for k, value in enumerate(inputs)]
        results = [one for one in apply(pull.forward, copies) if isinstance(one, Tensor)]
        results = results[_FIRST_RESULT.get(pull.forward.name, 0) :]
        starts = [operands[k] for k in pull.starts]
        pairs = [pair for pair in zip(results, starts, strict=False) if pair[1] is not None]
        sources = [one for k in places for one in _tensors_of(copies[k])]
        cotangents = iter(
            gradients(
                [result for result, _ in pairs],
                sources,
                [as_tensor(start) for _, start in pairs],
                retain_graph=True,
                create_graph=True,
                cut=[],
            )
        )
    by_place = {k: _like(copies[k], cotangents) for k in places}
    return [by_place.get(k) for k, value in enumerate(inputs) if _has_gradient(value)]


def _has_gradient(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_has_gradient, value))
    dtype = value.dtype if isinstance(value, np.ndarray) else value is not None and numpy_dtype(value)
    return bool(dtype) and np.dtype(dtype).kind in INEXACT


def _copied(value: Any) -> Any:
    """The same value as the start of a tape of its own, on which the gradient goes on to the value."""
    if isinstance(value, list):
        return [_copied(one) for one in value]
    tensor = as_tensor(value)
    if not tensor.stop_gradient:
        return tensor.clone()
    copy = tensor.detach()
    copy.stop_gradient = False
    return copy


def _tensors_of(value: Any) -> list[Tensor]:
    return value if isinstance(value, list) else [value]


def _like(value: Any, cotangents: Iterator[Any]) -> Any:
    """The next gradients, in the form of a value: a Tensor or a list."""
    if isinstance(value, list):
        return [_like(one, cotangents) for one in value]
    cotangent = next(cotangents)
    return P.zeros_like(value) if cotangent is None else cotangent


__all__ = ["Pull", "direct", "is_direct", "pulled_back", "pulls"]
