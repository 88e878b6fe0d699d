"""Optimizers of static programs that train in mixed precision."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._core.tensors.held_values import held_symbol, numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.parameters import declare_variable
from paddle_jax._program.program import default_startup_program, program_guard
from paddle_jax.amp.grad_scaler import unscaling, updating
from paddle_jax.static import optimize
from paddle_jax.static.amp.fp16_lists import AutoMixedPrecisionLists, low_dtype
from paddle_jax.static.amp.fp16_utils import cast_model_to_fp16, cast_parameters_to_fp16

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.place import Place
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax._program.operation import Operation
    from paddle_jax._program.program import Program
    from paddle_jax._program.scope import Scope
    from paddle_jax.optimizer.optimizer import Optimizer


class OptimizerWithMixedPrecision:
    """An optimizer whose `minimize` makes a program train in mixed precision; use `decorate`.

    All other attributes are those of the optimizer.

    Attributes:
        _optimizer: Optimizer, which makes the updates.
        _level: str, "O1" or "O2".
        _dtype: str, the low precision.
        _amp_lists: AutoMixedPrecisionLists.
        _init_loss_scaling: float, the first scale.
        _dynamic: bool, whether the scale changes.
        _settings: tuple of the four numbers that say how it changes.
        _guarded: bool, the argument use_amp_guard.
        _master_grad: bool, whether gradients become float32.
        _promote: bool, the argument use_promote.
        _program: Program, or None before `minimize`.
        _scale, _scaled_loss: Variable or None.
        _low: set of the parameters that became low precision.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        amp_lists: AutoMixedPrecisionLists | None,
        level: str,
        dtype: DTypeLike,
        init_loss_scaling: float,
        use_dynamic_loss_scaling: bool,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int,
        incr_ratio: float,
        decr_ratio: float,
        use_amp_guard: bool | None = None,
        use_master_grad: bool = False,
        use_promote: bool = False,
    ) -> None:
        self._optimizer, self._level, self._dtype = optimizer, level, low_dtype("decorate", dtype)
        self._amp_lists = amp_lists or AutoMixedPrecisionLists(dtype=self._dtype)
        self._init_loss_scaling = float(init_loss_scaling)
        self._dynamic = use_dynamic_loss_scaling
        self._settings = incr_ratio, decr_ratio, incr_every_n_steps, decr_every_n_nan_or_inf
        self._guarded = bool(use_amp_guard)
        self._master_grad = use_master_grad
        self._promote = use_promote
        self._program = self._scale = self._scaled_loss = None
        self._low = set()

    def __getattr__(self, name: str) -> Any:
        # Attributes of the optimizer are found here; without it there would be no end.
        if name == "_optimizer":  # while it is being made or copied
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def get_loss_scaling(self) -> Tensor | None:
        """The Variable of the scale, None without one."""
        return self._scale

    def get_scaled_loss(self) -> Tensor | None:
        """The Variable of the scaled loss, None before `backward`."""
        return self._scaled_loss

    def amp_init(
        self,
        place: Place,
        scope: Scope | None = None,
        test_program: Program | None = None,
        use_fp16_test: bool = False,
        rewrite_master_weight: bool = False,
    ) -> None:
        """Casts the values of the parameters in a Scope, after the startup program has run; at level O1 there
        is nothing to do.

        Args:
            place: accepted.
            scope: Scope. Default: the global one.
            test_program: Program cloned for testing, rewritten with `use_fp16_test`. Default None.
            use_fp16_test: rewrite test_program. Default False.
            rewrite_master_weight: give the optimizer's float32 copies the values from before the
                cast. Default False.
        """
        if test_program is not None and use_fp16_test:
            cast_model_to_fp16(
                test_program, self._amp_lists, self._guarded, self._dtype, self._level, self._promote
            )
        # Level O2 alone has such parameters.
        if self._low:
            masters = {
                name: self._program.vars[name + "_fp32_master_0"]
                for name in self._low
                if name + "_fp32_master_0" in self._program.vars
            }
            cast_parameters_to_fp16(
                place, self._program, scope, self._low, self._dtype, rewrite_master_weight, masters
            )

    def backward(
        self,
        loss: Tensor,
        startup_program: Program | None = None,
        parameter_list: Sequence[Tensor] | None = None,
        no_grad_set: Iterable[Tensor | str] | None = None,
        callbacks: Sequence[Callable[..., None]] = None,
    ) -> list[tuple[Tensor, Tensor]]:
        """Rewrites the program of a loss into mixed precision and adds gradients of the scaled loss; returns
        pairs of Parameter and gradient."""
        program = self._program = held_symbol(loss).program
        startup = startup_program or default_startup_program()
        self._low = cast_model_to_fp16(
            program,
            self._amp_lists,
            self._guarded and self._level == "O2",
            self._dtype,
            self._level,
            self._promote,
        )
        # Startup fills them in the low precision, so that `amp_init` finds what it expects.
        for name in self._low & startup.initializers.keys():
            startup.initializers[name] = _lowered(
                startup.initializers[name], program.vars[name].avals[0].dtype
            )
        with program_guard(program, startup):
            if numpy_dtype(loss) == np.float32:
                self._scaled_loss = loss
            else:
                self._scaled_loss = loss.astype("float32")
            if self._scales:
                self._scale = declare_variable(
                    program,
                    unique_name.generate("loss_scaling"),
                    (1,),
                    np.dtype(np.float32),
                    lambda: np.full([1], self._init_loss_scaling, np.float32),
                    startup=startup,
                )
                # Small gradients of float16 would become zero; the scaled loss makes them larger.
                self._scaled_loss = self._scaled_loss * self._scale
                # One number, as gradients start from a scalar.
                self._scaled_loss = self._scaled_loss.sum()
            return optimize.backward(
                self._optimizer, self._scaled_loss, parameter_list, no_grad_set, callbacks
            )

    @property
    def _scales(self) -> bool:
        return self._dynamic or self._init_loss_scaling != 1.0

    def apply_gradients(self, params_grads: Sequence[tuple[Tensor, Tensor]]) -> list[Operation]:
        """Adds the updates: nothing changes in a run whose gradients are infinite or NaN.
        Returns the operations."""
        return self.apply_optimize(None, None, params_grads)

    def apply_optimize(
        self,
        loss: Tensor | None,
        startup_program: Program | None,
        params_grads: Sequence[tuple[Tensor, Tensor]],
    ) -> list[Operation]:
        """As `apply_gradients`; the loss is accepted."""
        program = self._program
        optimizer = self._optimizer
        startup = startup_program or default_startup_program()
        with program_guard(program, startup):
            recorder = local.ctx.frame
            found = None
            pairs = [(p, g.astype("float32") if self._master_grad else g) for p, g in params_grads]
            if self._scales:
                symbols = [
                    recorder.symbol(self._scale),
                    held_symbol(recorder.constant(np.zeros([1], bool))),
                    *[held_symbol(g) for _, g in pairs],
                ]
                *grads, found = recorder.record(unscaling(len(pairs)), symbols, [True] * len(symbols))
                pairs = [(p, g) for (p, _), g in zip(pairs, grads, strict=True)]
                # The update leaves everything as it is where a gradient is not finite.
                optimizer._skip = held_symbol(found)
            try:
                done = optimize.apply_gradients(optimizer, pairs, program, startup)
            finally:
                # The optimizer may serve other programs as well.
                optimizer.__dict__.pop("_skip", None)
            if self._dynamic:
                counts = [
                    declare_variable(
                        program,
                        unique_name.generate(name),
                        (),
                        np.dtype(np.int32),
                        lambda: np.int32(0),
                        startup=startup,
                    )
                    for name in ("num_good_steps", "num_bad_steps")
                ]
                state = [self._scale, *counts]
                symbols = [*map(recorder.symbol, state), held_symbol(found)]
                # New scale and counts: Variables of the program, stored by each run.
                for variable, new in zip(
                    state, recorder.record(updating(*self._settings), symbols, [True] * 4), strict=False
                ):
                    program.write(variable, held_symbol(new))
        return done

    def minimize(
        self,
        loss: Tensor,
        startup_program: Program | None = None,
        parameter_list: Sequence[Tensor] | None = None,
        no_grad_set: Iterable[Tensor | str] | None = None,
    ) -> tuple[list[Operation], list[tuple[Tensor, Tensor]]]:
        """Adds gradients and updates in mixed precision; returns (operations, pairs of
        Parameter and gradient)."""
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self.apply_optimize(loss, startup_program, pairs), pairs


