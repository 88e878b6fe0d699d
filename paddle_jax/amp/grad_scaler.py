"""Loss scaling: keeps gradients of float16 within its range. Scale and counters are Tensors, so that nothing
waits for the device."""

from __future__ import annotations

import collections
import enum
import functools as ft
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.base.interrupt_safe import eager_evaluation, swapped_attributes
from paddle_jax._core.base.state import Precision, local
from paddle_jax._core.execution.module_protocol import CapturedState
from paddle_jax._core.kernels.kernel import Kernel, execute
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.multi_device import read_on_all
from paddle_jax._core.lazy.recording import extend_step
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.layout import by_devices
from paddle_jax._core.tensors.tensor import Tensor, assign_all, read_raw, wrap
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.tensor.math import multiply

if TYPE_CHECKING:
    import jax


_SETTINGS = ("incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf")


class OptimizerState(enum.Enum):
    """What has been done with an optimizer since the last `update`."""

    INIT, UNSCALED, STEPPED = range(3)


class AmpScaler:
    """Loss scaling with `scale` and `minimize`; see `GradScaler`, which also has `step`,
    `unscale_` and `update`.

    Args:
        enable: False: every method passes its arguments on. Default True.
        init_loss_scaling: float, the first scale. Default 32768.
        incr_ratio: float > 1, the factor by which the scale grows. Default 2.
        decr_ratio: float < 1, the factor by which it shrinks. Default 0.5.
        incr_every_n_steps: it grows after so many steps in a row with finite gradients. Default 1000.
        decr_every_n_nan_or_inf: it shrinks after so many in a row with infinite or NaN ones. Default 1.
        use_dynamic_loss_scaling: False: the scale stays as it is. Default True.
    Attributes:
        _incr_every_n_steps, _decr_every_n_nan_or_inf: as given.
        _enable: bool, whether losses are scaled at all.
        _use_dynamic_loss_scaling: bool, whether the scale changes.
        _init_loss_scaling: float, the first scale.
        _scale: Tensor, the present scale, or None when disabled.
        _stages: tuple of (id of an optimizer, how far its step has come).
        _incr_ratio, _decr_ratio: float, the factors of growth and decrease.
        _incr, _decr: Tensor, the steps in a row without, and with, values that are not finite.
        _found_inf: Tensor of bool [1], whether the present step has such values.
        _cache_found_inf: Tensor of bool [1], whether the last step was left out, for PaddleNLP's trainer.
    Raises:
        AssertionError: a ratio is out of range.
    Example:
        >>> weight = paddle.create_parameter([1], "float32")
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
        >>> scaler = paddle.amp.AmpScaler(init_loss_scaling=8.0, use_dynamic_loss_scaling=False)
        >>> scaled = scaler.scale(weight.sum())
        >>> scaled.backward()
        >>> _ = scaler.minimize(optimizer, scaled)
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**15,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        self._enable = bool(enable)
        self._use_dynamic_loss_scaling = bool(enable and use_dynamic_loss_scaling)
        self._init_loss_scaling = 1.0
        self._scale = None
        self._stages = ()
        if not enable:
            return
        self._init_loss_scaling = init_loss_scaling
        self._incr_ratio = _above("incr_ratio", incr_ratio)
        self._decr_ratio = _below("decr_ratio", decr_ratio)
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._scale = _held([init_loss_scaling], np.float32)
        self._incr = _held(0, np.int32)
        self._decr = _held(0, np.int32)
        self._found_inf = _held([False], np.bool_)
        self._cache_found_inf = _held([False], np.bool_)

    def scale(self, var: Tensor) -> Tensor:
        """A loss times the scale.

        Args:
            var: Tensor.
        Returns:
            Tensor.
        """
        if self._enable and self._use_dynamic_loss_scaling:
            self._check_dtype()
        if self._enable:
            return multiply(var, self._scale)
        return var

    def _check_dtype(self) -> None:
        """Switches itself off where the last guard was not float16, as Paddle does."""
        frame = local.ctx.frame
        name = frame.precision or frame.guarded_value(lambda: Precision.dtype)
        if name == "float16":
            return
        self._touch()
        self._enable = self._use_dynamic_loss_scaling = False
        warnings.warn(
            f"GradScaler: the last auto_cast guard was {name}, which has the range of float32: "
            "the scaler does nothing. Leave it out, or use float16",
            stacklevel=3,
        )

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Takes the scale off the gradients, lets the optimizer step unless one is infinite or NaN, and
        updates the scale.

        Args:
            optimizer: Optimizer.
            args, kwargs: of `Optimizer.minimize`: the scaled loss.
        Returns:
            What `Optimizer.minimize` returns.
        """
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if self._stage(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)
        result = self._guarded(optimizer, lambda: optimizer.minimize(*args, **kwargs))
        self._finish()
        return result

    def __paddle_jax_state__(self) -> CapturedState:
        """The attributes that a compiled step depends on."""
        return CapturedState(values=[(self.__dict__, name, value) for name, value in self.__dict__.items()])

    # parts of a step ----------------------------------------------------------------------------------------

    def _touch(self) -> None:
        """Tells a run that is being compiled that attributes change."""
        local.ctx.frame.on_state_change(self, lambda: self._stages)

    def _stage(self, optimizer: Any) -> OptimizerState:
        self._touch()
        return OptimizerState(dict(self._stages).get(id(optimizer), 0))

    def _set_stages(self, stages: Iterable[tuple[int, int]]) -> None:
        self._touch()
        self._stages = tuple(stages)

    def _mark(self, optimizer: Any, stage: OptimizerState) -> None:
        self._set_stages(sorted({**dict(self._stages), id(optimizer): stage.value}.items()))

    @property
    def _optimizer_states(self) -> dict[int, dict[str, OptimizerState]]:
        """By id of an optimizer: its state and whether gradients were infinite or NaN."""
        states = collections.defaultdict(lambda: {"state": OptimizerState.INIT})
        return states | {i: {"state": OptimizerState(stage)} for i, stage in self._stages}

    def _unscale(self, optimizer: Any) -> None:
        """Divides the gradients by the scale and notes whether one is infinite or NaN."""
        if not self._enable:
            return
        stage = self._stage(optimizer)
        if stage is not OptimizerState.INIT:
            raise RuntimeError(
                "unscale_: it has already been called on this optimizer; call update() first"
                if stage is OptimizerState.UNSCALED
                else "unscale_: step() has already been called on this optimizer; call update() first"
            )
        if isinstance(optimizer, Optimizer):
            optimizer._report_grad_access()
            params = optimizer._all_params()
        else:  # an object that wraps an optimizer, such as those of fleet
            params = optimizer._parameter_list
        # Frozen parameters may hold gradients of earlier steps; those are left alone.
        trained = [p for p in params if p._grad is not None and not p.stop_gradient]
        on_meshes = [[p._grad for p in some] for some in by_devices(trained)]
        if len(on_meshes) > 1:
            self._unscale_apart(on_meshes)
        elif on_meshes:
            *new, found = self._unscaled(on_meshes[0])
            assign_all([*on_meshes[0], self._found_inf], [*new, found])
        everywhere = getattr(optimizer, "_found_everywhere", None)
        if everywhere is not None:  # an optimizer of several processes: all of them step, or none
            self._found_inf._rebind(everywhere(self._found_inf._value))
        self._mark(optimizer, OptimizerState.UNSCALED)

    def _unscaled(self, grads: Sequence[Tensor]) -> Sequence[Any]:
        """Gradients on the same devices divided by the scale, and whether one of them is not finite, or was
        found before."""
        return execute(
            unscaling(len(grads)), [read_raw(self._scale), read_raw(self._found_inf), *map(read_raw, grads)]
        )

    def _unscale_apart(self, on_meshes: Sequence[Sequence[Tensor]]) -> None:
        """Divides the gradients of the stages of a pipeline: all stages make a step, or none."""
        anywhere = False
        for grads in on_meshes:
            *new, found = self._unscaled(grads)
            assign_all(grads, new)
            # The read goes first: all processes take part in it, also when an earlier stage has found
            # something.
            anywhere = bool(read_on_all(to_jax_array(found))) or anywhere
        self._found_inf._rebind(persistent_from_numpy(np.array([anywhere])))

    def _guarded(self, optimizer: Any, step: Callable[[], Any]) -> Any:
        """Runs a step that leaves everything as it is if gradients were infinite or NaN."""
        # `_finish` clears the flag; here programs read what the last step found.
        self._cache_found_inf._rebind(read_raw(self._found_inf))
        # A class with a `step` of its own does not read `_skip`, so the flag is read on the host.
        if type(optimizer).step is not Optimizer.step:
            if bool(self._found_inf):
                return None
            return step()
        with swapped_attributes(optimizer, _skip=read_raw(self._found_inf)):
            return step()

    def _update(self) -> None:
        """Updates the scale, for code that puts a step together itself."""
        if self._enable:
            self._finish()

    def _finish(self) -> None:
        """Makes ready for the next step: the next scale and counters, nothing found."""
        self._set_stages(())
        # A constant scale has no counters; only the flag is cleared.
        if not self._use_dynamic_loss_scaling:
            self._found_inf._rebind(put(np.zeros([1], bool)))
            return
        state = self._scale, self._incr, self._decr, self._found_inf
        with extend_step():
            assign_all(
                state,
                execute(
                    updating(*[getattr(self, "_" + name) for name in _SETTINGS]), [read_raw(t) for t in state]
                ),
            )

    # settings -----------------------------------------------------------------------------------------------

    def is_enable(self) -> bool:
        """Whether it does anything.

        Example:
            >>> paddle.amp.GradScaler(enable=False).is_enable()
            False
        """
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale changes.

        Example:
            >>> paddle.amp.GradScaler(use_dynamic_loss_scaling=False).is_use_dynamic_loss_scaling()
            False
        """
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The first scale.

        Differs from Paddle: works on every device; Paddle warns on a CPU and does nothing.
        Example:
            >>> paddle.amp.GradScaler(init_loss_scaling=4.0).get_init_loss_scaling()
            4.0
        """
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Starts with another scale, at once."""
        self._init_loss_scaling = new_init_loss_scaling
        self._scale = _held([new_init_loss_scaling], np.float32)

    def get_incr_ratio(self) -> float:
        """The factor by which the scale grows."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Sets the factor by which the scale grows, > 1."""
        self._incr_ratio = _above("new_incr_ratio", new_incr_ratio)

    def get_decr_ratio(self) -> float:
        """The factor by which the scale shrinks."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Sets the factor by which the scale shrinks, < 1."""
        self._decr_ratio = _below("new_decr_ratio", new_decr_ratio)

    def get_incr_every_n_steps(self) -> int:
        """After how many steps with finite gradients the scale grows."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Sets after how many steps with finite gradients the scale grows."""
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After how many steps with infinite or NaN gradients the scale shrinks."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Sets after how many steps with infinite or NaN gradients the scale shrinks."""
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    def state_dict(self) -> dict[str, Any]:
        """The scale, the counters and the settings; {} of a scaler that was made with enable=False.

        Returns:
            dict, to be given to `load_state_dict`, here or in the real Paddle.
        Differs from Paddle: works on every device; Paddle warns on a CPU and does nothing. A scaler that has
        switched itself off gives its state too, so that a fresh one can take it over.
        Example:
            >>> state = paddle.amp.GradScaler(init_loss_scaling=4.0).state_dict()
            >>> state["scale"].tolist(), state["incr_count"]
            ([4.0], 0)
        """
        if self._scale is None:
            return {}
        counts = {"incr_count": int(self._incr), "decr_count": int(self._decr)}
        return {
            "scale": self._scale.numpy(),
            **{name: getattr(self, "_" + name) for name in _SETTINGS},
            **counts,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over what `state_dict` gave.

        Args:
            state_dict: dict; it may come from the real Paddle.
        Raises:
            RuntimeError: it is empty: of a scaler that was not enabled.
            TypeError: it is no dict.
        """
        if not self._enable:
            return
        require_dict("load_state_dict", state_dict)
        if not state_dict:
            raise RuntimeError(
                "load_state_dict: state_dict: got an empty one; it was saved by a scaler that was not enabled"
            )
        self._init_loss_scaling = float(np.asarray(state_dict["scale"]).reshape(-1)[0])
        self._scale._rebind(persistent_from_numpy(np.array([self._init_loss_scaling], np.float32)))
        for name in _SETTINGS:
            setattr(self, "_" + name, state_dict[name])
        self._incr._rebind(put(np.array(state_dict["incr_count"], np.int32)))
        self._decr._rebind(put(np.array(state_dict["decr_count"], np.int32)))
        self._use_dynamic_loss_scaling = state_dict["use_dynamic_loss_scaling"]


class GradScaler(AmpScaler):
    """Scales a loss, so that gradients in float16 do not vanish, and skips steps whose gradients are
    infinite or NaN.

    The scale shrinks after such a step and grows after many good ones. All of it happens on the device, also
    within a function that `paddle.jit.to_static` compiles.

    Args:
        enable: False: every method passes its arguments on. Default True.
        init_loss_scaling: float, the first scale. Default 65536.
        incr_ratio: float > 1, the factor by which the scale grows. Default 2.
        decr_ratio: float < 1, the factor by which it shrinks. Default 0.5.
        incr_every_n_steps: it grows after so many steps in a row with finite gradients. Default 2000.
        decr_every_n_nan_or_inf: it shrinks after so many in a row with infinite or NaN ones. Default 1.
        use_dynamic_loss_scaling: False: the scale stays as it is. Default True.
    Raises:
        AssertionError: a ratio is out of range.
    Differs from Paddle: nothing is printed when the scale shrinks, which would wait for the device; with
        several optimizers it shrinks if the gradients of any of them were infinite or NaN (in Paddle,
        of the last one).
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
        >>> with paddle.amp.auto_cast():
        ...     loss = layer(paddle.ones([3, 2])).mean()
        >>> scaler.scale(loss).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> optimizer.clear_grad()
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        super().__init__(
            enable,
            init_loss_scaling,
            incr_ratio,
            decr_ratio,
            incr_every_n_steps,
            decr_every_n_nan_or_inf,
            use_dynamic_loss_scaling,
        )

    def step(self, optimizer: Any) -> Any:
        """Takes the scale off the gradients, unless `unscale_` did, and lets the optimizer step, unless one
        is infinite or NaN.

        Args:
            optimizer: Optimizer.
        Raises:
            RuntimeError: it has been called on this optimizer since the last `update`.
        """
        if not self._enable:
            return optimizer.step()
        stage = self._stage(optimizer)
        if stage is OptimizerState.STEPPED:
            raise RuntimeError("step: it has already been called on this optimizer; call update() first")
        if stage is OptimizerState.INIT:
            self._unscale(optimizer)
        self._guarded(optimizer, optimizer.step)
        self._mark(optimizer, OptimizerState.STEPPED)
        # A constant scale needs no call of `update`.
        if not self._use_dynamic_loss_scaling:
            self._finish()

    def unscale_(self, optimizer: Any) -> None:
        """Takes the scale off the gradients, in place, for code that looks at them before `step`.

        Args:
            optimizer: Optimizer.
        Raises:
            RuntimeError: it or `step` has been called on this optimizer since the last `update`.
        """
        return self._unscale(optimizer)

    def update(self) -> None:
        """Updates the scale, after the `step` of all optimizers."""
        self._update()


def _above(name: str, ratio: float) -> float:
    if not ratio > 1.0:
        raise AssertionError(f"GradScaler: {name}: got {ratio}; it must be greater than 1")
    return ratio


def _below(name: str, ratio: float) -> float:
    if not ratio < 1.0:
        raise AssertionError(f"GradScaler: {name}: got {ratio}; it must be less than 1")
    return ratio


def _held(value: Any, dtype: Any) -> Tensor:
    """A Tensor of the state."""
    with eager_evaluation():
        tensor = wrap(put(np.array(value, dtype)))
    tensor.persistable = True
    return tensor


@ft.cache
def unscaling(count: int) -> Kernel:
    """(scale, found, gradients) -> (gradients, found), which is True from the first gradient on that is
    infinite or NaN."""

    def fn(scale: jax.Array, found: jax.Array, *grads: jax.Array) -> tuple[jax.Array, ...]:
        # One division for all gradients.
        factor = 1 / scale[0]
        # In float32: float16 has few digits for a factor as small as 1 / 65536.
        new = [(g.astype(jnp.promote_types(g.dtype, jnp.float32)) * factor).astype(g.dtype) for g in grads]
        return (*new, found | ~jnp.stack([jnp.isfinite(g).all() for g in new]).all())

    return Kernel(f"check_finite_and_unscale_{count}", fn, nondiff=True)


@ft.lru_cache(maxsize=64)
def updating(grow: float, shrink: float, good: int, bad: int) -> Kernel:
    """(scale, good steps, bad steps, found) -> the same after a step."""

    def fn(scale: jax.Array, incr: jax.Array, decr: jax.Array, found: jax.Array) -> tuple[jax.Array, ...]:
        hit = found[0]
        incr = jnp.where(hit, 0, incr + 1)
        decr = jnp.where(hit, decr + 1, 0)
        up = incr == good
        down = decr == bad
        factor = jnp.where(up, grow, jnp.where(down, shrink, 1.0)).astype(scale.dtype)
        return (
            scale * factor,
            jnp.where(up, 0, incr).astype(jnp.int32),
            jnp.where(down, 0, decr).astype(jnp.int32),
            jnp.zeros_like(found),
        )

    return Kernel("update_loss_scaling", fn, nondiff=True)


__all__ = ["AmpScaler", "GradScaler", "OptimizerState", "unscaling", "updating"]
