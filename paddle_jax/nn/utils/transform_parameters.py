"""All parameters as one vector, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.joining import concat


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """Joins parameters to one vector. As in Paddle no gradient flows from the vector to the
    parameters: it is a leaf.

    Args:
        parameters: iterable of Tensors.
    Returns:
        Tensor [total number of elements].
    Raises:
        IndexError: there are none.
        ValueError: it is a single Tensor.
    Example:
        >>> paddle.nn.utils.parameters_to_vector(paddle.nn.Linear(2, 3).parameters()).shape
        paddle.Size([9])
    """
    if isinstance(parameters, Tensor):
        raise ValueError("parameters_to_vector: parameters: got a Tensor; it must be an iterable of Tensors")
    parameters = list(parameters)
    if not parameters:
        raise IndexError("parameters_to_vector: parameters: got none; give at least one")
    with no_grad():
        joined = concat([p.reshape([-1]) for p in parameters], axis=0)
    # As in Paddle the vector asks for gradients.
    joined.stop_gradient = False
    return joined


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Puts the elements of a vector into parameters, in place.

    Args:
        vec: Tensor with at least as many elements as the parameters have; others are not used.
        parameters: iterable of Tensors.
    Raises:
        ValueError: vec has too few elements.
    Example:
        >>> linear = paddle.nn.Linear(1, 2)
        >>> paddle.nn.utils.vector_to_parameters(paddle.arange(4.0), linear.parameters())
        >>> linear.weight.tolist(), linear.bias.tolist()
        ([[0.0, 1.0]], [2.0, 3.0])
    """
    parameters = list(parameters)
    start = 0
    total = sum(math.prod(p.shape) for p in parameters)
    if vec.size < total:
        raise ValueError(f"vector_to_parameters: vec: got {vec.size} elements; the parameters have {total}")
    # Values alone are taken over.
    flat = vec.detach().reshape([-1])
    for parameter in parameters:
        part = flat[start : start + parameter.size].reshape(parameter.shape).astype(parameter.dtype)
        assign_from(parameter, part)
        start += parameter.size