def _lowered(fill: Callable[[], Any], dtype: np.dtype) -> Callable[[], Any]:
    """An initialisation that gives a low precision."""
    return lambda: wrap(fill())._value.astype(dtype)


def _older(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionLists | None = None,
    init_loss_scaling: float = 2**15,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool = True,
    use_pure_fp16: bool = False,
    use_fp16_guard: bool | None = None,
    use_bf16: bool = False,
    use_promote: bool = False,
) -> OptimizerWithMixedPrecision:
    if use_fp16_guard is None:
        guard = use_pure_fp16
    else:
        guard = use_fp16_guard
    # bfloat16 has the range of float32: nothing has to be scaled.
    if use_bf16:
        init_loss_scaling = 1.0
        use_dynamic_loss_scaling = False
    # Parameters of low precision need float32 copies for small updates.
    optimizer._multi_precision = optimizer._multi_precision or use_pure_fp16
    return OptimizerWithMixedPrecision(
        optimizer,
        amp_lists,
        "O2" if use_pure_fp16 else "O1",
        "bfloat16" if use_bf16 else "float16",
        init_loss_scaling,
        use_dynamic_loss_scaling,
        incr_every_n_steps,
        decr_every_n_nan_or_inf,
        incr_ratio,
        decr_ratio,
        guard,
        False,
        use_promote,
    )


