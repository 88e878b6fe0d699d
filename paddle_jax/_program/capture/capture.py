"""A run of Paddle code inside a JAX trace that is going to be repeated as one program.

Everything the code reads from outside becomes an operand, found by the Tensor object that was read (not by
its array, which two Tensors may share); everything it changes outside becomes a result. What only the host
can do (a scheduler's step) is noted, to be done again at each call.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.core import get_opaque_trace_state  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.errors import TRACING, TracedValueError, Unsupported
from paddle_jax._core.base.interrupt_safe import (
    eager_evaluation,
    preserved_tracing,
    run_within,
    swapped_attributes,
)
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.execution.python_state import (
    CONTAINERS,
    MISSING,
    content_differs,
    copy_contents,
    members,
    restore_contents,
    same_value,
    stores_of,
)
from paddle_jax._core.execution.trace import Trace, alias_array, flatten_tensors, is_tensor
from paddle_jax._core.kernels.dependence import is_literal
from paddle_jax._core.kernels.op_checks import add_finite_check, run_checked
from paddle_jax._core.kernels.value_checks import pack_checks
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, is_zero
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tape.sparse_rows import RowsGrad, either, marks_of
from paddle_jax._core.tensors.tensor import NumberTensor, init_tensor
from paddle_jax._core.tensors.views import relations
from paddle_jax._program.capture.captured import Captured, Change
from paddle_jax._program.capture.host_random import HostRandom
from paddle_jax._program.capture.results import open_result

_SMALL = 64  # elements of an integer Tensor that the host may look at; its value is compared at each call


class CapturedInput:
    """Something from outside: a Tensor, or a number or array that `get` gives anew for each call.

    own: an array object of its own, by which JAX's constant is recognised. tracer: its value in the run.
    """

    __slots__ = ("get", "own", "tensor", "tracer", "value")

    def __init__(self, value, tensor=None, get=None):
        with eager_evaluation():
            if type(value) is Uninitialized:
                raise value.error("to_static")
            self.value = jnp.asarray(to_array(value))
        self.tensor, self.get, self.tracer, self.own = tensor, get, None, alias_array(self.value)


class Capture(Trace):
    """The Trace of a run that is to be repeated. `start` are Tensors known beforehand to be read perhaps.

    inputs: what came from outside, in the order it was met, the first `known` of it known beforehand.
    tensors: those that are Tensors, by id; arrays: all, by the id of `own`. host_guards: (function without
    arguments, its value) that must stay the same. effects: (function, object, arguments) to repeat on the
    host after each call. host_reads: inputs that the host has looked at, with their values, which must stay
    the same; it may not look at the first `variable` ones. grads: Tensors whose `grad` was looked at, by id.
    attributes: Layers that got attributes, with what they had, by id; contents: lists, dicts and objects that
    may change; objects: those that effects change. hooked: a hook was put on a Tensor. refusal: why the code
    cannot be compiled, though it may have caught that. once: lists and dicts may change in the run only;
    staying: ids of those that do. checks: of values, see outcomes.py; steps: of optimizers; texts: what is
    written, as in effects; level: JAX's own trace, in which they can be made. uses: ids of the Tensors that
    operations were given, or whose properties were looked at; sharing: of those that are changed with their
    views. doubtful: results of branches and loops that may be Tensors from outside, by id. numbers: Tensors
    that stand for Python's numbers; lacking: (Tensor, name) of variables that may have no value; lookups:
    (table, marks of its used rows, or None for all); all by id.
    """

    deferring = converted = False
    capture = property(lambda self: self)

    def __init__(self, start, converted=False, variable=0, objects=(), once=False):
        super().__init__()
        self.once, self.staying, self.uses, self.sharing, self.doubtful = once, set(), set(), set(), {}
        self.contents = {id(owner): (owner, copy_contents(owner)) for owner in objects}
        self.variable, self.host_reads = variable, {}
        self.start, self.converted = start, converted
        self.inputs, self.arrays, self.tensors, self.known = [], {}, {}, 0
        self.host_guards, self.effects, self.grads, self.checks = [], [], {}, []
        self.attributes, self.objects = {}, {}
        self.hooked = self.quiet = self.begun = self.finished = False
        self.refusal, self.steps, self.texts, self.numbers, self.lacking = None, 0, [], {}, {}
        self.lookups = {}

    def begin(self):
        """Makes operands of the Tensors that are known."""
        ctx = local.ctx
        self.nest_in(ctx.frame)
        self.segment, self.begun = ctx.segment, True
        ctx.frame, ctx.segment = self, None
        for tensor in self.start:
            if id(tensor) not in self.tensors:
                self._lifted(self._meet(tensor))
        self.known = len(self.inputs)

    def end(self):
        """Puts everything back; after a run that has failed also the lists and dicts that may
        be changed in it."""
        if not self.begun:
            return
        local.ctx.frame, local.ctx.segment = self.outer, self.segment
        self.undo_log.undo()
        for _, grad, raw, _ in self.grads.values():
            if grad is not None and id(grad) not in self.tensors:
                grad._raw = raw
        for generator, (_, words, offset) in self.drawn.items():
            generator._words, generator._offset = words, offset
        for owner, before in (*self.attributes.values(), *self.objects.values(), *self.contents.values()):
            if not (self.finished and id(owner) in self.staying):
                restore_contents(owner, before)

    # reading ------------------------------------------------------------------------------------------------

    def operands(self, tensors, deferred=False):
        """What a kernel gets for Tensors."""
        self.uses.update(map(id, tensors))
        return [self._operand(t) for t in tensors]

    def call(self, kernel, tensors):
        """Runs a kernel on Tensors. Branches and loops may be handed what none of them uses."""
        if self.lacking and kernel.name not in ("cond", "while"):
            self.defined(tensors)
        return super().call(kernel, tensors)

    def on_undefined(self, tensor, name):
        if not self.once:  # a function that need not be compiled whole runs eagerly then
            self.lacking[id(tensor)] = tensor, name

    def on_uncertain_result(self, result, tensor):
        if self.is_outside(tensor):
            self.doubtful[id(result)] = result

    def on_python_number(self, tensor):
        if not self.once:
            self.numbers[id(tensor)] = tensor

    def defined(self, tensors):
        """The Tensors; refuses those of variables that no value may have been given to."""
        for tensor in tensors:
            if id(tensor) in self.lacking:
                error = Unsupported(
                    f"the variable {self.lacking[id(tensor)][1]!r} has no value after one "
                    "branch of a condition on a tensor, and is used"
                )
                self.on_refusal(error)
                raise error
        return tensors

    def _operand(self, tensor):
        value = self.read(tensor)
        return (
            jax.lax.stop_gradient_p.bind(value)
            if tensor.stop_gradient and value.dtype.kind in INEXACT
            else value
        )

    def read(self, tensor):
        """The value to compute with."""
        raw = tensor._raw
        if type(raw) is LazyArray:
            if type(raw.array) is tuple:
                return constant_value(raw)
            raw = to_array(raw)
        if isinstance(raw, jax.core.Tracer | np.ndarray | np.generic):
            return raw  # NumPy arrays are constants that an operation made
        entry = self.arrays.get(id(raw))
        if entry is None:
            if type(tensor) is NumberTensor:
                return raw
            entry = self._meet(tensor)
        return self._lifted(entry)

    def _meet(self, tensor):
        entry = self.tensors[id(tensor)] = CapturedInput(tensor._raw, tensor)
        self.undo_log.save(tensor)
        tensor._raw, tensor._node, tensor._idx = entry.own, None, 0
        return self._keep(entry)

    def _keep(self, entry):
        self.arrays[id(entry.own)] = entry
        self.inputs.append(entry)
        return entry

    def _lifted(self, entry):
        """The value in this run; inside a trace within it the array, which that trace hands
        on as an operand."""
        if local.ctx.frame is not self:
            return entry.own
        if entry.tracer is None:
            entry.tracer = jax.lax.optimization_barrier(entry.own)
        if entry.tensor is not None and entry.tensor._raw is entry.own:
            entry.tensor._raw = entry.tracer
        return entry.tracer

    def host_number(self, get):
        """A number that the host knows at each call, such as a learning rate."""
        if self.effects:
            raise Unsupported(
                "a learning rate is used after scheduler.step(); "
                "call scheduler.step() at the end of the function"
            )
        with swapped_attributes(self, quiet=True):
            return self._lifted(self._keep(CapturedInput(np.float64(get()), get=lambda: np.float64(get()))))

    def host_value(self, tensor):
        """The value of a Tensor for the host, where it may count as constant: a few integers from
        outside. Else None."""
        raw = tensor._raw
        if (
            isinstance(raw, np.ndarray | np.generic)
            or type(raw) is LazyArray
            and type(raw.array) is tuple
            or type(tensor) is NumberTensor
        ):
            return to_numpy(to_array(raw))
        entry = next((e for e in self.inputs[self.variable :] if _holds(e, tensor)), None)
        if entry is None or entry.value.dtype.kind not in "biu" or entry.value.size > _SMALL:
            if local.ctx.frame is not self and not isinstance(raw, jax.core.Tracer):
                self.read(tensor)
                # a trace within this one holds the array, which is another one at the next call
                raise TracedValueError("host")
            return None
        self.host_reads[entry] = value = to_numpy(entry.value)
        return value

    def on_node_gradient(self, node):
        """Nothing to do: what operations of the run keep is from the run."""

    def on_refusal(self, error):
        """Called before an error says that the code cannot be compiled, which the code itself might catch."""
        self.refusal = self.refusal or error

    def on_reseed(self, generator):
        """Called before a generator gets another state."""
        raise Unsupported(
            "the state of the random generator is set inside the function (paddle.seed, "
            "set_rng_state); set it outside"
        )

    def on_stream_read(self, what):
        """Called before something is read that is not the same at each call."""
        raise Unsupported(
            f"{what} is iterated over inside the function, which would happen while compiling "
            "only; pass in what is taken from it"
        )

    def guarded_value(self, get):
        """What `get()` gives, compared again at each call."""
        value = get()
        if not self.quiet:
            self.host_guards.append((get, value))
        return value

    def value_before(self, tensor):
        """The value that a Tensor has had since before the run, for state that is made of it and lives on."""
        self.read(tensor)
        entry = self.tensors.get(id(tensor))
        if entry is None or not _holds(entry, tensor):
            raise Unsupported(
                "the state of an optimizer is made, or arranged anew, after a change of "
                f"{tensor.name} in the same function; run one step before compiling it, "
                "and change settings of parameters outside"
            )
        return entry.value

    # changing -----------------------------------------------------------------------------------------------

    def used(self, tensor):
        """Called before the shape or another property of a Tensor is looked at, which then has to be the
        same at each call."""
        self._hold(tensor)
        self.uses.add(id(tensor))

    def on_assign(self, tensor, shares=True):
        """Called before a Tensor gets another value in place. shares: its views get theirs, too."""
        if shares:
            self.sharing.add(id(tensor))
        refuse_possible_outside(tensor, self)
        self._hold(tensor)

    def _hold(self, tensor):
        """Takes up a Tensor from outside, if it is one."""
        if type(tensor._raw) is Uninitialized:
            raise Unsupported("a parameter gets its first value inside the function; make Layers outside")
        if id(tensor) not in self.tensors:
            self.read(tensor)

    def is_outside(self, tensor):
        """Whether a Tensor is not one that the run has made."""
        return id(tensor) in self.tensors or not isinstance(tensor._raw, jax.core.Tracer)

    def on_grad_access(self, tensor, accumulates=False):
        """Called before the `grad` of a Tensor is looked at; `accumulates`: only to add to it."""
        if id(tensor) in self.grads:
            return
        self.read(tensor)
        if id(tensor) not in self.tensors:
            return  # made by the run itself
        if accumulates and self.undo_log.saved_state(tensor)[1] is not None:
            raise Unsupported(
                f"backward reaches {tensor.name}, which was computed outside; "
                "call backward outside, or compute it inside"
            )
        grad = tensor._grad
        if type(grad) is RowsGrad:
            raise Unsupported(
                f"the gradient of {tensor.name}, a table of Embedding(sparse=True), is from "
                "outside; call backward and the step of the optimizer in one function, "
                "or both outside"
            )
        kind = grad_kind(grad)
        self.grads[id(tensor)] = (
            tensor,
            grad,
            None if grad is None else grad._raw,
            "empty" if accumulates and kind != "array" else kind,
        )
        if kind == "array":
            self.read(grad)

    def on_row_lookup(self, weight, ids, padding):
        """Called for rows of a leaf whose gradient is one of these rows; ids None: of all."""
        marks = None
        if ids is not None and get_opaque_trace_state(convention="flax") == self.level:
            marks = marks_of(self.read(ids), weight._raw.shape[0], padding)
        before = self.lookups.get(id(weight))
        self.lookups[id(weight)] = weight, marks if before is None else either(before[1], marks)

    def on_layer_change(self, layer):
        """Called before an attribute of a Layer is set or deleted."""
        _note(self.attributes, layer)

    def on_object_change(self, owner):
        """Called before an object, a list or a dict changes, or may change."""
        if Observing.observer is None or Observing.observer.is_outside(owner):
            _note(self.contents, owner)

    def on_hook(self, tensor):
        """Called before a hook is put on a Tensor."""
        if id(tensor) in self.tensors:
            raise Unsupported(
                f"register_hook is called inside the function on {tensor.name} from outside; "
                "register the hook outside"
            )
        self.hooked = True

    def on_optimizer_step(self):
        """Called for a step of an optimizer, which each call of the program will make."""
        self.steps += 1

    def host_effect(self, call, owner, args, kwargs):
        """Lets `call` change an object on the host; it will do so again after each call of the program."""
        if self.quiet:  # the call is part of one that is noted already
            return call(owner, *args, **kwargs)
        if any(map(is_tensor, (*args, *kwargs.values()))):
            raise Unsupported(
                f"{type(owner).__name__}.{call.__name__} is given a Tensor inside the "
                "function; call it outside"
            )
        _note(self.objects, owner)
        self.effects.append((call, owner, args, kwargs))
        with swapped_attributes(self, quiet=True):
            return call(owner, *args, **kwargs)

    def on_print(self, tensor):
        """Called before a Tensor is written as text, which each call has to do with the values it has."""
        if not self.once:
            error = TracedValueError("str")
            self.on_refusal(error)
            raise error

    def writes(self, call, args, kwargs):
        """Lets `call` write something after each call of the program."""
        self.texts.append((_written, call, args, kwargs))

    def _base(self, generator):
        if generator not in self.drawn:
            words = CapturedInput(generator._words, get=lambda: generator._words)
            start = CapturedInput(
                np.uint32(generator._offset & 0xFFFFFFFF),
                get=lambda: np.uint32(generator._offset & 0xFFFFFFFF),
            )
            self.drawn[generator] = (
                (self._keep(words), self._keep(start)),
                generator._words,
                generator._offset,
            )
        base, _, start = self.drawn[generator]
        return *map(self._lifted, base), start


def _note(owners, owner):
    """Keeps what an object or container has now, unless that is kept already."""
    if id(owner) not in owners:
        owners[id(owner)] = owner, copy_contents(owner)


def _written(call, *args, **kwargs):
    call(*args, **kwargs)


def refuse_possible_outside(tensor, capture):
    """Refuses to change what may be a Tensor from outside or another one, after a branch or loop."""
    if capture is not None and id(tensor) in capture.doubtful:
        raise Unsupported(
            "what a branch or loop gives is changed, and may be a Tensor from outside the "
            "function, which would change too; work on clone()"
        )


def constant_value(raw):
    """The value of a few host numbers, or of one number that fills a shape, inside a trace."""
    if len(raw.array) == 1 != raw.aval.size:
        return jnp.full(raw.aval.shape, raw.array[0], raw.aval.dtype)
    return to_array(raw)


def _holds(entry, tensor):
    return entry.tensor is not None and (tensor._raw is entry.own or tensor._raw is entry.tracer)


def capture(
    function, inputs, start, converted=False, fixed=False, objects=(), once=False, generators=()
) -> Captured:
    """Runs `function()`, which uses the Tensors `inputs`, and gives it as a program.

    fixed: whether integer inputs may count as constant where the host asks for their value. objects: lists,
    dicts and objects that it may change; a list or dict may be changed in the run only, with `once`.
    start: further Tensors that it may read. converted: whether functions with control flow on Tensors are
    converted on the way. generators: random generators of Python or NumPy that it may use.
    """
    start, again = list(start), []
    while True:
        run = Capture([*inputs, *start], converted, 0 if fixed else len(inputs), objects, once)
        drawn = HostRandom(generators)
        try:
            with preserved_tracing():
                captured = run_within(drawn, lambda run=run: _capture(run, function, len(inputs)))
        except TRACING:
            met = [g.tensor for g in run.inputs[run.known :] if g.tensor is not None]
            if not met or len(again) == 3:
                raise
            again.append(
                f"{len(met)} Tensors, {met[0].name} the first, were met where only their arrays "
                "could be handed on"
            )
            start += met  # this time they are known from the beginning
        else:
            drawn.check()
            captured.again = again
            return captured


def _capture(run, function, n):
    captured = Captured()

    def inner():
        run.level = get_opaque_trace_state(convention="flax")
        try:
            out = function()
        except Exception as error:
            if run.refusal is None or isinstance(error, (Unsupported, *TRACING)):
                raise
            raise run.refusal from error
        if run.refusal is not None:
            raise run.refusal
        tensors, captured.rebuild = flatten_tensors(open_result(out, run, run.numbers))
        run.defined(tensors)
        values = [run.read(t) for t in tensors]
        captured.results = [
            (t.stop_gradient, None if t._node is None else continues_backward(t), run.tensors.get(id(t)))
            for t in tensors
        ]
        captured.changes, new = _changes(run)
        if run.hooked and any(flows for _, flows, _ in captured.results):
            raise Unsupported(
                "register_hook is called on a Tensor inside the function; "
                "register the hook outside, or call backward inside too"
            )
        if run.executor is run_checked and run.checks is not None:
            add_finite_check([*values, *new])
        _add_tables(run, captured, new)
        if run.checks:
            captured.changes.append(
                Change(
                    "checks",
                    None,
                    1,
                    checks=[(len(numbers), error, line) for _, numbers, error, line in run.checks],
                )
            )
            new.append(pack_checks(run.checks))
        captured.relations = relations(
            [c.target for c in captured.changes if c.kind == "value"], run.is_outside
        )
        captured.draws = [(g, g._offset - start) for g, (_, _, start) in run.drawn.items()]
        captured.grads = [(t, kind) for t, _, _, kind in run.grads.values()]
        run.finished = True
        return tuple([*values, *new])

    closed, captured.structs = jax.make_jaxpr(lambda: run_within(run, inner), return_shape=True)()
    captured.host_guards, captured.effects, captured.steps = (
        run.host_guards,
        [*run.effects, *run.texts],
        run.steps,
    )
    _open(captured, closed, run, n)
    return captured


def _add_tables(run, captured, new):
    """Adds the marks of the rows that were looked up, where a gradient can flow through a result."""
    if not any(flows for _, flows, _ in captured.results) and not any(c.flows for c in captured.changes):
        return
    for weight, marks in run.lookups.values():
        if marks is not None and id(weight) in run.tensors:
            captured.changes.append(Change("rows", weight, 1))
            new.append(marks)


def grad_kind(grad):
    """What the `grad` of a Tensor is: "none", "zero", "rows" or "array"."""
    if type(grad) is RowsGrad:
        return "rows"
    return "none" if grad is None else "zero" if is_zero(grad._raw) else "array"


def continues_backward(tensor):
    """Whether a backward from outside could go on into what a Tensor was computed from."""
    return not tensor.stop_gradient and tensor._node is not None and tensor._node.values is not None


def _changes(run):
    """What the run has changed outside: [Change], [new arrays]."""
    changes, arrays = [], []
    for entry in run.inputs:
        tensor = entry.tensor
        if tensor is not None and tensor._raw is not entry.tracer and tensor._raw is not entry.own:
            steps, shares = tensor._version - run.undo_log.saved_state(tensor)[5], id(tensor) in run.sharing
            changes.append(
                Change(
                    "value",
                    tensor,
                    1,
                    stop_gradient=tensor.stop_gradient,
                    flows=continues_backward(tensor),
                    steps=steps,
                    shares=shares,
                )
            )
            arrays.append(run.read(tensor))
        elif tensor is not None and tensor.stop_gradient is not run.undo_log.saved_state(tensor)[3]:
            changes.append(Change("flag", tensor, 0, stop_gradient=tensor.stop_gradient))
    for tensor, grad, raw, kind in run.grads.values():
        now = tensor._grad
        if now is grad and (
            grad is None or id(grad) in run.tensors or (grad._raw is raw and kind != "empty")
        ):
            continue  # the value of a gradient that was there counts as that of any other Tensor
        to = grad_kind(now)
        new = [] if to in ("none", "zero") else [run.read(now)]
        if to == "rows":
            new.append(now.rows().marks())
        arrays += new
        changes.append(
            Change(
                "grad",
                tensor,
                len(new),
                to=to,
                anew=now is not grad and grad is not None,
                stop_gradient=now is not None and now.stop_gradient,
            )
        )
    for owner, stores in (*run.attributes.values(), *run.contents.values()):
        if isinstance(owner, CONTAINERS):
            _allow_change(run, owner, *stores)
            continue
        for number, (store, before) in enumerate(zip(stores_of(owner), stores, strict=True)):
            for name in {**before, **store}:
                if not same_value(store.get(name, MISSING), before.get(name, MISSING)):
                    change, new = _assignment(run, owner, (number, name), store.get(name, MISSING))
                    changes.append(change)
                    arrays += new
    return changes, arrays


def _allow_change(run, container, before):
    """Refuses a change of a container that can still be seen after the run, as far as is known; but one that
    does not depend on the run may stay where that is allowed."""
    if content_differs(container, before) and (
        Observing.observer is None or Observing.observer.guards.is_in_place(container)
    ):
        old = {id(value) for _, value in members(before)}
        new = [value for _, value in members(container) if id(value) not in old]
        if not run.once or flatten_tensors(new)[0]:
            raise Unsupported(
                f"a {type(container).__name__} from outside the function is changed, "
                "which would happen while compiling only; return what it is to hold"
            )
        run.staying.add(id(container))


def _assignment(run, owner, key, value):
    inside, rebuild = flatten_tensors(
        open_result(value, run), lambda x: is_tensor(x) and id(x) not in run.tensors
    )
    change = Change(
        "attribute", owner, len(inside), key=key, rebuild=_maker(inside, rebuild), gone=value is MISSING
    )
    change.flows = any(map(continues_backward, inside))
    return change, [run.read(t) for t in inside]


def _maker(prototypes, rebuild):
    """A function that makes an attribute's value of results, in Tensors like those of the run."""
    kinds = [
        (type(t), t.stop_gradient, t._name, t.persistable, dict(t.__dict__), continues_backward(t))
        for t in prototypes
    ]

    def make(values, results):
        tensors = []
        for (kind, stop, name, persistable, more, flows), value, result in zip(
            kinds, values, results, strict=True
        ):
            tensor = kind.__new__(kind)
            init_tensor(tensor, value, stop)
            tensor._name, tensor.persistable = name, persistable
            tensor.__dict__.update(more)
            if flows:
                tensor._node, tensor._idx = result._node, result._idx
            tensors.append(tensor)
        return rebuild(tensors)

    return make


