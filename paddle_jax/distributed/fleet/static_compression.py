"""Static programs whose processes exchange the largest elements of their gradients (`strategy.dgc`).

Lin et al., Deep Gradient Compression. Each process adds up what it does not send, with the momentum that the
missing updates would have had. A Parameter gets plain steps of the sums that are sent.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._annotations import Slots, UpdateResult
from paddle_jax._core.lazy.transfer import to_array, to_jax_array
from paddle_jax._core.tensors.held_values import held_symbol
from paddle_jax._program.parameters import declare_variable
from paddle_jax._program.program import Program
from paddle_jax.distributed.fleet.static_switches import WHERE, refuse_together, stored_number
from paddle_jax.optimizer import Momentum
from paddle_jax.regularizer import L1Decay

# Names of Variables in the Scope: the number of runs, and what a process has not sent.
_COUNT = "__g_dgc_counter__"
_MOMENTUM = "__dgc_u__"
_REST = "__dgc_v__"
# Smaller Parameters travel whole, as in Paddle.
_FEWEST_ELEMENTS = 16384
_EXCLUDED = (
    "amp",
    "gradient_merge",
    "sharding",
    "fp16_allreduce",
    "tensor_parallel",
    "localsgd",
    "adaptive_localsgd",
    "lars",
)


class CompressedMomentum(Momentum):
    """Momentum, or plain steps for Parameters whose state `compressed` is 1.

    The Compression adds weight decay to the gradients, as it is part of what a process adds up.
    """

    _slots = ("velocity", "compressed")

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        if slot == "compressed":
            return None, 0.0, np.float32
        return super()._slot_init(slot, settings)

    def _decay_of(self, param: Any, settings: dict[str, Any]) -> Any:
        return None

    @staticmethod
    def _rule(
        p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, momentum: float, nesterov: bool
    ) -> UpdateResult:
        new, states = Momentum._rule(p, g, s, lr, momentum, nesterov)
        is_plain = s["compressed"][0] > 0
        velocity = jnp.where(is_plain, s["velocity"], states["velocity"])
        return jnp.where(is_plain, p - lr * g, new), {"velocity": velocity, "compressed": s["compressed"]}


class Compression:
    """What the processes of a group exchange of their gradients.

    Attributes:
        group: Group of the processes.
        optimizer: CompressedMomentum, which updates.
        begin: number of runs whose gradients travel whole.
        rampup: number of runs in which the settings of `sparsity` follow each other.
        sparsity: list of the shares of elements that are not sent.
        params: dict of the compressed Parameters by name.
        decays: dict from the names of all Parameters to L1Decay, L2Decay or None.
    """

    def __init__(
        self, group: Any, optimizer: CompressedMomentum, begin: int, rampup: int, sparsity: Sequence[float]
    ) -> None:
        self.group = group
        self.optimizer = optimizer
        self.begin = begin
        self.rampup = rampup
        self.sparsity = list(sparsity)
        self.params: dict[str, Any] = {}
        self.decays: dict[str, Any] = {}

    def declare(self, program: Program, startup: Program | None) -> None:
        """Puts the number of runs into the Scope when the startup program runs."""
        declare_variable(
            program, _COUNT, (1,), np.dtype(np.int64), lambda: np.zeros([1], np.int64), startup=startup
        )

    def add(self, program: Program, startup: Program | None, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Adds the Parameters of pairs of Parameter and gradient.

        Raises:
            NotImplementedError: a Parameter is there already: two losses would share what is not sent.
        """
        for param, gradient in pairs:
            if param.name in self.decays:
                raise NotImplementedError(
                    f"{WHERE}: dgc with two losses that train {param.name}; add the losses, or leave out dgc"
                )
            regularizer = getattr(param, "regularizer", None)
            self.decays[param.name] = regularizer or self.optimizer.regularization
            symbol = held_symbol(gradient)
            if symbol.size < _FEWEST_ELEMENTS or symbol.dtype != np.float32:
                continue
            self.params[param.name] = param
            fill = ft.partial(np.zeros, symbol.shape, np.float32)
            for ending in (_MOMENTUM, _REST):
                declare_variable(
                    program, param.name + ending, symbol.shape, symbol.dtype, fill, startup=startup
                )

    def own_names(self) -> set[str]:
        """The names of the Variables whose values differ between the processes."""
        return {name + ending for name in self.params for ending in (_MOMENTUM, _REST)}

    def reduced(
        self, names: Sequence[str], gradients: Sequence[Any], values: dict[str, Any]
    ) -> tuple[list[Any], list[int]]:
        """The gradients with weight decay, and the positions of those that are means already.

        Args:
            names: the names of the Parameters.
            gradients: the gradients of this process.
            values: the values of the Variables by name.
        """
        step = stored_number(values, _COUNT)
        values[_COUNT] = np.array([step + 1], np.int64)
        found = [
            _decayed(to_jax_array(gradient), values[name], self.decays[name])
            for name, gradient in zip(names, gradients, strict=True)
        ]
        if step < self.begin:
            return found, []
        kept = self._sparsity(step - self.begin)
        positions = [i for i, name in enumerate(names) if name in self.params]
        for i in positions:
            found[i] = self._exchanged(names[i], found[i], values, kept)
            state = self.optimizer._state_name(self.params[names[i]], "compressed")
            values[state] = np.ones([1], np.float32)
        return found, positions

    def _sparsity(self, step: int) -> float:
        """The share of elements that is not sent. step: runs since compression has begun."""
        index = step * len(self.sparsity) // self.rampup
        return self.sparsity[min(index, len(self.sparsity) - 1)]

    def _exchanged(self, name: str, gradient: Any, values: dict[str, Any], sparsity: float) -> Any:
        """The mean over the processes of what each of them sends of a gradient."""
        # Numbers such as 1 - 0.75 must not lose an element to rounding.
        count = max(int(round(gradient.size * (1 - sparsity), 6)), 1)
        optimizer = self.optimizer
        momentum = to_jax_array(to_array(values[name + _MOMENTUM]))
        rest = to_jax_array(to_array(values[name + _REST]))
        indices, chosen, momentum, rest = _selected(
            gradient, momentum, rest, optimizer._momentum, optimizer._use_nesterov, count
        )
        values[name + _MOMENTUM] = momentum
        values[name + _REST] = rest
        process_group = self.group.process_group
        all_indices = process_group.all_gather(indices, "dgc: indices: all_gather")
        all_chosen = process_group.all_gather(chosen, "dgc: values: all_gather")
        return _mean_of_parts(to_jax_array(all_indices), to_jax_array(all_chosen), gradient)


