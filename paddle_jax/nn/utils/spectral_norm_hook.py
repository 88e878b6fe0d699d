"""Spectral normalisation: a weight divided by its largest singular value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax.nn.initializer import Normal
from paddle_jax.nn.layer.common import Linear
from paddle_jax.nn.layer.conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


_TRANSPOSED = (Linear, Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)  # their outputs are on axis 1


class SpectralNorm:
    """The forward pre-hook that computes the weight from `name_orig`, and in training improves the estimate
    of its largest singular value."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight with axis `dim` as rows and all others as columns."""
        order = [self.dim, *(axis for axis in range(weight.ndim) if axis != self.dim)]
        return weight.transpose(order).reshape([weight.shape[self.dim], -1])

    def compute(self, layer: Layer, iterate: bool) -> Tensor:
        """The weight divided by u @ W @ v, after power iterations if asked for."""
        weight, u, v = (getattr(layer, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = self.matrix(weight)
        if iterate:
            # The power iteration estimates; the last product differentiates.
            with no_grad():
                for _ in range(self.n_power_iterations):
                    assign_from(v, _unit(matrix.transpose([1, 0]) @ u, self.eps))
                    assign_from(u, _unit(matrix @ v, self.eps))
        # u^T W v is the largest singular value.
        return weight / (u.detach() * (matrix @ v.detach())).sum()

    def __call__(self, layer: Layer, inputs: Any) -> None:
        setattr(layer, self.name, self.compute(layer, layer.training))


def _unit(vector: Tensor, eps: float) -> Tensor:
    return vector / (vector * vector).sum().sqrt().clip(min=eps)


def spectral_norm(
    layer: Layer,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Layer:
    """Makes a layer divide a parameter by its largest singular value before each forward.

    Args:
        layer: Layer.
        name: str, the parameter; it becomes `name_orig`, with buffers `name_u` and `name_v`.
        n_power_iterations: int, iterations per forward in training.
        eps: float, keeps norms above zero.
        dim: int, the axis of outputs. Default: 1 for Linear and transposed convolutions, else 0.
    Returns:
        The layer.
    Raises:
        RuntimeError: the parameter is normalised already.
        KeyError: there is no such parameter.
        ValueError: n_power_iterations is not positive or dim is out of range.
    Example:
        >>> conv = paddle.nn.utils.spectral_norm(paddle.nn.Conv2D(3, 4, 3))
        >>> conv(paddle.ones([1, 3, 5, 5])).shape
        paddle.Size([1, 4, 3, 3])
    See: Miyato et al., Spectral Normalization for Generative Adversarial Networks, 2018.
    """
    if any(
        isinstance(hook, SpectralNorm) and hook.name == name for hook in layer._forward_pre_hooks.values()
    ):
        raise RuntimeError(f"spectral_norm: {name!r} of this layer is normalised already")
    if n_power_iterations <= 0:
        raise ValueError(f"spectral_norm: n_power_iterations: got {n_power_iterations}; it must be above 0")
    if name not in layer._parameters:
        raise KeyError(name)
    weight = layer._parameters[name]
    if dim is None:
        # The axis of outputs is the second one in these layers.
        dim = 1 if isinstance(layer, _TRANSPOSED) else 0
    if not 0 <= dim < weight.ndim:
        raise ValueError(
            f"spectral_norm: dim: got {dim}; the parameter has {weight.ndim} axes; use 0..{weight.ndim - 1}"
        )
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    delattr(layer, name)
    layer.add_parameter(name + "_orig", weight)
    # A plain value stands there until the hook has computed one.
    setattr(layer, name, weight.detach())
    rows = weight.shape[dim]
    for end, size in (("_u", rows), ("_v", weight.size // rows)):
        # Drawn with the dtype of the weight.
        start = weight.detach().flatten()[:1].tile([size])
        Normal()(start)
        layer.register_buffer(name + end, _unit(start, eps))
    # The weight is there before the first call, too.
    setattr(layer, name, hook.compute(layer, True))
    layer.register_forward_pre_hook(hook)
    return layer
