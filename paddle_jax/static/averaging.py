"""Moving averages of parameters, to be used instead of them when a model is evaluated."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._program.parameters import declare_variable
from paddle_jax._program.program import default_main_program
from paddle_jax._program.scope import global_scope
from paddle_jax.tensor.creation import full
from paddle_jax.tensor.math import minimum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddle_jax._core.tensors.tensor import Tensor


class ExponentialMovingAverage:
    """Keeps for every trainable Parameter `average = decay * average + (1 - decay) * parameter`,
    starting at zero.

    Args:
        decay: float.
        thres_steps: Variable of one integer, the number of steps: the decay is then at most (1 + steps) / (10
            + steps). Default None.
        name: str that becomes part of the names of the averages.
    Attributes:
        _decay, _steps, _name: as given: decay, thres_steps and name.
        _program: Program, the main one.
        _params: list of the trained parameters.
        _share: Variable, the product of the decays so far.
        _averages: dict of the averages.
        _backup: dict of the values that `apply` has replaced.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([1], "float32",
        ...                                        default_initializer=paddle.nn.initializer.Constant(2.0),
        ...                                        name="averaged_w")
        ...     ema = paddle.static.ExponentialMovingAverage(0.5)
        ...     ema.update()
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup); _ = exe.run(main)
        >>> with ema.apply(exe):
        ...     np.array(paddle.static.global_scope().find_var("averaged_w").get_tensor()).tolist()
        [2.0]
        >>> paddle.disable_static()
    """

    def __init__(
        self, decay: float = 0.999, thres_steps: Tensor | None = None, name: str | None = None
    ) -> None:
        recorder = local.ctx.frame
        if recorder.recording:
            program = recorder.program
        else:
            program = default_main_program()
        self._decay, self._steps, self._name = decay, thres_steps, name or ""
        self._program = program
        f32 = np.dtype(np.float32)
        # Parameters that are not trained keep their value, so their average would say nothing.
        self._params = [
            p
            for p in program.all_parameters()
            if not p.stop_gradient and getattr(p, "do_model_average", None) is not False
        ]
        # the share that the starting value, zero, still has in the averages: the product of all decays
        self._share = declare_variable(
            program, unique_name.generate(f"{self._name}ema_share"), (1,), f32, lambda: np.ones(1, f32)
        )
        self._averages = {}
        for param in self._params:
            shape = param.avals[0].shape
            dtype = param.avals[0].dtype
            own = unique_name.generate(f"{param.name}_{self._name}ema")
            self._averages[param.name] = declare_variable(
                program, own, shape, dtype, lambda shape=shape, dtype=dtype: np.zeros(shape, dtype)
            )
        self._backup = {}

    def update(self) -> None:
        """Adds the updates of the averages to the program; call it after the optimizer's `minimize`."""
        decay = full([1], self._decay, "float32")
        # Small at the beginning: the first parameters are random and should be forgotten soon.
        if self._steps is not None:
            steps = self._steps.astype("float32")
            decay = minimum(decay, ((steps + 1.0) / (steps + 10.0)).reshape([1]))
        self._share._adopt(self._share * decay)
        # `_adopt`: the Variable stands for the new value, which a run stores.
        for param in self._params:
            average = self._averages[param.name]
            # In the dtype of the parameter, which may be a low precision.
            rate = decay.astype(param.dtype)
            average._adopt(average * rate + param.detach() * (1 - rate))

    @contextlib.contextmanager
    def apply(self, executor: object, need_restore: bool = True) -> Iterator[None]:
        """Inside the block the Parameters have the averages, freed of the share of the starting value,
        as their values.

        Args:
            executor: accepted.
            need_restore: whether the Parameters get their own values back at the end; else call `restore`.
        """
        values = global_scope().values
        self._backup = {p.name: values[p.name] for p in self._params}
        # float64, as 1 - share has few digits left after many steps.
        share = np.float64(np.asarray(values[self._share.name])[0])
        for param in self._params:
            average = np.asarray(values[self._averages[param.name].name])
            values[param.name] = (
                # Before the first update the average is zero and the share 1: there is nothing to divide
                # by.
                jnp.asarray((average / (1.0 - share)).astype(average.dtype))
                if share < 1.0
                else jnp.asarray(average)
            )
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: object) -> None:
        """Gives the Parameters their own values back.

        Args:
            executor: accepted.
        """
        global_scope().values.update(self._backup)
        self._backup = {}


__all__ = ["ExponentialMovingAverage"]
