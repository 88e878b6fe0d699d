"""Random state: a Generator is a key and a running offset, so replaying an offset replays the numbers."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import host_numbers
from paddle_jax._core.tensors.tensor import Tensor, wrap

_WORDS_AVAL = aval_of((2,), np.dtype(np.uint32))
_OFFSET_AVAL = aval_of((), np.dtype(np.uint32))


class Generator:
    """A source of random numbers: a 64-bit seed and an offset that counts the draws.

    A draw gives the operands `(seed words, offset)`; ops derive their key from them inside the kernel with
    `key_from`, so a kernel compiles once and a recomputed backward sees the same numbers.

    Args:
        device: accepted; all devices draw the same numbers.
        seed: int. Default: drawn.
    Example:
        >>> generator = paddle.seed(7)
        >>> generator.initial_seed()
        7
    """

    def __init__(self, device: Any = None, seed: int | None = None) -> None:
        if isinstance(device, str) and device.partition(":")[0] not in (
            "cpu",
            "gpu",
            "dcu",
            "xpu",
            "npu",
            "tpu",
        ):
            raise ValueError(
                f"Generator: device: got {device!r}; allowed are None, a Place, and texts such "
                "as 'cpu', 'gpu', 'gpu:0', 'tpu'"
            )
        self._place = device
        self._offset = 0
        self.manual_seed(secrets.randbits(32) if seed is None else seed)

    def manual_seed(self, seed: int) -> Generator:
        """Sets the seed, an integer in 0..2**64 - 1, and restarts the sequence; returns the generator."""
        # Not for the first seed, that of the constructor.
        if "_words" in self.__dict__:
            local.ctx.frame.on_reseed(self)
        number = int(seed)
        if not 0 <= number < 2**64:
            raise TypeError(f"seed: got {seed!r}; it must be an integer in 0..2**64 - 1")
        self._seed = number
        # A key of JAX is two words of 32 bits.
        words = np.array([self._seed >> 32, self._seed & 0xFFFFFFFF], np.uint32)
        # First: `draw_operands` of another thread takes them where `_words` is the array that it drew.
        self._recorded_words = host_numbers(words.tolist(), _WORDS_AVAL)
        self._words = words
        self._offset = 0
        return self

    def initial_seed(self) -> int:
        """The seed in use."""
        return self._seed

    def seed(self) -> int:
        """Picks a new seed from the operating system, uses and returns it."""
        self.manual_seed(secrets.randbits(32))
        return self._seed

    def random(self) -> int:
        """The next random integer of 64 bits."""
        return int(np.random.Philox(key=self._seed, counter=int(self.draw()[1])).random_raw())

    def draw(self) -> tuple[Any, Any]:
        """The operands of one random op: (uint32[2] seed words, uint32 offset)."""
        return local.ctx.frame.next_random_key(self)

    def draw_operands(self) -> tuple[Tensor, Tensor]:
        """As `draw`, as Tensors. The words of a seed are one LazyArray, so that no draw makes another."""
        words, offset = self.draw()
        if words is self._words and local.ctx.segment is not None:
            return wrap(self._recorded_words), wrap(host_numbers((int(offset),), _OFFSET_AVAL))
        return wrap(words), wrap(offset)

    def draw_on_host(self) -> tuple[Any, ...]:
        """As `draw`, for numbers that the host needs at once, also while a static program is recorded."""
        return local.ctx.frame.next_host_key(self)

    def advance(self) -> tuple[Any, Any]:
        """The operands of the next random op outside of any trace."""
        offset = self._offset
        self._offset = offset + 1
        return self._words, np.uint32(offset & 0xFFFFFFFF)

    def next_key(self) -> jax.Array:
        """A fresh jax key."""
        return key_from(*self.draw())

    def get_state(self) -> Tensor:
        """The state as a Tensor: uint32 [seed high, seed low, offset]."""
        return wrap(jax.numpy.asarray(np.append(self._words, np.uint32(self._offset))))

    def set_state(self, new_state: Any) -> None:
        """Continues from a state that `get_state` returned."""
        words = np.asarray(new_state)
        if words.shape != (3,):
            raise ValueError(
                f"set_state: got a state of shape {list(words.shape)}; use what get_state() returned"
            )
        self.manual_seed((int(words[0]) << 32) | int(words[1]))
        self._offset = int(words[2])

    def __repr__(self) -> str:
        # as Paddle's, though pickles name another module
        return f"<paddle.base.libpaddle.Generator object at {id(self):#x}>"


def key_from(words: Any, offset: Any) -> jax.Array:
    """The jax key of one draw. Runs inside kernels."""
    return jax.random.fold_in(jax.random.wrap_key_data(words, impl="threefry2x32"), offset)


class _Generators:
    """The generators of the process.

    Attributes:
        default: Generator of random ops; None before its first use.
    """

    default: Generator | None = None


def default_generator() -> Generator:
    """The generator that random ops use."""
    if _Generators.default is None:
        _Generators.default = Generator()
    return _Generators.default


def next_key() -> jax.Array:
    """A fresh jax key from the default generator."""
    return default_generator().next_key()


def seed(seed: int) -> Generator:
    """Seeds the default generator and returns it.

    Args:
        seed: int in 0..2**64 - 1.
    Returns:
        The default Generator.
    Raises:
        TypeError: seed is not such an integer.
    Example:
        >>> g = paddle.seed(7); a = paddle.rand([2]); g = paddle.seed(7); bool((a == paddle.rand([2])).all())
        True
    """
    return default_generator().manual_seed(seed)


def get_rng_state(device: Any = None) -> list[Tensor]:
    """Returns the states of the generators as a list that `set_rng_state` takes.

    Args:
        device: accepted; all devices draw from one generator.
    Returns:
        list with one Tensor.
    Example:
        >>> state = paddle.get_rng_state()
        >>> x = paddle.rand([2])
        >>> paddle.set_rng_state(state)
        >>> bool((paddle.rand([2]) == x).all())
        True
    """
    return [default_generator().get_state()]


def set_rng_state(state_list: Sequence[Tensor], device: Any = None) -> None:
    """Restores what `get_rng_state` returned.

    Args:
        state_list: list with one state.
        device: accepted; all devices draw from one generator.
    Raises:
        ValueError: the list has not one state.
    Example:
        >>> paddle.set_rng_state(paddle.get_rng_state())
    """
    if len(state_list) != 1:
        raise ValueError(f"set_rng_state: got {len(state_list)} states; there is 1 generator")
    default_generator().set_state(state_list[0])


def _gpu_count() -> int:
    return sum(device.platform in ("gpu", "cuda", "rocm") for device in jax.local_devices())


def get_cuda_rng_state() -> list[Tensor]:
    """Returns one state per GPU, an empty list without one. All devices draw from one generator, so the
    states are the same.

    Returns:
        list with a Tensor for each GPU.
    Example:
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    return get_rng_state() * _gpu_count()


def set_cuda_rng_state(state_list: Any) -> None:
    """Restores what `get_cuda_rng_state` returned.

    Args:
        state_list: list with a state for each GPU.
    Raises:
        ValueError: the list has not one state per GPU.
    Example:
        >>> paddle.set_cuda_rng_state(paddle.get_cuda_rng_state())
    """
    if len(state_list) != _gpu_count():
        raise ValueError(f"set_cuda_rng_state: got {len(state_list)} states; there are {_gpu_count()} GPUs")
    if state_list:
        set_rng_state(state_list[:1])


__all__ = [
    "Generator",
    "default_generator",
    "get_cuda_rng_state",
    "get_rng_state",
    "key_from",
    "next_key",
    "seed",
    "set_cuda_rng_state",
    "set_rng_state",
]
