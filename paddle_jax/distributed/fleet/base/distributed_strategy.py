"""What a program asks of `fleet`."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.fleet.base import prototxt
from paddle_jax.distributed.fleet.base.nested_configs import NestedConfig, nested_configs
from paddle_jax.static.strategy import BuildStrategy

__all__ = ["DistributedStrategy"]

# from outside to inside: along the last one, neighbours have numbers next to each other
_ORDER = ["dp", "pp", "sharding", "sep", "cp", "mp"]
# Dimensions of experts, which programs may name among the others.
_EXPERT_ORDER = ["ep", "moe_sharding"]
_DEGREES = {
    "dp_degree": -1,  # as many as the others leave
    "mp_degree": 1,
    "pp_degree": 1,
    "sharding_degree": 1,
    "sep_degree": 1,
    "cp_degree": 1,
    "ep_degree": 1,
    "moe_sharding_degree": 1,
    "cp_sharding_degree": 1,
}
_HYBRID_SWITCHES = {"enable_optimizer_timer": False, "split_norm_comm": False}
_CONFIGS = {
    "amp": {
        "init_loss_scaling": 32768.0,
        "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0,
        "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True,
        "custom_white_list": [],
        "custom_black_list": [],
        "custom_black_varnames": [],
        "use_pure_fp16": False,
        "use_fp16_guard": True,
        "use_optimizer_fp16": False,
        "use_pure_bf16": False,
    },
    "recompute": {
        "checkpoints": [],
        "enable_offload": False,
        "checkpoint_shape": [],
        "enable_tuning": False,
        "refined_ops_patterns": [],
    },
    "gradient_merge": {"k_steps": 1, "avg": True},
    "sharding": {
        "sharding_segment_strategy": "segment_broadcast_MB",
        "segment_broadcast_MB": 32.0,
        "segment_anchors": [],
        "sharding_degree": 8,
        "mp_degree": 1,
        "dp_degree": 1,
        "hybrid_dp": False,
        "gradient_merge_acc_step": 1,
        "optimize_offload": False,
        "pp_allreduce_in_optimize": False,
        "pp_degree": 1,
        "optimize_cast": False,
        "_dp_as_optimizer_sharding": False,
        "stage": 1,
        "enable_tuning": False,
        "use_calc_stream": False,
    },
    "pipeline": {
        "micro_batch_size": 1,
        "accumulate_steps": 1,
        "schedule_mode": "1F1B",
        "p2p_cache_shape": True,
        "enable_partial_send_recv": True,
    },
    "tensor_parallel": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "lamb": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars": {
        "lars_coeff": 0.001,
        "lars_weight_decay": 0.0005,
        "epsilon": 0.0,
        "exclude_from_weight_decay": [],
    },
    "localsgd": {"k_steps": 1, "begin_step": 1},
    "adaptive_localsgd": {"init_k_steps": 1, "begin_step": 1},
    "dgc": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "qat": {
        "channel_wise_abs_max": True,
        "weight_bits": 8,
        "activation_bits": 8,
        "not_quant_pattern": [],
        "algo": "",
    },
    "a_sync": {
        "k_steps": -1,
        "max_merge_var_num": 1,
        "send_queue_size": 16,
        "independent_recv_thread": False,
        "min_send_grad_num_before_recv": 1,
        "thread_pool_size": 1,
        "send_wait_times": 1,
        "runtime_split_send_recv": False,
        "launch_barrier": True,
        "heter_worker_device_guard": "cpu",
        "lr_decay_steps": 10,
        "use_ps_gpu": 0,
        "use_gpu_graph": 0,
        "backup_workers": 0,
    },
    "trainer_desc": {
        "dump_fields_path": "",
        "dump_fields": [],
        "dump_param": [],
        "stat_var_names": [],
        "trainer": "",
        "device_worker": "",
        "local_sparse": [],
        "remote_sparse": [],
    },
    "sparse_table": {},
    "gradient_scale": {"scale_strategy": "avg", "scale_gradient": False},
}
_SWITCHES = (
    "amp",
    "recompute",
    "gradient_merge",
    "sharding",
    "pipeline",
    "tensor_parallel",
    "lamb",
    "lars",
    "localsgd",
    "adaptive_localsgd",
    "dgc",
    "qat",
    "asp",
    "fp16_allreduce",
    "fuse_grad_merge",
    "auto",
    "semi_auto",
    "auto_search",
    "elastic",
    "adam_d2sum",
    "heter_ccl_mode",
    "is_fl_ps_mode",
    "is_with_coordinator",
)
_PLAIN = {
    "find_unused_parameters": False,
    "fuse_all_reduce_ops": True,
    "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_num": 8,
    "last_comm_group_size_MB": 1.0,
    "nccl_comm_num": 1,
    "sync_nccl_allreduce": True,
    "use_hierarchical_allreduce": False,
    "hierarchical_allreduce_inter_nranks": 1,
    "sync_batch_norm": False,
    "cudnn_exhaustive_search": False,
    "cudnn_batchnorm_spatial_persistent": False,
    "conv_workspace_size_limit": 512,
    "without_graph_optimization": True,
    "a_sync": True,
    "split_data": True,
    "_calc_comm_same_stream": False,
    "_fuse_grad_size_in_TFLOPS": 50.0,
    "sync_param_name": ["embedding", "layer_norm", ".b_"],
}
# The settings of a BuildStrategy that Paddle keeps here, with the first values that differ from a new one.
_BUILD_DEFAULTS = {"enable_inplace": False, "fuse_broadcast_ops": False}
_BUILD_FIELDS = (
    *_BUILD_DEFAULTS,
    "allow_cuda_graph_capture",
    "cache_runtime_context",
    "debug_graphviz_path",
    "enable_addto",
    "enable_auto_fusion",
    "enable_backward_optimizer_op_deps",
    "fuse_all_optimizer_ops",
    "fuse_bn_act_ops",
    "fuse_bn_add_act_ops",
    "fuse_dot_product_attention",
    "fuse_elewise_add_act_ops",
    "fuse_gemm_epilogue",
    "fuse_relu_depthwise_conv",
    "fused_attention",
    "fused_feedforward",
    "reduce_strategy",
)
# settings that keep their value where they are given another type
_HELD_BY_TYPE = (*_SWITCHES[_SWITCHES.index("localsgd") :], "a_sync", "split_data")


class DistributedStrategy:
    """What a program asks of `fleet.init`: how many processes for each kind of parallelism, and how
    gradients travel.

    `hybrid_configs`: dict of `dp_degree` (default -1: what the others leave), `mp_degree`, `pp_degree`,
    `sharding_degree`; their product is the number of processes. Its `pp_configs`, `mp_configs`,
    `sharding_configs` and so on are objects with Paddle's fields, set by attribute or by a dict.
    `pp_configs.delay_scale_loss` divides gradients after the backward pass in place of the loss before it;
    knobs for overlap, buffers and NCCL are accepted. `find_unused_parameters`, `fuse_grad_size_in_MB`,
    `last_comm_group_size_MB`: as in DataParallel. `amp`, `recompute`, `gradient_merge`, `sharding`,
    `tensor_parallel`, `lamb`, `lars`, `sync_batch_norm`, `localsgd`, `adaptive_localsgd`, `dgc` and
    `fp16_allreduce` act on static programs, in Paddle too; `fleet.init` says so where one is on. `a_sync` and
    `sparse_table_configs` are for parameter servers; the second one is
    {table: {"table_parameters.TABLE.FIELD": value}}. Numbers for NCCL and cuDNN are accepted, and so is
    `build_strategy`, a `static.BuildStrategy`: XLA fuses operations itself.

    Raises:
        TypeError: an attribute is set that there is none of, or a degree is no int. AssertionError: a dict of
            settings has a key that there is none of.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> strategy = fleet.DistributedStrategy()
        >>> strategy.hybrid_configs = {"dp_degree": 2, "mp_degree": 2}
        >>> strategy.hybrid_configs["mp_degree"], strategy.hybrid_configs["sharding_degree"]
        (2, 1)
    """

    def __init__(self) -> None:
        values = _PLAIN | dict.fromkeys(_SWITCHES, False)
        values |= {f"{name}_configs": copy.deepcopy(found) for name, found in _CONFIGS.items()}
        values["hybrid_configs"] = _DEGREES | _HYBRID_SWITCHES | nested_configs()
        values["hybrid_parallel_order"] = list(_ORDER)
        values["build_strategy"] = dict(_BUILD_DEFAULTS)
        # Around `__setattr__`, which knows only the names in `_values`.
        object.__setattr__(self, "_values", values)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_values":  # of a copy
            object.__setattr__(self, name, value)
            return
        if name not in self._values:
            raise TypeError(
                f"{name} is not a attribute of DistributedStrategy; "
                f"there are {', '.join(sorted(self._values))}"
            )
        if not name.endswith("_configs"):
            self._set_plain(name, value)
            return
        if name == "sparse_table_configs" and not value:
            return
        if not isinstance(value, dict):
            raise TypeError(f"DistributedStrategy.{name}: got {type(value).__name__}; it must be a dict")
        # A copy: the order and nested settings are taken out of it.
        value = dict(value)
        if name == "hybrid_configs":
            self._take_order(value)
        for key in value:
            # the keys of the settings of tables are names of tables
            if name != "sparse_table_configs" and key not in self._values[name]:
                raise CheckError(f"key:{key} not in {name}; there are {', '.join(self._values[name])}")
        if name == "hybrid_configs":
            self._set_nested(value)
        self._values[name] = self._values[name] | value

    def _set_nested(self, value: dict[str, Any]) -> None:
        """Sets the fields of settings below `hybrid_configs` that a dict gives, and takes them out of it."""
        # A list first, since the loop takes keys out of the dict.
        for key in [key for key in value if isinstance(self._values["hybrid_configs"][key], NestedConfig)]:
            fields = value.pop(key)
            if isinstance(fields, NestedConfig):
                self._values["hybrid_configs"][key] = fields
            elif isinstance(fields, dict):
                self._values["hybrid_configs"][key].update(fields)
            else:
                raise TypeError(
                    f"DistributedStrategy.hybrid_configs: {key}: got {type(fields).__name__}; "
                    "it must be a dict"
                )

    def _set_plain(self, name: str, value: Any) -> None:
        if name in _HELD_BY_TYPE and not isinstance(value, bool):  # Paddle says so and keeps what it has
            warnings.warn(
                f"DistributedStrategy.{name}: got {value!r}, which is no bool; it stays {self._values[name]}",
                stacklevel=3,
            )
            return
        self._values[name] = _build_fields(value) if name == "build_strategy" else value
        if name == "a_sync":
            # As in Paddle, setting a_sync resets the steps between two exchanges.
            self._values["a_sync_configs"] = self._values["a_sync_configs"] | {"k_steps": 0}

    def _take_order(self, value: dict[str, Any]) -> None:
        """Takes the order of the dimensions out of a dict, and checks its degrees."""
        if "order" in value:
            order = list(value.pop("order"))
            if len(set(order)) < len(order) or not set(order) <= {*_ORDER, *_EXPERT_ORDER}:
                raise CheckError(
                    f"DistributedStrategy.hybrid_configs: order: got {order}; "
                    f"it must have each of {_ORDER} once, and may have {_EXPERT_ORDER}"
                )
            self._values["hybrid_parallel_order"] = order
        for key in set(value) & set(_DEGREES):
            if isinstance(value[key], bool) or not isinstance(value[key], int):
                raise TypeError(
                    f"DistributedStrategy.hybrid_configs: {key}: got {value[key]!r}; it must be an int"
                )

    def save_to_prototxt(self, output: str) -> None:
        """Writes the settings that differ from the defaults, for `load_from_prototxt` here and in Paddle.

        Args:
            output: str, a file.
        Raises:
            NotImplementedError: `sparse_table_configs` is set.
        Example:
            >>> from paddle_jax.distributed import fleet
            >>> strategy = fleet.DistributedStrategy()
            >>> strategy.pipeline_configs = {"accumulate_steps": 4}
            >>> strategy.save_to_prototxt("strategy.prototxt")
            >>> with open("strategy.prototxt") as file:
            ...     print(file.read())
            pipeline_configs {
              accumulate_steps: 4
            }
        """
        if self._values["sparse_table_configs"]:
            raise NotImplementedError(
                "DistributedStrategy.save_to_prototxt: sparse_table_configs is set; write it in the program"
            )
        changed = _changed(self._values, DistributedStrategy()._values)
        text = prototxt.text_of({name.removeprefix("_"): value for name, value in changed.items()})
        Path(output).write_text(text, encoding="utf-8")

    def load_from_prototxt(self, pb_file: str) -> None:
        """Takes over what `save_to_prototxt` has written, here or in Paddle. Other settings become defaults.

        Args:
            pb_file: str, the file.
        Raises:
            ValueError: the text is not in this format, or names a setting that there is none of.
            FileNotFoundError: there is no such file.
        """
        loaded = DistributedStrategy()
        try:
            fields = prototxt.fields_of(Path(pb_file).read_text(encoding="utf-8"))
            _take_fields(loaded._values, fields)
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"DistributedStrategy.load_from_prototxt: {pb_file}: {error}") from None
        self._values = loaded._values

    def __repr__(self) -> str:
        changed = {
            name: value
            for name, value in self._values.items()
            if value != DistributedStrategy()._values[name]
        }
        return f"DistributedStrategy({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _plain_dict(value: Any) -> Any:
    """The settings in a NestedConfig as a dict; anything else as it is."""
    return dict(value._values) if isinstance(value, NestedConfig) else value


def _changed(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The settings that differ from the defaults, also those within dicts."""
    found = {}
    for name, value in values.items():
        value = _plain_dict(value)
        default = _plain_dict(defaults.get(name))
        if value is None or value == default:
            continue
        found[name] = _changed(value, default) if isinstance(value, dict) else value
    return found


