"""Methods and properties of Tensor that belong to static programs."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from paddle_jax._core.base.state import local
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax._program.parameters import declare_parameter
from paddle_jax._program.program import Program, default_main_program
from paddle_jax._program.recorder import data
from paddle_jax._program.variable import Variable
from paddle_jax.tensor.methods import _attach


def _block(self: Tensor) -> Program:
    return default_main_program().global_block()


Tensor.block = property(  # pyright: ignore[reportAttributeAccessIssue]
    _block,
    doc="The block of the default main program, which functions that fill a Parameter are given beside it.",
)


@_attach
def _to_static_var(self: Tensor, to_parameter: bool = False, **kwargs: Any) -> Variable:
    name = kwargs.get("name", self.name)
    shape = list(self.shape)
    # A plain Tensor becomes an input of the program, a Parameter one of its Parameters.
    if not (to_parameter or isinstance(self, Parameter)):
        return data(name, shape, self.dtype)
    program = local.ctx.frame.program
    return declare_parameter(
        # The value of this moment is what the startup program fills in.
        program,
        tuple(shape),
        numpy_dtype(self),
        name,
        not self.stop_gradient,
        lambda: jnp.array(self._value),
    )
