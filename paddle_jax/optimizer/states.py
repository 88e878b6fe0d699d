"""The states of an optimizer under Paddle's names: to be saved, loaded, and looked at."""

from __future__ import annotations

import collections
import re
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.base.state import state
from paddle_jax._core.lazy.device_put import put as put_array
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.layout import layout_of, put
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.optimizer.lr.decay import LambdaDecay
from paddle_jax.optimizer.lr.scheduler import LRScheduler

if TYPE_CHECKING:
    from paddle_jax._annotations import StateDict
    from paddle_jax.optimizer.stack import Stack


LOW = ("float16", "bfloat16")


def outside(tensor: Tensor) -> Any:
    """The value of a Tensor, in a function that is being compiled that from before it began."""
    return state.frame.value_before(tensor)


def named_state(value: Any, name: str) -> Tensor:
    """A snapshot of a state for `state_dict`, as the next step changes the state."""
    tensor = wrap(value)
    tensor.name = name
    tensor.persistable = True
    return tensor


class StateOwner:
    """Says which state of which optimizer a Tensor of `state_dict` is. A copy of the Tensor is no state.

    Args:
        tensor: the Tensor.
        optimizer: Optimizer.
        slot: name of the state; "master" for a float32 weight.
        param: the parameter; None for a loaded state that no parameter has taken yet.
        name: the key of such a state.
    """

    def __init__(
        self, tensor: Tensor, optimizer: States, slot: str, param: Tensor | None = None, name: str = ""
    ) -> None:
        self._tensor = weakref.ref(tensor)
        self._optimizer = weakref.ref(optimizer)
        self._param = None if param is None else weakref.ref(param)
        self.slot = slot
        self.name = name

    def optimizer_of(self, tensor: Tensor) -> States | None:
        """The optimizer; None if there is none any more, and for a copy of the Tensor, which has its mark."""
        if self._tensor() is not tensor:
            return None
        return self._optimizer()

    def param(self) -> Tensor | None:
        """The parameter, or None if there is none."""
        return self._param and self._param()

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # a pickled Tensor is no state


def state_owner(tensor: Tensor) -> tuple[States, Tensor] | None:
    """The optimizer whose `state_dict` has given a Tensor, and the parameter that it is a state of."""
    owner = tensor.__dict__.get("_state_owner")
    optimizer = owner and owner.optimizer_of(tensor)
    param = owner and owner.param()
    return None if optimizer is None or param is None else (optimizer, param)


def load_in_place(tensors: Iterable[Tensor]) -> None:
    """Optimizers take the values of those Tensors that their `state_dict` has given.

    Trainers of PaddleNLP fill these Tensors from a checkpoint, and never call `set_state_dict`.
    """
    loaded: dict[int, tuple[States, list[tuple[StateOwner, Tensor]]]] = {}
    for tensor in tensors:
        owner = tensor.__dict__.get("_state_owner")
        optimizer = owner and owner.optimizer_of(tensor)
        if optimizer is not None:
            loaded.setdefault(id(optimizer), (optimizer, []))[1].append((owner, tensor))
    for optimizer, own in loaded.values():
        optimizer._take_values(own)


