"""Operations of a Program whose gradient the user defines."""

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._program.control_flow.region import Leaf, Region, flatten, write_back
from paddle_jax._program.evaluate import evaluate, value_of
from paddle_jax._program.operation import Operation
from paddle_jax._program.variable import variable


def record_layer(layer, call, inputs):
    """PyLayer.apply in a static program. call: function of Tensors in place of the inputs, gives
    (context, results)."""
    context = []

    def forward(*tensors):
        made, result = call(tensors)
        context.append(made)
        return result

    def backward(*cts):
        grads = layer.backward(context[0], *cts)
        grads = list(grads) if isinstance(grads, tuple | list) else [grads]
        grads += [None] * (len(inputs) - len(grads))
        return [x * 0 if g is None else g for x, g in zip(inputs, grads, strict=True)]

    return record_with_gradient(layer.__name__, forward, inputs, backward)


def record_with_gradient(where, forward_fn, inputs, backward_fn):
    """Records `forward_fn(*inputs)` as one operation whose gradient is `backward_fn`; it may use what the
    forward part made."""
    recorder = local.ctx.frame
    forward, backward = Region(forward_fn, [Leaf(i, x) for i, x in enumerate(inputs)]), None
    leaves, tree = flatten(forward.value)
    results = [x for x in leaves if isinstance(x, Leaf)]
    if not results:
        raise ValueError(f"{where}: forward returned no Tensor; at least one result must be a Tensor")
    block = forward.block
    if backward_fn is not None:
        pulled = Region(backward_fn, results)
        count = len([x for x in flatten(pulled.value)[0] if x is not None])
        if count != len(inputs):
            raise ValueError(
                f"{where}: backward_fn returns {count} gradients; there are {len(inputs)} inputs"
            )
        backward = pulled.block
    mine = {*block.inputs, *[o for op in block.ops for o in op.outputs]}
    outside = list(
        dict.fromkeys(
            [*block.outside(), *[s for s in (backward.outside() if backward else ()) if s not in mine]]
        )
    )
    kernel = Kernel(
        "pylayer", _with_gradient(block, backward, outside, len(inputs)), nondiff=backward_fn is None
    )
    stops = (*[x.stop_gradient for x in inputs], *[True] * len(outside))
    symbols = [*map(recorder.symbol, inputs), *outside]
    operation = Operation(kernel, symbols, stops, tuple, recorder.name_scope, block.host)
    operation.outputs = [Symbol(s.avals, "result", recorder.program, op=operation) for s in block.results]
    recorder.ops.append(operation)
    recorder.program.changed()
    flows = backward_fn is not None and local.ctx.grad and any(not x.stop_gradient for x in inputs)
    variables = [variable(s, not (flows and s.dtype.kind in INEXACT)) for s in operation.outputs]
    for change in forward.changes.values():
        write_back(change, variables[change.leaf.index])
    return jax.tree.unflatten(tree, [variables[x.index] if isinstance(x, Leaf) else x for x in leaves])


def _with_gradient(block, backward, outside, count):
    """The function of a static_pylayer: (*inputs, *outside) -> results."""

    def values_of(part, env):
        return tuple([jnp.asarray(value_of(s, env)) for s in part.results])

    def forward(*arrays):
        return values_of(block, block.run(outside, arrays[count:], arrays[:count]))

    if backward is None:
        return forward
    whole = jax.custom_vjp(forward)

    def with_residuals(*arrays):
        return forward(*arrays), arrays

    def pull(arrays, cts):
        env = block.run(outside, arrays[count:], arrays[:count])
        env.update(zip(backward.inputs, cts, strict=False))  # there are none of what it changes in place
        evaluate(backward.ops, env)
        grads = values_of(backward, env)
        found = [
            zero_gradient(a) if a.dtype.kind not in INEXACT else g.astype(a.dtype)
            for a, g in zip(arrays, grads, strict=False)
        ]
        return (
            *found,
            *[jnp.zeros_like(a) if a.dtype.kind in INEXACT else zero_gradient(a) for a in arrays[count:]],
        )

    whole.defvjp(with_residuals, pull)
    return whole


def zero_gradient(array):
    """The gradient of an array through which no gradient flows, as JAX wants it."""
    return np.zeros(array.shape, jax.dtypes.float0)


__all__ = ["record_layer", "record_with_gradient", "zero_gradient"]
