"""What the process has done, for people who watch many: steps, compilations, memory, waiting. See docs/metrics.md."""

from paddle_jax._core.metrics import snapshot, start, stop, write

__all__ = ["snapshot", "start", "stop", "write"]
