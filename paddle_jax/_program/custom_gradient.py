"""Operations of a Program whose gradient the user defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.blocks import Block
from paddle_jax._program.control_flow.region import Leaf, Region, flatten, write_back
from paddle_jax._program.evaluate import evaluate, value_of
from paddle_jax._program.operation import Operation
from paddle_jax._program.variable import variable


def record_layer(
    layer: Any, call: Callable[[Sequence[Tensor]], tuple[Any, Any]], inputs: Sequence[Tensor]
) -> Any:
    """PyLayer.apply in a static program.

    Args:
        layer: the subclass of PyLayer.
        call: function of Tensors in place of the inputs; gives (context, results).
        inputs: list of the Tensors among the arguments.
    """
    # `backward` is recorded after `forward`, and gets the context that this made.
    contexts = []

    def forward(*tensors: Tensor) -> Any:
        context, result = call(tensors)
        contexts.append(context)
        return result

    def backward(*cotangents: Tensor) -> list[Tensor]:
        grads = layer.backward(contexts[0], *cotangents)
        if isinstance(grads, tuple | list):
            grads = list(grads)
        else:
            grads = [grads]
        # `backward` may give a Tensor alone for the first input, and leave out the last ones.
        grads += [None] * (len(inputs) - len(grads))
        # Zeros for None, as every operand has a place among the results of the block.
        return [x * 0 if g is None else g for x, g in zip(inputs, grads, strict=True)]

    return record_with_gradient(layer.__name__, forward, inputs, backward)


def record_with_gradient(
    where: str,
    forward_fn: Callable[..., Any],
    inputs: Sequence[Tensor],
    backward_fn: Callable[..., Any] | None,
) -> Any:
    """Records `forward_fn(*inputs)` as one operation whose gradient is `backward_fn`.

    The backward function may use what the forward part made. where: name of the function in messages.
    """
    recorder = local.ctx.frame
    # Each input is a Leaf, so the block has inputs of its own in place of what the code closes over.
    forward = Region(forward_fn, [Leaf(i, x) for i, x in enumerate(inputs)])
    leaves, tree = flatten(forward.value)
    results = [x for x in leaves if isinstance(x, Leaf)]
    if not results:
        raise ValueError(f"{where}: forward returned no Tensor; at least one result must be a Tensor")
    block = forward.block
    if backward_fn is None:
        backward = None
    else:
        backward = _backward_block(where, backward_fn, results, len(inputs))
    # What the code reads from around it becomes an operand, so that the operation is a function of its
    # operands alone.
    outside = _outside_symbols(block, backward)
    kernel = Kernel(
        "pylayer", _with_gradient(block, backward, outside, len(inputs)), nondiff=backward is None
    )
    # No gradient flows to what comes from around: `backward_fn` gives those of the inputs alone.
    stops = (*[x.stop_gradient for x in inputs], *[True] * len(outside))
    symbols = [*map(recorder.symbol, inputs), *outside]
    operation = Operation(kernel, symbols, stops, tuple, recorder.name_scope, block.host)
    operation.device = recorder.device
    operation.outputs = [Symbol(s.avals, "result", recorder.program, op=operation) for s in block.results]
    recorder.ops.append(operation)
    recorder.program.changed()
    has_gradient = backward is not None and local.ctx.grad and any(not x.stop_gradient for x in inputs)
    variables = [variable(s, not (has_gradient and s.dtype.kind in INEXACT)) for s in operation.outputs]
    # What `forward` changes in place takes the new value, which is a result as well.
    for change in forward.changes.values():
        write_back(change, variables[change.leaf.index])
    return jax.tree.unflatten(tree, [variables[x.index] if isinstance(x, Leaf) else x for x in leaves])


def _backward_block(
    where: str, backward_fn: Callable[..., Any], results: Sequence[Leaf], input_count: int
) -> Block | None:
    """The block of the backward function, for results of the forward part."""
    backward = Region(backward_fn, results)
    # Each input needs a gradient: `record_layer` has put zeros where a PyLayer gives None.
    count = len([x for x in flatten(backward.value)[0] if x is not None])
    if count != input_count:
        raise ValueError(f"{where}: backward_fn returns {count} gradients; there are {input_count} inputs")
    return backward.block


def _outside_symbols(forward: Block, backward: Block | None) -> list[Symbol]:
    """The Symbols that both blocks take from outside."""
    forward_symbols = {*forward.inputs, *[o for op in forward.ops for o in op.outputs]}
    outside = forward.outside()
    if backward is not None:
        # The backward block may use results of the forward part, which is run again for it.
        outside += [s for s in backward.outside() if s not in forward_symbols]
    return list(dict.fromkeys(outside))


def _with_gradient(
    forward_block: Block, backward_block: Block | None, outside: Sequence[Symbol], input_count: int
) -> Callable[..., Any]:
    """The function of the operation: (*inputs, *outside) -> results."""

    def run_forward(arrays: Sequence[Any]) -> dict[Symbol, Any]:
        return forward_block.run(outside, arrays[input_count:], arrays[:input_count])

    def forward(*arrays: Any) -> tuple[Any, ...]:
        return _results_of(forward_block, run_forward(arrays))

    # `static_pylayer` without `backward_fn`.
    if backward_block is None:
        return forward
    differentiable = jax.custom_vjp(forward)

    # Operands are the residuals: what the forward part computes may be large.
    def with_residuals(*arrays: Any) -> tuple[Any, ...]:
        return forward(*arrays), arrays

    def pull(arrays: Sequence[Any], cotangents: Sequence[Any]) -> tuple[Any, ...]:
        env = run_forward(arrays)
        # there are no cotangents of what the code changes in place
        env.update(zip(backward_block.inputs, cotangents, strict=False))
        evaluate(backward_block.ops, env)
        # JAX wants a cotangent for each operand, float0 for those of whole numbers.
        grads = []
        for array, gradient in zip(arrays, _results_of(backward_block, env), strict=False):
            if array.dtype.kind in INEXACT:
                grads.append(gradient.astype(array.dtype))
            else:
                grads.append(zero_gradient(array))
        # Operands from around it get zeros: see `record_with_gradient`.
        for array in arrays[input_count:]:
            if array.dtype.kind in INEXACT:
                grads.append(jnp.zeros_like(array))
            else:
                grads.append(zero_gradient(array))
        return tuple(grads)

    differentiable.defvjp(with_residuals, pull)
    return differentiable


def _results_of(block: Block, env: dict[Symbol, Any]) -> tuple[jax.Array, ...]:
    return tuple([jnp.asarray(value_of(s, env)) for s in block.results])


# JAX's `custom_vjp` refuses other zeros for operands of whole numbers or bools.
def zero_gradient(array: Any) -> np.ndarray:
    """The gradient of an array through which no gradient flows, as JAX wants it."""
    return np.zeros(array.shape, jax.dtypes.float0)


__all__ = ["record_layer", "record_with_gradient", "zero_gradient"]
