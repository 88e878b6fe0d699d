"""The arithmetic of L-BFGS: on a CPU in NumPy, which compiles nothing, elsewhere in compiled functions.

Both have the same functions. A history is a dict that no function changes:

| key | value |
| --- | --- |
| `s`, `y` | the last steps and changes of the gradient; a ring, in which the newest replaces the oldest |
| `ro` | 1 / <s, y> of each |
| `count` | how many were added in all |
| `scale` | the first guess of the inverse Hessian, times the identity |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.transfer import is_on_host
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, host_elements

_FIRST_ROWS = 8
_FIRST_ELEMENTS = 1 << 21  # of the history; it grows while there are more
_LEAST_CURVATURE = 1e-10  # only pairs with <s, y> > 0 keep the model positive definite

History = dict[str, Any]


def are_on_host(params: Sequence[Tensor]) -> bool:
    """Whether parameters are of a dtype that NumPy computes with, and on the CPU."""
    return all(numpy_dtype(p) in (np.float32, np.float64) and is_on_host(held_value(p)) for p in params)


class HostVectors:
    """The functions in NumPy."""

    @staticmethod
    def value(tensor: Tensor) -> np.ndarray:
        """The elements of a parameter or gradient."""
        return host_elements(tensor)

    @staticmethod
    def stored(array: np.ndarray) -> Any:
        """A new array as a Tensor holds it."""
        return persistent_from_numpy(array)

    @staticmethod
    def vector(value: Any) -> np.ndarray:
        """A vector of a saved state."""
        return np.array(value)

    @staticmethod
    def shifted(values: Sequence[np.ndarray], direction: np.ndarray, length: float) -> list[np.ndarray]:
        """The parameters, moved along the direction."""
        ends = np.cumsum([v.size for v in values])
        parts = np.split(direction, ends[:-1])
        return [
            (v + length * part.reshape(v.shape)).astype(v.dtype)
            for v, part in zip(values, parts, strict=True)
        ]

    @staticmethod
    def measured(
        parts: Sequence[np.ndarray], direction: np.ndarray | None
    ) -> tuple[np.ndarray, float, float]:
        """The gradient as one vector, its slope along the direction, and its largest element."""
        grad = np.concatenate([part.ravel() for part in parts])
        slope = 0.0 if direction is None else float(np.vdot(grad, direction))
        return grad, slope, _largest(grad)

    @staticmethod
    def beginning(grad: np.ndarray) -> tuple[np.ndarray, float, float, float]:
        """The direction without a history, its slope, and its largest element and the sum of the elements."""
        return -grad, -float(np.vdot(grad, grad)), _largest(grad), float(np.abs(grad).sum())

    @staticmethod
    def room(like: np.ndarray, limit: int) -> History:
        """An empty history for up to `limit` pairs."""
        return {"s": [], "y": [], "ro": [], "count": 0, "scale": like.dtype.type(1), "limit": limit}

    @staticmethod
    def filled(pairs: Sequence[tuple[Any, Any]], scale: Any, like: np.ndarray, limit: int) -> History:
        """A history of saved pairs, the oldest first."""
        steps = [np.array(s).ravel() for s, _ in pairs]
        changes = [np.array(y).ravel() for _, y in pairs]
        return {
            "s": steps,
            "y": changes,
            "ro": [1 / np.vdot(s, y) for s, y in zip(steps, changes, strict=True)],
            "count": len(pairs),
            "scale": np.asarray(scale, like.dtype).reshape(())[()],
            "limit": limit,
        }

    @staticmethod
    def turned(
        history: History, grad: np.ndarray, before: np.ndarray, direction: np.ndarray, rate: float
    ) -> tuple[History, np.ndarray, float, float]:
        """Puts the last step into the history: (history, minus the inverse Hessian times the gradient, its
        slope and largest element)."""
        change = grad - before
        moved = direction * rate
        curvature = np.vdot(change, moved)
        if curvature > _LEAST_CURVATURE:
            history = HostVectors._with_pair(history, moved, change, curvature)
        direction = HostVectors._two_loops(grad, history)
        return history, direction, float(np.vdot(grad, direction)), _largest(direction)

    @staticmethod
    def _with_pair(history: History, moved: np.ndarray, change: np.ndarray, curvature: Any) -> History:
        entries = {"s": moved, "y": change, "ro": 1 / curvature}
        added = dict(history)
        row = history["count"] % history["limit"]
        for key, new in entries.items():
            # Slices, as the row may be the first after the end.
            added[key] = [*history[key][:row], new, *history[key][row + 1 :]]
        added["count"] = history["count"] + 1
        added["scale"] = curvature / np.vdot(change, change)
        return added

    @staticmethod
    def _two_loops(grad: np.ndarray, history: History) -> np.ndarray:
        """Minus the inverse Hessian times the gradient, by the two-loop recursion over the history."""
        s, y, ro = (history[key] for key in ("s", "y", "ro"))
        newest_first = [(history["count"] - 1 - k) % len(s) for k in range(len(s))]
        q = -grad
        alphas = {}
        for i in newest_first:
            alphas[i] = ro[i] * np.vdot(s[i], q)
            q = q - alphas[i] * y[i]
        r = q * history["scale"]
        for i in reversed(newest_first):
            r = r + s[i] * (alphas[i] - ro[i] * np.vdot(y[i], r))
        return r


def _largest(vector: np.ndarray) -> float:
    return float(np.abs(vector).max(initial=0))


class DeviceVectors:
    """The functions in JAX. Each is one program, and gives its numbers in one transfer."""

    @staticmethod
    def value(tensor: Tensor) -> jax.Array:
        """The elements of a parameter or gradient."""
        return tensor._value

    @staticmethod
    def stored(array: jax.Array) -> jax.Array:
        """A new array as a Tensor holds it."""
        return array

    @staticmethod
    def vector(value: Any) -> jax.Array:
        """A vector of a saved state."""
        return jnp.asarray(value)

    @staticmethod
    def shifted(values: Sequence[jax.Array], direction: jax.Array, length: float) -> list[jax.Array]:
        """The parameters, moved along the direction."""
        return _shifted(values, direction, length)

    @staticmethod
    def measured(parts: Sequence[jax.Array], direction: jax.Array | None) -> tuple[jax.Array, float, float]:
        """The gradient as one vector, its slope along the direction, and its largest element."""
        grad, numbers = _measured(parts, direction)
        slope, largest = map(float, np.asarray(numbers))
        return grad, slope, largest

    @staticmethod
    def beginning(grad: jax.Array) -> tuple[jax.Array, float, float, float]:
        """The direction without a history, its slope, and its largest element and the sum of the elements."""
        size = jnp.abs(grad)
        return -grad, -float(jnp.vdot(grad, grad)), float(size.max()), float(size.sum())

    @staticmethod
    def room(like: jax.Array, limit: int) -> History:
        """An empty history for up to `limit` pairs."""
        # It may become larger than all parameters, so it starts small.
        rows = min(limit, max(_FIRST_ROWS, _FIRST_ELEMENTS // max(like.size, 1)))
        return DeviceVectors._zeros(like, rows) | {"limit": limit}

    @staticmethod
    def _zeros(like: jax.Array, rows: int) -> History:
        dtype = like.dtype
        return {
            "s": jnp.zeros((rows, like.size), dtype),
            "y": jnp.zeros((rows, like.size), dtype),
            "ro": jnp.zeros(rows, dtype),
            "count": jnp.asarray(0),
            "scale": jnp.ones((), dtype),
        }

    @staticmethod
    def filled(pairs: Sequence[tuple[Any, Any]], scale: Any, like: jax.Array, limit: int) -> History:
        """A history of saved pairs, the oldest first."""
        history = DeviceVectors._zeros(like, min(max(_FIRST_ROWS, len(pairs)), limit))
        for i, pair in enumerate(pairs):
            s, y = (jnp.asarray(np.asarray(part)) for part in pair)
            # 1 / <s, y> is computed from the pair, whatever the file says.
            for key, value in (("s", s), ("y", y), ("ro", 1.0 / jnp.vdot(s, y))):
                history[key] = history[key].at[i].set(value)
        return history | {"count": jnp.asarray(len(pairs)), "scale": jnp.array(scale), "limit": limit}

    @staticmethod
    def turned(
        history: History, grad: jax.Array, before: jax.Array, direction: jax.Array, rate: float
    ) -> tuple[History, jax.Array, float, float]:
        """Puts the last step into the history: (history, minus the inverse Hessian times the gradient, its
        slope and largest element)."""
        arrays = {key: value for key, value in history.items() if key != "limit"}
        limit = history["limit"]
        rows = len(arrays["s"])
        # Room for twice as many: each size compiles once.
        if rows < limit and int(arrays["count"]) == rows:
            more = min(rows, limit - rows)
            for key in ("s", "y", "ro"):
                arrays[key] = jnp.pad(arrays[key], ((0, more), *[(0, 0)] * (arrays[key].ndim - 1)))
        arrays, direction, numbers = _turned(arrays, grad, before, direction, rate)
        slope, reach = map(float, np.asarray(numbers))
        return arrays | {"limit": limit}, direction, slope, reach


Vectors = type[HostVectors] | type[DeviceVectors]


@jax.jit
def _shifted(values: Sequence[jax.Array], direction: jax.Array, length: Any) -> list[jax.Array]:
    ends = np.cumsum([v.size for v in values])
    parts = jnp.split(direction, ends[:-1])
    return [
        (v + length * part.reshape(v.shape)).astype(v.dtype) for v, part in zip(values, parts, strict=True)
    ]


@jax.jit
def _measured(parts: Sequence[jax.Array], direction: jax.Array | None) -> tuple[jax.Array, jax.Array]:
    grad = jnp.concatenate([part.ravel() for part in parts])
    if direction is None:
        slope = jnp.zeros((), grad.dtype)
    else:
        slope = jnp.vdot(grad, direction)
    return grad, jnp.stack([slope, jnp.abs(grad).max(initial=0)])


@jax.jit  # the history before stays, for when the iteration does not come to its end
def _turned(
    history: History, grad: jax.Array, before: jax.Array, direction: jax.Array, rate: Any
) -> tuple[History, jax.Array, jax.Array]:
    change = grad - before
    moved = direction * rate
    curvature = jnp.vdot(change, moved)
    # A ring: the newest pair replaces the oldest.
    rows = len(history["s"])
    accepted = curvature > _LEAST_CURVATURE
    row = history["count"] % rows
    entries = {"s": moved, "y": change, "ro": 1.0 / curvature}
    history = history | {
        key: history[key].at[row].set(jnp.where(accepted, new, history[key][row]))
        for key, new in entries.items()
    }
    history["count"] = history["count"] + accepted
    # The first guess of the inverse Hessian is <s, y> / <y, y> times the identity.
    history["scale"] = jnp.where(accepted, curvature / jnp.vdot(change, change), history["scale"])
    direction = _two_loops(grad, history)
    return history, direction, jnp.stack([jnp.vdot(grad, direction), jnp.abs(direction).max(initial=0)])


def _two_loops(grad: jax.Array, history: History) -> jax.Array:
    s, y, ro, count, scale = (history[key] for key in ("s", "y", "ro", "count", "scale"))
    # The ring may not be full yet.
    pairs = jnp.minimum(count, len(s))

    def back(k: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        q, alphas = carry
        # From the newest pair to the oldest; the second loop goes the other way.
        i = (count - 1 - k) % len(s)
        alpha = ro[i] * jnp.vdot(s[i], q)
        return q - alpha * y[i], alphas.at[i].set(alpha)

    q, alphas = lax.fori_loop(0, pairs, back, (-grad, jnp.zeros(len(s), grad.dtype)))

    def forward(k: Any, r: jax.Array) -> jax.Array:
        i = (count - pairs + k) % len(s)
        return r + s[i] * (alphas[i] - ro[i] * jnp.vdot(y[i], r))

    return lax.fori_loop(0, pairs, forward, q * scale)
