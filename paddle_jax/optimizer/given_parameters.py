"""What an optimizer is given: the checks of its settings, and its groups of Parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.clip import ClipGradBase
from paddle_jax.optimizer.group import _Group
from paddle_jax.optimizer.lr.scheduler import LRScheduler
from paddle_jax.regularizer import L2Decay, WeightDecayRegularizer


class GivenParameters:
    """Checks and groups the Parameters of an `Optimizer`, which has the attributes."""

    def _check_settings(self, learning_rate: Any, parameters: Any, grad_clip: Any) -> None:
        """Refuses arguments of the constructor that have a wrong type."""
        owner = type(self).__name__
        if parameters is None:
            raise AttributeError(f"{owner}: parameters: got None; pass layer.parameters().")
        if isinstance(parameters, dict):
            raise TypeError(f"{owner}: parameters: got a dict; for parameter groups pass a list of dicts.")
        # A Tensor would be iterated row by row.
        if isinstance(parameters, Tensor):
            raise TypeError(f"{owner}: parameters: got one Tensor; pass a list.")
        if not isinstance(learning_rate, float | LRScheduler):
            raise TypeError(
                f"{owner}: learning_rate: got {type(learning_rate).__name__}; pass a float or an LRScheduler."
            )
        if grad_clip is not None and not isinstance(grad_clip, ClipGradBase):
            raise TypeError(
                f"{owner}: grad_clip: got {type(grad_clip).__name__}; pass a ClipGradBy... object."
            )

    def _check_parameters(self) -> None:
        """Refuses what is neither a parameter nor a group of them."""
        for parameter in self._parameter_list:
            if not isinstance(parameter, dict) and not hasattr(parameter, "dtype"):
                raise AttributeError(
                    f"{type(self).__name__}: parameters: got {type(parameter).__name__} in the list; "
                    "pass layer.parameters(), or dicts as groups."
                )

    def _given_parameters(self) -> list[Any] | None:
        """What another optimizer in the place of this one is given; None for all of a static program."""
        if self._updates_nothing:
            return []
        return self._parameter_list or None

    @staticmethod
    def _groups_of(descriptions: Sequence[Any]) -> list[_Group]:
        """Groups for a list of dicts, or one for a list of parameters."""
        if all(isinstance(group, dict) for group in descriptions):
            return [_Group(group) for group in descriptions]
        return [_Group({"params": descriptions})]

    def _as_regularizer(self, decay: Any) -> WeightDecayRegularizer | None:
        # bool is an int to Python, but no decay.
        if isinstance(decay, bool) or not isinstance(decay, int | float | WeightDecayRegularizer | None):
            raise TypeError(
                f"{type(self).__name__}: weight_decay: got {type(decay).__name__}; "
                "pass a float, L1Decay or L2Decay."
            )
        if isinstance(decay, int | float):
            return L2Decay(float(decay))
        return decay

    def _add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group: a dict with `params` and settings of its own."""
        if not isinstance(param_group, dict) or "params" not in param_group:
            raise AssertionError(f"{type(self).__name__}: parameters: a group must be a dict with 'params'.")
        params = param_group["params"]
        # A set has no order, so states could not be saved.
        if isinstance(params, set):
            raise TypeError(
                f"{type(self).__name__}: parameters: 'params' is a set, which has no order; pass a list."
            )
        group = {
            **self._default_dict,
            **param_group,
            "params": [params] if isinstance(params, Tensor) else list(params),
        }
        # Two updates of one parameter in a step would depend on their order.
        grouped_ids = {id(p) for known in self._param_groups for p in known["params"]}
        if any(id(p) in grouped_ids for p in group["params"]):
            raise ValueError(f"{type(self).__name__}: parameters: a parameter is in more than one group.")
        self._write_group_options(group)
        self._param_groups.append(group)
        self._groups.append(_Group(group))

    def _write_group_options(self, group: dict[str, Any]) -> None:
        """Writes a group's learning rate and weight decay to its Parameters, where the update and
        other code read them."""
        decay = self._as_regularizer(group["weight_decay"])
        for param in group["params"]:
            param.optimize_attr["learning_rate"] = group.get("learning_rate", 1.0)
            if (
                decay is not None
                and param.regularizer is None
                and "weight_decay" in group
                and decay is not self.regularization
            ):
                param.regularizer = decay


__all__ = ["GivenParameters"]
