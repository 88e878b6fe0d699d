"""Choosing attention kernels. There is one implementation here, so a choice is checked and accepted, and
results do not depend on it."""

from __future__ import annotations


from collections.abc import Iterator
from typing import Any
import contextlib
import enum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """The attention kernels that Paddle can choose from.

    Args:
        value: int, the number of a member.
    Example:
        >>> SDPBackend = paddle.nn.attention.SDPBackend
        >>> SDPBackend.MATH.name
        'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: Any = False) -> Iterator[None]:
    """Names the kernels that `scaled_dot_product_attention` may use in a `with` block.

    Args:
        backends: SDPBackend, or list of them.
        set_priority: accepted: the order of the list is one of preference.
    Returns:
        Context manager.
    Raises:
        AssertionError: backends is neither.
        ValueError: the list is empty.
        TypeError: the list holds something else.
    Example:
        >>> from paddle_jax.nn.attention import SDPBackend, sdpa_kernel
        >>> x = paddle.ones([1, 2, 1, 4])
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     y = paddle.nn.functional.scaled_dot_product_attention(x, x, x)
    """
    if not isinstance(backends, SDPBackend | list | tuple):
        raise AssertionError(
            f"sdpa_kernel: backends: got {backends!r}; it must be an SDPBackend or a list of them"
        )
    if isinstance(backends, SDPBackend):
        chosen = [backends]
    else:
        chosen = list(backends)
    if not chosen:
        raise ValueError("sdpa_kernel: backends: got an empty list; name at least one SDPBackend")
    for backend in chosen:
        if not isinstance(backend, SDPBackend):
            raise TypeError(
                f"sdpa_kernel: backends: got {type(backend).__name__} in the list; each must be an SDPBackend"
            )
    yield
