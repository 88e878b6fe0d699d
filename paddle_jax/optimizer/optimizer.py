"""The base class of optimizers: parameter groups, learning rate, the step, and states
under Paddle's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.base.state import local, state
from paddle_jax._core.execution.module_protocol import CapturedState
from paddle_jax._core.execution.python_state import SCALARS
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.recording import end_step
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tape.sparse_rows import RowsGrad, all_rows
from paddle_jax._core.tensors.held_values import held_value, replace_held
from paddle_jax._core.tensors.layout import layout_of, replicated, with_leading_axes
from paddle_jax._core.tensors.tensor import Tensor, assign_all, read_raw, wrap
from paddle_jax.optimizer.by_parameter import ByParameter
from paddle_jax.optimizer.flat import ROWS, rows
from paddle_jax.optimizer.given_parameters import GivenParameters
from paddle_jax.optimizer.group import _Group
from paddle_jax.optimizer.helpers import in_program, is_rule, require_parameters, zeros_for
from paddle_jax.optimizer.lr.scheduler import LRScheduler
from paddle_jax.optimizer.stack import (
    Stack,
    choices_of,
    chunks,
    master_weights,
    new_state,
    pack,
    run_calls,
    vectors,
)
from paddle_jax.optimizer.states import LOW, States, outside
from paddle_jax.optimizer.static_updates import StaticUpdates
from paddle_jax.regularizer import L1Decay, L2Decay, WeightDecayRegularizer

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import (
        GradClip,
        LearningRate,
        ParameterGroups,
        Slots,
        UpdateResult,
        WeightDecay,
    )


_MADE_LATER = {
    "_holder": dict,
    "_own_states": dict,
    "_own_masters": dict,
    "_auxiliary_vars": dict,
    "_settings_of_all": dict,
    "_already_create_accumulator": set,
    "_multi_precision": bool,
}


class Optimizer(GivenParameters, ByParameter, States):
    """The base class of optimizers; use a subclass such as `Adam`.

    Args:
        learning_rate: float or LRScheduler.
        parameters: list of Parameters; or list of dicts, each with `params` and settings of its own:
            `learning_rate` (a factor on the optimizer's), `weight_decay`, `grad_clip`.
        weight_decay: float (as L2Decay), L1Decay or L2Decay. A Parameter's own `regularizer` goes
            before. Default None.
        grad_clip: ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm. Default None.
        name: str that becomes part of the names of the states. Default None.
    Attributes:
        _name, _grad_clip, _learning_rate: as given.
        _parameter_list: list of Parameters, or None in a static program.
        _param_groups: list of Parameters, or of dicts where groups have settings of their own.
        _groups: list of the settings of groups.
        regularization: L1Decay, L2Decay or None, of the argument weight_decay.
        _multi_precision: bool, whether parameters of low precision have float32 copies.
        _default_dict: dict, the settings of groups that have none of their own.
        _holder: dict of loaded states that no parameter has taken yet.
        _own_states: dict of the states of each parameter.
        _own_masters: dict of the float32 copies.
    Raises:
        AttributeError: `parameters` is None or holds something else.
        TypeError: an argument has the wrong type.
        ValueError: a Parameter is in two groups.
    Differs from Paddle: `state_dict` is a snapshot, which later steps do not change; names of states
        always end in `_0`.
    Example:
        >>> weight = paddle.nn.Linear(1, 1).weight
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
        >>> (weight * 2).sum().backward()
        >>> before = weight.item()
        >>> optimizer.step()
        >>> round(before - weight.item(), 5)
        0.2
    """

    _slots = ()  # names of the states, in Paddle's order
    _takes_norms = False  # whether an update depends on the norm of a parameter
    _choices = ("regularization",)  # attributes that `_facts` depends on
    # (name of a state, parameter) -> layout of the state, where it is not that of the parameter
    _shard_fn = None
    _by_element = False  # whether the rule treats each element for itself
    _lazy = False  # whether rows of a table that were not used stay as they are (update.py, rows.py)
    # during a step of a GradScaler: what is held for "a gradient is infinite or NaN"
    _skip = None
    _updated_names: set[str] | None = None  # Parameters of this process, where others update the rest
    _checkpoints: Sequence[Any] = ()  # what gradients of a static program keep; see `append_backward`
    _updates_nothing = False  # whether an empty list of parameters was given

    def __init__(
        self,
        learning_rate: LearningRate,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        # A static program updates all its parameters.
        is_given = parameters is not None
        if parameters is None:
            parameters = state.frame.implied_parameters()
        self._check_settings(learning_rate, parameters, grad_clip)
        self._name = name
        # A generator could be read once only.
        self._parameter_list = list(parameters)
        self._updates_nothing = is_given and not self._parameter_list
        self._check_parameters()
        self.regularization: WeightDecayRegularizer | None = self._as_regularizer(weight_decay)
        self._grad_clip = grad_clip
        self._learning_rate = learning_rate
        self._multi_precision = getattr(self, "_multi_precision", False)
        self._default_dict = {"weight_decay": self.regularization, "grad_clip": grad_clip}
        self._holder = {}
        self._own_states = {}
        self._own_masters = {}
        self._groups = []
        # Paddle decides by the first item whether the list describes groups.
        if self._parameter_list and isinstance(self._parameter_list[0], dict):
            self._param_groups = []
            for group in list(self._parameter_list):
                self._add_param_group(group)
            self._groups += self._groups_of(self._param_groups[len(self._groups) :])
        else:
            self._param_groups = self._parameter_list
            self._groups.append(_Group({**self._default_dict, "params": self._parameter_list}))
            del self._groups[0].settings["grad_clip"]  # that of the optimizer, which may be set later

    def __getattr__(self, name: str) -> Any:
        """What is value when it is needed first: some classes do without the constructor above."""
        if name == "_groups":
            value = self._groups_of(self._param_groups)
        # Classes that call no constructor of this one find their state here.
        elif name in _MADE_LATER:
            value = _MADE_LATER[name]()
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        setattr(self, name, value)
        return value

    # the learning rate --------------------------------------------------------------------------------------

    def get_lr(self) -> float:
        """Returns the current learning rate, a float.

        Example:
            >>> paddle.optimizer.SGD(0.5, parameters=[]).get_lr()
            0.5
        """
        # A compiled step watches it: another rate needs no new program.
        return state.frame.guarded_value(self._lr)

    def _lr(self) -> float:
        if isinstance(self._learning_rate, LRScheduler):
            return self._learning_rate()
        return self._learning_rate

    def _rate(self) -> Any:
        """The learning rate as an operand of the update."""
        return local.ctx.frame.host_number(self._lr)

    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Args:
            value: int or float.
        Raises:
            TypeError: `value` is not a number.
            RuntimeError: the rate comes from a scheduler.
        """
        if not isinstance(value, int | float):
            raise TypeError(f"set_lr: value: got {type(value).__name__}; pass a float.")
        # A fixed number would be overwritten by the schedule.
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                "set_lr: the learning rate comes from an LRScheduler; use set_lr_scheduler to replace it."
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Takes the learning rate from a scheduler from now on.

        Args:
            scheduler: LRScheduler.
        Raises:
            TypeError: `scheduler` is something else.
        """
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(
                f"set_lr_scheduler: scheduler: got {type(scheduler).__name__}; pass an LRScheduler."
            )
        self._learning_rate = scheduler

    # the step -----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Updates all parameters that have a gradient.

        Raises:
            IndexError: the optimizer has no parameters.
        Example:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> optimizer = paddle.optimizer.Adam(0.01, parameters=layer.parameters())
            >>> layer(paddle.ones([3, 2])).mean().backward()
            >>> optimizer.step()
        """
        require_parameters(type(self).__name__, self._groups)
        # Read before the gradients, as a scheduler may run code of the user.
        lr = self._rate()
        self._report_grad_access()
        active = [
            (group, [p for p in group.params if p._grad is not None and not p.stop_gradient])
            for group in self._groups
        ]
        self._update([(group, params, None, []) for group, params in active], lr, False)

    def _update(self, todo: list[tuple[Any, ...]], lr: Any, from_caller: bool) -> None:
        """Updates (group, parameters, their gradients by id, what is done of it) with these gradients; None:
        with `p.grad`. from_caller: whether they are others. Whatever is raised in the middle, parameters and
        state are all of one step."""
        try:
            self._rest(todo, lr, from_caller)
        # An interrupt between two calls must not leave half of the parameters updated: finish the step.
        except BaseException:
            # Calls that are done already are not repeated.
            if any(done for *_, done in todo):
                self._rest(todo, lr, from_caller)
            raise
        local.ctx.frame.on_optimizer_step()
        end_step()

    def _rest(self, todo: list[tuple[Any, ...]], lr: Any, from_caller: bool) -> None:
        for group, active, owned, done in todo:
            # `done` ends with True where the last call of the group has run.
            if active and not (done and done[-1]):
                self._step_group(group, active, lr, owned, from_caller, done)

    def _report_grad_access(self) -> None:
        """Tells a run that is being traced that the gradients are looked at."""
        local.ctx.frame.on_grads_access(self._all_params)

    def _step_group(
        self,
        group: _Group,
        active: list[Tensor],
        lr: Any,
        owned: dict[int, Any] | None,
        from_caller: bool,
        done: list[bool],
    ) -> None:
        # A group may have a clip of its own; None there means no clipping at all.
        clip = group.settings.get("grad_clip", self._grad_clip)
        if self._updates_alone():
            self._step_alone(group, active, owned, clip)
            return
        if from_caller:
            grads = {id(p): owned[id(p)] for p in active}
        else:
            grads = None
        # A clip writes the gradients back, so it has to know whose they are.
        if clip is not None and owned is None:
            owned = {id(p): p._grad for p in active}
        # A clip that a user wrote runs here, by its own code; the others run inside the compiled update.
        if clip is not None and not is_rule(clip):
            grads = {id(p): g for p, g in clip([(p, owned[id(p)]) for p in active])}
        self._run(group, active, grads, clip, lr, owned, done)

    def _run(
        self,
        group: _Group,
        active: list[Tensor],
        grads: dict[int, Any] | None,
        clip: GradClip | None,
        lr: Any,
        owned: dict[int, Any] | None,
        done: list[bool],
    ) -> None:
        """Updates `active` with the given gradients (id to Tensor), by default their own. owned: id to the
        Tensor a gradient is from. done: see run_calls."""
        ids = list(map(id, active))
        if RowsGrad.any_exist:
            self._note_tables(group, active, grads)
        # Settings of parameters may have changed since the last step.
        if group.stacks and self._chosen(group.placed()) != group.chosen:
            self._restack(group)
        # The usual case: the same parameters as in the last step.
        if ids != group.ids:
            new = [p for p in active if id(p) not in group.places]
            if new:
                self._place(group, new)
            # All have a gradient: no marks are needed.
            if len(ids) == len(group.places):
                group.ids = ids
        # A compiled step is valid as long as this choice is.
        local.ctx.frame.guard_choice(lambda: partial(self._chosen, group.placed()))
        if ids == group.ids:
            work = self._whole(group, grads)
        else:
            work = self._masked_work(group, {id(p): p for p in active}, grads)
        if clip is not None and is_rule(clip):
            rule = clip.rule()
        else:
            rule = None
        before = len(done)
        clipped = run_calls(work, type(self)._rule, self._hyper(group.settings), rule, lr, self._skip, done)
        if clipped:
            ordered = (p for call, _, _ in work[before:] for same in call.lists for p in same)
            # not those that took part with zeros
            pairs = [(owned[id(p)], v) for p, v in zip(ordered, clipped, strict=True) if id(p) in owned]
            assign_all([grad for grad, _ in pairs], [value for _, value in pairs])

    def _note_tables(self, group: _Group, active: list[Tensor], grads: dict[int, Any] | None) -> None:
        """Notes the parameters whose gradient is one of some rows; those that are placed otherwise so far are
        placed again."""
        tables = [
            p
            for p in active
            if type(p._grad if grads is None else grads[id(p)]) is RowsGrad and self._is_lazy(p, group)
        ]
        new = {id(p): p for p in tables if id(p) not in group.tables}
        group.tables |= new
        if any(i in group.places for i in new):
            self._restack(group)

    def _is_lazy(self, param: Tensor, group: _Group) -> bool:
        """Whether the rows of a table that were not used stay as they are: decay would change them, too."""
        return self._lazy and self._decay_of(param, group.settings) is None

    def _whole(self, group: _Group, grads: dict[int, Any] | None) -> list[tuple[Any, ...]]:
        # The usual case, without a dict in between.
        if not group.tables and grads is None:
            return [
                (call, [[read_raw(p._grad) for p in same] for same in call.lists], call.extras)
                for call in group.calls
            ]
        if grads is None:
            grads = {id(p): p._grad for p in group.placed()}
        return [
            (call, [self._operands(stack, grads, group) for stack in call.stacks], call.extras)
            for call in group.calls
        ]

    def _operands(self, stack: Stack, grads: dict[int, Any], group: _Group) -> Any:
        """The gradients of a stack as operands of its update. grads: id to Tensor; zeros for who has none."""
        if stack.form is not ROWS:
            return [
                read_raw(grads[id(p)]) if id(p) in grads else zeros_for(group, held_value(p))
                for p in stack.params
            ]
        grad = grads.get(id(stack.params[0]))
        # Only the rows that were used.
        if type(grad) is RowsGrad:
            return grad.rows().operands()
        if grad is None:
            return all_rows(zeros_for(group, held_value(stack.params[0])))
        return all_rows(read_raw(grad))

    def _masked_work(
        self, group: _Group, active: dict[int, Tensor], grads: dict[int, Any] | None
    ) -> list[tuple[Any, ...]]:
        """As `_whole` where some parameters have no gradient this time: they get zeros and are masked out."""
        if grads is None:
            grads = {i: p._grad for i, p in active.items()}
        work = []
        for call in group.calls:
            # A call without any gradient does not run.
            if any(id(p) in grads for same in call.lists for p in same):
                values = [self._operands(stack, grads, group) for stack in call.stacks]
                work.append(
                    (
                        call,
                        values,
                        [
                            stack.masked(np.array([id(p) in grads for p in stack.params]))
                            for stack in call.stacks
                        ],
                    )
                )
        return work

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        """The rule's settings as a sorted tuple of pairs; a group may have its own values."""
        return ()

    def _clips_inside(self, clip: GradClip) -> bool:
        """Whether the compiled update can do the clipping."""
        return is_rule(clip)

    @staticmethod
    def _rule(p: jax.Array, g: jax.Array, s: Slots, lr: Any) -> UpdateResult:
        raise NotImplementedError(
            "Optimizer: the base class has no update rule; use a subclass such as Adam."
        )

    # state --------------------------------------------------------------------------------------------------

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        """Shape before that of the parameter (None: not shaped as it), fill value and dtype (None: that of
        the computation) of a state."""
        return (), 0.0, None

    def _marks(self, params: Sequence[Tensor], settings: dict[str, Any]) -> dict[str, list[float]]:
        """Columns over the parameters for the rule, by a name with `rule_`."""
        return {}

    def _decay_of(self, param: Tensor, settings: dict[str, Any]) -> WeightDecayRegularizer | None:
        if getattr(param, "regularizer", None) is not None:
            return param.regularizer
        return self.regularization

    def _chosen(self, params: Sequence[Tensor]) -> tuple[Any, ...]:
        """What `_facts` depends on and anybody may change between two steps."""
        own = [getattr(self, name) for name in self._choices]
        return own, MultiDevice.move_count, *choices_of(params)

    def _restack(self, group: _Group) -> None:
        """Restacks the parameters with their states, since something was chosen differently."""
        states = {}
        # States go along to the new stacks.
        for stack in group.stacks:
            values = {slot: outside(tensor) for slot, tensor in stack.state.items()}
            with eager_evaluation():
                states |= {
                    id(param): {slot: stack.parameter_value(value, row) for slot, value in values.items()}
                    for row, param in enumerate(stack.params)
                }
        self._place(group, group.placed(), states)

    def _place(
        self, group: _Group, params: Sequence[Tensor], states: dict[int, dict[str, Any]] | None = None
    ) -> None:
        """Makes stacks and state for parameters that have a gradient for the first time. states: those they
        have (id to dict), when all are placed again."""
        # New lists: an interrupt leaves the group as it was.
        stacks, places = ([], {}) if states else (list(group.stacks), dict(group.places))
        if self._elementwise(group.settings):
            traits = partial(self._traits, settings=group.settings)
        else:
            traits = None
        tables = [p for p in params if id(p) in group.tables and self._is_lazy(p, group)]
        others = [p for p in params if not any(p is table for table in tables)]
        parts = [*chunks(others, traits), *[([table], False) for table in tables]]
        for same, flat in parts:
            columns = self._columns(same[:1] if flat else same, group.settings)
            is_table = any(same[0] is table for table in tables)
            stack = Stack(same, self._new_state(same, group.settings, flat), columns, flat, is_table)
            if states:
                earlier = stack.moved(states)
            else:
                earlier = self._loaded(stack)
            stack.state |= {slot: wrap(value) for slot, value in earlier.items()}
            stacks.append(stack)
            places |= {id(p): (stack, row) for row, p in enumerate(same)}
        chosen = self._chosen([param for stack in stacks for param in stack.params])
        group.take(stacks, places, pack(stacks), chosen)

    def _elementwise(self, settings: dict[str, Any]) -> bool:
        """Whether the rule treats each element for itself, so that parameters of all shapes can
        be in one stack."""
        return self._by_element and all(
            self._slot_init(slot, settings)[0] in (None, ()) for slot in self._slots
        )

    def _traits(self, param: Tensor, settings: dict[str, Any]) -> tuple[tuple[str, float], ...]:
        return tuple([(name, float(value)) for name, (value,) in self._facts([param], settings).items()])

    def _columns(self, params: Sequence[Tensor], settings: dict[str, Any]) -> dict[str, np.ndarray]:
        """What the update wants to know per parameter, as columns over a stack."""
        return vectors(self._facts(params, settings))

    def _facts(self, params: Sequence[Tensor], settings: dict[str, Any]) -> dict[str, list[Any]]:
        decays = [self._decay_of(p, settings) for p in params]
        return {
            "lr": [getattr(p, "optimize_attr", {}).get("learning_rate", 1.0) for p in params],
            "l2": [d._coeff if isinstance(d, L2Decay) else 0 for d in decays],
            "l1": [d._coeff if isinstance(d, L1Decay) else 0 for d in decays],
            "free": [not getattr(p, "need_clip", True) for p in params],
            **self._marks(params, settings),
        }

    def _new_state(self, params: Sequence[Tensor], settings: dict[str, Any], flat: bool) -> dict[str, Tensor]:
        value = held_value(params[0])
        if not jnp.issubdtype(value.dtype, jnp.floating):
            raise RuntimeError(
                f"{type(self).__name__}: parameters: {params[0].name} is {value.dtype}; "
                "only floating-point ones can be updated."
            )
        # Half precision keeps its states in float32.
        wide = jnp.promote_types(value.dtype, np.dtype("float32"))
        slots, (count, inner) = {}, rows(params, flat)
        for slot in self._slots:
            lead, fill, dtype = self._slot_init(slot, settings)
            shape = (1,) if lead is None else (*lead, *inner)
            slots[slot] = new_state(
                (count, *shape), fill, dtype or wide, self._state_layout(slot, params[0], lead)
            )
        # The float32 copy of the parameters themselves.
        if self._multi_precision and str(value.dtype) in LOW:
            layout = self._state_layout("master", params[0], ())
            slots["master"] = master_weights(params, flat, wide, layout)
        return slots

    def _state_layout(self, slot: str, param: Tensor, lead: tuple[int, ...] | None) -> Any:
        """Where the state of a stack lies, that has the axes `lead` before those of the parameter (None: not
        shaped as it). None: on one device."""
        layout = layout_of(param)
        if layout is None or lead is None:
            return replicated(layout)
        if self._shard_fn is not None:
            layout = self._shard_fn(slot, param)
        return with_leading_axes(layout, 1 + len(lead))

    def _create_param_lr(self, param_and_grad: Any) -> Tensor:
        return wrap(jnp.float32(self.get_lr() * param_and_grad[0].optimize_attr["learning_rate"]))

    def _global_learning_rate(self, program: Any = None) -> Tensor:
        return wrap(jnp.float32(self.get_lr()))

    # compiled functions -------------------------------------------------------------------------------------

    def __paddle_jax_state__(self) -> CapturedState:
        """The settings and parameters that a compiled step depends on."""
        attributes = self.__dict__
        settings = [
            (attributes, name, value)
            for name, value in attributes.items()
            # The rate may change at each step, and is an operand.
            if name in ("_grad_clip", "regularization") or type(value) in SCALARS and name != "_learning_rate"
        ]
        for group in self._groups:
            settings += [(group.settings, name, v) for name, v in group.settings.items() if name != "params"]
        for _, _, value in list(settings):  # a clip or a decay has settings itself
            parts = getattr(value, "__dict__", {})
            settings += [(parts, name, part) for name, part in parts.items() if type(part) in SCALARS]
        # Parameters that join a list change the step.
        lists = [self._groups, *[group.params for group in self._groups]]
        return CapturedState(settings=settings, lists=lists, tensors=list(self._all_params()))

    # gradients ----------------------------------------------------------------------------------------------

    def _all_params(self) -> Iterator[Tensor]:
        return (param for group in self._groups for param in group.params)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Sets all gradients to zero, or to None.

        Args:
            set_to_zero: keep the gradients as zeros. Default True.
        """
        self._report_grad_access()
        for group in self._groups:
            for param in group.params:
                grad = param._grad
                if grad is None or param.stop_gradient:
                    continue
                # Zeros for a table would be as large as the table; None is what a step without use leaves.
                if not set_to_zero or type(grad) is RowsGrad or id(param) in group.tables:
                    param._grad = None
                elif type(held_value(grad)) is LazyArray:
                    # A pending gradient is replaced without being computed.
                    replace_held(grad, zeros_like(held_value(grad)))
                    grad._version += 1
                else:
                    grad._rebind(zeros_for(group, held_value(grad)))

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets all gradients to None, or to zero with `set_to_none=False`."""
        self.clear_grad(not set_to_none)

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Sequence[Tensor] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """Updates the parameters with the gradients that `loss.backward()` has made; in a static program adds
        gradients and updates to it.

        Args:
            loss: Tensor or Variable.
            startup_program: of a static program: the Program that fills the states. Default: the one in use.
            parameters: of a static program: list of Parameters or names to update. Default: those of the
                optimizer, else all trainable ones.
            no_grad_set: of a static program: Variables or names that no gradient passes.
        Returns:
            (list of operations, list of (parameter, gradient)).
        Raises:
            AssertionError: loss is no Tensor.
        """
        # In a static program the update becomes operations.
        if in_program(loss):
            return StaticUpdates.minimize(self, loss, startup_program, parameters, no_grad_set)
        if not isinstance(loss, Tensor):
            raise AssertionError(f"minimize: loss: got {type(loss).__name__}; it must be a Tensor.")
        if next(self._all_params(), None) is None:  # Paddle refuses that in `step` alone
            return [], []
        pairs = self._pairs()
        if self._updates_alone():
            Optimizer.step(self)  # as in Paddle, not a `step` of the class
        else:
            self.step()
        return [], pairs

    def _pairs(self) -> list[tuple[Tensor, Tensor]]:
        self._report_grad_access()
        return [(p, p._grad) for p in self._all_params() if p._grad is not None and not p.stop_gradient]

    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Sequence[Tensor] | None = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Tensor, Tensor]]:
        """Returns the list of (parameter, gradient) that `loss.backward()` has made, or that is added to the
        static program of the loss."""
        if in_program(loss):
            return StaticUpdates.backward(self, loss, parameters, no_grad_set, callbacks)
        return self._pairs()

    def apply_gradients(self, params_grads: Sequence[tuple[Tensor, Tensor | None]]) -> list[Any]:
        """Updates parameters with given gradients; clipping and weight decay as in `step`.

        Args:
            params_grads: list of (parameter, gradient).
        Returns:
            [].
        """
        if params_grads and in_program(params_grads[0][0]):
            return StaticUpdates.apply_gradients(self, params_grads)
        # Parameters without a gradient stay as they are.
        owned = {id(param): grad for param, grad in params_grads if grad is not None}
        active = [
            (group, [p for p in group.params if id(p) in owned and not p.stop_gradient])
            for group in self._groups
        ]
        self._update([(group, params, owned, []) for group, params in active], self._rate(), True)
        return []
