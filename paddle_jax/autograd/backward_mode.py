"""Reverse-mode gradients of recorded computations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.state import local
from paddle_jax._core.tape import backward as tape
from paddle_jax._core.tensors.tensor import Tensor


def _tensors(value: Sequence[Tensor] | Tensor, what: str) -> list[Tensor] | list[Any]:
    """A Tensor or a non-empty list or tuple of Tensors as a list."""
    if isinstance(value, Tensor):
        values = [value]
    elif isinstance(value, list | tuple):
        values = list(value)
    else:
        values = None
    if values is None or not all(isinstance(v, Tensor) for v in values):
        raise CheckError(f"{what}: got {type(value).__name__}; it must be a Tensor or a list of Tensors")
    if not values:
        raise CheckError(f"{what}: got an empty list; give at least one Tensor")
    return values


def _starts(
    grads: Sequence[Tensor] | Tensor | None, outputs: Sequence[Tensor], what: str
) -> list[Any | Tensor | None]:
    """The gradients to start from: one (or None) for each output."""
    if not isinstance(grads, Tensor | list | tuple | None):
        raise CheckError(f"{what}: got {type(grads).__name__}; it must be None, a Tensor or a list of them")
    if isinstance(grads, Tensor):
        values = [grads]
    else:
        values = list(grads or [None] * len(outputs))
    if len(values) != len(outputs):
        raise CheckError(f"{what}: got {len(values)} gradients for {len(outputs)} outputs; give one for each")
    # The gradient to start from has the coordinates of the sparse output, so its values alone are used.
    return [
        out.values_at_same_coordinates(value, what) if value is not None and _is_sparse(out) else value
        for out, value in zip(outputs, values, strict=True)
    ]


def _is_sparse(value: Tensor) -> bool:
    return hasattr(value, "values_at_same_coordinates")


def _dense(tensors: Sequence[Tensor]) -> list[Any]:
    """The Tensors that gradients flow through: of a sparse one its values."""
    # A sparse Tensor is an object of several Tensors, and its values are what is on the tape.
    return [t.values() if _is_sparse(t) else t for t in tensors]


def _flags(what: str, **flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise CheckError(f"{what}: {name}: got {value!r}; it must be True or False")


def _distinct(values: Sequence[Tensor], what: str) -> None:
    if len({id(t) for t in values}) != len(values):
        raise RuntimeError(f"{what}: a Tensor is given twice; give each once")


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
    *,
    dump_backward_graph_path: Any = None,
) -> list[Any | Tensor | None]:
    """Computes the gradients of the sum of `outputs` with respect to `inputs`, without touching any `.grad`.

    Args:
        outputs: Tensor or list of Tensors.
        inputs: Tensor or list of Tensors; leaves or results of operations.
        grad_outputs: Tensor or list (None entries allowed) of the outputs' shapes, what to start
            from. Default: ones.
        retain_graph: accepted for compatibility; `grad` never frees the tape, which lives as
            long as the outputs.
        create_graph: record the gradient computation too, so that it can be differentiated
            again, to any order.
        only_inputs: must be True.
        allow_unused: give None for an input the outputs do not depend on, instead of raising.
        no_grad_vars: Tensor or list of Tensors through which no gradient flows.
        dump_backward_graph_path: accepted for compatibility; nothing is written.
    Returns:
        List with one Tensor (or None) for each input.
    Raises:
        ValueError: an input is unused and allow_unused is False.
        AssertionError: a list is empty, or shapes or lengths do not fit.
        RuntimeError: an output or input is given twice, or the tape was freed by an earlier backward.
    Example:
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> (g,) = paddle.grad(x**3, x, create_graph=True)
        >>> paddle.grad(g, x)[0].tolist()
        [18.0]
    """
    # A Program that is recorded has no tape to walk.
    local.ctx.frame.refuse_tape_use("grad")
    outs = _tensors(outputs, "grad: outputs")
    ins = _tensors(inputs, "grad: inputs")
    _flags(
        "grad",
        create_graph=create_graph,
        only_inputs=only_inputs,
        allow_unused=allow_unused,
        retain_graph=retain_graph is None or retain_graph,
    )
    if not only_inputs:
        raise CheckError("grad: only_inputs: got False; only True is supported")
    _distinct(outs, "grad: outputs")
    _distinct(ins, "grad: inputs")
    # Paddle takes a set as well.
    if isinstance(no_grad_vars, set):
        cut = list(no_grad_vars)
    else:
        cut = no_grad_vars
    # An empty list means none, while the truth of a Tensor would be that of its value.
    if isinstance(cut, Tensor) or cut:
        cut = _tensors(cut, "grad: no_grad_vars")
    else:
        cut = []
    missing = []
    starts = _starts(grad_outputs, outs, "grad: grad_outputs")
    # While a function is recorded for a file, the gradients are recorded as operations.
    found = local.ctx.frame.recorded_gradients(outs, ins, starts, create_graph, cut)
    if found is None:
        found = tape.gradients(_dense(outs), _dense(ins), starts, True, create_graph, _dense(cut), missing)
    else:
        missing = [k for k, slope in enumerate(found) if slope is None]
    if missing and not allow_unused:
        raise ValueError(
            f"(InvalidArgument) grad: inputs[{missing[0]}] is not used by the outputs (or has "
            "stop_gradient=True); pass allow_unused=True to get None"
        )
    # The gradient of a sparse input is sparse, too.
    return [x.of_values(g) if g is not None and _is_sparse(x) else g for x, g in zip(ins, found, strict=True)]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: Any = None,
) -> None:
    """Adds the gradients of `tensors` to the `grad` of all leaves they depend on.

    Args:
        tensors: Tensor or list of different Tensors.
        grad_tensors: Tensor or list (None entries allowed), what to start from. Default: ones.
        retain_graph: keep the tape for another backward.
        dump_backward_graph_path: accepted for compatibility; nothing is written.
    Raises:
        AssertionError: a list is empty, lengths or shapes do not fit, or an argument is of another type.
    Example:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.backward([x * x]); x.grad.tolist()
        [2.0, 4.0]
    """
    values = _tensors(tensors, "backward: tensors")
    if len({id(t) for t in values}) != len(values):
        raise CheckError("backward: tensors: a Tensor is given twice; give each once")
    _flags("backward", retain_graph=retain_graph)
    tape.backward(_dense(values), _starts(grad_tensors, values, "backward: grad_tensors"), retain_graph)
