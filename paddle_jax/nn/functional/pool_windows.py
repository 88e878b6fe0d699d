"""The arithmetic of pooling, for any number of spatial axes.

On CPU small windows are folded slice by slice along each axis: XLA's reduce_window and its gradient (a serial
select-and-scatter) take 2 to 40 times as long there. Ties go to the first element of the
window, as in Paddle.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.size import are_known
from paddle_jax.nn.functional.windows import check_ndim, ints, paddings, same_pads
from paddle_jax.tensor.lowering import on_cpu

if TYPE_CHECKING:
    import jax


_SLICED = 24  # windows whose lengths sum to more than this use reduce_window


class Windows:
    """Where the windows of a pooling call lie.

    Attributes:
        ndim: int, the number of axes of the input.
        axes: tuple of ints, the spatial axes.
        sizes: tuple of ints, the input's lengths along them.
        kernel, strides: ints, one for each axis.
        pads: tuple of (before, after) for each axis.
        counts: tuple of ints, the lengths of the output.
        extra: tuple of (before, after), the padding that makes every window complete.
    """

    def __init__(
        self,
        op_name: str,
        x: jax.Array,
        n: int,
        kernel: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        last: bool,
    ) -> None:
        check_ndim(op_name, x, n + 2)
        if last:
            self.axes = tuple(range(1, n + 1))
        else:
            self.axes: tuple[int, ...] = tuple(range(2, n + 2))
        self.sizes: tuple[Any, ...] = tuple(x.shape[a] for a in self.axes)
        self.kernel: tuple[int, ...] = ints(op_name, "kernel_size", kernel, n)
        if stride is None:
            self.strides = self.kernel
        else:
            self.strides: tuple[int, ...] = ints(op_name, "stride", stride, n)
        pads = paddings(op_name, padding, n, last)
        if pads == "VALID" and ceil_mode:
            raise ValueError(f"{op_name}: ceil_mode: got True; padding 'VALID' needs ceil_mode=False")
        if pads == "SAME":
            pads = same_pads(self.sizes, self.kernel, self.strides)
        elif pads == "VALID":
            pads = ((0, 0),) * n
        else:
            pads = pads
        self.pads = pads
        self.counts: tuple[int, ...] = tuple(
            self._count(op_name, *v, ceil_mode)
            for v in zip(self.sizes, self.kernel, self.strides, pads, strict=True)
        )
        # How far the windows reach, and so how much is added or cut off behind.
        spans = [(c - 1) * s + k for c, s, k in zip(self.counts, self.strides, self.kernel, strict=True)]
        self.extra: tuple[tuple[int, Any], ...] = tuple(
            (b, span - size - b) for (b, _), span, size in zip(pads, spans, self.sizes, strict=True)
        )
        self.ndim: Any = x.ndim

    @staticmethod
    def _count(op_name: str, size: int, kernel: Any, stride: Any, pad: Any, ceil_mode: bool) -> int:
        # Rounding up: one more window where a part of a stride is left.
        room = size + sum(pad) - kernel + (stride - 1 if ceil_mode else 0)
        if not are_known(room):
            return room // stride + 1
        # towards zero: a window that overhangs by less than a stride counts, as in Paddle
        count = (room // stride if room >= 0 else -(-room // stride)) + 1
        # The window is longer than the padded axis, by more than a stride.
        if count < 0:
            raise ValueError(
                f"{op_name}: kernel_size: a window of {kernel} does not fit into length {size} "
                f"with padding {pad}"
            )
        return count

    def over_all_axes(self, values: Any, fill: Any) -> tuple[Any, ...]:
        """A value for each spatial axis as a tuple over all axes."""
        full = [fill] * self.ndim
        for axis, value in zip(self.axes, values, strict=True):
            full[axis] = value
        return tuple(full)

    def padded(self, x: jax.Array, fill: float) -> jax.Array:
        """x with the padding that makes every window complete; negative padding crops."""
        pads = self.over_all_axes(((b, a, 0) for b, a in self.extra), (0, 0, 0))
        if any(any(p) for p in self.extra):
            # Without padding there is nothing to copy.
            return lax.pad(x, jnp.asarray(fill, x.dtype), pads)
        return x

    def fold(self, function: Callable[..., Any], *arrays: Any) -> tuple[Any, ...]:
        """Combines the elements of each window, axis after axis from the last one: `function(sofar, next)`
        over tuples of arrays.

        The first of equal elements in row-major order stays first this way. A fold over all elements at once
        would compile for minutes.
        """
        for axis, kernel, stride, count in reversed(
            list(zip(self.axes, self.kernel, self.strides, self.counts, strict=True))
        ):
            starts = [
                # The o-th elements of all windows, as one strided slice.
                tuple(lax.slice_in_dim(a, o, o + stride * (count - 1) + 1, stride, axis) for a in arrays)
                for o in range(kernel)
            ]
            arrays = ft.reduce(function, starts)
        return arrays

    def empty(self, x: jax.Array, dtype: Any = None) -> jax.Array:
        """The result when there is no window at all."""
        return jnp.zeros(
            [
                n if c is None else c
                for n, c in zip(x.shape, self.over_all_axes(self.counts, None), strict=True)
            ],
            dtype or x.dtype,
        )

    def sliced(self) -> bool:
        """Whether folding slices is the better lowering here."""
        # On the CPU reduce_window runs element by element.
        return sum(self.kernel) <= _SLICED and on_cpu()

    def reduce(self, x: jax.Array, start: float, function: Callable[..., Any]) -> jax.Array:
        """XLA's reduce_window over these windows. The start value is a NumPy number: only then JAX
        knows the gradient."""
        pads = self.over_all_axes(self.extra, (0, 0))
        if are_known(*(after for _, after in pads)):
            # Elements after the last window are cut off: the gradient on GPUs takes no negative padding.
            ends = [length + min(after, 0) for length, (_, after) in zip(x.shape, pads, strict=True)]
            x = lax.slice(x, [0] * x.ndim, ends)
            pads = tuple((before, max(after, 0)) for before, after in pads)
        return lax.reduce_window(
            x,
            np.asarray(start, x.dtype)[()],
            function,
            self.over_all_axes(self.kernel, 1),
            self.over_all_axes(self.strides, 1),
            pads,
        )


def max_values(x: jax.Array, windows: Windows) -> jax.Array:
    """The maximum of each window."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise RuntimeError(f"max_pool: x: got {x.dtype}; it must be floating; cast it with astype")
    if 0 in windows.counts:
        return windows.empty(x)
    if x.size == 0 or windows.sliced():
        return windows.fold(
            # The first of equals wins, and gets the whole gradient, as in Paddle.
            lambda best, s: (jnp.where(s[0] > best[0], s[0], best[0]),),
            windows.padded(x, -jnp.inf),
        )[0]
    return windows.reduce(x, -jnp.inf, lax.max)


