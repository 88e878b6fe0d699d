"""Variables and Parameters of a Program, which running its startup program fills."""

from paddle_jax._core.lazy.symbol import probe_avals
from paddle_jax._program.program import default_startup_program
from paddle_jax._program.variable import ParameterVariable, persistent


def declare_variable(program, name, shape, dtype, fill, stop_gradient=True, kind=None, startup=None):
    """A Variable that lives in the Scope; running the startup program puts `fill()` there."""
    made = persistent(
        program, name, probe_avals(shape, dtype), stop_gradient, **({} if kind is None else {"kind": kind})
    )
    program.home(made)
    startup = default_startup_program() if startup is None else startup
    startup.inits[name] = fill
    return made


def declare_parameter(program, shape, dtype, name, trainable, fill):
    """A Parameter of a Program. A name that the Program has already gives the Parameter that has it."""
    found = program.vars.get(name)
    if found is not None:
        if found.avals[0].shape != tuple(shape) or found.avals[0].dtype != dtype:
            raise ValueError(
                f"create_parameter: {name!r} exists with shape {list(found.shape)}; "
                f"it cannot have {list(shape)} as well"
            )
        return found
    made = declare_variable(program, name, shape, dtype, fill, not trainable, ParameterVariable)
    made.__dict__.update(is_distributed=False, init_func=None)
    return made


__all__ = ["declare_parameter", "declare_variable"]
