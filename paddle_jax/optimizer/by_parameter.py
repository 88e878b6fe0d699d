"""Optimizers that are written by the inner names of Paddle's: a subclass defines `_append_optimize_op`, which
updates one parameter, and asks for states with `_add_accumulator` and `_get_accumulator`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.recording import end_step
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import read_raw, wrap
from paddle_jax._program.program import default_main_program
from paddle_jax.optimizer.stack import Stack, pack, run_calls, vectors
from paddle_jax.optimizer.states import LOW, named_state
from paddle_jax.regularizer import L1Decay
from paddle_jax.tensor.creation import full
from paddle_jax.tensor.ops import sign

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike, GradClip, StateDict
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.optimizer.group import _Group
    from paddle_jax.regularizer import WeightDecayRegularizer


class ByParameter:
    """The part of an Optimizer for such subclasses. `_own_states`: {name of a state: {name of a parameter or
    of its float32 copy: Tensor}}, `_own_masters`: {name of a parameter: its float32 copy}; both are what the
    subclass changes in place."""

    def _updates_alone(self) -> bool:
        """Whether the class says itself how a parameter is updated."""
        return type(self)._append_optimize_op is not ByParameter._append_optimize_op

    def _step_alone(
        self, group: _Group, active: list[Tensor], owned: dict[int, Any] | None, clip: GradClip | None
    ) -> None:
        """Updates parameters of a group one after the other with what the class defines."""
        if owned is None:
            pairs = [(p, p._grad) for p in active]
        else:
            pairs = [(p, owned[id(p)]) for p in active]
        settings = None
        if isinstance(self._param_groups[0], dict):
            settings = group.settings
        self._update_pairs(pairs, settings, clip)

    def _update_pairs(
        self, pairs: list[tuple[Tensor, Tensor]], settings: dict[str, Any] | None, clip: GradClip | None
    ) -> None:
        """Updates parameters one after the other with what the class defines. settings: None, or those of the
        group, which the class gets in a dict."""
        # Code of the user runs for each parameter, so whether to skip must be known here.
        if not pairs or (self._skip is not None and bool(wrap(self._skip))):
            return
        block = default_main_program().global_block()
        with no_grad():
            # The clip of a user may need all gradients together.
            if clip is not None:
                pairs = clip(pairs)
            pairs = [(p, self._create_regularization_of_grad(p, g, self.regularization)) for p, g in pairs]
            params = [p for p, _ in pairs]
            if settings is not None:
                self._create_accumulators(block, {**settings, "params": params})
                for pair in pairs:
                    self._append_optimize_op(block, {**settings, "params": pair})
            else:
                # States first, as in Paddle: a subclass may look up the states of all parameters.
                self._create_accumulators(block, params)
                for pair in pairs:
                    self._append_optimize_op(block, pair)
            self._finish_update(block, pairs)

    def _apply_optimize(
        self, loss: Tensor, startup_program: Any, params_grads: Any, param_group_idx: int = 0
    ) -> list[Any]:
        """Updates parameters with group gradients, for classes with a `step` of their own.

        Args:
            loss, startup_program, param_group_idx: accepted.
            params_grads: list of (parameter, gradient), or the dict of a group with that as `params`.
        Returns:
            [].
        """
        # Paddle passes a dict for a group, a list otherwise.
        if isinstance(params_grads, dict):
            group = params_grads
        else:
            group = {"params": params_grads}
        pairs = [(param, gradient) for param, gradient in group["params"] if gradient is not None]
        # The compiled update serves classes that say nothing of their own.
        if not self._updates_alone():
            return self.apply_gradients(pairs)
        settings = params_grads if group is params_grads else None
        self._update_pairs(pairs, settings, group.get("grad_clip", self._grad_clip))
        local.ctx.frame.on_optimizer_step()
        end_step()
        return []

    # what a subclass overrides ------------------------------------------------------------------------------

    def _append_optimize_op(self, block: Any, param_and_grad: Any) -> None:
        """Updates one parameter by the rule of the class.

        Args:
            block: accepted.
            param_and_grad: (parameter, gradient), or the dict of a group with that as `params`. Gradients are
                clipped, and L1Decay and L2Decay are added to them already.
        """
        param, grad = param_and_grad["params"] if isinstance(param_and_grad, dict) else param_and_grad
        settings = self._settings_of(param)
        owner = self._owner_of(param)
        states = {slot: self._get_accumulator(slot, owner) for slot in self._slots}
        # With a float32 copy the parameter itself is only written.
        if owner is not param:
            states["master"] = owner
        facts = {
            name: column
            for name, column in self._facts([param], settings).items()
            # The decay is in the gradient already.
            if name not in ("l1", "l2")
        }
        # A stack of one, so that the compiled rule serves here, too.
        stack = Stack([param], {slot: wrap(t._value[None]) for slot, t in states.items()}, vectors(facts))
        (call,) = pack([stack])
        run_calls(
            [(call, [[read_raw(grad)]], call.extras)],
            type(self)._rule,
            self._hyper(settings),
            None,
            self._rate(),
            None,
            [],
        )
        for slot, tensor in states.items():
            tensor._rebind(stack.of(slot, 0))

    def _create_accumulators(self, block: Any, parameters: Any) -> None:
        """Makes the states of the class for parameters that have none."""
        listed = parameters["params"] if isinstance(parameters, dict) else parameters
        # Trainers of PaddleNLP make the states that they load before the first step.
        if not self._updates_alone():
            self._place_all(listed)
            return
        for param in listed:
            self._add_moments_pows(self._owner_of(param))

    def _place_all(self, params: Sequence[Tensor]) -> None:
        """Makes stacks and state for those of some parameters that have none."""
        wanted = set(map(id, params))
        for group in self._groups:
            new = [p for p in group.params if id(p) in wanted and id(p) not in group.places]
            if new:
                self._place(group, new)

    def _add_moments_pows(self, p: Tensor) -> None:
        """Makes the states of the class for one parameter, or for its float32 copy."""
        settings = self._settings_of(p)
        # States of low precision would lose small steps.
        if str(numpy_dtype(p)) == "float64":
            wide = "float64"
        else:
            wide = "float32"
        for slot in self._slots:
            lead, fill, dtype = self._slot_init(slot, settings)
            if dtype is None:
                name = wide
            else:
                name = np.dtype(dtype).name
            if lead is None:
                shape = [1]
            else:
                shape = [*lead, *p.shape]
            self._add_accumulator(slot, p, name, fill, shape)

    def _finish_update(self, block: Any, parameters_and_grads: Any) -> None:
        """Called after all parameters of a group have been updated."""

    def _update_param_group(self, parameters: dict[str, Any]) -> Any:
        """The (parameter, gradient) or the parameters in the dict of a group. Its other settings become
        those of the optimizer (`_beta1`, `_weight_decay`) until the next call."""
        for name, value in parameters.items():
            if name not in ("params", "learning_rate", "grad_clip") and hasattr(self, f"_{name}"):
                # The usual value is kept, as another group may not set one.
                usual = self._settings_of_all.setdefault(name, getattr(self, f"_{name}"))
                if value is None:
                    value = usual
                setattr(self, f"_{name}", value)
        return parameters["params"]

    def _create_regularization_of_grad(
        self, param: Tensor, grad: Tensor | None, regularization: WeightDecayRegularizer | None = None
    ) -> Any:
        """A gradient with the decay of the weights, that of the parameter or this one."""
        # A regularizer of the parameter goes first.
        decay = getattr(param, "regularizer", None) or regularization
        if grad is None or decay is None:
            return grad
        if isinstance(decay, L1Decay):
            param = sign(param)
        return grad + param * decay._coeff

    # states -------------------------------------------------------------------------------------------------

    def _add_accumulator(
        self,
        name: str,
        param: Tensor,
        dtype: DTypeLike | None = None,
        fill_value: float = 0.0,
        shape: Sequence[int] | None = None,
        type: Any = None,
        device: Any = None,
    ) -> Tensor:
        """A state of a parameter, made unless it is there.

        Args:
            name: str.
            param: Parameter, or its float32 copy.
            dtype: dtype. Default: that of param.
            fill_value: float. Default 0.
            shape: list of ints. Default: that of param.
            type, device: accepted.
        Returns:
            Tensor, which is changed in place.
        """
        slot = self._slot_name(name)
        of_name = self._own_states.setdefault(slot, {})
        if param.name not in of_name:
            if shape is None:
                shape = list(param.shape)
            state = full(shape, fill_value, dtype or param.dtype)
            state.name = self._own_name(slot, param.name)
            state.persistable = True
            # A state that was loaded before it was made.
            if (loaded := self._pop_loaded(self._holder, state.name)) is not None:
                state.set_value(self._fitting(loaded, state._value, param.name, slot))
            of_name[param.name] = state
        return of_name[param.name]

    def _create_master_weight(self, param: Tensor) -> Tensor:
        """The float32 copy of a parameter of low precision; changing the parameter does not change it."""
        if param.name not in self._own_masters:
            # Later changes of the parameter go through this copy.
            copy = param.detach().astype("float32")
            copy.name = param.name + "_fp32_master_0"
            copy.persistable = True
            loaded = self._holder.get("master_weights", {}).pop(param.name, None)
            if loaded is not None:
                copy.set_value(self._fitting(loaded, copy._value, param.name, "master"))
            self._own_masters[param.name] = copy
        return self._own_masters[param.name]

    def _is_dtype_fp16_or_bf16(self, dtype: DTypeLike) -> bool:
        """Whether a dtype is float16 or bfloat16."""
        return dtypes.convert(dtype)._key in LOW

    def _set_auxiliary_var(self, key: str, val: Any) -> None:
        """Keeps something under a name, for `_get_auxiliary_var`."""
        self._auxiliary_vars[key] = val

    def _get_auxiliary_var(self, key: str) -> Any:
        """What `_set_auxiliary_var` has kept, or None."""
        return self._auxiliary_vars.get(key)

    def _settings_of(self, param: Tensor) -> dict[str, Any]:
        """The settings of the group of a parameter, or of that with this float32 copy."""
        return next(
            group.settings
            for group in self._groups
            if any(p is param or self._own_masters.get(p.name) is param for p in group.params)
        )

    def _owner_of(self, param: Tensor) -> Tensor:
        """What the states of a parameter belong to: it or its float32 copy."""
        # Only low precision needs a copy.
        low = self._multi_precision and self._is_dtype_fp16_or_bf16(param.dtype)
        if low:
            return self._create_master_weight(param)
        return param

    def _slot_name(self, name: str) -> str:
        """The key of a state in `_accumulators`."""
        if self._name is None:
            return name
        return f"{self._name}_{name}"

    @staticmethod
    def _own_name(slot: str, name: str) -> str:
        return f"{name}_{slot}_0"

    def _add_own(self, state: StateDict, masters: StateDict) -> None:
        """Adds snapshots of these states to a state dict."""
        named = [
            (self._own_name(slot, name), tensor, state)
            for slot, of_name in self._own_states.items()
            for name, tensor in of_name.items()
        ]
        named += [(name, tensor, masters) for name, tensor in self._own_masters.items()]
        for name, tensor, target in named:
            target[name] = named_state(read_raw(tensor), tensor.name)

    def _load_own(self) -> None:
        """Takes over what was loaded for these states."""
        for slot, of_name in self._own_states.items():
            for name, tensor in of_name.items():
                loaded = self._pop_loaded(self._holder, self._own_name(slot, name))
                if loaded is not None:
                    tensor.set_value(self._fitting(loaded, tensor._value, name, slot))
        for name, tensor in self._own_masters.items():
            loaded = self._holder["master_weights"].pop(name, None)
            if loaded is not None:
                tensor.set_value(self._fitting(loaded, tensor._value, name, "master"))

    @staticmethod
    def _pop_loaded(holder: dict[str, Any], name: str) -> Any:
        """What was loaded under a name, taken out of the dict. A state of Paddle's second optimizer in one
        program ends in _1."""
        # Numbers at the end differ between optimizers of one program.
        stem = re.compile(re.escape(name[:-1]) + r"\d+")
        if name in holder:
            key = name
        else:
            key = next(filter(stem.fullmatch, holder), None)
        if key is None:
            return None
        return holder.pop(key)


__all__ = ["ByParameter"]
