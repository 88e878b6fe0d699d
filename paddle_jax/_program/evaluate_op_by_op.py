"""Running the operations of a Program on Tensors, in the deferred tier: for shapes that are not compiled.

`evaluate` runs them inside a trace, whose compilation takes seconds. Here each operation is recorded as in
dynamic mode, and NumPy or a compiled kernel runs it. Gradients are taken operation by operation.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tape.grad_mode import enable_grad, no_grad
from paddle_jax._core.tensors.held_values import computed_array, held_value, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.composites import OpaqueCall
from paddle_jax._program.evaluate import Gradient, value_of
from paddle_jax._program.operation import Operation
from paddle_jax._program.shape_inference import is_shape, of_shape
from paddle_jax.autograd import grad as tape_grad
from paddle_jax.tensor.creation import ones_like, zeros_like


def runs_op_by_op(ops: Sequence[Operation]) -> bool:
    """Whether operations can run one by one: no branches, loops or effects, no gradients of gradients."""
    # The gradient of a gradient needs a trace: the first one has no place on the tape.
    gradients = [op for op in ops if isinstance(op, Gradient)]
    if any(isinstance(op, Gradient) for gradient in gradients for op in gradient.region):
        return False
    return not any(map(_needs_trace, ops))


def _needs_trace(op: Operation) -> bool:
    function = op.kernel.fn
    # Such a composite changes operands, draws numbers or was recorded under mixed precision: only
    # `OpaqueCall.__call__` cares for that.
    if isinstance(function, OpaqueCall) and (function.random or function.written or function.amp):
        return True
    return op.host or not op.outputs or hasattr(function, "blocks")


def evaluate_op_by_op(
    ops: Sequence[Operation], env: dict[Symbol, Any], outputs: Sequence[Symbol]
) -> list[Tensor]:
    """Runs operations in order.

    Args:
        ops: those of a Program, for which `runs_op_by_op` holds.
        env: dict from the Symbols of the inputs to arrays.
        outputs: Symbols of the results.
    Returns:
        list of Tensors, whose values may be pending.
    """
    known = {symbol: as_tensor(value) for symbol, value in env.items()}
    # A large program would hold every result until its end.
    last_uses = _last_uses(ops, outputs)
    taped = {op for gradient in ops if isinstance(gradient, Gradient) for op in gradient.region}
    pulls: dict[Operation, Callable[..., list[Any]]] = {}
    # Only the regions of Gradients need a tape.
    with no_grad():
        for op in ops:
            if isinstance(op, Gradient):
                _pull(op, known, pulls)
            elif op in taped and not op.kernel.nondiff:
                pulls[op] = _run_taped(op, known)
            else:
                _store(op, _run(op, _operands(op, known)), known)
            for symbol in last_uses.get(op, ()):
                known.pop(symbol, None)  # so that its memory is free
    return [_value_of(s, known) for s in outputs]


def _last_uses(ops: Sequence[Operation], outputs: Sequence[Symbol]) -> dict[Operation, list[Symbol]]:
    """For each operation the Symbols that nothing after it needs."""
    seen = set(outputs)
    found = {}
    for op in reversed(ops):
        used = [*op.inputs, *op.outputs]
        if isinstance(op, Gradient):
            used += op.wanted
        found[op] = [symbol for symbol in dict.fromkeys(used) if symbol not in seen]
        seen.update(used)
    return found


def as_tensor(value: Any) -> Tensor:
    """An array as a Tensor without gradient."""
    if isinstance(value, np.ndarray | np.generic):
        return wrap(persistent_from_numpy(np.asarray(value)))
    return wrap(value)


def _value_of(symbol: Symbol, known: dict[Symbol, Tensor]) -> Tensor:
    """The Tensor of a Symbol. A constant becomes one at its first use."""
    if symbol not in known:
        known[symbol] = as_tensor(value_of(symbol, {}))
    return known[symbol]


def _operands(op: Operation, known: dict[Symbol, Tensor]) -> list[Tensor]:
    return [_value_of(symbol, known) for symbol in op.inputs]


def _store(op: Operation, out: Any, known: dict[Symbol, Tensor]) -> None:
    for symbol, value in zip(op.outputs, op.results_of(out), strict=True):
        known[symbol] = value


def _run(op: Operation, tensors: list[Tensor]) -> Any:
    """The results of an operation. Integers that depend on shapes alone are computed at once."""
    if is_shape(op.kernel):
        return as_tensor(of_shape(op.kernel, plain_shape(tensors[0])))
    if isinstance(op.kernel.fn, OpaqueCall):
        return op.kernel.fn.on_tensors(tensors)
    if not any(map(_is_of_shapes, op.inputs)):
        return run(op.kernel, tensors)
    # Numbers that depend on shapes may be lengths, so they are given as NumPy arrays and never become
    # pending.
    arrays = [
        to_numpy(computed_array(tensor)) if _is_of_shapes(symbol) else None
        for symbol, tensor in zip(op.inputs, tensors, strict=True)
    ]
    # All are known: the result is a number that depends on shapes, too.
    if all(map(_is_of_shapes, op.outputs)) and not any(array is None for array in arrays):
        with eager_evaluation():
            out = op.kernel.fn(*map(jnp.asarray, arrays))
        return jax.tree.map(lambda one: as_tensor(np.asarray(one)), out)
    # The known ones become a part of the kernel, so that shapes may follow from them.
    numbers = tuple([None if array is None else (array.tolist(), array.dtype.name) for array in arrays])
    rest = [tensor for tensor, array in zip(tensors, arrays, strict=True) if array is None]
    return run(_with_numbers(op.kernel, _frozen(numbers)), rest)


def _is_of_shapes(symbol: Symbol) -> bool:
    """Whether a Symbol of integers depends on shapes alone: an operation may need its value for a shape."""
    return symbol.kind == "result" and symbol.value is not None


def _frozen(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return value


# Programs are compiled per kernel: a new one for each call would be compiled at each call.
@ft.lru_cache(maxsize=4096)
def _with_numbers(kernel: Kernel, numbers: tuple[Any, ...]) -> Kernel:
    """A kernel whose operands are fixed where numbers are given: (values, dtype), or None."""
    fixed = [None if one is None else np.asarray(one[0], one[1]) for one in numbers]

    def function(*rest: Any) -> Any:
        values = iter(rest)
        return kernel.fn(*[next(values) if one is None else one for one in fixed])

    return Kernel(kernel.name, function, nondiff=kernel.nondiff)


# gradients --------------------------------------------------------------------------------------------------


def _run_taped(op: Operation, known: dict[Symbol, Tensor]) -> Callable[..., list[Any]]:
    """Runs an operation, and gives the function of the gradients of its results that gives those of its
    operands: a list with None where no gradient flows."""
    # New Tensors, so that the tape of this operation begins here and its gradient can be taken alone.
    tensors = []
    for tensor, symbol, stop in zip(_operands(op, known), op.inputs, op.stops, strict=True):
        tensors.append(wrap(held_value(tensor), stop or symbol.dtype.kind not in INEXACT))
    with enable_grad():
        out = _run(op, tensors)
    results = op.results_of(out)
    # The next operations must not continue this tape.
    for symbol, one in zip(op.outputs, results, strict=True):
        known[symbol] = wrap(held_value(one))

    def pull(cotangents: list[Tensor | None]) -> list[Tensor | None]:
        pairs = [
            (one, cotangent)
            for one, cotangent in zip(results, cotangents, strict=True)
            if cotangent is not None and not one.stop_gradient
        ]
        wanted = [tensor for tensor in tensors if not tensor.stop_gradient]
        if not pairs or not wanted:
            return [None] * len(tensors)
        ends = [one for one, _ in pairs]
        starts = [cotangent for _, cotangent in pairs]
        found = iter(tape_grad(ends, wanted, starts, retain_graph=True, allow_unused=True))
        return [None if tensor.stop_gradient else next(found) for tensor in tensors]

    return pull


def _pull(
    gradient: Gradient, known: dict[Symbol, Tensor], pulls: dict[Operation, Callable[..., Any]]
) -> None:
    """Computes derivatives from what the operations of the region left."""
    cotangents: dict[Symbol, Tensor] = {}
    for target, start in zip(gradient.targets, gradient.starts, strict=True):
        value = known[target]
        if start is None:
            given = ones_like(value)
        else:
            given = known[start].reshape(list(value.shape))
        _add(cotangents, target, given)
    for op in reversed(gradient.region):
        if op not in pulls or not any(symbol in cotangents for symbol in op.outputs):
            continue
        found = pulls[op]([cotangents.get(symbol) for symbol in op.outputs])
        for symbol, one in zip(op.inputs, found, strict=True):
            if one is not None and symbol not in gradient.ends:
                _add(cotangents, symbol, one)
    for symbol, out in zip(gradient.wanted, gradient.outputs, strict=True):
        if symbol in cotangents:
            known[out] = cotangents[symbol]
        else:
            known[out] = zeros_like(known[symbol])


def _add(cotangents: dict[Symbol, Tensor], symbol: Symbol, new: Tensor) -> None:
    if symbol in cotangents:
        new = cotangents[symbol] + new
    cotangents[symbol] = new
