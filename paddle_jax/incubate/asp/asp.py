"""Pruning of networks so that of each m neighbouring weights n are zero, and optimizers that keep it so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.pruning_state import PruningState
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax.incubate.asp.utils import MaskAlgo, create_mask
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.creation import ones_like, to_tensor
from paddle_jax.tensor.manipulation import cast

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.optimizer.optimizer import Optimizer


_ALGORITHMS = {
    "mask_1d": MaskAlgo.MASK_1D,
    "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY,
    "mask_2d_best": MaskAlgo.MASK_2D_BEST,
}


def _mask(param: Tensor) -> Tensor | None:
    """The mask of a parameter, a Tensor of zeros and ones that the parameter holds; None where no optimizer
    of it is decorated."""
    return getattr(param, "_asp_mask", None)


def _with_mask(param: Tensor) -> Tensor | None:
    if _mask(param) is None:
        param._asp_mask = ones_like(param.detach())
    return _mask(param)


def set_excluded_layers(param_names: Sequence[str], main_program: Any = None) -> None:
    """Leaves layers out of what `prune_model` prunes.

    Args:
        param_names: list of names of layers (`linear_0`) or of parameters (`linear_0.w_0`).
        main_program: accepted.
    Example:
        >>> layer = paddle.nn.Linear(4, 4); paddle.incubate.asp.set_excluded_layers([layer.full_name()])
        >>> paddle.incubate.asp.reset_excluded_layers()
    """
    PruningState.excluded.update(param_names)


def reset_excluded_layers(main_program: Any = None) -> None:
    """Leaves no layers out any more. See `set_excluded_layers`.

    Args:
        main_program: Program, accepted.
    Example:
        >>> paddle.incubate.asp.set_excluded_layers(["linear_0"])
        >>> paddle.incubate.asp.reset_excluded_layers()
    """
    PruningState.excluded.clear()


def _usual(weight: np.ndarray, m: int, n: int, algorithm: MaskAlgo, name: str) -> tuple[Any, Any]:
    """The pruned weight and its mask: along the inputs, which are the first axis of linear layers and the
    second of convolutions."""
    # Weights smaller than a group stay as they are.
    if (weight.ndim == 2 and weight.shape[0] < m) or (weight.ndim == 4 and weight.shape[1] < m):
        return weight, np.ones_like(weight)
    # Groups run along the inputs, which are the rows of a weight.
    mask = create_mask(weight.T, algorithm, n, m).T
    return weight * mask, mask


def _weights(model: Layer) -> Iterator[Any]:
    """(parameter, pruning function) of the layers that are pruned."""
    for layer in model.sublayers(include_self=True):
        # The name of a layer without its number is its kind.
        kind = re.sub(r"_\d+$", "", layer.full_name())
        weight = getattr(layer, "weight", None)
        if (
            kind in PruningState.supported
            and weight is not None
            and not PruningState.excluded & {layer.full_name(), weight.name}
        ):
            # A kind without a function of its own is pruned in the usual way.
            yield weight, PruningState.supported[kind] or _usual


def prune_model(
    model: Layer, n: Any = 2, m: Any = 4, mask_algo: str = "mask_1d", with_mask: bool = True
) -> dict[Any, Any]:
    """Sets weights of linear layers and convolutions to zero: of each m neighbours along the
    inputs the n smallest.

    Differs from Paddle: for Layers, not for Programs; it gives the masks of this model only.

    Args:
        model: Layer.
        n, m: ints.
        mask_algo: "mask_1d", or "mask_2d_greedy" and "mask_2d_best", which look at squares of m by m.
        with_mask: also set the masks of the decorated optimizer; False prunes once, for inference.
    Returns:
        dict from names of parameters to masks: Tensors, or arrays without with_mask.
    Raises:
        AssertionError: mask_algo or n and m are not as above; with_mask, but no optimizer of these
            parameters is decorated.
        TypeError: model is no Layer.
    Example:
        >>> layer = paddle.nn.Linear(8, 4)
        >>> masks = paddle.incubate.asp.prune_model(layer, with_mask=False)
        >>> float(paddle.incubate.asp.calculate_density(layer.weight.numpy()))
        0.5
    """
    if not isinstance(model, Layer):
        raise TypeError(f"prune_model: model: got {type(model).__name__}; it must be a Layer")
    if mask_algo not in _ALGORITHMS or not 0 < n <= m:
        raise AssertionError(
            f"prune_model: mask_algo, n, m: got {mask_algo!r}, {n}, {m}; "
            f"allowed are {', '.join(map(repr, _ALGORITHMS))} and 0 < n <= m"
        )
    algorithm = _ALGORITHMS[mask_algo]
    made = {}
    for weight, prune in _weights(model):
        if with_mask and _mask(weight) is None:
            raise AssertionError(
                f"prune_model: {weight.name} has no mask; "
                "call asp.decorate on the optimizer first, or give with_mask=False"
            )
        pruned, mask = prune(weight.numpy(), m, n, algorithm, weight.name)
        # A pruning function of the user may give another dtype.
        weight.set_value(np.asarray(pruned, weight.numpy().dtype))
        # Training with masks keeps the zeros; without them the weights are pruned once.
        if with_mask:
            _mask(weight).set_value(cast(to_tensor(np.asarray(mask, "float32")), weight.dtype))
        made[weight.name] = _mask(weight) if with_mask else mask
    return made


class OptimizerWithSparsityGuarantee:
    """An optimizer after whose steps pruned weights are zero again; everything else is that of the
    optimizer in it.

    Args:
        optimizer: Optimizer.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # The attribute is missing while a copy is made.
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    @no_grad()
    def step(self) -> None:
        """Makes a step, then sets pruned weights to zero."""
        self._optimizer.step()
        for param in self._optimizer._all_params():
            if (mask := _mask(param)) is not None:
                # The step may have moved pruned weights away from 0.
                assign_from(param, param * mask)

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Makes a step with the gradients that `loss.backward()` has left; returns ([], pairs of
        parameter and gradient)."""
        pairs = [(param, param.grad) for param in self._optimizer._all_params() if param.grad is not None]
        self.step()
        return [], pairs

    def state_dict(self) -> dict[Any, Any]:
        """Returns the state of the optimizer, and the masks under names such as `linear_0.w_0.asp_mask`."""
        masks = {
            f"{p.name}.asp_mask": mask
            for p in self._optimizer._all_params()
            if (mask := _mask(p)) is not None
        }
        return {**self._optimizer.state_dict(), **masks}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a state made by `state_dict()`."""
        # A copy, since masks are taken out of it.
        state = dict(state_dict)
        for param in self._optimizer._all_params():
            # Masks are saved beside the states.
            if (mask := state.pop(f"{param.name}.asp_mask", None)) is not None:
                _with_mask(param).set_value(mask)
        self._optimizer.set_state_dict(state)


def decorate(optimizer: Optimizer) -> OptimizerWithSparsityGuarantee:
    """An optimizer that keeps pruned weights at zero. Call it before `prune_model`.

    Differs from Paddle: works (3.3.1 raises).

    Args:
        optimizer: Optimizer.
    Returns:
        OptimizerWithSparsityGuarantee.
    Raises:
        AttributeError: optimizer is something else.
    Example:
        >>> layer = paddle.nn.Linear(8, 4)
        >>> optimizer = paddle.incubate.asp.decorate(paddle.optimizer.SGD(0.1, parameters=layer.parameters()))
        >>> masks = paddle.incubate.asp.prune_model(layer)
        >>> layer(paddle.rand([2, 8])).sum().backward(); optimizer.step()
        >>> float(paddle.incubate.asp.calculate_density(layer.weight.numpy()))
        0.5
    """
    for param in optimizer._all_params():
        _with_mask(param)
    return OptimizerWithSparsityGuarantee(optimizer)
