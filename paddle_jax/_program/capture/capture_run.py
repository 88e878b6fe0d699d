"""Running a function under a Capture, and what the run has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.core
import numpy as np
from jax._src.core import get_opaque_trace_state  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.errors import TRACING, Unsupported
from paddle_jax._core.base.interrupt_safe import (
    preserved_tracing,
    run_within,
)
from paddle_jax._core.base.state import Observing
from paddle_jax._core.execution.python_state import (
    CONTAINERS,
    MISSING,
    content_differs,
    members,
    same_value,
    stores_of,
)
from paddle_jax._core.execution.trace import flatten_tensors, is_tensor
from paddle_jax._core.kernels.dependence import is_literal
from paddle_jax._core.kernels.jaxpr_tracing import Equations, trace_function
from paddle_jax._core.kernels.op_checks import add_finite_check, run_checked
from paddle_jax._core.kernels.value_checks import pack_checks
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Tensor, init_tensor
from paddle_jax._core.tensors.views import relations
from paddle_jax._program.capture.capture import Capture, CapturedInput, grad_kind
from paddle_jax._program.capture.captured import Captured, Change
from paddle_jax._program.capture.host_random import HostRandom
from paddle_jax._program.capture.recomputation import with_recomputation
from paddle_jax._program.capture.results import open_result

# Each run finds at least one more Tensor; code that goes on finding some is refused.
_MAX_RERUNS = 3  # runs with more Tensors known beforehand


def capture(
    function: Callable[[], Any],
    inputs: Sequence[Tensor],
    start: Iterable[Tensor],
    converted: bool = False,
    fixed: bool = False,
    objects: Iterable[Any] = (),
    full_graph: bool = False,
    generators: Iterable[Any] = (),
) -> Captured:
    """Runs a function, and returns the run as a program.

    Args:
        function: function without arguments.
        inputs: Tensors that are its arguments.
        start: further Tensors that it may read.
        converted: whether functions with control flow on Tensors are converted on the way.
        fixed: whether integer inputs count as constants where the host reads their values.
        objects: lists, dicts and objects that it may change.
        full_graph: whether it must be compiled whole. A list or dict may then change in the run only.
        generators: random generators of Python or NumPy that it may use.
    """
    known_tensors = list(start)
    again: list[str] = []
    while True:
        # `fixed`: the numbers among the arguments are constants, each with a program of its own.
        variable_count = 0 if fixed else len(inputs)
        run = Capture([*inputs, *known_tensors], converted, variable_count, objects, full_graph)
        host_random = HostRandom(generators)
        try:
            with preserved_tracing():
                captured = run_within(host_random, lambda run=run: _capture(run, function, len(inputs)))
        # A Tensor was first read in a branch or loop. It is made an operand from the beginning, and the
        # code runs again.
        except TRACING:
            new = [entry.tensor for entry in run.inputs[run.known_count :] if entry.tensor is not None]
            if not new or len(again) == _MAX_RERUNS:
                raise
            again.append(
                f"{len(new)} Tensors, {new[0].name} the first, were met where only their arrays "
                "could be handed on"
            )
            known_tensors += new  # this time they are operands from the beginning
        else:
            host_random.check()
            captured.again = again
            return captured


def _capture(run: Capture, function: Callable[[], Any], input_count: int) -> Captured:
    """One run of a function inside a JAX trace."""
    captured = Captured()

    def inner() -> tuple[Any, ...]:
        run.level = get_opaque_trace_state(convention="flax")
        result = _call(run, function)
        # Tensors that stand for Python numbers are numbers again in the result.
        tensors, captured.rebuild = flatten_tensors(open_result(result, run, run.python_numbers))
        run.defined(tensors)
        values = [run.read(t) for t in tensors]
        captured.results = [(t.stop_gradient, _flows(t), run.tensors.get(id(t))) for t in tensors]
        captured.changes, new = _changes(run)
        # The hook runs in the caller's backward, where the tensor of the run is gone.
        if run.has_hooks and any(flows for _, flows, _ in captured.results):
            raise Unsupported(
                "register_hook is called on a Tensor inside the function; "
                "register the hook outside, or call backward inside too"
            )
        # FLAGS_check_nan_inf: one check of all results in place of one after each operation.
        if run.executor is run_checked and run.checks is not None:
            add_finite_check([*values, *new])
        _add_tables(run, captured, new)
        # Checks come last: `CapturedChecks.of` looks for them there.
        if run.checks:
            checks = [(len(numbers), error, line) for _, numbers, error, line in run.checks]
            captured.changes.append(Change("checks", None, 1, checks=checks))
            new.append(pack_checks(run.checks))
        changed = [change.target for change in captured.changes if change.kind == "value"]
        captured.relations = relations(changed, run.is_outside)
        captured.draws = [(g, g._offset - start) for g, (_, _, start) in run.drawn.items()]
        captured.grads = [(t, kind) for t, _, _, kind in run.grads.values()]
        run.finished = True
        return tuple([*values, *new])

    # A trace without arguments: all operands are constants of the jaxpr, which `_open` tells apart.
    # `jax.make_jaxpr` gives the same, but it looks up the files of all frames of an exception, and many first
    # attempts end with one.
    equations = trace_function(lambda: run_within(run, inner), "to_static", [], quick=False)
    captured.structs = equations.out_avals
    captured.host_guards = run.host_guards
    captured.effects = [*run.effects, *run.outputs]
    captured.steps = run.optimizer_steps
    _open(captured, equations, run, input_count)
    return captured


def _call(run: Capture, function: Callable[[], Any]) -> Any:
    """Calls a function; raises the refusal of the run even if the function has caught it."""
    try:
        result = function()
    except Exception as error:
        # An error that says why itself is better than the first reason found.
        if run.refusal is None or isinstance(error, (Unsupported, *TRACING)):
            raise
        # The code has caught the refusal and failed because of that.
        raise run.refusal from error
    # The code has caught the refusal and gone on, so its result is that of one case.
    if run.refusal is not None:
        raise run.refusal
    return result


def _flows(tensor: Tensor) -> bool | None:
    """Whether gradients flow into a result; None for a leaf."""
    if tensor._node is None:
        return None
    return continues_backward(tensor)


def _add_tables(run: Capture, captured: Captured, new: list[Any]) -> None:
    """Adds the marks of the rows that were looked up, where a gradient can flow through a result."""
    # Marks serve the gradient alone.
    if not any(flows for _, flows, _ in captured.results) and not any(c.flows for c in captured.changes):
        return
    for weight, marks in run.row_lookups.values():
        if marks is not None and id(weight) in run.tensors:
            captured.changes.append(Change("rows", weight, 1))
            new.append(marks)


def continues_backward(tensor: Tensor) -> bool:
    """Whether a backward from outside goes on into the operands of a Tensor."""
    return not tensor.stop_gradient and tensor._node is not None and tensor._node.values is not None


def _changes(run: Capture) -> tuple[list[Change], list[Any]]:
    """All that the run has changed outside, and the new arrays."""
    changes: list[Change] = []
    arrays: list[Any] = []
    # In this order the results come, and `CompiledFunction` finds them.
    for add in (_add_value_changes, _add_grad_changes, _add_content_changes):
        add(run, changes, arrays)
    return changes, arrays


def _add_value_changes(run: Capture, changes: list[Change], arrays: list[Any]) -> None:
    """Adds the Tensors that have got other values, or another `stop_gradient`."""
    for entry in run.inputs:
        tensor = entry.tensor
        # Numbers of the host and states of generators are no Tensors that could change.
        if tensor is None:
            continue
        before = run.undo_log.saved_state(tensor)
        # It holds something else than at the beginning.
        if held_value(tensor) is not entry.tracer and held_value(tensor) is not entry.own:
            change = Change(
                "value",
                tensor,
                1,
                stop_gradient=tensor.stop_gradient,
                flows=continues_backward(tensor),
                # Index 5 of the saved state is the version: a call goes on by as many as the run.
                steps=tensor._version - before[5],
                shares=id(tensor) in run.ids_shared_with_views,
            )
            changes.append(change)
            arrays.append(run.read(tensor))
        # Index 3 is `stop_gradient`.
        elif tensor.stop_gradient is not before[3]:
            changes.append(Change("flag", tensor, 0, stop_gradient=tensor.stop_gradient))


def _add_grad_changes(run: Capture, changes: list[Change], arrays: list[Any]) -> None:
    """Adds the gradients that are other ones."""
    for tensor, grad, raw, kind in run.grads.values():
        now = tensor._grad
        # It is the same object. Its value, if it has changed, is among the values above.
        if now is grad and (
            grad is None or id(grad) in run.tensors or (held_value(grad) is raw and kind != "empty")
        ):
            continue  # the value of a gradient that was there counts as that of any other Tensor
        to = grad_kind(now)
        new = [] if to in ("none", "zero") else [run.read(now)]
        if to == "rows":
            new.append(now.rows().marks())
        arrays += new
        change = Change(
            "grad",
            tensor,
            len(new),
            to=to,
            is_new_object=now is not grad and grad is not None,
            stop_gradient=now is not None and now.stop_gradient,
        )
        changes.append(change)


def _add_content_changes(run: Capture, changes: list[Change], arrays: list[Any]) -> None:
    """Adds the attributes of Layers and objects that have got other values."""
    for owner, stores in (*run.attributes.values(), *run.contents.values()):
        if isinstance(owner, CONTAINERS):
            _allow_change(run, owner, *stores)
            continue
        # Stores of a Layer: parameters, buffers, sublayers; of an object, its attributes.
        for index, (store, before) in enumerate(zip(stores_of(owner), stores, strict=True)):
            # Both the names from before and the new ones: a name may have been removed.
            for name in {**before, **store}:
                value = store.get(name, MISSING)
                if not same_value(value, before.get(name, MISSING)):
                    change, new = _assignment(run, owner, (index, name), value)
                    changes.append(change)
                    arrays += new


def _allow_change(run: Capture, container: Any, before: Any) -> None:
    """Refuses a change of a container that can be seen after the run.

    With `full_graph` a change stays that does not depend on the run.
    """
    # It was changed and changed back, as a stack is.
    if not content_differs(container, before):
        return
    observer = Observing.observer
    # It cannot be reached from outside, such as a list of a local object.
    if observer is not None and not observer.guards.is_in_place(container):
        return
    old_ids = {id(value) for _, value in members(before)}
    new = [value for _, value in members(container) if id(value) not in old_ids]
    # A Tensor in it would be a tracer of the run.
    if not run.full_graph or flatten_tensors(new)[0]:
        raise Unsupported(
            f"a {type(container).__name__} from outside the function is changed, "
            "which would happen while compiling only; return what it is to hold"
        )
    run.kept_containers.add(id(container))


def _assignment(run: Capture, owner: Any, key: tuple[int, Any], value: Any) -> tuple[Change, list[Any]]:
    """The Change of an attribute, and its arrays."""
    # A Tensor from outside stays that Tensor; those of the run become results.
    inside, rebuild = flatten_tensors(
        open_result(value, run), lambda x: is_tensor(x) and id(x) not in run.tensors
    )
    change = Change(
        "attribute", owner, len(inside), key=key, rebuild=_maker(inside, rebuild), gone=value is MISSING
    )
    change.flows = any(map(continues_backward, inside))
    return change, [run.read(t) for t in inside]


def _maker(prototypes: list[Tensor], rebuild: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """A function that makes the value of an attribute from results, in Tensors like those of the run."""
    # What the new Tensors need is taken now: those of the run die with it.
    kinds = [
        (type(t), t.stop_gradient, t._name, t.persistable, dict(t.__dict__), continues_backward(t))
        for t in prototypes
    ]

    def make(values: Sequence[Any], results: Sequence[Any]) -> Any:
        tensors = []
        for (kind, stop, name, persistable, more, flows), value, result in zip(
            kinds, values, results, strict=True
        ):
            tensor = kind.__new__(kind)
            init_tensor(tensor, value, stop)
            tensor._name = name
            tensor.persistable = persistable
            tensor.__dict__.update(more)
            # It continues the tape at the result that has its value.
            if flows:
                tensor._node = result._node
                tensor._idx = result._idx
            tensors.append(tensor)
        return rebuild(tensors)

    return make


def _needed_inputs(captured: Captured, run: Capture) -> set[CapturedInput]:
    """Inputs that a call needs though no operation reads them: it changes, returns or inspects them."""
    targets = [c.target for c in captured.changes if c.kind not in ("attribute", "checks")]
    tensors = [*targets, *[t for t, _ in captured.grads]]
    returned = [entry for _, _, entry in captured.results if entry is not None]
    used = [entry for entry in run.inputs if id(entry.tensor) in run.used_ids]
    return {*[run.tensors[id(t)] for t in tensors], *run.host_reads, *returned, *used}


def _is_input_barrier(eqn: Any, inputs_by_var: dict[Any, CapturedInput]) -> bool:
    """Whether an equation only hands an input on."""
    # As `Capture._lifted` makes them, and no others: users may call `optimization_barrier`, with several
    # operands.
    is_barrier = eqn.primitive.name == "optimization_barrier" and len(eqn.invars) == 1
    return is_barrier and eqn.invars[0] in inputs_by_var


def _open(captured: Captured, equations: Equations, run: Capture, input_count: int) -> None:
    """Makes the jaxpr a function of the inputs; those that nothing needs are left out."""
    jaxpr = equations.jaxpr
    inputs_by_var: dict[Any, CapturedInput] = {}
    constants: dict[Any, Any] = {}
    for var, const in zip(jaxpr.constvars, equations.consts, strict=True):
        # By identity: each input has an array object of its own.
        entry = run.arrays.get(id(const))
        if entry is None:
            constants[var] = const
        else:
            inputs_by_var[var] = entry
    aliases: dict[Any, CapturedInput] = {}
    eqns = []
    for eqn in jaxpr.eqns:
        # The barrier has served its purpose, and would stop XLA from fusing.
        if _is_input_barrier(eqn, inputs_by_var):
            aliases[eqn.outvars[0]] = inputs_by_var[eqn.invars[0]]
        else:
            eqns.append(eqn)
    eqns, outvars = with_recomputation(eqns, jaxpr.outvars, constants)
    read = (*[eqn.invars for eqn in eqns], outvars)
    used_vars = {var for variables in read for var in variables if not is_literal(var)}
    operands = {var: entry for var, entry in {**inputs_by_var, **aliases}.items() if var in used_vars}
    needed = {*operands.values(), *_needed_inputs(captured, run)}
    # Arguments stay although nothing reads them, as the caller passes them.
    captured.inputs = [entry for i, entry in enumerate(run.inputs) if i < input_count or entry in needed]
    captured.host_reads = list(run.host_reads.items())
    index_of = {entry: i for i, entry in enumerate(captured.inputs)}
    # Constants first, then operands, in the order of `parts`.
    body = jaxpr.replace(constvars=[*constants, *operands], eqns=eqns, invars=[], outvars=outvars)
    constant_values = list(constants.values())
    indices = [index_of[entry] for entry in operands.values()]
    structs = captured.structs

    def fn(*values: Any) -> tuple[Any, ...]:
        out = jax.core.eval_jaxpr(body, [*constant_values, *[values[i] for i in indices]])
        # results that are constants are numbers
        pairs = zip(out, structs, strict=True)
        return tuple([v if hasattr(v, "dtype") else np.asarray(v, s.dtype) for v, s in pairs])

    captured.fn = fn
    captured.jaxpr = body
    captured.parts = constant_values, indices
    # The program may be given the memory of its operands; an array kept here would force a copy of each.
    for entry in captured.inputs:  # their memory may be given away
        entry.own = entry.tracer = entry.value = None
