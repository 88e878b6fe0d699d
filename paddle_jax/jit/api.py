"""`to_static` and what goes with it."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._program.input_spec import InputSpec
from paddle_jax._program.rewrite.call_policy import ignore
from paddle_jax.jit.function import CompileSwitch, StaticFunction
from paddle_jax.nn.layer.layers import Layer

_BACKENDS = ("CINN", None)


def to_static(
    function: Callable[..., Any] | None = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: str = "CINN",
    **kwargs: Any,
) -> Any:
    """Compiles a function, a method or a Layer with XLA.

    The function runs once in Python for its first arguments, and as one compiled program after that. Calls
    with other shapes or numbers run as they are, and are compiled once they have come so often that it pays.
    What it uses from outside (parameters, buffers, optimizer state, gradients, random numbers, the
    learning rate) goes in with its present values, and what it changes comes out: a whole training step with
    `backward()`, `optimizer.step()` and `clear_grad()` is one program. Derivatives of any order go through a
    compiled function.
    `if`, `while` and `for` on values of Tensors are converted (docs/control-flow.md). What cannot be compiled
    runs op by op, with one warning that names the line; `paddle_jax.explain()` tells what was
    compiled and why.

    Args:
        function: callable, method or Layer (whose `forward` is compiled). Default None: returns a decorator.
        input_spec: list of InputSpecs of the arguments, which `paddle.jit.save` uses.
            Default None.
        build_strategy: paddle.static.BuildStrategy; without effect.
        backend: "CINN" or None; XLA compiles either way.
        kwargs: `full_graph`, bool: raise a RuntimeError where the function cannot be compiled
            whole, unless the reason is lengths that depend on values. Default False.
    Returns:
        A StaticFunction; for a Layer, the Layer.
    Raises:
        TypeError: the function is not callable, or input_spec or build_strategy has the wrong type.
        ValueError: backend is unknown.
    Differs from Paddle: with `full_graph=True`, containers and logs outside that the code changes are changed
    once per signature. `print` prints at each call.
    Example:
        >>> net = paddle.nn.Linear(2, 1); sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        >>> @paddle.jit.to_static
        ... def step(x, y):
        ...     loss = ((net(x) - y) ** 2).mean()
        ...     loss.backward()
        ...     sgd.step()
        ...     sgd.clear_grad()
        ...     return loss
        >>> x, y = paddle.ones([4, 2]), paddle.zeros([4, 1])
        >>> first = step(x, y).item()
        >>> step(x, y).item() < first
        True
    """
    if input_spec is not None and not isinstance(input_spec, list | tuple):
        raise TypeError(
            f"to_static: input_spec: got {type(input_spec).__name__}; "
            "it must be a list or tuple of InputSpecs"
        )
    if build_strategy is not None and type(build_strategy).__name__ != "BuildStrategy":
        raise TypeError(
            f"to_static: build_strategy: got {type(build_strategy).__name__}; "
            "it must be a paddle.static.BuildStrategy or None"
        )
    if backend not in _BACKENDS:
        raise ValueError(f"to_static: backend: got {backend!r}; allowed are 'CINN' and None")
    full_graph = bool(kwargs.get("full_graph", False))
    if function is None:
        return ft.partial(_compiled, input_spec=input_spec, full_graph=full_graph)
    return _compiled(function, input_spec, full_graph)


def _compiled(callee: Any, input_spec: Sequence[Any] | None, full_graph: bool) -> Any:
    """The StaticFunction of what `to_static` is given; a Layer gets it as its `forward`."""
    if isinstance(callee, StaticFunction):
        # `input_spec` given later, as in `to_static(compiled, input_spec=...)`: programs of its own.
        if input_spec is None:
            return callee
        return _with_input_spec(callee, input_spec, full_graph)
    if isinstance(callee, Layer):
        forward = callee.forward
        if not isinstance(forward, StaticFunction):
            # Past `Layer.__setattr__`, which would take it for a state of the Layer.
            object.__setattr__(callee, "forward", StaticFunction(forward, input_spec, full_graph))
        elif input_spec is not None:
            object.__setattr__(callee, "forward", _with_input_spec(forward, input_spec, full_graph))
        return callee
    if isinstance(callee, staticmethod | classmethod):
        return type(callee)(_compiled(callee.__func__, input_spec, full_graph))
    if not callable(callee):
        raise TypeError(
            f"to_static: function: got {type(callee).__name__}; it must be a function, a method or a Layer"
        )
    # An object with `__call__`: that is the code that runs.
    code = callee if inspect.isroutine(callee) else callee.__call__
    return StaticFunction(code, input_spec, full_graph)


def _with_input_spec(compiled: Any, input_spec: Any, full_graph: Any) -> StaticFunction:
    """The function of a compiled one, for other InputSpecs."""
    return StaticFunction(compiled._function, input_spec, full_graph, compiled.class_instance)


def not_to_static(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Marks a function that is not to be converted: inside a compiled function it is traced as it is.

    Args:
        func: callable. Default None: returns a decorator.
    Returns:
        The function itself.
    Example:
        >>> @paddle.jit.not_to_static
        ... def plain(x):
        ...     return x + 1
        >>> plain(paddle.ones([1])).item()
        2.0
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function._paddle_jax_not_to_static = True
        return function

    if func is None:
        return mark
    return mark(func)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Turns compilation by `to_static` on or off; off, functions run as they are written.

    Args:
        enable_to_static_bool: bool.
    Example:
        >>> paddle.jit.enable_to_static(True)
    """
    # Functions that are compiled already run as they are written as well.
    CompileSwitch.on = bool(enable_to_static_bool)


def ignore_module(modules: Any) -> None:
    """Names modules whose functions are not converted when a compiled function calls them.

    Args:
        modules: list of modules.
    Example:
        >>> import math
        >>> paddle.jit.ignore_module([math])
    """
    ignore(modules)


__all__ = ["InputSpec", "enable_to_static", "ignore_module", "not_to_static", "to_static"]
