"""Compiling what is run for its results alone, without gradients."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.amp.auto_cast import auto_cast
from paddle_jax.jit.api import to_static
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_PRECISIONS = ("float32", "float16", "bfloat16")
_MARK = "_runs_for_results"


def inference(
    function: Callable[..., Any] | None = None,
    cache_static_model: bool = False,
    save_model_dir: Any = None,
    memory_pool_init_size_mb: Any = 1000,
    precision_mode: str = "float32",
    switch_ir_optim: bool = True,
    switch_ir_debug: bool = False,
    enable_cinn: bool = False,
    with_trt: bool = False,
    trt_precision_mode: str = "float32",
    trt_use_static: bool = False,
    collect_shape: bool = False,
    enable_new_ir: bool = False,
    exp_enable_use_cutlass: bool = False,
    delete_pass_lists: Any = None,
    skip_prune_program: bool = False,
) -> Callable[..., Any] | Layer:
    """Compiles a function, a method or a Layer for inference: each call is one program of XLA, without
    gradients.

    Args:
        function: callable, or Layer (whose `forward` is compiled). Default None: returns a decorator.
        precision_mode: "float32", "float16" or "bfloat16"; the last two compute in mixed precision, as
            `amp.auto_cast` with level "O2" does.
        cache_static_model, save_model_dir, memory_pool_init_size_mb, switch_ir_optim, switch_ir_debug,
            enable_cinn, with_trt, trt_precision_mode, trt_use_static, collect_shape, enable_new_ir,
            exp_enable_use_cutlass, delete_pass_lists, skip_prune_program: settings of Paddle's predictor
            and TensorRT; without effect, since XLA compiles.
    Returns:
        The function that runs compiled; for a Layer, the Layer.
    Raises:
        AssertionError: function is not callable, or precision_mode is another one.
    Differs from Paddle: arguments need not be Tensors (a number or text is a constant of the program), and no
        model is saved on the way. Parameters that change later are seen.
    Example:
        >>> net = paddle.incubate.jit.inference(paddle.nn.Linear(2, 1))
        >>> y = net(paddle.ones([3, 2])); y.shape, y.stop_gradient
        (paddle.Size([3, 1]), True)
    """
    if precision_mode not in _PRECISIONS:
        raise AssertionError(
            f"inference: precision_mode: got {precision_mode!r}; allowed are {', '.join(_PRECISIONS)}"
        )
    if function is None:
        # Called with settings alone, as `@inference(precision_mode=...)`.
        return lambda function: inference(function, precision_mode=precision_mode)
    if not callable(function):
        raise AssertionError(
            f"inference: function: got {type(function).__name__}; it must be a function or a Layer"
        )
    if isinstance(function, Layer):
        function.forward = _compiled(function.forward, precision_mode)
        return function
    return _compiled(function, precision_mode)


def _compiled(function: Callable[..., Any], precision: str) -> Callable[..., Any]:
    program = to_static(function)

    @ft.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, ...]:
        with no_grad(), auto_cast(precision != "float32", dtype=_lower(precision), level="O2"):
            return program(*args, **kwargs)

    setattr(run, _MARK, True)
    return run


def _lower(precision: str) -> str:
    # auto_cast is off then, and wants the name of a low precision all the same.
    if precision == "float32":
        return "float16"
    return precision


def is_inference_mode(function: Any) -> bool:
    """Whether a function, or the `forward` of a Layer, was compiled by `inference`.

    Args:
        function: function or Layer.
    Returns:
        bool.
    Example:
        >>> paddle.incubate.jit.is_inference_mode(paddle.nn.Linear(2, 1))
        False
    """
    return getattr(function.forward if isinstance(function, Layer) else function, _MARK, False)