class States:
    """The part of an Optimizer that deals with its states. `_holder`: loaded states that no parameter
    has taken over yet."""

    def state_dict(self) -> StateDict:
        """Returns the state: Tensors under Paddle's names such as `linear_0.w_0_moment1_0`, `master_weights`,
        and `LR_Scheduler`.

        Returns:
            dict, a snapshot to be saved as a `.pdopt` file. `paddle.distributed.load_state_dict` fills it and
            the optimizer.
        Example:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> optimizer = paddle.optimizer.Adam(0.01, parameters=layer.parameters())
            >>> layer(paddle.ones([3, 2])).mean().backward()
            >>> optimizer.step()
            >>> len(optimizer.state_dict())
            8
        """
        state = {}
        masters = {}
        for slot, param, value in self._entries():
            if slot == "master":
                name = param.name + "_fp32_master_0"
            else:
                name = self._state_name(param, slot)
            tensor = named_state(value, name)
            tensor.__dict__["_state_owner"] = StateOwner(tensor, self, slot, param)
            if slot == "master":
                masters[param.name] = tensor
            else:
                state[name] = tensor
        self._add_own(state, masters)
        self._add_waiting(state, masters)
        if masters:
            state["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def _add_waiting(self, state: StateDict, masters: StateDict) -> None:
        """Adds loaded states that no parameter has taken over yet, so that saving again loses nothing."""
        if not self._holder:
            return
        # Master weights are saved under a key of their own.
        waiting = {key: value for key, value in self._holder.items() if key != "master_weights"}
        waiting_masters = self._holder["master_weights"]
        # Before the first step all loaded states wait.
        if not any(group.stacks for group in self._groups):
            state |= {name: self._waiting_state("", name, value) for name, value in waiting.items()}
            masters |= {
                name: self._waiting_state("master", name, value) for name, value in waiting_masters.items()
            }
        for group in self._groups:
            for param in group.params:
                if id(param) not in group.places:
                    names = [self._state_name(param, slot) for slot in self._slots]
                    state |= {
                        name: self._waiting_state("", name, found)
                        for name in names
                        if (found := self._find(name)) is not None
                    }
                    masters |= {
                        name: self._waiting_state("master", name, value)
                        for name, value in waiting_masters.items()
                        if name == param.name
                    }

    def _waiting_state(self, slot: str, name: str, value: Any) -> Any:
        """A loaded state for `state_dict`: another Tensor than the one that the user has loaded."""
        if not isinstance(value, Tensor):
            return value
        tensor = named_state(outside(value), value.name)
        tensor.__dict__["_state_owner"] = StateOwner(tensor, self, slot, name=name)
        return tensor

    def _entries(self) -> Iterator[tuple[str, Tensor, Any]]:
        """(slot, parameter, array) of all states, slot by slot, parameters in order."""
        for slot in (*self._slots, "master"):
            for group in self._groups:
                for param in group.params:
                    stack, row = group.places.get(id(param), (None, 0))
                    if stack is not None and slot in stack.state:
                        yield slot, param, stack.of(slot, row)

    def set_state_dict(self, state_dict: StateDict) -> None:
        """Takes over a state made by `state_dict()`, here or in the real Paddle.

        Args:
            state_dict: dict of Tensors or ndarrays. States of parameters that have had no gradient yet are
                kept until they get one.
        Raises:
            AssertionError: a state is missing or has another shape or dtype, or there is none
                for the scheduler. A LambdaDecay needs none.
            AttributeError: state_dict is no dict.
        Example:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> optimizer = paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.5, 2),
            ...                                  parameters=layer.parameters())
            >>> optimizer.set_state_dict({"LR_Scheduler": {"last_epoch": 3, "last_lr": 0.25}})
            >>> optimizer.get_lr()
            0.25
        """
        require_dict("set_state_dict", state_dict)
        state = dict(state_dict)
        scheduler = state.pop("LR_Scheduler", None)
        if isinstance(self._learning_rate, LRScheduler):
            # PaddleNLP's trainers keep the state of their LambdaDecay in a file of its own.
            if scheduler is None and not isinstance(self._learning_rate, LambdaDecay):
                raise AssertionError(
                    "set_state_dict: state_dict: LR_Scheduler is missing; "
                    "load the state of an optimizer with a scheduler."
                )
            if scheduler:
                self._learning_rate.set_state_dict(scheduler)
        # Files of `paddle.save` for Layers hold this table; it is no state.
        state.pop("StructuredToParameterName@@", None)
        if not state:
            if names := self.get_opti_var_name_list():
                raise AssertionError(
                    f"set_state_dict: state_dict: {names[0]} is missing; load the state of this model."
                )
            return
        # From here parameters take their states once a step has made room for them.
        self._holder = {**state, "master_weights": dict(state.get("master_weights", {}))}
        self._load_own()
        # Where states exist already they change at once.
        for group in self._groups:
            for stack in group.stacks:
                for slot, value in self._loaded(stack, new=False).items():
                    stack.state[slot]._value = value

    load_state_dict = set_state_dict

    def _elements_of(self, param: Tensor) -> slice | None:
        """The elements of a flattened parameter that its states are for; None for all."""
        return None

    def _take_values(self, loaded: Sequence[tuple[StateOwner, Tensor]]) -> None:
        """Takes over the values of some Tensors of an earlier `state_dict`; other states stay."""
        by_stack: dict[int, tuple[Stack, dict[str, dict[int, Any]]]] = {}
        for owner, tensor in loaded:
            param = owner.param()
            if owner.name and owner.slot == "master":
                self._holder["master_weights"][owner.name] = tensor
            elif owner.name:
                self._holder[owner.name] = tensor
            for group in self._groups:
                stack, row = group.places.get(id(param), (None, 0))
                if stack is not None and owner.slot in stack.state:
                    slots = by_stack.setdefault(id(stack), (stack, {}))[1]
                    slots.setdefault(owner.slot, {})[row] = to_jax_array(held_value(tensor))
        for stack, slots in by_stack.values():
            for slot, rows in slots.items():
                # Rows that were not loaded keep their values.
                values = [rows.get(row, stack.of(slot, row)) for row in range(len(stack.params))]
                stack.state[slot]._value = put(stack.together(slot, values), layout_of(stack.state[slot]))

    def get_opti_var_name_list(self) -> list[str]:
        """Returns the names of all states."""
        return [self._state_name(param, slot) for slot, param, _ in self._entries() if slot != "master"]

    @property
    def _accumulators(self) -> Any:
        """The states as a dict of dicts of Tensors: slot, then parameter name. A snapshot."""
        accumulators = collections.defaultdict(dict)
        for slot, param, value in self._entries():
            if slot != "master":
                accumulators[self._slot_name(slot)][param.name] = wrap(value)
        return accumulators | self._own_states

    @_accumulators.setter
    def _accumulators(self, states: Any) -> Any:
        self._own_states = states

    @property
    def _master_weights(self) -> Any:
        """The float32 weights of low-precision parameters, by parameter name. A snapshot, except of those
        that a subclass has made."""
        return self._own_masters | {
            param.name: wrap(value) for slot, param, value in self._entries() if slot == "master"
        }

    @_master_weights.setter
    def _master_weights(self, copies: Any) -> Any:
        self._own_masters = copies

    def _get_accumulator(self, name: str, param: Tensor) -> Tensor:
        """The state `name` of a parameter: a snapshot, except of those that a subclass has made."""
        own_states = self._own_states.get(self._slot_name(name), {})
        if param.name in own_states:
            return own_states[param.name]
        for slot, owner, value in self._entries():
            if slot == name and owner is param:
                return wrap(value)
        # the class Paddle raises
        raise Exception(f"{type(self).__name__}: there is no state {name!r} of {param.name}.")  # noqa: TRY002

    def _get_accumulator_master(self, name: str, param: Tensor) -> Tensor:
        """The state `name` of a parameter or of its float32 copy."""
        return self._get_accumulator(name, self._own_masters.get(param.name, param))

    def _state_name(self, param: Tensor, slot: str) -> str:
        if self._multi_precision and str(numpy_dtype(param)) in LOW:
            base = param.name + "_fp32_master_0"
        else:
            base = param.name
        if self._name is None:
            return f"{base}_{slot}_0"
        return f"{base}_{self._name}_{slot}_0"

    def _loaded(self, stack: Stack, new: bool = True) -> dict[str, Any]:
        """{slot: array} of the states of a stack after those were taken over that are loaded
        for its parameters. new: the stack holds the states that its parameters begin with."""
        if not self._holder:
            return {}
        # in a function that is being compiled, too: it takes the states as operands, and would begin again
        # with them at each call
        with eager_evaluation():
            return {
                slot: self._loaded_slot(stack, slot, to_jax_array(held_value(tensor)), new)
                for slot, tensor in stack.state.items()
            }

    def _loaded_slot(self, stack: Stack, slot: str, states: Any, new: bool) -> Any:
        values = []
        for row, param in enumerate(stack.params):
            current = stack.parameter_value(states, row)
            if slot == "master":
                loaded = self._holder["master_weights"].get(param.name)
            else:
                loaded = self._find(self._state_name(param, slot))
            if loaded is None and slot != "master" and not (new and self._had_no_gradient(param)):
                name = self._state_name(param, slot)
                raise AssertionError(
                    f"{type(self).__name__}: state_dict: {name} is missing; load the state of this model."
                )
            values.append(current if loaded is None else self._fitting(loaded, current, param.name, slot))
        return put(stack.together(slot, values), layout_of(stack.state[slot]))

    def _had_no_gradient(self, param: Tensor) -> bool:
        """Whether the loaded states are those of other parameters of the optimizer alone: this one had no
        gradient before they were saved."""

        def is_loaded(other: Tensor) -> bool:
            return any(self._find(self._state_name(other, slot)) is not None for slot in self._slots)

        return not is_loaded(param) and any(is_loaded(other) for other in self._all_params())

    def _find(self, name: str) -> Any:
        value = self._holder.get(name)
        if value is None:  # a state of Paddle's second optimizer in one program ends in _1
            stem = re.compile(re.escape(name[:-1]) + r"\d+")
            value = next((value for key, value in self._holder.items() if stem.fullmatch(key)), None)
        return value

    def _fitting(self, loaded: Any, expected: Any, name: str, slot: str) -> Any:
        if isinstance(loaded, Tensor):
            value = outside(loaded)
        else:
            value = loaded
        if not isinstance(value, jax.Array):
            value = put_array(np.array(value))
        # A state saved with other precision is cast; float64 or integers are another kind of state.
        low = {"float16", "bfloat16", "float32"}
        if value.shape != expected.shape or (
            value.dtype != expected.dtype and not {str(value.dtype), str(expected.dtype)} <= low
        ):
            got = f"{value.dtype}{list(value.shape)}"
            raise AssertionError(
                f"{type(self).__name__}: state_dict: {slot} of {name} is {got}; "
                f"{expected.dtype}{list(expected.shape)} is needed."
            )
        return value.astype(expected.dtype)
