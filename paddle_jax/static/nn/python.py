"""Python functions inside static programs, and operations with a gradient of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.held_values import held_symbol, replace_held
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.custom_gradient import record_with_gradient, zero_gradient
from paddle_jax._program.operation import Operation
from paddle_jax._program.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


def py_func(
    func: Callable[..., Any],
    x: Tensor | Sequence[Tensor] | None,
    out: Tensor | Sequence[Tensor] | None,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Tensor | Sequence[Tensor] | None = None,
) -> Tensor | Sequence[Tensor] | None:
    """Calls a Python function on the values of Variables when the program runs.

    Args:
        func: callable that gets NumPy arrays, the values of `x`, and returns an array, or a list of arrays
            for `out`, or None.
        x: Variable, or list or tuple of such, or None.
        out: Variable, or list or tuple of such, that stand for the results: their shapes and dtypes are those
            of the results. None: there are none.
        backward_func: callable that gets the values of x, of out and the gradients of out, and returns the
            gradients of x (None: zeros). Default: no gradient flows through.
        skip_vars_in_backward_input: Variables among x and out whose values backward_func does not get.
    Returns:
        `out`, which now stands for the results.
    Raises:
        TypeError: an argument is of the wrong type.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x, y = paddle.static.data("x", [None]), paddle.static.data("y", [None])
        ...     y = paddle.static.py_func(lambda a: np.sort(a), x, y)
        ...     paddle.static.Executor().run(feed={"x": np.array([3, 1], "float32")}, fetch_list=[y])
        [array([1., 3.], dtype=float32)]
        >>> paddle.disable_static()
    """
    inputs = _listed(x)
    outs = _listed(out)
    for name, values in (("x", inputs), ("out", outs)):
        for value in values:
            if not isinstance(value, Variable):
                raise TypeError(
                    f"py_func: {name}: got {type(value).__name__}; it must be a Variable, or a list of such"
                )
    if not callable(func) or not (backward_func is None or callable(backward_func)):
        raise TypeError("py_func: func and backward_func must be callable")
    recorder = local.ctx.frame
    # By what they hold: two Variables may stand for one value.
    skipped = {id(held_symbol(v)) for v in _listed(skip_vars_in_backward_input)}
    symbols = [recorder.symbol(v) for v in inputs]
    kept = [id(held_symbol(v)) not in skipped for v in (*inputs, *outs)]
    kernel = Kernel(
        "py_func",
        _calling(func, backward_func, symbols, [held_symbol(v) for v in outs], kept),
        nondiff=backward_func is None,
    )
    # Without `backward_func` no gradient flows, whatever the flags say.
    operation = Operation(kernel, symbols, tuple(v.stop_gradient for v in inputs), tuple, recorder.name_scope)
    operation.device = recorder.device
    operation.outputs = [
        Symbol(held_symbol(v).avals, "result", recorder.program, held_symbol(v).name, op=operation)
        for v in outs
    ]
    recorder.ops.append(operation)
    recorder.program.changed()
    flows = backward_func is not None and local.ctx.grad and any(not v.stop_gradient for v in inputs)
    for value, symbol in zip(outs, operation.outputs, strict=True):
        # The Variables that the user gave stand for the results from here on.
        replace_held(value, symbol)
        value.stop_gradient = not (flows and symbol.dtype.kind in INEXACT)
    return out


def _struct(symbol: Symbol, symbols: Sequence[Symbol], arrays: Sequence[jax.Array]) -> jax.ShapeDtypeStruct:
    """Shape and dtype of a result: unknown lengths are those of the first input with an unknown length on
    that axis, or of the only one."""
    shape = list(symbol.shape)
    for axis, length in enumerate(shape):
        # The callback needs shapes: an unknown one is that of an input.
        if length == -1:
            found = [
                a.shape[axis]
                for s, a in zip(symbols, arrays, strict=True)
                if s.ndim > axis and s.shape[axis] == -1
            ]
            if not found:
                raise ValueError(
                    f"py_func: out: got shape {list(symbol.shape)}; "
                    f"the length of axis {axis} is not that of an input; declare it"
                )
            shape[axis] = found[0]
    return jax.ShapeDtypeStruct(tuple(shape), symbol.dtype)


def _calling(
    func: Callable[..., Any],
    backward_func: Callable[..., Any] | None,
    symbols: Sequence[Symbol],
    outs: Sequence[Symbol],
    kept: Sequence[bool],
) -> Callable[..., tuple[jax.Array, ...]]:
    """The function of a py_func."""

    def called(structs: Sequence[jax.ShapeDtypeStruct]) -> Callable[..., tuple[np.ndarray, ...]]:
        def run(*arrays: jax.Array) -> tuple[np.ndarray, ...]:
            # The user's function works on NumPy arrays.
            out = _listed(func(*map(np.asarray, arrays)))
            if structs:
                return tuple(
                    [np.asarray(o, s.dtype).reshape(s.shape) for o, s in zip(out, structs, strict=True)]
                )
            return ()

        return run

    def forward(*arrays: jax.Array) -> tuple[jax.Array, ...]:
        structs = tuple([_struct(s, symbols, arrays) for s in outs])
        # No results: the call is an effect, which must not be left out.
        if not structs:
            jax.debug.callback(called(()), *arrays, ordered=False)
            return ()
        # Pure: XLA may leave it out where nobody wants its results.
        return jax.pure_callback(called(structs), structs, *arrays)

    if backward_func is None:
        return forward
    # JAX cannot look into a callback, so the gradient is the user's.
    whole = jax.custom_vjp(forward)

    def with_residuals(
        *arrays: jax.Array,
    ) -> tuple[tuple[jax.Array, ...], tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]]:
        out = forward(*arrays)
        return out, (arrays, out)

    whole.defvjp(with_residuals, lambda residuals, cts: _grads(backward_func, kept, *residuals, cts))
    return whole


def _grads(
    backward_func: Callable[..., Any],
    kept: Sequence[bool],
    arrays: Sequence[jax.Array],
    out: Sequence[jax.Array],
    cts: Sequence[jax.Array],
) -> tuple[Any, ...]:
    """The gradients of the inputs of a py_func. kept: for each of its inputs and results whether
    backward_func gets it."""
    given = [v for v, keep in zip((*arrays, *out), kept, strict=True) if keep]
    # Whole numbers have no gradient.
    smooth = [i for i, a in enumerate(arrays) if a.dtype.kind in INEXACT]
    structs = tuple([jax.ShapeDtypeStruct(arrays[i].shape, arrays[i].dtype) for i in smooth])

    def run(*values: jax.Array) -> tuple[np.ndarray, ...]:
        grads = _listed(backward_func(*map(np.asarray, values)))
        # The user may give gradients of all inputs, or of these alone.
        grads = [grads[i] if len(grads) == len(arrays) else grads[n] for n, i in enumerate(smooth)]
        return tuple(
            [
                # None stands for zeros.
                np.zeros(s.shape, s.dtype) if g is None else np.asarray(g, s.dtype).reshape(s.shape)
                for g, s in zip(grads, structs, strict=True)
            ]
        )

    by_place = dict(zip(smooth, jax.pure_callback(run, structs, *given, *cts), strict=True))
    return tuple([by_place[i] if i in by_place else zero_gradient(a) for i, a in enumerate(arrays)])


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: Sequence[Tensor],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Operations with a gradient of one's own.

    Args:
        forward_fn: callable that takes the inputs and returns a Variable or a list of such.
        inputs: list or tuple of Variables.
        backward_fn: callable that takes the gradients of the results and returns those of the inputs. Default
            None: no gradient flows through.
        name: accepted.
    Returns:
        What forward_fn returns.
    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: backward_fn returns another number of gradients than there are inputs.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2]); x.stop_gradient = False
        ...     y = paddle.static.nn.static_pylayer(paddle.exp, [x], lambda g: g * 5)
        ...     paddle.static.Executor().run(feed={"x": np.zeros(2, "float32")},
        ...                                  fetch_list=paddle.static.gradients(y, x))
        [array([5., 5.], dtype=float32)]
        >>> paddle.disable_static()
    """
    if not isinstance(inputs, list | tuple) or not all(isinstance(x, Tensor) for x in inputs):
        raise TypeError(
            f"static_pylayer: inputs: got {type(inputs).__name__}; it must be a list or tuple of Variables"
        )
    if not callable(forward_fn) or not (backward_fn is None or callable(backward_fn)):
        raise TypeError("static_pylayer: forward_fn and backward_fn must be callable")
    recorder = local.ctx.frame
    if not recorder.recording:
        raise RuntimeError(
            "static_pylayer: it belongs to a static program; in dynamic mode subclass paddle.autograd.PyLayer"
        )
    return record_with_gradient("static_pylayer", forward_fn, inputs, backward_fn)


__all__ = ["py_func", "static_pylayer"]
