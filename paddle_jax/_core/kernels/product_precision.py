"""The precision of float32 products: matrix products and convolutions, in each thread.

A kernel is made for one precision, and hands it on to its gradients of any order. So a product keeps what was
asked when it was called, and programs of two precisions never share compiled code. Without a choice products
have float32's own precision, which JAX calls "highest" (`_config.py` sets it).
"""

from __future__ import annotations

import functools as ft
import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from paddle_jax._core.base import flags
from paddle_jax._core.base.interrupt_safe import AtomicContext
from paddle_jax._core.base.state import Context, local

NAMES = ("highest", "high", "default")
_OVERRIDE = "NVIDIA_TF32_OVERRIDE"
_FLAG = "matmul_precision"
_CUBLAS = "allow_tf32_cublas"
_CUDNN = "allow_tf32_cudnn"

# None, or the precision of convolutions in what is traced now; a part of JAX's cache keys
_convolutions = jax.make_user_context(None)


class ProductPrecision(NamedTuple):
    """The precision of products of a call.

    Attributes:
        products: str, of matrix products: "highest", "high" or "default".
        convolutions: str, of convolutions.
    """

    products: str
    convolutions: str

    def applied_to(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is traced with this precision."""

        @ft.wraps(fn)
        def traced(*operands: Any) -> Any:
            with jax.default_matmul_precision(self.products), _convolutions(self.convolutions):
                return fn(*operands)

        return traced


_HIGHEST = ProductPrecision("highest", "highest")


def convolution_precision() -> str | None:
    """What to give JAX as the precision of a convolution; None for its setting."""
    return _convolutions.value


def current() -> ProductPrecision:
    """The precision of products that the calling thread asks for."""
    return local.ctx.product_precision or _HIGHEST


def _check(name: str, value: Any) -> None:
    if value not in NAMES:
        raise ValueError(f"{name}: got {value!r}; allowed are {', '.join(NAMES)}")


def _or_none(precision: ProductPrecision) -> ProductPrecision | None:
    """A precision as a Context has it: None for the highest, which takes the short ways of a call."""
    # NVIDIA's variable forbids TF32, whatever a program sets.
    if precision == _HIGHEST or os.environ.get(_OVERRIDE) == "0":
        return None
    return precision


class matmul_precision(AtomicContext):
    """A block in which float32 products of this thread have another precision.

    Gradients keep the precision of the calls that they belong to, also outside of the block.

    Args:
        precision: "highest": float32 as on a CPU; "high": TF32 on NVIDIA GPUs, three bfloat16 passes on TPUs;
            "default": the fastest, TF32 on NVIDIA GPUs, one bfloat16 pass on TPUs. On CPUs all are the same.
    Raises:
        ValueError: the precision is none of these.
    Example:
        >>> import paddle_jax
        >>> with paddle_jax.matmul_precision("high"):
        ...     y = paddle_jax.ones([2, 3]) @ paddle_jax.ones([3, 2])
        >>> y.tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """

    def __init__(self, precision: str) -> None:
        super().__init__()
        _check("matmul_precision: precision", precision)
        self._precision = _or_none(ProductPrecision(precision, precision))

    def steps(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        ctx = local.ctx
        return (
            [(setattr, ctx, "product_precision", self._precision)],
            [(setattr, ctx, "product_precision", ctx.product_precision)],
        )


def _set_for_process(precision: ProductPrecision) -> None:
    """The precision of the calling thread, and of threads that begin from now on."""
    Context.product_precision_of_process = _or_none(precision)
    local.ctx.product_precision = Context.product_precision_of_process


def _process_precision() -> ProductPrecision:
    return Context.product_precision_of_process or _HIGHEST


def _set_matmul_precision(value: str) -> None:
    """Sets both, and the flags that allow TF32."""
    _set_for_process(ProductPrecision(value, value))
    flags.store(_CUBLAS, value != "highest")
    flags.store(_CUDNN, value != "highest")


def _allow_in_products(value: bool) -> None:
    _set_for_process(_process_precision()._replace(products=_allowed(value)))


def _allow_in_convolutions(value: bool) -> None:
    _set_for_process(_process_precision()._replace(convolutions=_allowed(value)))


def _allowed(value: bool) -> str:
    return "high" if value else "highest"


def start() -> None:
    """Applies what the environment has: the flags, and NVIDIA's variable."""
    override = os.environ.get(_OVERRIDE)
    if override not in (None, "", "0", "1"):
        warnings.warn(
            f"{_OVERRIDE}: got {override!r}; 0 forbids TF32 and 1 allows it, so it is ignored", stacklevel=2
        )
    name = flags.from_environment(_FLAG)
    if name is None:
        name = _allowed(override == "1")
    in_products = flags.from_environment(_CUBLAS)
    in_convolutions = flags.from_environment(_CUDNN)
    precision = ProductPrecision(
        name if in_products is None else _allowed(in_products),
        name if in_convolutions is None else _allowed(in_convolutions),
    )
    # The process starts with the highest precision.
    if precision != _HIGHEST:
        _set_for_process(precision)
        flags.store(_FLAG, name)
        flags.store(_CUBLAS, precision.products != "highest")
        flags.store(_CUDNN, precision.convolutions != "highest")


flags.declare(_FLAG, "highest", _set_matmul_precision, ft.partial(_check, f"FLAGS_{_FLAG}"))
flags.declare(_CUBLAS, False, _allow_in_products)
flags.declare(_CUDNN, False, _allow_in_convolutions)