def _newer(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionLists | None = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    master_weight: bool | None = None,
    master_grad: bool = False,
    init_loss_scaling: float = 2**16,
    incr_every_n_steps: int = 2000,
    decr_every_n_nan_or_inf: int = 1,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.5,
    use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool = False,
    use_promote: bool = False,
) -> OptimizerWithMixedPrecision:
    if level not in ("OD", "O1", "O2"):
        raise ValueError(f"decorate: level: got {level!r}; it must be 'OD', 'O1' or 'O2'")
    # Only float16 needs a scale.
    if use_dynamic_loss_scaling is None:
        dynamic = low_dtype("decorate", dtype) == "float16"
    else:
        dynamic = use_dynamic_loss_scaling
    if not dynamic and use_dynamic_loss_scaling is None:
        init_loss_scaling = 1.0
    if level == "O2":
        optimizer._multi_precision = master_weight is not False
    return OptimizerWithMixedPrecision(
        optimizer,
        amp_lists,
        level,
        dtype,
        init_loss_scaling,
        dynamic,
        incr_every_n_steps,
        decr_every_n_nan_or_inf,
        incr_ratio,
        decr_ratio,
        use_amp_guard,
        master_grad,
        use_promote,
    )


def decorate(*args: Any, **kwargs: Any) -> OptimizerWithMixedPrecision:
    """Makes an optimizer train static programs in mixed precision.

    Args:
        optimizer: Optimizer.
        amp_lists: AutoMixedPrecisionLists. Default: those of Paddle.
        level: "O1", "O2" (parameters have a low precision) or "OD". Default "O1".
        dtype: "float16" or "bfloat16". Default "float16".
        master_weight: at level O2, False: no float32 copies of parameters. Default None: there are.
        master_grad: True: gradients are float32 when they are clipped and used. Default False.
        init_loss_scaling, incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio: of the loss
            scaling, see `paddle.amp.GradScaler`.
        use_dynamic_loss_scaling: Default: for float16.
        use_amp_guard: at level O2, only operations inside `fp16_guard` get a low precision. Default False.
        use_promote: at level O2, operations with a float32 operand that are on no list run in
            float32. Default False.
        use_pure_fp16, use_fp16_guard, use_bf16: Paddle's older arguments for level O2,
            use_amp_guard and bfloat16.
    Returns:
        OptimizerWithMixedPrecision: call `minimize`, run the startup program, call `amp_init` at level O2.
    Differs from Paddle: works for the programs that Paddle 3.3.1 makes; Paddle's raises for them.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.static.nn.fc(paddle.static.data("x", [4, 3]), 1).mean()
        ...     optimizer = paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16",
        ...                                            level="O1")
        ...     _ = optimizer.minimize(loss)
        >>> _ = paddle.static.Executor().run(startup)
        >>> paddle.disable_static()
    """
    # The older form of Paddle has the lists or numbers where the newer one has the level.
    older = (
        {"use_pure_fp16", "use_fp16_guard", "use_bf16"} & kwargs.keys()
        or len(args) > 2
        and not isinstance(args[2], str)
    )
    chosen = _older if older else _newer
    bound = inspect.signature(chosen).bind(*args, **kwargs)
    return chosen(*bound.args, **bound.kwargs)


__all__ = ["OptimizerWithMixedPrecision", "decorate"]
