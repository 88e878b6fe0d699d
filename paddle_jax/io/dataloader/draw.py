"""Random orders drawn from Paddle's generator, on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from paddle_jax._core.tensors.random import Generator


def permutation(count: int, generator: Generator) -> list[int]:
    """A random order of `range(count)` as a list of ints; `paddle.seed` makes it repeatable."""
    words, offset = generator.draw_on_host()
    return np.random.default_rng([*map(int, words), int(offset)]).permutation(count).tolist()
