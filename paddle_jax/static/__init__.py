"""Static programs: operations are recorded into a Program, which an Executor compiles and runs."""

from paddle_jax._core.tensors.tensor import Tensor as Variable  # an eager Tensor counts as one, as in Paddle
from paddle_jax.static import amp, nn
from paddle_jax.static.averaging import ExponentialMovingAverage
from paddle_jax.static.backward import append_backward, gradients
from paddle_jax.static.executor import Executor
from paddle_jax.static.guards import cpu_places, cuda_places, device_guard, name_scope
from paddle_jax._program.input_spec import InputSpec
from paddle_jax.static.io import (
    deserialize_persistables,
    deserialize_program,
    load,
    load_from_file,
    load_inference_model,
    load_program_state,
    normalize_program,
    save,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    set_program_state,
)
from paddle_jax.static.metrics import accuracy, auc
from paddle_jax.static.nn.python import py_func
from paddle_jax.static.parameters import create_global_var, create_parameter
from paddle_jax.static.printing import Print
from paddle_jax._program import tensor_methods as _tensor_methods
from paddle_jax._program.program import Program, default_main_program, default_startup_program, program_guard
from paddle_jax._program.recorder import data
from paddle_jax._program.scope import Scope, global_scope, scope_guard
from paddle_jax.static.strategy import BuildStrategy, CompiledProgram
from paddle_jax.static.variable_files import load_vars, save_vars
from paddle_jax.static.weight_norm import WeightNormParamAttr

__all__ = [
    "BuildStrategy",
    "CompiledProgram",
    "Executor",
    "ExponentialMovingAverage",
    "InputSpec",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "WeightNormParamAttr",
    "accuracy",
    "amp",
    "append_backward",
    "auc",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "device_guard",
    "global_scope",
    "gradients",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "load_vars",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "py_func",
    "save",
    "save_inference_model",
    "save_to_file",
    "save_vars",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]
