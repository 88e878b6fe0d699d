"""Types that signatures of several packages name.

Files import them below `if TYPE_CHECKING`, so a running program does not load this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import jax
import numpy as np

from paddle_jax._core.base.dtype import DType
from paddle_jax._core.tensors.place import Place
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn.clip import ClipGradBase
from paddle_jax.nn.initializer.initializer import Initializer
from paddle_jax.optimizer.lr.scheduler import LRScheduler
from paddle_jax.regularizer import WeightDecayRegularizer

DTypeLike: TypeAlias = DType | np.dtype | str | type
# A device of JAX is accepted as well; its class is no type that checkers accept.
DeviceLike: TypeAlias = Place | str
# Settings of a parameter that a layer creates; False stands for no parameter.
ParamAttrLike: TypeAlias = ParamAttr | Initializer | WeightDecayRegularizer | str | bool
# One number for all spatial axes, or one for each of them.
Size: TypeAlias = int | Sequence[int]
# The same, where None keeps the length of an axis.
OptionalSizes: TypeAlias = int | Sequence[int | None]
# Numbers, pairs of numbers, "SAME" or "VALID".
Padding: TypeAlias = int | str | Sequence[int] | Sequence[Sequence[int]]
# An axis, several axes, or None for all of them.
Axes: TypeAlias = int | Sequence[int] | None
Reduction: TypeAlias = Literal["mean", "sum", "none"]
DivergenceReduction: TypeAlias = Literal["mean", "batchmean", "sum", "none"] | None  # of kl_div
PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]
# Numbers, lists of numbers, arrays or Tensors.
TensorLike: TypeAlias = complex | Sequence[Any] | np.ndarray | Tensor
# The lengths of axes.
ShapeLike: TypeAlias = Sequence[int | Tensor] | Tensor
# Tensors in nested tuples, lists and dicts; Python's types cannot say this in a form that helps.
Structure: TypeAlias = Any
# Values by name, as `state_dict` returns and `set_state_dict` takes it.
StateDict: TypeAlias = dict[str, Any]
LearningRate: TypeAlias = float | LRScheduler
WeightDecay: TypeAlias = float | WeightDecayRegularizer
GradClip: TypeAlias = ClipGradBase
# States by name, as arrays over a stack of parameters of an optimizer.
Slots: TypeAlias = dict[str, jax.Array]
# New parameters and states of such a stack.
UpdateResult: TypeAlias = tuple[jax.Array, dict[str, jax.Array]]
# Parameters, or dicts that describe groups of them.
ParameterGroups: TypeAlias = Sequence[Tensor] | Sequence[dict[str, Any]]
# A function that a layer calls before or after `forward`, or with its state dict.
Hook: TypeAlias = Callable[..., Any]
