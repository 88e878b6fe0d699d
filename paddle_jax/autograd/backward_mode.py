"""Reverse-mode gradients of recorded computations."""

from paddle_jax._core import tape
from paddle_jax._core.errors import CheckError
from paddle_jax._core.tensor import Tensor


def _tensors(value, what):
    """A Tensor or a non-empty sequence of Tensors as a list."""
    values = [value] if isinstance(value, Tensor) else list(value) if isinstance(value, list | tuple | set) else None
    if values is None or not all(isinstance(v, Tensor) for v in values):
        raise CheckError(f"{what}: got {type(value).__name__}; it must be a Tensor or a list of Tensors")
    if not values:
        raise CheckError(f"{what}: got an empty list; give at least one Tensor")
    return values


def _starts(grads, outputs, what):
    """The gradients to start from: one (or None) for each output."""
    values = [None] * len(outputs) if grads is None else [grads] if isinstance(grads, Tensor) else list(grads)
    if len(values) != len(outputs):
        raise CheckError(f"{what}: got {len(values)} gradients for {len(outputs)} outputs; give one for each")
    return values


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=False, no_grad_vars=None, *,
         dump_backward_graph_path=None):
    """Computes the gradients of the sum of `outputs` with respect to `inputs`, without touching any `.grad`.

    Args:
        outputs: Tensor or list of Tensors.
        inputs: Tensor or list of Tensors; leaves or results of operations.
        grad_outputs: Tensor or list (None entries allowed) of the outputs' shapes, what to start from. Default: ones.
        retain_graph: keep the tape for another backward. Default: create_graph.
        create_graph: record the gradient computation too, so that it can be differentiated again, to any order.
        only_inputs: must be True.
        allow_unused: give None for an input the outputs do not depend on, instead of raising.
        no_grad_vars: Tensor or list of Tensors through which no gradient flows.
        dump_backward_graph_path: accepted for compatibility; nothing is written.
    Returns:
        List with one Tensor (or None) for each input.
    Raises:
        ValueError: an input is unused and allow_unused is False.
        AssertionError: a list is empty, or shapes or lengths do not fit.
        RuntimeError: an input is given twice, or the tape was freed by an earlier backward.
    Example:
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> (g,) = paddle.grad(x**3, x, create_graph=True)
        >>> paddle.grad(g, x)[0].tolist()
        [18.0]
    """
    outs, ins = _tensors(outputs, "grad: outputs"), _tensors(inputs, "grad: inputs")
    if not only_inputs:
        raise CheckError("grad: only_inputs: got False; only True is supported")
    if len({id(t) for t in ins}) != len(ins):
        raise RuntimeError("grad: inputs: a Tensor is given twice; give each input once")
    cut = [] if no_grad_vars is None else _tensors(no_grad_vars, "grad: no_grad_vars") if no_grad_vars else []
    retain = create_graph if retain_graph is None else retain_graph
    found = tape.gradients(outs, ins, _starts(grad_outputs, outs, "grad: grad_outputs"), retain, create_graph, cut)
    if not allow_unused and any(f is None for f in found):
        place = next(i for i, f in enumerate(found) if f is None)
        raise ValueError(f"grad: inputs[{place}] is not used by the outputs (or has stop_gradient=True); pass allow_unused=True to get None for it")
    return found


def backward(tensors, grad_tensors=None, retain_graph=False, *, dump_backward_graph_path=None):
    """Adds the gradients of `tensors` to the `grad` of all leaves they depend on.

    Args:
        tensors: Tensor or list of different Tensors.
        grad_tensors: Tensor or list (None entries allowed), what to start from. Default: ones.
        retain_graph: keep the tape for another backward.
        dump_backward_graph_path: accepted for compatibility; nothing is written.
    Raises:
        AssertionError: a list is empty or lengths do not fit.
    Example:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.backward([x * x]); x.grad.tolist()
        [2.0, 4.0]
    """
    values = _tensors(tensors, "backward: tensors")
    if len({id(t) for t in values}) != len(values):
        raise CheckError("backward: tensors: a Tensor is given twice; give each once")
    tape.backward(values, _starts(grad_tensors, values, "backward: grad_tensors"), retain_graph)
