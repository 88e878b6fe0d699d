"""Config: where a model's files are, and the switches of Paddle's inference engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from paddle_jax._core.tensors.place import get_device
from paddle_jax.inference.types import PrecisionType


class Config:
    """Describes a model for `create_predictor`.

    XLA compiles the model whole, so switches that choose among Paddle's graph passes and kernel libraries
    (oneDNN, TensorRT, memory reuse, CINN) are accepted and change nothing; what asks about them tells what
    was set, and what asks about an engine that is not there says False.

    Args:
        prog_file: str, the `.json` file. May be set later with `set_prog_file`.
        params_file: str, the `.pdiparams` file.
    Attributes:
        _prog, _params: str, the two files.
        _buffer: bool, whether these are contents instead of paths.
        _gpu, _gpu_id, _pool_mb, _threads: settings of devices.
        _used: bool, whether a predictor was made from it.
        _on: dict from the names of switches to bool.
        _deleted: set of the passes that were deleted.
        _cache_dir: str, the argument of `set_optim_cache_dir`.
        _level: int, the level of optimization.
    Differs from Paddle: the files are looked for by `create_predictor`, not here.
    Example:
        >>> config = paddle.inference.Config("net.json", "net.pdiparams")
        >>> config.prog_file(), config.use_gpu()
        ('net.json', False)
    """

    Precision = PrecisionType
    Float32, Int8, Half, Bfloat16 = PrecisionType.__members__.values()

    def __init__(self, prog_file: str = "", params_file: str = "") -> None:
        self._prog, self._params, self._buffer = os.fspath(prog_file), os.fspath(params_file), False
        self._gpu = False
        self._gpu_id = 0
        self._pool_mb = 100
        self._threads = 1
        self._used = False
        self._on = {
            "ir_optim": True,
            "memory_optim": False,
            "mkldnn": True,
            "glog": True,
            "profile": False,
            "input_names": False,
            "new_ir": True,
        }
        self._deleted = set()
        self._cache_dir = ""
        self._level = 2

    # files --------------------------------------------------------------------------------------------------

    def set_model(self, prog_file: Any, params_file: str = "") -> None:
        """Sets both files."""
        self._prog, self._params, self._buffer = os.fspath(prog_file), os.fspath(params_file), False

    def set_prog_file(self, path: Any) -> None:
        """Sets the `.json` file."""
        self._prog = os.fspath(path)

    def set_params_file(self, path: Any) -> None:
        """Sets the `.pdiparams` file."""
        self._params = os.fspath(path)

    def set_model_buffer(
        self, prog_buffer: Any, prog_buffer_size: Any, params_buffer: Any, params_buffer_size: Any
    ) -> None:
        """Sets the contents of both files (bytes) instead of their names."""
        self._prog, self._params, self._buffer = (
            _bytes(prog_buffer, prog_buffer_size),
            _bytes(params_buffer, params_buffer_size),
            True,
        )

    def model_dir(self) -> str:
        """The directory of the model: "", since files are named one by one."""
        return ""

    def prog_file(self) -> Any:
        """The `.json` file."""
        return self._prog

    def params_file(self) -> Any:
        """The `.pdiparams` file."""
        return self._params

    def model_from_memory(self) -> bool:
        """Whether the contents were given with `set_model_buffer`."""
        return self._buffer

    # devices ------------------------------------------------------------------------------------------------

    def enable_use_gpu(
        self, memory_pool_init_size_mb: Any, device_id: Any = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Asks for a GPU; it is used when JAX has one. The model runs in the precision it was saved in."""
        self._gpu, self._gpu_id, self._pool_mb = True, int(device_id), int(memory_pool_init_size_mb)

    def disable_gpu(self) -> None:
        """Asks for the CPU."""
        self._gpu = False

    def use_gpu(self) -> bool:
        """Whether a GPU was asked for and JAX runs on one."""
        return self._gpu and get_device().startswith("gpu")

    def gpu_device_id(self) -> int:
        """The number of the GPU."""
        return self._gpu_id

    def memory_pool_init_size_mb(self) -> int:
        """What `enable_use_gpu` was given; JAX manages memory itself."""
        return self._pool_mb

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """0.0: JAX manages memory itself."""
        return 0.0

    def set_cpu_math_library_num_threads(self, count: Any) -> None:
        """Keeps a number of threads; XLA uses all cores."""
        self._threads = int(count)

    def cpu_math_library_num_threads(self) -> int:
        """What `set_cpu_math_library_num_threads` was given."""
        return self._threads

    # switches -----------------------------------------------------------------------------------------------

    def switch_ir_optim(self, x: Any = True) -> None:
        """Kept; XLA always optimises."""
        self._on["ir_optim"] = bool(x)

    def ir_optim(self) -> bool:
        """What `switch_ir_optim` was given."""
        return self._on["ir_optim"]

    def enable_memory_optim(self, x: Any = True) -> None:
        """Kept; XLA always reuses memory."""
        self._on["memory_optim"] = bool(x)

    def switch_specify_input_names(self, x: Any = True) -> None:
        """Kept; inputs always have names."""
        self._on["input_names"] = bool(x)

    def specify_input_name(self) -> bool:
        """What `switch_specify_input_names` was given."""
        return self._on["input_names"]

    def disable_glog_info(self) -> None:
        """Kept; nothing is logged anyway."""
        self._on["glog"] = False

    def glog_info_disabled(self) -> bool:
        """Whether `disable_glog_info` was called."""
        return not self._on["glog"]

    def enable_new_ir(self, x: Any = True) -> None:
        """Kept; models are PIR programs."""
        self._on["new_ir"] = bool(x)

    def new_ir_enabled(self) -> bool:
        """What `enable_new_ir` was given."""
        return self._on["new_ir"]

    def enable_mkldnn(self) -> None:
        """Kept; XLA's kernels are used."""
        self._on["mkldnn"] = True

    def disable_mkldnn(self) -> None:
        """Kept; XLA's kernels are used."""
        self._on["mkldnn"] = False

    def mkldnn_enabled(self) -> bool:
        """What was set last."""
        return self._on["mkldnn"]

    enable_onednn = enable_mkldnn
    disable_onednn = disable_mkldnn
    onednn_enabled = mkldnn_enabled

    def set_optim_cache_dir(self, path: Any) -> None:
        """Kept; compiled models are in paddle_jax's cache (FLAGS_compile_cache)."""
        self._cache_dir = os.fspath(path)

    def set_optimization_level(self, opt_level: Any = 2) -> None:
        """Kept; XLA has one level."""
        self._level = int(opt_level)

    def delete_pass(self, name: Any) -> None:
        """Kept; Paddle's passes do not run."""
        self._deleted.add(name)

    def summary(self) -> str:
        """A table of what is set, as text."""
        rows = {
            "model_file": "(in memory)" if self._buffer else self._prog,
            "params_file": "(in memory)" if self._buffer else self._params,
            "use_gpu": self.use_gpu(),
            "ir_optim": self._on["ir_optim"],
            "memory_optim": self._on["memory_optim"],
            "compiler": "XLA",
        }
        wide = max(len(str(value)) for value in rows.values())
        return "\n".join(f"| {name:<16} | {str(value):<{wide}} |" for name, value in rows.items()) + "\n"


