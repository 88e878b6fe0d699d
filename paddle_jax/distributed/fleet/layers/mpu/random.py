"""Random numbers that are the same on all processes of a model, and others that differ."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.random import get_rng_state, set_rng_state
from paddle_jax._core.tensors.random import seed as start
from paddle_jax.distributed.fleet.base.util_factory import UtilBase
from paddle_jax.distributed.parallel import get_rank
from paddle_jax.nn import functional

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


MODEL_PARALLEL_RNG = "model_parallel_rng"


class RNGStatesTracker:
    """States of the random generator by name.

    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import RNGStatesTracker
        >>> tracker = RNGStatesTracker()
        >>> tracker.add("own", 5)
        >>> with tracker.rng_state("own"):
        ...     drawn = paddle.rand([2])
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all states."""
        self.states_ = {}
        self.seeds_: set[Any] = set()

    def add(self, name: str, seed: Any) -> None:
        """Adds a state that begins with a seed.

        Raises:
            ValueError: there is one of this name, or with this seed.
        """
        if seed in self.seeds_:
            raise ValueError(f"seed {seed} already exists")
        if name in self.states_:
            raise ValueError(f"state {name} already exists")
        # The global generator makes the state, and then stands where it was.
        before = get_rng_state()
        start(seed)
        self.states_[name] = get_rng_state()
        self.seeds_.add(seed)
        set_rng_state(before)

    def get_states_tracker(self) -> dict[Any, Any]:
        """The states by name, a copy."""
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, Any]) -> None:
        """Takes over states that get_states_tracker has given."""
        self.states_: dict[str, Any] = dict(states)

    @contextlib.contextmanager
    def rng_state(self, name: Any = MODEL_PARALLEL_RNG) -> Iterator[None]:
        """Draws inside come from the state of this name, which goes on where it has stopped.

        Raises:
            ValueError: there is none.
        """
        if name not in self.states_:
            raise ValueError(f"state {name} does not exist")
        before = get_rng_state()
        set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = get_rng_state()
            set_rng_state(before)


class _One:
    tracker = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The tracker of this process.

    Returns:
        RNGStatesTracker.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import get_rng_state_tracker
        >>> get_rng_state_tracker() is get_rng_state_tracker()
        True
    """
    return _One.tracker


def dropout(
    x: Tensor,
    p: float = 0.5,
    axis: Any = None,
    rng_name: str | None = None,
    training: Any = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """`nn.functional.dropout`, with random numbers of a state of the tracker.

    Args:
        x: Tensor [...].
        p: float, the share of elements that become zero. Default 0.5.
        axis, training, mode, name: as in nn.functional.dropout.
        rng_name: str, the state. Default None: that of all processes.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: there is no such state.
    Differs from Paddle: it works without rng_name; Paddle 3.3.1 raises.
    Example:
        >>> dropout = paddle.distributed.fleet.layers.mpu.dropout
        >>> dropout(paddle.ones([2]), 0.5, training=False).tolist()
        [1.0, 1.0]
    """
    if rng_name is None:
        return functional.dropout(x, p, axis=axis, training=training, mode=mode, name=name)
    with get_rng_state_tracker().rng_state(rng_name):
        return functional.dropout(x, p, axis=axis, training=training, mode=mode, name=name)


def model_parallel_random_seed(seed: Any = None) -> None:
    """Seeds the generator alike on all processes, and the state "model_parallel_rng" of the tracker
    differently on each.

    Args:
        seed: int. Default None: drawn by the first process.
    Example:
        >>> meta_parallel = paddle.distributed.fleet.meta_parallel
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init() with an mp_degree of 2
        ...     meta_parallel.model_parallel_random_seed(7)
        ...     with meta_parallel.get_rng_state_tracker().rng_state():
        ...         x = paddle.rand([2])  # other numbers on each process
    """
    if seed is None:
        # All take the number of the first process.
        seed = UtilBase().all_gather(secrets.randbelow(655350))[0]
    _One.tracker.reset()
    # Another number on each process, and none that is the seed itself.
    _One.tracker.add(MODEL_PARALLEL_RNG, seed + 1024 + get_rank())
    start(seed)