def _last_values(fields: prototxt.Fields) -> dict[str, Any]:
    """For each field its last value, which counts where a field occurs once."""
    return {
        name: _last_values(given[-1]) if isinstance(given[-1], dict) else given[-1]
        for name, given in fields.items()
    }


def _take_fields(values: dict[str, Any], fields: prototxt.Fields) -> None:
    """Puts the fields of a file into settings.

    Raises:
        ValueError: there is no such setting, or its value is of another kind.
    """
    for name, given in fields.items():
        # Paddle's file has no underscore before the names of its inner settings.
        key = name if name in values else f"_{name}"
        if key not in values:
            raise ValueError(f"{name}: there is no such setting; there are {', '.join(sorted(values))}")
        held = values[key]
        if isinstance(held, dict | NestedConfig) != isinstance(given[-1], dict):
            raise ValueError(f"{name}: got {given[-1]!r}; its default is {held!r}")
        if isinstance(held, list):
            values[key] = given
        elif isinstance(held, NestedConfig):
            held.update(_last_values(given[-1]))
        elif isinstance(held, dict):
            _take_fields(held, given[-1])
        elif isinstance(held, float) and not isinstance(given[-1], str):
            values[key] = float(given[-1])
        else:
            values[key] = given[-1]


def _build_fields(strategy: BuildStrategy) -> dict[str, Any]:
    """The settings of a BuildStrategy that Paddle keeps."""
    if not isinstance(strategy, BuildStrategy):
        raise AttributeError(
            f"DistributedStrategy.build_strategy: got {type(strategy).__name__}; "
            "it must be a paddle.static.BuildStrategy"
        )
    return {field: getattr(strategy, field) for field in _BUILD_FIELDS}


def _build_strategy(strategy: DistributedStrategy) -> BuildStrategy:
    """A copy: programs change it and assign it again, as in Paddle."""
    built = BuildStrategy()
    for field, value in strategy._values["build_strategy"].items():
        setattr(built, field, value)
    return built


def _setting(name: str) -> property:
    return property(lambda self: self._values[name], doc=f"The setting `{name}`.")


# Properties, so that a setting can be read, and shows up in `dir`.
for _name in DistributedStrategy()._values:
    setattr(DistributedStrategy, _name, _setting(_name))
DistributedStrategy.build_strategy = property(_build_strategy, doc="The setting `build_strategy`, a copy.")