def _bytes(buffer: bytes, size: int) -> bytes:
    if isinstance(buffer, str):
        # C++ strings of bytes, one character for each.
        data = buffer.encode("latin1")
    else:
        data = bytes(buffer)
    return data[: int(size)]


def _accepted(name: str, what: str) -> Callable[..., Any]:
    def switch(self, *args: Any, **kwargs: Any) -> None:
        return None

    switch.__name__, switch.__doc__ = name, f"Accepted; it changes nothing: {what}."
    return switch


def _answer(name: str, value: Any, what: str) -> Callable[..., Any]:
    def query(self) -> bool:
        return value

    query.__name__, query.__doc__ = name, f"{value!r}: {what}."
    return query


_PASSES = "XLA compiles the model whole"
_TRT = "XLA takes the place of TensorRT"
_KERNELS = "XLA's kernels are used"
for _name, _what in {
    "enable_cinn": _PASSES,
    "switch_use_feed_fetch_ops": "inputs and outputs go through handles",
    "enable_custom_passes": _PASSES,
    "enable_new_executor": _PASSES,
    "enable_profile": "use paddle.profiler",
    "enable_save_optim_model": _PASSES,
    "use_optimized_model": _PASSES,
    "switch_ir_debug": _PASSES,
    "enable_low_precision_io": _PASSES,
    "exp_disable_mixed_precision_ops": _PASSES,
    "exp_enable_mixed_precision_ops": _PASSES,
    "exp_enable_use_cutlass": _KERNELS,
    "collect_shape_range_info": _TRT,
    "enable_tensorrt_engine": _TRT,
    "enable_tensorrt_memory_optim": _TRT,
    "enable_tensorrt_varseqlen": _TRT,
    "enable_tensorrt_dla": _TRT,
    "enable_tensorrt_inspector": _TRT,
    "enable_tensorrt_explicit_quantization": _TRT,
    "mark_trt_engine_outputs": _TRT,
    "enable_tuned_tensorrt_dynamic_shape": _TRT,
    "set_tensorrt_optimization_level": _TRT,
    "set_trt_dynamic_shape_info": _TRT,
    "exp_disable_tensorrt_ops": _TRT,
    "exp_disable_tensorrt_subgraph": _TRT,
    "exp_disable_tensorrt_dynamic_shape_ops": _TRT,
    "exp_specify_tensorrt_subgraph_precision": _TRT,
    "enable_onnxruntime": _KERNELS,
    "disable_onnxruntime": _KERNELS,
    "enable_ort_optimization": _KERNELS,
    "enable_openvino_engine": _KERNELS,
    "enable_mkldnn_bfloat16": _KERNELS,
    "enable_mkldnn_int8": _KERNELS,
    "enable_onednn_bfloat16": _KERNELS,
    "enable_onednn_int8": _KERNELS,
    "disable_mkldnn_fc_passes": _KERNELS,
    "disable_onednn_fc_passes": _KERNELS,
    "set_mkldnn_cache_capacity": _KERNELS,
    "set_onednn_cache_capacity": _KERNELS,
    "set_mkldnn_op": _KERNELS,
    "set_onednn_op": _KERNELS,
    "set_bfloat16_op": _KERNELS,
}.items():
    setattr(Config, _name, _accepted(_name, _what))
for _name in (
    "tensorrt_engine_enabled",
    "tensorrt_dla_enabled",
    "tensorrt_dynamic_shape_enabled",
    "tensorrt_explicit_quantization_enabled",
    "tensorrt_inspector_enabled",
    "tensorrt_varseqlen_enabled",
    "trt_allow_build_at_runtime",
    "tuned_tensorrt_dynamic_shape",
    "shape_range_info_collected",
    "onnxruntime_enabled",
    "openvino_engine_enabled",
    "mkldnn_int8_enabled",
    "onednn_int8_enabled",
    "use_xpu",
    "use_feed_fetch_ops_enabled",
):
    setattr(Config, _name, _answer(_name, False, "there is no such engine here"))
Config.tensorrt_precision_mode = _answer(
    "tensorrt_precision_mode", PrecisionType.Float32, "there is no TensorRT here"
)
Config.tensorrt_optimization_level = _answer("tensorrt_optimization_level", 3, "there is no TensorRT here")
Config.shape_range_info_path = _answer("shape_range_info_path", "", "there is no TensorRT here")
