"""Convolution on the CPU without XLA's convolution: as matrix products or as sums over kernel elements.

XLA:CPU hands most convolutions to a fast library and falls into a serial loop nest for the rest, hundreds of
times slower. `better_than_xla` says where; the measured table is in docs/design/cpu-lowering.md. A
convolution is linear in x and in the weight, and the best way differs for the result and for either gradient,
so the derivative rule computes each term in the way whose transpose is the fast one. All of them are plain
JAX functions: derivatives of every order and forward mode exist.
"""

from __future__ import annotations

import functools as ft
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from paddle_jax._core.base.size import are_known
from paddle_jax.nn.functional.convolution_terms import Way, convolution
from paddle_jax.tensor.lowering import computed_once

_FEW = 2  # readers up to which computing x again for each is harmless
_UNROLLED = 128  # kernel elements that are written out at most
_SUMMED = 32  # kernel elements up to which a sum beats XLA on images of one channel
_PATCHES = 1 << 21  # elements of all patches together: more do not stay in the cache
_FEW_PATCHES = 1 << 20
_TINY = 8_000_000  # operations below which handing work to XLA's threads costs more than it saves


class Plan(NamedTuple):
    """Where the kernel lies: per spatial axis strides, (before, after) pads, dilations and output lengths;
    number of groups."""

    strides: tuple[Any, ...]
    pads: tuple[Any, ...]
    dilations: tuple[Any, ...]
    out: tuple[Any, ...]
    groups: int


def better_than_xla(x: jax.Array, weight: jax.Array, plan: Plan) -> Callable[..., jax.Array] | None:
    """The function (x, weight, plan) that beats XLA's convolution of x [N, C, ...] with weight
    [out, C / groups, ...] on a CPU, or None."""
    # A length that is not fixed decides nothing.
    if not are_known(*x.shape, *plan.out):
        return None
    # These numbers decide which way is the fastest.
    elements = math.prod(weight.shape[2:])
    positions = math.prod(plan.out)
    rows = x.shape[0] * positions
    image = math.prod(x.shape[2:])
    channels = x.shape[1]
    # The elements of all patches together, if they were written out.
    patches = rows * elements * channels
    if not x.size or not weight.size or elements > _UNROLLED:
        return None
    if weight.shape[1] == 1 and elements > 1:
        return _single_channel(weight, plan, elements, patches)
    # XLA has a serial loop for these forms.
    loops = plan.groups > 1 or len(plan.out) == 3 or min(image, positions) <= elements
    heavy_weight = weight.size >= 2 * rows * (channels + weight.shape[0])  # XLA rearranges it for every call
    light = 2 * rows * weight.size <= _TINY or (channels <= 8 and patches <= _FEW_PATCHES)
    if not (loops or heavy_weight or elements == 1 or light):
        return None
    # Patches that do not fit into the cache cost more than a sum.
    if patches > _PATCHES and elements > 1:
        return summed
    # A large weight is better multiplied where it lies.
    if weight.size >= rows:
        return multiplied
    return multiplied_light


def _single_channel(
    weight: jax.Array, plan: Plan, elements: int, patches: int
) -> Callable[..., jax.Array] | None:
    """The choice for one input channel per group."""
    # Large kernels on one channel: XLA is faster.
    if plan.groups == 1 and elements > _SUMMED:
        return None
    if plan.groups > 1 and patches > _PATCHES:
        return summed
    if plan.groups == weight.shape[0] > 1:
        return depthwise
    return single_channel


def _chosen(
    forward: Callable[..., jax.Array], by_x: Callable[..., jax.Array], by_weight: Callable[..., jax.Array]
) -> Callable[..., jax.Array]:
    """A convolution computed by `forward`, its adjoints by the transposes of two other functions
    of the same value."""
    way = Way(forward, by_x, by_weight)

    def chosen(x: jax.Array, weight: jax.Array, plan: Plan) -> jax.Array:
        return convolution(x, weight, plan, way)

    return chosen


