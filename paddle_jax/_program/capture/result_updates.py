"""Storing what a captured run changes besides plain values: gradients, attributes and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.state import LayerVersion
from paddle_jax._core.execution.python_state import MISSING, same_value, stores_of
from paddle_jax._core.kernels.value_checks import enqueue_results
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import constant
from paddle_jax._core.tape.sparse_rows import Rows, RowsGrad, record_program_lookup
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape, replace_held
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.capture.captured import Change


def apply_change(
    change: Change, tensor: Any, results: Sequence[Any], raws: Sequence[Any], index: int
) -> None:
    """Stores one Change after a call.

    Args:
        change: the Change.
        tensor: the Tensor that changes, or None for an attribute or checks.
        results: all results of the call, Tensors where gradients can flow through them.
        raws: the same as arrays.
        index: index of the first result of this Change.
    """
    end = index + change.count
    # Attributes and checks have no Tensor that changes.
    if change.kind == "attribute":
        _set_attribute(change, raws[index:end], results[index:end])
        return
    if change.kind == "checks":
        enqueue_results(raws[index], change.checks)
        return
    if change.kind == "value":
        _set_value(change, tensor, results[index])
    elif change.kind == "flag":
        tensor.stop_gradient = change.stop_gradient
    elif change.kind == "grad":
        set_grad(tensor, change, *raws[index:end])
    elif change.kind == "rows":
        record_program_lookup(results, tensor, raws[index])


def _set_value(change: Change, tensor: Tensor, result: Any) -> None:
    # The result is on the tape, and the Tensor takes over its place there.
    if change.flows:
        tensor._adopt(result)
        return
    tensor._node = None
    tensor._idx = 0
    tensor.stop_gradient = change.stop_gradient
    tensor._version += change.steps


def set_grad(tensor: Tensor, change: Change, raw: Any = None, used_rows: Any = None) -> None:
    """Stores a gradient.

    Args:
        tensor: the Tensor that has the gradient.
        change: a Change of kind "grad".
        raw: the array, for a gradient that is neither None nor zero.
        used_rows: marks of the rows that were used, for a gradient of some rows.
    """
    grad = tensor._grad
    if used_rows is not None:
        rows = Rows(raw.shape, raw.dtype, array=raw, used=used_rows)
        tensor._grad = RowsGrad(rows, change.stop_gradient)
        return
    if change.to == "none":
        tensor._grad = None
        return
    # Zeros as one number: no array is made for them.
    if change.to == "zero":
        raw = constant(0, aval_of(plain_shape(tensor), numpy_dtype(tensor)))
    if grad is None or change.is_new_object:
        tensor._grad = wrap(raw, change.stop_gradient)
    # The same object, as users may hold it.
    elif held_value(grad) is not raw:
        replace_held(grad, raw)


def _set_attribute(change: Change, raws: Sequence[Any], results: Sequence[Any]) -> None:
    store_index, name = change.key
    store = stores_of(change.target)[store_index]
    if change.gone:
        store.pop(name, None)
        return
    value = change.rebuild(raws, results)
    # without arrays an equal value may stay the object that it is
    # A new object would count as a change of the Layer, and other guards would be checked again.
    if raws or not same_value(store.get(name, MISSING), value):
        store[name] = value
        LayerVersion.count += 1
