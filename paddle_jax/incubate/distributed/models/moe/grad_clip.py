"""One factor for the gradients of a model with experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.distributed.sharding.optimizers import _squares, summed
from paddle_jax.nn import clip

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class ClipGradForMOEByGlobalNorm(clip.ClipGradByGlobalNorm):
    """`paddle.nn.ClipGradByGlobalNorm` for a model with experts: the norm is that of all experts, those of
    other processes included.

    Args:
        clip_norm: float, the largest common norm.
        is_expert_param_func: function that says whether a parameter belongs to an expert.
        moe_group: Group of the processes that share the experts. Default None: this process has all.
        group_name: str, accepted.
    Raises:
        AssertionError: moe_group has several processes and is_expert_param_func is missing.
    Differs from Paddle: `paddle.incubate.distributed.models` is there without an import of its own.
    Example:
        >>> clip = paddle.incubate.distributed.models.moe.ClipGradForMOEByGlobalNorm(5.0)
        >>> clip([(paddle.nn.Linear(1, 2).weight, paddle.to_tensor([[6.0, 8.0]]))])[0][1].tolist()
        [[3.0, 4.0]]
    """

    def __new__(
        cls,
        clip_norm: float,
        is_expert_param_func: Any = None,
        moe_group: Any = None,
        group_name: str = "default_moe_group",
    ) -> ClipGradForMOEByGlobalNorm:
        # In one process all experts are here: the common rule is compiled with the update.
        if moe_group is not None and moe_group.nranks > 1 and cls is ClipGradForMOEByGlobalNorm:
            return super().__new__(_OverProcesses)
        return super().__new__(cls)

    def __init__(
        self,
        clip_norm: float,
        is_expert_param_func: Callable[..., Any] | None = None,
        moe_group: Any = None,
        group_name: str = "default_moe_group",
    ) -> None:
        super().__init__(clip_norm, group_name)
        if moe_group is not None and moe_group.nranks > 1 and is_expert_param_func is None:
            raise AssertionError(
                "ClipGradForMOEByGlobalNorm: is_expert_param_func: got None; "
                "a group of several processes needs it"
            )
        self.moe_group = moe_group
        self.is_expert_param_func = is_expert_param_func

    @staticmethod
    def get_l2_norm_pow(params_grads: Any, sum_dtype: Any = None) -> tuple[None, None] | tuple[int, str]:
        """(the sum of the squares of all gradients, its dtype); (None, None) where there are none.

        Args:
            params_grads: list of (parameter, gradient or None).
            sum_dtype: "float32", "float64" or None: float64 if it says so or a gradient is
                float64, else float32.
        """
        if sum_dtype not in ("float32", "float64", None):
            raise AssertionError(
                f"get_l2_norm_pow: sum_dtype: got {sum_dtype!r}; use 'float32', 'float64' or None"
            )
        grads = [g for p, g in params_grads if g is not None and getattr(p, "need_clip", True)]
        if not grads:
            return None, None
        if sum_dtype == "float64" or any(numpy_dtype(g).name == "float64" for g in grads):
            kind = "float64"
        else:
            kind = "float32"
        return (
            sum((g.astype(kind).square().sum() for g in grads[1:]), grads[0].astype(kind).square().sum()),
            kind,
        )


class _OverProcesses(ClipGradForMOEByGlobalNorm):
    """The rule for several processes. It exchanges a number, so it runs outside of the compiled update."""

    def _dygraph_clip(self, params_grads: Any) -> list[tuple[Tensor, Tensor]]:
        pairs = [(p, g) for p, g in params_grads if g is not None]
        chosen = [(p, g) for p, g in pairs if getattr(p, "need_clip", True)]
        experts = []
        others = []
        for parameter, gradient in chosen:
            (experts if self.is_expert_param_func(parameter) else others).append(gradient._value)
        # Others are the same on all processes, so they count once.
        total = summed(_squares(experts), self.moe_group) + _squares(others)
        scale = clip.global_scale(total, self.clip_norm)
        for _, gradient in chosen:
            gradient._rebind(gradient._value * scale.astype(gradient._value.dtype))
        return pairs


ClipGradByGlobalNorm = ClipGradForMOEByGlobalNorm  # Paddle has both names here