def _under(x: jax.Array, kernel: Any, plan: Plan, tangent: bool = False) -> Iterator[jax.Array]:
    """For every kernel element the elements of x that it meets [N, C, *out], in row-major order."""
    if any(map(any, plan.pads)):
        x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *((a, b, 0) for a, b in plan.pads)])
    # Without this XLA would compute x again for each element of the kernel.
    if math.prod(kernel) > _FEW and not tangent:
        x = computed_once(x)
    places = itertools.product(*[range(0, k * d, d) for k, d in zip(kernel, plan.dilations, strict=True)])
    # With strides each element reads one phase of x; neighbours share phases.
    if max(plan.strides) > 1 and any(k > s for k, s in zip(kernel, plan.strides, strict=True)):
        yield from _by_phases(x, places, plan)
        return
    spans = [s * (o - 1) + 1 for s, o in zip(plan.strides, plan.out, strict=True)]
    for at in places:
        stop = [a + span for a, span in zip(at, spans, strict=True)]
        yield lax.slice(x, [0, 0, *at], [*x.shape[:2], *stop], [1, 1, *plan.strides])


def _by_phases(x: jax.Array, places: Any, plan: Plan) -> Iterator[jax.Array]:
    """What `_under` gives where neighbouring elements of the kernel overlap: x is first divided by position
    modulo stride, which makes contiguous what is read, and what is added up in the gradient of x."""
    phases = {}
    for at in places:
        # The position of an element within the stride.
        phase = tuple(a % s for a, s in zip(at, plan.strides, strict=True))
        if phase not in phases:
            phases[phase] = lax.slice(x, [0, 0, *phase], x.shape, [1, 1, *plan.strides])
        first = [a // s for a, s in zip(at, plan.strides, strict=True)]
        yield lax.slice(
            phases[phase],
            [0, 0, *first],
            [*x.shape[:2], *[f + o for f, o in zip(first, plan.out, strict=True)]],
        )


def _at_once(x: jax.Array, weight: jax.Array, plan: Plan, tangent: bool = False) -> jax.Array:
    """One product over all images: the weight is used as it lies. Fast forwards and for the
    weight's gradient."""
    return _product(
        jnp.stack([taken.swapaxes(0, 1) for taken in _under(x, weight.shape[2:], plan, tangent)], 1),
        weight,
        plan,
    )


def _product(columns: jax.Array, weight: jax.Array, plan: Plan) -> jax.Array:
    """The product of the weight with columns [C, kernel elements, N, *out]."""
    groups = plan.groups
    n = columns.shape[2]
    o = weight.shape[0]
    # One group is one plain product, which is the fastest form.
    if groups == 1:
        y = weight.reshape(o, -1) @ columns.reshape(-1, n * math.prod(plan.out))
    else:
        rows = weight[0].size
        y = jnp.einsum("gok,gkp->gop", weight.reshape(groups, -1, rows), columns.reshape(groups, rows, -1))
    return y.reshape(o, n, *plan.out).swapaxes(0, 1)


def _per_image(x: jax.Array, weight: jax.Array, plan: Plan, tangent: bool = False) -> jax.Array:
    """One product per image. Fast for the gradient of x when the weight is large."""
    groups = plan.groups
    n = x.shape[0]
    o = weight.shape[0]
    rows = weight[0].size
    columns = jnp.stack(list(_under(x, weight.shape[2:], plan, tangent)), 2)
    if groups == 1:
        y = jnp.einsum("ok,nkp->nop", weight.reshape(o, rows), columns.reshape(n, rows, -1))
    else:
        y = jnp.einsum(
            "gok,ngkp->ngop", weight.reshape(groups, -1, rows), columns.reshape(n, groups, rows, -1)
        )
    return y.reshape(n, o, *plan.out)


def _by_axis(x: jax.Array, weight: jax.Array, plan: Plan, tangent: bool = False) -> jax.Array:
    """As `_at_once`, the patches cut axis by axis. Fast for the gradient of x when the weight is small: the
    transpose adds up k1 + k2 shifted arrays instead of k1 k2."""
    if any(map(any, plan.pads)):
        x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *((a, b, 0) for a, b in plan.pads)])
    columns = x.swapaxes(0, 1)
    for axis, (k, d, s, o) in enumerate(
        zip(weight.shape[2:], plan.dilations, plan.strides, plan.out, strict=True)
    ):
        # An axis after the other: later axes work on patches that are cut already.
        cuts = [lax.slice_in_dim(columns, i * d, i * d + s * (o - 1) + 1, s, 2 + 2 * axis) for i in range(k)]
        columns = jnp.stack(cuts, 1 + axis)
    return _product(columns.reshape(x.shape[1], -1, *columns.shape[-1 - len(plan.out) :]), weight, plan)