def _wanted_beside(captured, run):
    """What from outside a call needs though no operation reads it: what it changes or gives back."""
    targets = [c.target for c in captured.changes if c.kind not in ("attribute", "checks")]
    tensors = [*targets, *[t for t, _ in captured.grads]]
    returned = [entry for _, _, entry in captured.results if entry is not None]
    used = [entry for entry in run.inputs if id(entry.tensor) in run.uses]
    return {*[run.tensors[id(t)] for t in tensors], *run.host_reads, *returned, *used}


def _open(captured, closed, run, n):
    """The jaxpr as a function of what comes from outside; what no operation reads is not passed."""
    jaxpr, by_var = closed.jaxpr, {}
    for var, const in zip(jaxpr.constvars, closed.consts, strict=True):
        entry = run.arrays.get(id(const))
        if entry is not None:
            by_var[var] = entry
    alias, eqns = {}, []
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "optimization_barrier" and len(eqn.invars) == 1 and eqn.invars[0] in by_var:
            alias[eqn.outvars[0]] = by_var[eqn.invars[0]]
        else:
            eqns.append(eqn)
    used = {
        v for operands in (*[e.invars for e in eqns], jaxpr.outvars) for v in operands if not is_literal(v)
    }
    operands = {v: entry for v, entry in {**by_var, **alias}.items() if v in used}
    wanted = {*operands.values(), *_wanted_beside(captured, run)}
    captured.inputs = [entry for i, entry in enumerate(run.inputs) if i < n or entry in wanted]
    captured.host_reads = list(run.host_reads.items())
    place = {entry: i for i, entry in enumerate(captured.inputs)}
    constants = {v: c for v, c in zip(jaxpr.constvars, closed.consts, strict=True) if v not in by_var}
    body = jaxpr.replace(constvars=[*constants, *operands], eqns=eqns, invars=[])
    fixed, places, structs = list(constants.values()), [place[e] for e in operands.values()], captured.structs

    def fn(*values):
        out = jax.core.eval_jaxpr(body, [*fixed, *[values[i] for i in places]])
        # constants are numbers
        return tuple(
            [v if hasattr(v, "dtype") else np.asarray(v, s.dtype) for v, s in zip(out, structs, strict=True)]
        )

    captured.fn, captured.jaxpr, captured.parts = fn, body, (fixed, places)
    for entry in captured.inputs:
        entry.own = entry.tracer = entry.value = None  # their memory may be given away
