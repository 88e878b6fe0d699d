"""What computes gradients of Fourier transforms, in the attributes that Paddle's operations have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.reading_helpers import P

_OTHER_NORM = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def times_real(z: Tensor, factor: Tensor) -> Tensor:
    """A complex number times a real one."""
    return P.complex(P.real(z) * factor, P.imag(z) * factor)


def of_complex(g: Tensor, axes: Sequence[int], norm: str, forward: bool) -> Tensor:
    """The gradient of the operand of a transform from complex to complex numbers."""
    return (P.ifftn if forward else P.fftn)(g, axes=axes, norm=_OTHER_NORM[norm])


def of_real(g: Tensor, lengths: Sequence[Any], axes: Sequence[int], norm: str, forward: bool) -> Tensor:
    """The gradient of the operand of a transform from real numbers to half a spectrum.

    lengths: the shape of the operand.
    """
    axis = axes[-1]
    if is_length(lengths[axis]):
        # Paddle's transform to real numbers takes a plain length: zeros stand for the other half.
        shape = list(g.shape)
        shape[axis] = (lengths[axis] - 1) // 2
        whole = P.concat([g, P.zeros(shape, numpy_dtype(g).name)], axis)
        return P.real(of_complex(whole, axes, norm, forward))
    function = P.irfftn if forward else P.hfftn
    weighted = times_real(g, _weights(lengths[axis], axis, g, 0.5))
    return function(weighted, s=[lengths[k] for k in axes], axes=axes, norm=_OTHER_NORM[norm])


def of_half(g: Tensor, axes: Sequence[int], norm: str, forward: bool) -> Tensor:
    """The gradient of the operand of a transform from half a spectrum to real numbers."""
    axis = axes[-1]
    spectrum = (P.ihfftn if forward else P.rfftn)(g, axes=axes, norm=_OTHER_NORM[norm])
    return times_real(spectrum, _weights(g.shape[axis], axis, spectrum, 2.0))


def _weights(length: Any, axis: int, spectrum: Tensor, between: float) -> Tensor:
    """Factors of the terms of half a spectrum: 1 at both ends, another one for terms that stand for two.

    length: of the real numbers that have this spectrum.
    """
    dtype = "float64" if numpy_dtype(spectrum).name == "complex128" else "float32"
    terms = P.arange(length // 2 + 1)
    is_end = P.logical_or(P.equal(terms, P.zeros_like(terms)), P.equal(terms * 2, P.full_like(terms, length)))
    weights = P.where(is_end, P.full([], 1.0, dtype), P.full([], between, dtype))
    return P.unsqueeze(weights, [k for k in range(spectrum.ndim) if k != axis])
