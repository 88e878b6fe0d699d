"""Settings of `dist.to_static`."""

from __future__ import annotations

import copy
import warnings
from typing import Any

# Paddle's sections and defaults. Programs set them by name, also those that change nothing here.
_SECTIONS = {
    "sharding": {
        "enable": False,
        "stage": 1,
        "degree": 8,
        "enable_overlap": False,
        "param_comm_stream_num": 1,
        "grad_comm_stream_num": 1,
        "param_bucket_size_numel": 1,
        "grad_bucket_size_numel": 1,
        "enable_hierarchical_comm": False,
        "partition_algor": "greedy_even",
        "enable_tuning": False,
        "tuning_range": [],
        "release_gradients": False,
        "comm_buffer_size_MB": 256,
        "enable_tensor_fusion": False,
        "save_unbalanced_param": True,
    },
    "gradient_merge": {"enable": False, "k_steps": 1, "avg": True},
    "pipeline": {
        "enable": False,
        "schedule_mode": "1F1B",
        "pp_degree": 1,
        "vpp_degree": 1,
        "vpp_seg_method": "",
        "micro_batch_size": 1,
        "accumulate_steps": 1,
        "generation_batch_size": 1,
        "enable_send_recv_overlap": False,
        "job_schedule_profiler_start": -1,
        "job_schedule_profiler_stop": -1,
        "program_runtimes": [61, 72, 71, 34, 3],
        "memory_limit_times": -1,
        "split_backward": False,
        "auto_parallel_sync_shared_params": False,
    },
    "amp": {
        "enable": False,
        "dtype": "float16",
        "level": "o1",
        "init_loss_scaling": 32768.0,
        "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0,
        "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True,
        "custom_white_list": [],
        "custom_black_list": [],
        "custom_black_varnames": [],
        "use_fp16_guard": False,
        "use_bf16_guard": False,
        "use_master_grad": False,
        "use_promote": True,
    },
    "recompute": {
        "enable": False,
        "checkpoints": [],
        "no_recompute_segments": [],
        "sr": 0,
        "refined_ops_patterns": [],
        "enable_tuning": False,
    },
    "mp_optimization": {
        "allreduce_matmul_grad_overlapping": False,
        "replace_with_c_embedding": False,
        "replace_with_parallel_cross_entropy": False,
    },
    "dp_optimization": {
        "enable": False,
        "fuse_all_reduce_ops": True,
        "fuse_grad_size_in_MB": 32,
        "overlap_comm_cacl": True,
        "gradient_sync_after_accumulate": False,
    },
    "sp_optimization": {"enable": True},
    # XLA fuses these operations in any case.
    "fused_passes": {"enable": False, "gemm_epilogue": False, "dropout_add": False},
}
_PLAIN = {
    "auto_mode": "semi",
    "gradient_scale": True,
    "gradient_scale_using_allreduce_avg": False,
    "use_cache": True,
    "return_numpy": True,
    "all_ranks": False,
    "split_data": True,
    "seed": None,
    "reinit": False,
}


class Config:
    """Settings by attribute."""

    def __init__(self, defaults: Any, given: Any = ()) -> None:
        # Around `__setattr__`, which warns of names that are not there yet. Lists must not be shared.
        vars(self).update(copy.deepcopy(defaults))
        self.from_dict(dict(given))

    def __setattr__(self, name: Any, value: Any) -> None:
        if not name.startswith("_") and name not in vars(self):
            self._unknown(name, "it changes nothing")
        object.__setattr__(self, name, value)

    def _unknown(self, name: Any, what: Any) -> None:
        known = ", ".join(key.removeprefix("_") for key in vars(self))
        warnings.warn(f"Strategy: there is no setting {name!r}; {what}; there are {known}", stacklevel=4)

    def from_dict(self, config_dict: Any) -> None:
        """Takes over the settings in a dict that there are; others are left out, with a warning."""
        for key, value in config_dict.items():
            if key in vars(self):
                setattr(self, key, value)
            else:
                self._unknown(key, "it is left out")

    def to_dict(self) -> dict[str, dict[str, dict[str, Any] | Any] | Any]:
        """The settings as a dict."""
        return {
            key: value.to_dict() if isinstance(value, Config) else value for key, value in vars(self).items()
        }

    def get(self, k: Any, d: Any = None) -> Any:
        """The setting `k`, `d` if there is none."""
        return vars(self).get(k, d)

    def __repr__(self) -> str:
        return "{" + "".join(f'"{key}":"{value}",' for key, value in self.to_dict().items()) + "}"


class Strategy(Config):
    """Settings of `paddle.distributed.to_static`, in sections: `sharding`, `gradient_merge`,
    `pipeline`, `amp`.

    Args:
        config: dict of dicts, settings of sections that differ from the defaults.
    Raises:
        ValueError: `config` is no dict, or `fused_passes` has an unknown name.
    Example:
        >>> strategy = paddle.distributed.Strategy({"amp": {"enable": True, "dtype": "bfloat16"}})
        >>> strategy.amp.dtype, strategy.sharding.enable
        ('bfloat16', False)
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"Strategy: config: got {config!r}; it must be a dict")
        given = config or {}
        unknown = set(given.get("fused_passes", {})) - set(_SECTIONS["fused_passes"])
        if unknown:
            known = ", ".join(_SECTIONS["fused_passes"])
            raise ValueError(f"Strategy: fused_passes: got {', '.join(sorted(unknown))}; there are {known}")
        # Sections become Configs of their own below.
        super().__init__(_PLAIN, {key: value for key, value in given.items() if key not in _SECTIONS})
        for name, defaults in _SECTIONS.items():
            setattr(self, f"_{name}", Config(defaults, given.get(name, {})))

    @property
    def sharding(self) -> Any:
        """Cutting of optimizer states (`stage` 1), gradients (2) and parameters (3)."""
        return self._sharding

    @property
    def gradient_merge(self) -> Any:
        """Adding up gradients over `k_steps` calls before an update."""
        return self._gradient_merge

    @property
    def pipeline(self) -> Any:
        """A pipeline of layers."""
        return self._pipeline

    @property
    def fused_passes(self) -> Any:
        """Operations that Paddle joins: accepted, since XLA fuses what it can."""
        return self._fused_passes

    @property
    def amp(self) -> Any:
        """Mixed precision."""
        return self._amp

    @property
    def full_graph(self) -> Any:
        """Whether the whole step is one program: always."""
        return True
