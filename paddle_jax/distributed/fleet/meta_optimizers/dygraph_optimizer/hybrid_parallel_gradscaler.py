"""The loss scaling of a process in a grid of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.amp.grad_scaler import OptimizerState
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer import (
    found_in_grid,
)

if TYPE_CHECKING:
    from paddle_jax.amp.grad_scaler import GradScaler


__all__ = []


class HybridParallelGradScaler:
    """A GradScaler for a process in a grid: all processes make a step, or none. The optimizers of
    `fleet.distributed_optimizer` do the same with a plain GradScaler.

    Args:
        scaler: GradScaler.
        hcg: HybridCommunicateGroup.
    """

    def __init__(self, scaler: GradScaler, hcg: Any) -> None:
        self._scaler = scaler
        self._hcg = hcg

    def __getattr__(self, name: str) -> Any:
        # `copy` and `pickle` ask before `__init__` has run.
        if name.startswith("__") or "_scaler" not in vars(self):
            raise AttributeError(name)
        return getattr(self._scaler, name)

    @no_grad()
    def _unscale(self, optimizer: Any) -> None:
        """Divides the gradients by the scale. All processes note whether one of them found inf or NaN."""
        self._scaler._unscale(optimizer)
        # The optimizers of fleet have asked the other processes already.
        if self._scaler.is_enable() and not hasattr(optimizer, "_found_everywhere"):
            found = self._scaler._found_inf
            found._rebind(found_in_grid(found._value, self._hcg))

    unscale_ = _unscale

    def _ensure_unscaled(self, optimizer: Any) -> None:
        # A program that has called `unscale_` itself must not divide twice.
        if self._scaler.is_enable() and self._scaler._stage(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)

    def step(self, optimizer: Any) -> Any:
        """A step of the optimizer, unless a gradient is infinite or NaN; see `GradScaler.step`."""
        self._ensure_unscaled(optimizer)
        return self._scaler.step(optimizer)

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The step after `backward()`, and the next scale; see `GradScaler.minimize`."""
        self._ensure_unscaled(optimizer)
        return self._scaler.minimize(optimizer, *args, **kwargs)