def _by_elements(x: jax.Array, weight: jax.Array, plan: Plan, tangent: bool = False) -> jax.Array:
    """A sum over the kernel's elements, which needs no room for patches."""
    flat = weight.reshape(*weight.shape[:2], -1)
    return ft.reduce(
        jnp.add,
        (
            _one_element(taken, flat[:, :, i], plan.groups)
            for i, taken in enumerate(_under(x, weight.shape[2:], plan, tangent))
        ),
    )


def _one_element(taken: jax.Array, weight: jax.Array, groups: int) -> jax.Array:
    n, c, *out = taken.shape
    o, per_group = weight.shape
    # One channel for each group: a product by elements needs no matrix.
    if per_group == 1:
        wide = taken.reshape(n, groups, 1, *out) * weight.reshape(groups, o // groups, *[1] * len(out))
    else:
        wide = jnp.einsum(
            "goc,ngc...->ngo...",
            weight.reshape(groups, o // groups, per_group),
            taken.reshape(n, groups, per_group, *out),
        )
    return wide.reshape(n, o, *out)


multiplied: Callable[..., Any] = _chosen(_at_once, _per_image, _at_once)
multiplied_light: Callable[..., Any] = _chosen(_at_once, _by_axis, _at_once)
single_channel: Callable[..., Any] = _chosen(_by_elements, _by_axis, _at_once)
depthwise: Callable[..., Any] = _chosen(_by_elements, _by_elements, _at_once)
summed: Callable[..., Any] = _chosen(_by_elements, _by_elements, _by_elements)


def transposed(
    x: jax.Array, weight: jax.Array, plan: Plan, sizes: Any, straight: Callable[..., jax.Array]
) -> jax.Array:
    """The adjoint of the convolution of images [N, out, *sizes] by `plan`, applied to x [N, C, ...] with
    weight [C, out / groups, ...].

    `straight` computes the same by XLA, which is fast but for the gradient of the weight: a convolution over
    an image full of zeros. That is taken from the products of x with patches instead.
    """
    # As many as the convolution would have whose adjoint this is.
    patches = x.shape[0] * math.prod(plan.out) * math.prod(weight.shape[2:]) * weight.shape[1] * plan.groups
    if (
        not are_known(*x.shape, *sizes)
        or not x.size
        or not weight.size
        or math.prod(weight.shape[2:]) > _UNROLLED
        or max(plan.strides) == 1
    ):
        return straight(x, weight)
    image = jax.ShapeDtypeStruct((x.shape[0], weight.shape[1] * plan.groups, *sizes), x.dtype)
    # Patches that do not fit into the cache: a sum by elements.
    if patches > _PATCHES and weight.shape[1] > 1:
        way = _by_elements
    else:
        way = _at_once

    @jax.custom_jvp
    def convolution(x: jax.Array, weight: jax.Array) -> jax.Array:
        return straight(x, weight)

    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
        (x, weight), (dx, dweight) = primals, tangents
        # A zero tangent costs nothing.
        if isinstance(dx, SymbolicZero):
            terms = []
        else:
            terms = [straight(dx, weight)]
        if not isinstance(dweight, SymbolicZero):
            # The adjoint in x of the convolution with the other weight.
            terms += jax.linear_transpose(lambda v: way(v, dweight, plan, True), image)(x)
        y = convolution(x, weight)
        return y, sum(terms[1:], terms[0]) if terms else jnp.zeros_like(y)

    convolution.defjvp(rule, symbolic_zeros=True)
    return convolution(x, weight)
