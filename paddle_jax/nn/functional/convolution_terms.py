"""A convolution and its two adjoints as three primitives of JAX, each computed in its own way.

    result(x, weight)    [N, C, ...] and [out, C / groups, ...] to [N, out, ...]
    image(g, weight)     what a cotangent g of the result gives for x
    kernel(g, x)         what it gives for the weight

Each is linear in both operands, and the adjoint of each with respect to either is another of the three. So
derivatives of every order are among them, and what traces a convolution meets one equation however many the
way of computing it takes: those are written out where XLA compiles it. The interpreter has rules of its own
for them (_core/numpy_backend/convolution.py).
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
from jax._src.core import Primitive  # jax.extend takes 0.05 s to import
from jax.core import ShapedArray
from jax.interpreters import ad, batching, mlir

from paddle_jax.tensor.lowering import computed_once

if TYPE_CHECKING:
    from paddle_jax.nn.functional.convolve_cpu import Plan


class Way(NamedTuple):
    """How the three are computed: functions `(x, weight, plan)` of the same value. forward is taken for the
    result; the transposes of by_x (called with True as a further operand) and by_weight are the adjoints."""

    forward: Callable[..., Any]
    by_x: Callable[..., Any]
    by_weight: Callable[..., Any]


class Shapes(NamedTuple):
    """Those of x, the weight and the result."""

    x: tuple[Any, ...]
    weight: tuple[Any, ...]
    out: tuple[Any, ...]


def convolution(x: jax.Array, weight: jax.Array, plan: Plan, way: Way) -> jax.Array:
    """The convolution of x with the weight by a `Plan` (convolve_cpu.py), computed in the given way."""
    shapes = Shapes(x.shape, weight.shape, (x.shape[0], weight.shape[0], *plan.out))
    return RESULT.bind(x, weight, plan=plan, way=way, shapes=shapes)


def _result(x: jax.Array, weight: jax.Array, *, plan: Plan, way: Way, shapes: Any) -> jax.Array:
    return computed_once(way.forward(x, weight, plan))  # pooling and the like read it several times


def _image(g: jax.Array, weight: jax.Array, *, plan: Plan, way: Way, shapes: Any) -> jax.Array:
    # The transpose of a linear function: no product is computed twice.
    return jax.linear_transpose(
        lambda x: way.by_x(x, weight, plan, True), jax.ShapeDtypeStruct(shapes.x, g.dtype)
    )(g)[0]


def _kernel(g: jax.Array, x: jax.Array, *, plan: Plan, way: Way, shapes: Any) -> jax.Array:
    return jax.linear_transpose(
        lambda weight: way.by_weight(x, weight, plan), jax.ShapeDtypeStruct(shapes.weight, g.dtype)
    )(g)[0]


def _primitive(name: str, compute: Callable[..., Any], shape_of: Callable[..., Any]) -> Any:
    """The primitive `name`: computed by `compute(first, second, **params)`, its result of the shape
    `shape_of(shapes)`."""
    made = Primitive(name)
    made.def_impl(lambda *operands, **params: _compiled(compute, tuple(params.items()))(*operands))
    made.def_abstract_eval(
        lambda first, second, **params: ShapedArray(shape_of(params["shapes"]), first.dtype)
    )
    mlir.register_lowering(made, mlir.lower_fun(compute, multiple_results=False))

    # vmap of the computation, as the plans have one batch axis.
    def batched(operands: Any, axes: Any, **params: Any) -> tuple[Any, ...]:
        return jax.vmap(ft.partial(compute, **params), tuple(axes))(*operands), 0

    batching.primitive_batchers[made] = batched
    return made


# A call outside a program compiles each computation once.
@ft.lru_cache(maxsize=256)
def _compiled(compute: Callable[..., Any], params: tuple[Any, ...]) -> Callable[..., Any]:
    return jax.jit(ft.partial(compute, **dict(params)))


RESULT = _primitive("convolution_result", _result, lambda shapes: shapes.out)
IMAGE = _primitive("convolution_image", _image, lambda shapes: shapes.x)
KERNEL = _primitive("convolution_kernel", _kernel, lambda shapes: shapes.weight)

# Bilinear: each derivative is one of the other two primitives, of any order.
ad.defbilinear(
    RESULT,
    lambda ct, x, weight, **params: IMAGE.bind(ct, weight, **params),
    lambda ct, x, weight, **params: KERNEL.bind(ct, x, **params),
)
ad.defbilinear(
    IMAGE,
    lambda ct, g, weight, **params: RESULT.bind(ct, weight, **params),
    lambda ct, g, weight, **params: KERNEL.bind(g, ct, **params),
)
ad.defbilinear(
    KERNEL,
    lambda ct, g, x, **params: RESULT.bind(x, ct, **params),
    lambda ct, g, x, **params: IMAGE.bind(g, ct, **params),
)
