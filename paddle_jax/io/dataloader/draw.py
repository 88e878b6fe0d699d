"""Random orders drawn from Paddle's generator, on the host."""

import numpy as np


def permutation(count, generator):
    """A random order of `range(count)` as a list of ints; `paddle.seed` makes it repeatable."""
    words, offset = generator.draw_on_host()
    return np.random.default_rng([*map(int, words), int(offset)]).permutation(count).tolist()
