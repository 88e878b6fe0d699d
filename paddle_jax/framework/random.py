"""Generators of random numbers, under the path of `paddle.framework`."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.tensors.random import (
    Generator,
    get_cuda_rng_state,
    get_rng_state,
    seed,
    set_cuda_rng_state,
    set_rng_state,
)
from paddle_jax._program.program import default_main_program, default_startup_program


class _Named:
    """Generators by name."""

    generators = {}


def _manual_program_seed(seed: Any) -> None:
    default_main_program().random_seed = default_startup_program().random_seed = seed


def set_random_seed_generator(name: str, seed: int) -> None:
    """Makes a generator that can be asked for by its name.

    Args:
        name: str.
        seed: int.
    Example:
        >>> paddle.framework.random.set_random_seed_generator("mine", 3)
        >>> paddle.framework.random.get_random_seed_generator("mine").initial_seed()
        3
    """
    _Named.generators[name] = Generator(seed=seed)


def get_random_seed_generator(name: Any) -> Generator:
    """The generator of a name.

    Raises:
        KeyError: `set_random_seed_generator` was not called with it.
    """
    return _Named.generators[name]


__all__ = ["Generator", "get_cuda_rng_state", "get_rng_state", "seed", "set_cuda_rng_state", "set_rng_state"]
