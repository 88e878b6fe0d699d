"""What the deferred tier has compiled; no public function forgets it."""

from paddle_jax._core.runner import compiled_segment


def forget():
    """Forgets compiled segments: other tests may have run the same programs."""
    compiled_segment.clear()
