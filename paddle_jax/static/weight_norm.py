"""Weights as a length times a direction, in static programs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._program.program import default_startup_program
from paddle_jax._program.scope import global_scope
from paddle_jax.base.param_attr import ParamAttr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.initializer.initializer import Initializer
    from paddle_jax.regularizer import WeightDecayRegularizer


class WeightNormParamAttr(ParamAttr):
    """Settings of a weight that is a product of a length `g` and a direction `v / |v|`, both Parameters.

    Args:
        dim: int, the axis that each index of has a length of its own. Default None: one length.
        name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip: as
            for `ParamAttr`.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 3]), 5,
        ...                             weight_attr=paddle.static.WeightNormParamAttr(dim=0, name="w"))
        >>> sorted(list(p.shape) for p in main.all_parameters())
        [[3, 1], [3, 5], [5]]
        >>> paddle.disable_static()
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    """

    params_with_weight_norm: list[Any] = []  # noqa: RUF012  Paddle's name for those made so far

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(
            name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip
        )
        self.dim = dim


def _length(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return np.sqrt((array.astype(np.float64) ** 2).sum(axes, keepdims=True))


def normalized(
    attr: WeightNormParamAttr,
    make: Callable[..., Tensor],
    shape: Sequence[int],
    default: Initializer | None,
    owner: str,
) -> Tensor:
    """The weight; `make(shape, ParamAttr, default initializer)` creates a Parameter. owner: what a generated
    name begins with."""
    base = attr.name or unique_name.generate(f"{owner}.w")

    def named(end: str) -> ParamAttr:
        plain = ParamAttr.__new__(ParamAttr)
        # Settings of a ParamAttr, without `dim`, which it does not know.
        plain.__dict__.update({k: v for k, v in copy.copy(vars(attr)).items() if k != "dim"})
        plain.name = base + end
        return plain

    # All axes but that one are summed over.
    axes = tuple(i for i in range(len(shape)) if i != attr.dim)
    v = make(shape, named("_v"), default)
    g = make([1 if i in axes else n for i, n in enumerate(shape)], named("_g"), default)
    name = v.name
    # The length starts as that of the direction, so that their product is `v` at first.
    default_startup_program().initializers[g.name] = lambda: _length(
        np.asarray(global_scope().values[name]), axes
    ).astype(v.avals[0].dtype)
    WeightNormParamAttr.params_with_weight_norm.append(v)
    return g * (v / (v * v).sum(axis=list(axes), keepdim=True).sqrt())


__all__ = ["WeightNormParamAttr", "normalized"]