def max_with_index(x: jax.Array, windows: Windows) -> tuple[jax.Array, ...]:
    """The maximum of each window and its position in the flattened spatial axes of x, int32."""
    if 0 in windows.counts:
        return windows.empty(x), windows.empty(x, jnp.int32)
    # Positions in the flattened image, as unpooling takes them.
    place = np.arange(math.prod(windows.sizes), dtype=np.int32).reshape(windows.sizes)
    places = jnp.asarray(place.reshape(windows.over_all_axes(windows.sizes, 1)))
    places = jnp.broadcast_to(windows.padded(places, 0), windows.padded(x, -jnp.inf).shape)
    return windows.fold(_better, windows.padded(x, -jnp.inf), places)


def _better(best: tuple[jax.Array, ...], candidate: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
    larger = candidate[0] > best[0]
    return jnp.where(larger, candidate[0], best[0]), jnp.where(larger, candidate[1], best[1])


def sums(x: jax.Array, windows: Windows) -> jax.Array:
    """The sum of each window."""
    if x.size == 0 or windows.sliced():
        return windows.fold(lambda total, s: (total[0] + s[0],), windows.padded(x, 0))[0]
    return windows.reduce(x, 0, lax.add)


def lengths(windows: Windows, exclusive: bool) -> Any:
    """How many elements each window has: inside x when exclusive, else inside x with its padding, which
    counts at the end as if it were as long as at the beginning, as in Paddle. Shape of all axes, 1 where not
    spatial."""
    per_axis = []
    for size, kernel, stride, (before, _), count in zip(
        windows.sizes, windows.kernel, windows.strides, windows.pads, windows.counts, strict=True
    ):
        # JAX's functions take a length that is not fixed
        xp = np if are_known(size, before, count) else jnp
        first = xp.arange(count) * stride - before
        # A window may begin or end in the padding.
        last = xp.minimum(first + kernel, size + before)
        per_axis.append(
            xp.maximum(xp.minimum(last, size) - xp.maximum(first, 0), 0) if exclusive else last - first
        )
    if all(isinstance(one, np.ndarray) for one in per_axis):
        total = ft.reduce(np.multiply.outer, per_axis)
    else:
        total = ft.reduce(jnp.multiply.outer, per_axis)
    return total.reshape(windows.over_all_axes(windows.counts, 1))


def mean_values(x: jax.Array, windows: Windows, exclusive: bool, divisor: int | None) -> jax.Array:
    """The mean of each window; with a divisor it is multiplied by the kernel's size /
    divisor, as in Paddle."""
    if 0 in windows.counts:
        return windows.empty(x)
    total = sums(x, windows)
    if divisor is not None:
        total = total * (math.prod(windows.kernel) / divisor)
    counts = lengths(windows, exclusive)
    # Lengths that are not fixed: the counts are computed with the program.
    if not isinstance(counts, np.ndarray):
        return total / jnp.maximum(counts, 1).astype(x.dtype)
    return total / (
        int(counts.flat[0])
        # All windows have one size: a division by a number.
        if (counts == counts.flat[0]).all()
        else jnp.asarray(np.maximum(counts, 1), x.dtype)
    )
