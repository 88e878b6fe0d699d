"""Tracer: what `_dygraph_tracer()` returns in dynamic mode."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._core.tensors import place as places
from paddle_jax.base.core import AmpLevel

__all__ = []


class Tracer:
    """The settings under which operations run at once, in the calling thread.

    Example:
        >>> paddle.base.framework._dygraph_tracer() is None
        False
    """

    @property
    def _has_grad(self) -> Any:
        return local.ctx.grad

    @_has_grad.setter
    def _has_grad(self, value: Any) -> None:
        local.ctx.grad = bool(value)

    @property
    def _amp_level(self) -> Any:
        if local.ctx.amp is not None:
            return AmpLevel[local.ctx.amp.level]
        return AmpLevel.O0

    @property
    def _amp_dtype(self) -> Any:
        if local.ctx.amp is not None:
            return local.ctx.amp.dtype.name
        return "float32"

    @property
    def _expected_place(self) -> Any:
        return places.current()

    @_expected_place.setter
    def _expected_place(self, place: Any) -> None:
        places.set_device(place)

    def _generate_unique_name(self, key: str = "eager_tmp") -> str:
        return unique_name.generate(key)

    def train_mode(self) -> None:
        """Records operations for gradients."""
        local.ctx.grad = True

    def eval_mode(self) -> None:
        """Records no operations for gradients."""
        local.ctx.grad = False


TRACER = Tracer()
