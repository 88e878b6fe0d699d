"""Random state: a Generator is a key and a running offset, so that replaying an offset replays the numbers."""

import secrets

import jax
import numpy as np


class Generator:
    """A source of random numbers: a 64-bit seed and an offset that counts the draws.

    A draw gives the operands `(seed words, offset)`; ops derive their key from them inside the kernel with `key_from`, so a kernel
    compiles once and a recomputed backward sees the same numbers.
    """

    def __init__(self, place=None, seed=None):
        self._place, self._offset = place, 0
        self.manual_seed(secrets.randbits(32) if seed is None else seed)

    def manual_seed(self, seed):
        """Sets the seed and starts the sequence anew; returns the generator."""
        self._seed = int(seed) & 0xFFFFFFFFFFFFFFFF
        self._words = np.array([self._seed >> 32, self._seed & 0xFFFFFFFF], np.uint32)
        self._offset = 0
        return self

    def initial_seed(self):
        """The seed in use."""
        return self._seed

    def seed(self):
        """Picks a new seed from the operating system, uses and returns it."""
        self.manual_seed(secrets.randbits(32))
        return self._seed

    def draw(self):
        """The operands of one random op: (uint32[2] seed words, uint32 offset)."""
        offset = self._offset
        self._offset = offset + 1
        return self._words, np.uint32(offset & 0xFFFFFFFF)

    def next_key(self):
        """A fresh jax key."""
        return key_from(*self.draw())

    def get_state(self):
        """The state as a Tensor: uint32 [seed high, seed low, offset]."""
        from paddle_jax._core.tensor import wrap

        return wrap(jax.numpy.asarray(np.append(self._words, np.uint32(self._offset))))

    def set_state(self, new_state):
        """Continues from a state that `get_state` returned."""
        words = np.asarray(new_state)
        if words.shape != (3,):
            raise ValueError(f"set_state: got a state of shape {list(words.shape)}; use what get_state() returned")
        self.manual_seed((int(words[0]) << 32) | int(words[1]))
        self._offset = int(words[2])


def key_from(words, offset):
    """The jax key of one draw. Runs inside kernels."""
    return jax.random.fold_in(jax.random.wrap_key_data(words, impl="threefry2x32"), offset)


class _Generators:
    default: "Generator | None" = None


def default_generator() -> Generator:
    """The generator that random ops use."""
    if _Generators.default is None:
        _Generators.default = Generator()
    return _Generators.default


def next_key():
    """A fresh jax key from the default generator."""
    return default_generator().next_key()


def seed(seed):
    """Seeds the default generator and returns it.

    Args:
        seed: int.
    Returns:
        The default Generator.
    Example:
        >>> g = paddle.seed(7); a = paddle.rand([2]); g = paddle.seed(7); bool((a == paddle.rand([2])).all())
        True
    """
    return default_generator().manual_seed(seed)


def get_rng_state(device=None):
    """Returns the states of the generators as a list that `set_rng_state` takes."""
    return [default_generator().get_state()]


def set_rng_state(state_list, device=None):
    """Restores what `get_rng_state` returned.

    Raises:
        ValueError: the list has not one state.
    """
    if len(state_list) != 1:
        raise ValueError(f"set_rng_state: got {len(state_list)} states; there is 1 generator")
    default_generator().set_state(state_list[0])


__all__ = ["Generator", "default_generator", "get_rng_state", "key_from", "next_key", "seed", "set_rng_state"]
