"""Static programs: operations are recorded into a Program, which an Executor compiles and runs."""

from paddle_jax._core.tensor import Tensor as Variable  # an eager Tensor counts as one, as in Paddle
from paddle_jax.static import nn
from paddle_jax.static.backward import append_backward, gradients
from paddle_jax.static.executor import Executor
from paddle_jax.static.input_spec import InputSpec
from paddle_jax.static.io import (
    deserialize_persistables, deserialize_program, load, load_from_file, load_inference_model, load_program_state, normalize_program, save,
    save_inference_model, save_to_file, serialize_persistables, serialize_program, set_program_state,
)
from paddle_jax.static.parameters import create_global_var, create_parameter
from paddle_jax.static.program import Program, default_main_program, default_startup_program, program_guard
from paddle_jax.static.recorder import data
from paddle_jax.static.scope import global_scope, scope_guard

__all__ = [
    "Executor", "InputSpec", "Program", "Variable", "append_backward", "create_global_var", "create_parameter", "data",
    "default_main_program", "default_startup_program", "deserialize_persistables", "deserialize_program", "global_scope", "gradients",
    "load", "load_from_file", "load_inference_model", "load_program_state", "nn", "normalize_program", "program_guard", "save",
    "save_inference_model", "save_to_file", "scope_guard", "serialize_persistables", "serialize_program", "set_program_state",
]
