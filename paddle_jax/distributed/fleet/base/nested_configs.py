"""The settings below `hybrid_configs`: objects whose fields are set by attribute or by a dict."""

from __future__ import annotations

import copy
from typing import Any

__all__ = []

_NCCL = {
    "commName": "",
    "ll_buffsize": 0,
    "ll128_buffsize": 0,
    "simple_buffsize": 0,
    "buffsize_align": 0,
    "nchannels": 0,
    "algoStr": "",
    "protoStr": "",
}
_ONE_GROUP = {"nccl_config": _NCCL}
_CHECKED_GROUP = {"nccl_config": _NCCL, "check_nccl_config": _NCCL}
# Fields and defaults of Paddle 3.3.1; a dict stands for an object inside the object.
FIELDS: dict[str, dict[str, Any]] = {
    "mp_configs": {
        "sync_param": True,
        "sync_grad": False,
        "sync_moment": False,
        "sync_mode": "broadcast",
        "mp_async_allreduce": False,
        "mp_skip_c_identity": False,
        "mp_fused_linear_param_grad_add": False,
        "need_broadcast_data": True,
        "recompute_allgather": False,
        "sp_async_reduce_scatter": False,
        "nccl_config": _NCCL,
    },
    "pp_configs": {
        "dp_comm_overlap": False,
        "delay_scale_loss": False,
        "enable_timer": False,
        "sharding_comm_overlap": False,
        "profiling": False,
        "release_gradients": False,
        "overlap_p2p_comm": False,
        "clear_every_step_cache": False,
        "use_batch_p2p_comm": True,
        "best_unbalanced_scheduler": False,
        "enable_offload_queue": False,
        "enable_dynamic_shape": False,
        "use_dualpipev": False,
        "forward_backward_overlap_scheduler": False,
        "coll_nccl_config": _NCCL,
        "p2p_nccl_config": _NCCL,
        "shared_nccl_config": _NCCL,
        "sync_param": False,
        "sync_moment": False,
        "sync_mode": "broadcast",
    },
    "sharding_configs": {
        "tensor_fusion": False,
        "accumulate_steps": 1,
        "comm_overlap": False,
        "split_param": False,
        "fuse_optimizer": True,
        "use_reduce_avg": True,
        "comm_buffer_size_MB": 256,
        "release_gradients": False,
        "free_grads_in_comm": False,
        "enable_fuse_optimizer_states": False,
        "nccl_config": _NCCL,
        "check_nccl_config": _NCCL,
        "offload_opt_buffer_size": -1,
    },
    "dp_configs": _CHECKED_GROUP,
    "sep_configs": _ONE_GROUP,
    "dp_sep_configs": _ONE_GROUP,
    "pp_tp_configs": _ONE_GROUP,
    "ep_configs": {"nccl_config": _NCCL, "grad_nccl_config": _NCCL},
    "moe_sharding_configs": _CHECKED_GROUP,
    "default_comm_group_configs": _ONE_GROUP,
    "cp_configs": _ONE_GROUP,
    "cp_sharding_configs": _ONE_GROUP,
    "dp_cp_configs": _ONE_GROUP,
    "cp_mp_configs": _ONE_GROUP,
}


class NestedConfig:
    """Settings with fixed fields, each of the type of its default.

    Args:
        name: what the settings are called in messages.
        defaults: {field: default}; a dict stands for settings of their own.
    Raises:
        AttributeError: (when set) there is no such field. TypeError: the value has another type.
    """

    def __init__(self, name: str, defaults: dict[str, Any]) -> None:
        values = {
            field: NestedConfig(f"{name}.{field}", value) if isinstance(value, dict) else value
            for field, value in defaults.items()
        }
        # Around `__setattr__`, which takes fields alone.
        self.__dict__.update(_name=name, _values=values)

    def __getattr__(self, field: str) -> Any:
        # `copy` and `pickle` ask before there are fields.
        values = self.__dict__.get("_values", {})
        if field not in values:
            raise AttributeError(f"{self.__dict__.get('_name')}: there is no field {field!r}")
        return values[field]

    def __setattr__(self, field: str, value: Any) -> None:
        if field not in self._values:
            raise AttributeError(
                f"{self._name}: there is no field {field!r}; allowed are {', '.join(self._values)}"
            )
        present = self._values[field]
        if isinstance(present, NestedConfig):
            raise AttributeError(f"{self._name}: {field} is an object; set its fields")
        # A text for a text, a number for a number, which gets the type of the default.
        if isinstance(present, str) != isinstance(value, str) or not isinstance(value, str | int | float):
            raise TypeError(
                f"{self._name}: {field}: got {value!r}; it must be {type(present).__name__}, as {present!r}"
            )
        self._values[field] = type(present)(value)

    def update(self, values: dict[str, Any]) -> None:
        """Sets several fields."""
        for field, value in values.items():
            present = self._values.get(field)
            if isinstance(present, NestedConfig) and isinstance(value, dict):
                present.update(value)
            else:
                setattr(self, field, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestedConfig) and self._values == other._values

    def __copy__(self) -> NestedConfig:
        # Fields may be objects, which a copy must not share.
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: Any) -> NestedConfig:
        other = NestedConfig(self._name, {})
        other.__dict__["_values"] = copy.deepcopy(self._values, memo)
        return other

    def __repr__(self) -> str:
        fields = ", ".join(f"{field}={value!r}" for field, value in self._values.items())
        return f"{self._name}({fields})"


def nested_configs() -> dict[str, NestedConfig]:
    """All settings below `hybrid_configs`, with their defaults."""
    return {name: NestedConfig(name, fields) for name, fields in FIELDS.items()}
