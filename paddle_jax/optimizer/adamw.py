"""Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.layer.registrations import Registered
from paddle_jax.optimizer.adam import Adam, adam_step

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import GradClip, LearningRate, ParameterGroups, Slots, UpdateResult


def adamw_step(
    p: jax.Array,
    g: jax.Array,
    s: Slots,
    lr: jax.Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    rule_decay: jax.Array | None = None,
    rule_ratio: jax.Array | None = None,
) -> UpdateResult:
    """One step of AdamW on a stack; `rule_decay` and `rule_ratio` are columns over its parameters."""
    if rule_ratio is not None:
        # Columns are stored as differences from neutral values, and lr_ratio is neutral at 1.
        lr = lr * (1 + rule_ratio)
    if rule_decay is not None:
        # p = p (1 - lr * decay), before the step and not through the running means.
        p = p * (1 - lr * rule_decay)
    return adam_step(p, g, s, lr, beta1, beta2, epsilon)


class AdamW(Adam):
    """Adam with weight decay that does not go through the running means: `parameter *= 1 - learning_rate *
    weight_decay` before the step.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        beta1: float in [0, 1), decay of the mean. Default 0.9.
        beta2: float in [0, 1), decay of the mean square. Default 0.999.
        epsilon: float, not negative, added to the root of the mean square. Default 1e-8.
        parameters: list of Parameters, or of dicts with groups; a group may have `weight_decay`, `beta1`,
            `beta2`, `epsilon` of its own.
        weight_decay: int, float or Tensor. Default 0.01.
        use_lowprecision_moment: accepted; the running means are float32 here. Default False.
        lr_ratio: callable, Parameter to factor on its learning rate. Default None.
        apply_decay_param_fun: callable, name of a Parameter to bool: whether it decays. Default None: all do.
        grad_clip: gradient clipping. Default None.
        lazy_mode: leave the rows of an `Embedding(sparse=True)` that were not used as they are, with their
            running means. Default False.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        amsgrad: divide by the largest mean square so far. Default False.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        TypeError: `weight_decay` is not a number.
        ValueError: a number is out of range.
        AssertionError: a number is None, or `lr_ratio` is not callable.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.AdamW(0.01, parameters=layer.parameters(),
        ...                                    apply_decay_param_fun=lambda name: ".w" in name)
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Decoupled Weight Decay Regularization" (https://arxiv.org/abs/1711.05101).
    """

    type = "adamw"

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: ParameterGroups | None = None,
        weight_decay: float | Tensor = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Tensor], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: GradClip | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(weight_decay, int | float | Tensor):
            raise TypeError(f"AdamW: weight_decay: got {type(weight_decay).__name__}; pass a float.")
        if lr_ratio is not None and not callable(lr_ratio):
            raise AssertionError(
                f"AdamW: lr_ratio: got {type(lr_ratio).__name__}; pass a function of a Parameter."
            )
        self._weight_decay = weight_decay
        self._use_lowprecision_moment = use_lowprecision_moment
        self._lr_ratio = lr_ratio
        self._apply_decay_param_fun = apply_decay_param_fun
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            None,
            grad_clip,
            lazy_mode,
            multi_precision,
            amsgrad=amsgrad,
            name=name,
        )
        # Groups without a decay of their own take this one.
        self._default_dict["weight_decay"] = weight_decay

    def __str__(self) -> str:
        return "Weight Decay, params: "

    def sharded_state_dict(self, model_sharded_state_dict: dict[str, Any]) -> dict[str, Any]:
        """The states as parts for `paddle.distributed.save_state_dict` and `load_state_dict`, which fills the
        optimizer. They are named by the weights of the model, such as `fc.weight.moment1_0`.

        Args:
            model_sharded_state_dict: dict, what `Layer.sharded_state_dict` of the model gives. A weight under
                two names has its states under the first in alphabetical order.
        Returns:
            dict from name to ShardedWeight.
        Raises:
            KeyError: the model has no weight of the name of a parameter with states.
        Example:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> optimizer = paddle.optimizer.AdamW(0.01, parameters=layer.parameters())
            >>> layer(paddle.ones([3, 2])).mean().backward()
            >>> optimizer.step()
            >>> sorted(optimizer.sharded_state_dict(layer.sharded_state_dict()))[:2]
            ['bias.beta1_pow_acc_0', 'bias.beta2_pow_acc_0']
        """
        return Registered.shard_states(self, model_sharded_state_dict)

    def _write_group_options(self, group: dict[str, Any]) -> None:
        for param in group["params"]:
            # Paddle reads the rate of a group from its parameters.
            param.optimize_attr["learning_rate"] = group.get("learning_rate", 1.0)

    def _marks(self, params: Sequence[Tensor], settings: dict[str, Any]) -> dict[str, list[float]]:
        if settings["weight_decay"] is not None:
            decay = settings["weight_decay"]
        else:
            decay = self._weight_decay
        wanted = self._apply_decay_param_fun
        # The decay belongs to each parameter, since a function may choose.
        marks = {
            "rule_decay": [float(decay) if wanted is None or wanted(param.name) else 0.0 for param in params]
        }
        if self._lr_ratio is not None:
            marks["rule_ratio"] = [float(self._lr_ratio(param)) - 1 for param in params]
        return marks

    _choices = ("regularization", "_weight_decay", "_apply_decay_param_fun", "_lr_ratio")
    _rule = staticmethod(adamw_step)
