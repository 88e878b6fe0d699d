"""Settings of `auto_parallel.Engine`."""

from __future__ import annotations

from typing import Any

from paddle_jax.distributed.auto_parallel.step_strategy import Config
from paddle_jax.distributed.auto_parallel.step_strategy import Strategy as StepStrategy

# Paddle's sections that `dist.Strategy` lacks or has with other settings, and their defaults
_MORE_SECTIONS = {
    "qat": {
        "enable": False,
        "channel_wise_abs_max": True,
        "weight_bits": 8,
        "activation_bits": 8,
        "not_quant_pattern": ["skip_quant"],
        "algo": None,
        "onnx_format": True,
    },
    "tuning": {
        "enable": False,
        "profile_start_step": 1,
        "profile_end_step": 1,
        "run_after_tuning": True,
        "debug": False,
    },
    "dataset": {"enable": False, "num_shards": 1},
    # XLA fuses these operations in any case.
    "fused_linear_promotion": {"enable": False},
    "fused_passes": {"enable": False, "fused_passes_list": []},
}


class Strategy(StepStrategy):
    """Settings of `auto_parallel.Engine`: those of `paddle.distributed.Strategy`, and more sections by name.
    `qat`, `tuning` and `dataset` are refused where they are enabled.

    Args:
        config: dict of dicts, settings of sections that differ from the defaults.
    Raises:
        ValueError: `config` is no dict.
    Example:
        >>> from paddle_jax.distributed.fleet import auto
        >>> strategy = auto.Strategy({"recompute": {"enable": True}})
        >>> strategy.recompute.enable, strategy.gradient_merge.k_steps
        (True, 1)
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        if config is not None and not isinstance(config, dict):
            raise ValueError(f"Strategy: config: got {config!r}; it must be a dict")
        given = config or {}
        super().__init__({key: value for key, value in given.items() if key not in _MORE_SECTIONS})
        for name, defaults in _MORE_SECTIONS.items():
            setattr(self, f"_{name}", Config(defaults, given.get(name, {})))

    @property
    def recompute(self) -> Any:
        """Computing again in the backward pass: what the model passes to `fleet.utils.recompute`."""
        return self._recompute

    @property
    def mp_optimization(self) -> Any:
        """Operations of tensor parallelism that Paddle replaces: accepted, since XLA chooses them."""
        return self._mp_optimization

    @property
    def dp_optimization(self) -> Any:
        """How gradients travel: it changes nothing, and a warning says so."""
        return self._dp_optimization

    @property
    def sp_optimization(self) -> Any:
        """Operations of sequence parallelism that Paddle replaces: accepted, since XLA chooses them."""
        return self._sp_optimization

    @property
    def qat(self) -> Any:
        """Quantization while training: refused, use `paddle.quantization.QAT` on the model."""
        return self._qat

    @property
    def tuning(self) -> Any:
        """A search for settings: refused."""
        return self._tuning

    @property
    def dataset(self) -> Any:
        """Parts of a data set: refused, use `DistributedBatchSampler`."""
        return self._dataset

    @property
    def fused_linear_promotion(self) -> Any:
        """Operations that Paddle joins: accepted, since XLA fuses what it can."""
        return self._fused_linear_promotion

    def require_supported(self) -> None:
        """Raises NotImplementedError where a section is enabled that is not there."""
        instead = {
            "qat": "quantize the model by paddle.quantization.QAT",
            "tuning": "choose the settings by hand",
            "dataset": "pass a DataLoader with a DistributedBatchSampler",
        }
        for name, what in instead.items():
            if self.get(f"_{name}").enable:
                raise NotImplementedError(f"Engine: strategy.{name}: it is enabled and not there; {what}")


__all__ = ["Strategy"]