def _decayed(gradient: jax.Array, value: Any, decay: Any) -> jax.Array:
    """A gradient with the weight decay of its Parameter."""
    if decay is None:
        return gradient
    param = to_jax_array(to_array(value))
    if isinstance(decay, L1Decay):
        return gradient + decay._coeff * jnp.sign(param)
    return gradient + decay._coeff * param


@ft.partial(jax.jit, static_argnames=("factor", "is_nesterov", "count"))
def _selected(
    gradient: jax.Array, momentum: jax.Array, rest: jax.Array, factor: float, is_nesterov: bool, count: int
) -> tuple[jax.Array, ...]:
    """What is sent of a gradient, and what stays: (indices, elements, momentum, rest)."""
    if is_nesterov:
        momentum = factor * (momentum + gradient)
        total = rest + momentum + gradient
    else:
        momentum = factor * momentum + gradient
        total = rest + momentum
    flat = total.ravel()
    _, indices = jax.lax.top_k(jnp.abs(flat), count)
    # What is sent goes on with neither rest nor momentum.
    left = flat.at[indices].set(0).reshape(total.shape)
    slowed = momentum.ravel().at[indices].set(0).reshape(momentum.shape)
    return indices, flat[indices], slowed, left


@jax.jit
def _mean_of_parts(indices: jax.Array, elements: jax.Array, gradient: jax.Array) -> jax.Array:
    """The mean of gradients of which elements are known, one row for each process."""
    total = jnp.zeros(gradient.size, gradient.dtype).at[indices.ravel()].add(elements.ravel())
    return (total / indices.shape[0]).reshape(gradient.shape)


def compression(strategy: Any, optimizer: Any, group: Any) -> Compression | None:
    """The Compression of a strategy; None where it asks for none.

    Args:
        strategy: DistributedStrategy.
        optimizer: that of the user.
        group: Group of all processes.
    Raises:
        NotImplementedError: the optimizer is no Momentum or clips gradients, or the strategy asks for more.
        ValueError: a number of `dgc_configs` is out of range.
    """
    if not strategy.dgc:
        return None
    if type(optimizer) is not Momentum:
        raise NotImplementedError(
            f"{WHERE}: dgc with {type(optimizer).__name__}; give Momentum, or leave it out"
        )
    refuse_together(strategy, "dgc", _EXCLUDED)
    if optimizer._grad_clip is not None or len(optimizer._groups) > 1:
        raise NotImplementedError(
            f"{WHERE}: dgc with grad_clip or groups of parameters; leave them out, or leave out dgc"
        )
    configs = strategy.dgc_configs
    sparsity = configs["sparsity"] or [0.999]
    if configs["rampup_begin_step"] < 0 or configs["rampup_step"] < 1:
        raise ValueError(
            f"{WHERE}.dgc_configs: rampup_begin_step, rampup_step: got {configs['rampup_begin_step']}, "
            f"{configs['rampup_step']}; they must be 0 or more, and 1 or more"
        )
    if not all(0 <= share < 1 for share in sparsity):
        raise ValueError(
            f"{WHERE}.dgc_configs: sparsity: got {sparsity}; each share must be at least 0 and below 1"
        )
    compressed = CompressedMomentum(
        optimizer._learning_rate,
        optimizer._momentum,
        optimizer._given_parameters(),
        optimizer._use_nesterov,
        optimizer.regularization,
    )
    return Compression(group, compressed, configs["rampup_begin_step"], configs["rampup_step"], sparsity)


__all__ = ["Compression", "CompressedMomentum", "compression"]
