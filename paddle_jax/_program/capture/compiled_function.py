"""One compiled form of a function: a captured run, the places where it finds its operands anew at each call,
and what a call does.

Two ways of running: when gradients can flow through a result, as one operation on the tape; when not (a whole
training step), directly, giving the memory of what it changes to the new values.
"""

import itertools
import operator
import sys

import jax
import numpy as np

from paddle_jax._core.base.compiler import compiler_options
from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.error_translation import run_error
from paddle_jax._core.base.interrupt_safe import (
    InterruptSafeCall,
    call_and_store,
    interrupt_safe_jit,
    set_all,
)
from paddle_jax._core.base.out_of_memory import as_out_of_memory
from paddle_jax._core.base.state import LayerVersion, local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.module_protocol import AttributeStore
from paddle_jax._core.execution.python_state import MISSING, same_objects, same_value, stores_of
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.value_checks import PendingChecks, enqueue_results, poll, raise_if_failed
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.lazy_array import LazyArray, constant, is_zero
from paddle_jax._core.lazy.transfer import to_array, to_jax_array, to_numpy
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tape.sparse_rows import Rows, RowsGrad, note_program
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._core.tensors.views import have_relations, relations, relink_views
from paddle_jax._program.capture.capture import grad_kind
from paddle_jax._program.capture.captured_checks import CapturedChecks
from paddle_jax._program.capture.flat_buffer import FlatBuffer, Scattered
from paddle_jax._program.capture.xla_options import fusion_options
from paddle_jax._program.control_flow.effects import silent


def _finished(call, *args):
    """Runs a program that prints or asserts to its end; raises what it raises."""
    try:
        return jax.block_until_ready(call(*args))
    except jax.errors.JaxRuntimeError as error:
        raise run_error(error) from None


class GuardFailure(Exception):
    """Something the compiled form rests on has changed."""


class CompiledFunction:
    """A compiled form.

    n: how many inputs. stores, keys: of Tensors that are looked up at each call; fixed: other Tensors;
    owners: places of Tensors whose gradients are operands; getters: functions giving numbers. `order` brings
    their values into the order of the captured function. flags, avals: what the operands must be like.
    watched: (place, what its gradient must be like). loose: whether operands are found in places that do not
    tell when they change. shared: places of what changes together with its views; relations, related: what
    those are, and the places among them.
    """

    def __init__(self, name, captured, scan, observer, inputs):
        self.name, self.captured, self.scan, self.n = name, captured, scan, len(inputs)
        self.guards = observer.guards
        self.ids = self.scanned = frozenset(scan.tensors)
        self.aliased = [id(t) in self.ids for t in inputs]
        self.inputs = [t if is_alias else None for t, is_alias in zip(inputs, self.aliased, strict=True)]
        self._arrange(captured, scan)
        self.loose, self.changes = not all([isinstance(store, AttributeStore) for store in self.stores]), None
        tensors = self._tensors(inputs)
        self.flags = [t.stop_gradient for t in tensors]
        self.shapes = [(t._raw.shape, t._raw.dtype) for t in tensors]
        self.places = {id(t): i for i, t in enumerate(tensors)}
        self.watched = [(self.places[id(t)], kind) for t, kind in captured.grads]
        self.numbers = [(None, None)] * len(self.getters)
        self.owning, self.seen, self.steady = _picker([i for i, _ in self.watched]), ([], []), False
        owning = self.owning(tensors)
        self.hooked = _hooks_of(owning) if any(map(_HOOKS, owning)) else None
        self.differentiable = any(flows for _, flows, _ in captured.results) or any(
            c.flows for c in captured.changes
        )
        checks = CapturedChecks.of(captured)
        self.front = None if checks is None else checks.arrange(captured, self.order, self.differentiable)
        self._plan(captured)
        self.kernel = Kernel(name, self._flat)
        self.has_effects = bool(captured.jaxpr.effects)
        if self.has_effects:
            self.kernel.deferrable = False
            silent(self.kernel)
        # of results whose tape backward has used up inside
        self.spent = Node(self.kernel, None, (0,), ((wrap(None), 0),), 1)
        fitting = (
            []
            if self.differentiable or self.has_effects
            else [each[0] for each in self.values if self._fits(*each[:2])]
        )
        self._split(len(tensors), FlatBuffer.of(fitting, tensors))
        del self.places

    def _plan(self, captured):
        """Who gets which of the last results: plain values, gradients that become zeros, and the
        rest one by one."""
        at = len(captured.results)
        self.values, self.zeros, self.rest = [], [], []
        for change in captured.changes:
            target = None if change.kind in ("attribute", "checks") else self.places[id(change.target)]
            plain = change.kind == "value" and not change.flows and change.stop_gradient is self.flags[target]
            if plain:
                self.values.append((target, at, change.steps))
            elif change.kind == "grad" and change.to == "zero" and not change.anew:
                self.zeros.append((target, change))
            else:
                self.rest.append((target, at, change))
            at += change.count
        shared = [c.target for c in captured.changes if c.kind == "value" and c.shares]
        self.shared = [self.places[id(tensor)] for tensor in shared]
        self.relations = relations(shared, _is_outside)
        self.related = [
            (self.places[id(ref())], ref) for ref, *_ in self.relations if id(ref()) in self.places
        ]

    def _arrange(self, captured, scan):
        by_tensor = {id(entry.tensor): entry for entry in captured.inputs}
        holders = {id(t._grad): by_tensor[id(t)] for t, _ in captured.grads if t._grad is not None}
        slots, fixed, owners, getters = [], [], [], []
        for entry in captured.inputs[self.n :]:
            (
                getters
                if entry.tensor is None
                else slots
                if id(entry.tensor) in scan.slots
                else owners
                if id(entry.tensor) in holders
                else fixed
            ).append(entry)
        ordered = [*captured.inputs[: self.n], *slots, *fixed, *owners, *getters]
        place = {entry: i for i, entry in enumerate(ordered)}
        self.order = [place[entry] for entry in captured.inputs]
        self.stores, self.keys = ([scan.slots[id(entry.tensor)][part] for entry in slots] for part in (0, 1))
        self.fixed, self.getters = [entry.tensor for entry in fixed], [entry.get for entry in getters]
        self.owners = [place[holders[id(entry.tensor)]] for entry in owners]
        self.host_reads = [(place[entry], value) for entry, value in captured.host_reads]
        captured.results = [
            (stop, flows, None if entry is None else place[entry]) for stop, flows, entry in captured.results
        ]

    def _flat(self, *values):
        return self.captured.fn(*[values[i] for i in self.order])

    def _tensors(self, inputs):
        tensors = [*inputs, *map(operator.getitem, self.stores, self.keys), *self.fixed]
        if self.owners:
            tensors += [tensors[i]._grad for i in self.owners]
        return tensors

    # is it still right? -------------------------------------------------------------------------------------

    def operands(self, inputs):
        """The Tensors for a call; GuardFailure where a guard does not hold."""
        if inputs and (
            [id(t) in self.ids for t in inputs] != self.aliased
            or any([a is not None and a is not b for a, b in zip(self.inputs, inputs, strict=True)])
        ):
            raise GuardFailure("another Tensor that the function also uses itself is passed")
        if not self.scan.package_guards.holds():
            raise GuardFailure(self.scan.package_guards.describe_change())
        if not self.guards.holds():
            raise GuardFailure(self.guards.describe_change())
        for get, value in self.captured.host_guards:
            now = get()
            if now is not value and now != value:
                raise GuardFailure("a value that the function read on the host has changed")
        try:
            tensors = self._tensors(inputs)
            flags = list(map(_STOP, tensors))
        except (KeyError, IndexError, AttributeError):
            raise GuardFailure("a Tensor that the function uses is gone") from None
        if self.loose or self.changes != LayerVersion.count:
            self._check_distinct(tensors)
        if flags != self.flags:
            at = next(i for i, flag in enumerate(flags) if flag != self.flags[i])
            raise GuardFailure(f"stop_gradient of {tensors[at].name} is {flags[at]}")
        for i, value in self.host_reads:
            if not np.array_equal(to_numpy(to_array(tensors[i]._raw)), value):
                raise GuardFailure(
                    f"the value of {tensors[i].name}, which the function looks at on the host, has changed"
                )
        if self.shared and (any(map(_ALIAS, shared := [tensors[i] for i in self.shared])) or self.relations):
            if any([tensors[at] is not ref() for at, ref in self.related]) or not have_relations(
                shared, self.relations, _is_outside
            ):
                raise GuardFailure("the Tensors that share elements with what is changed in place are others")
        if self.watched:
            self._check_grads(tensors)
        return tensors

    def _check_distinct(self, tensors):
        """Whether the operands are still one Tensor each; a place may have got the Tensor of another one."""
        ids = set(map(id, tensors))
        if len(ids) != len(tensors):
            raise GuardFailure("a Tensor is found in two places where two Tensors were")
        self.ids = ids.difference(map(id, tensors[: self.n])).union(self.scanned)
        self.changes = LayerVersion.count

    def _check_grads(self, tensors):
        owning = self.owning(tensors)
        if (self.hooked or any(map(_HOOKS, owning))) and _hooks_of(owning) != self.hooked:
            raise GuardFailure("a Tensor whose gradient is computed has got or lost a hook")
        grads, seen = list(map(_GRAD, owning)), self.seen
        self.steady = same_objects(grads, seen[0]) and (
            seen[1] is None or all(map(operator.is_, map(_RAW, grads), seen[1]))
        )
        if self.steady:
            return
        raws = [None if g is None else g._raw for g in grads]
        for (i, expected), grad in zip(self.watched, grads, strict=True):
            kind = grad_kind(grad)
            if kind != expected and (expected != "empty" or kind in ("array", "rows")):
                raise GuardFailure(f"the gradient of {tensors[i].name} is {_KINDS[kind]}")
            if tensors[i]._node is not None:
                raise GuardFailure(f"{tensors[i].name} was computed outside, and backward is called inside")
        # only what takes no memory
        self.seen = (
            (grads, raws)
            if all(map(is_zero, raws))
            else (grads, None)
            if all(g is None for g in grads)
            else ([], [])
        )

    def _arrays(self, tensors):
        """What the Tensors outside the FlatBuffer hold, as arrays."""
        raws = list(map(_RAW, tensors))
        try:
            avals = list(map(_AVAL, raws))
        except AttributeError:
            avals = ()
        if same_objects(avals, self.avals):
            return raws
        shapes = self.others(self.shapes)
        for i, (tensor, raw) in enumerate(zip(tensors, raws, strict=True)):
            if type(raw) is LazyArray or not isinstance(raw, jax.Array):
                raws[i] = to_jax_array(raw)
                # of a FlatBuffer's part the Tensor keeps being one
                if i < len(self.donated) or type(getattr(raw, "segment", None)) is not FlatBuffer:
                    tensor._raw = raws[i]
            if (raws[i].shape, raws[i].dtype) != shapes[i]:
                raise GuardFailure(
                    f"{tensor.name} is {raws[i].dtype.name}{list(raws[i].shape)}, "
                    f"before {shapes[i][1].name}{list(shapes[i][0])}"
                )
        self.avals = [raw.aval for raw in raws]
        return raws

    # running ------------------------------------------------------------------------------------------------

    def __call__(self, tensors):
        """Runs it on operands that `operands` gave; returns what the function returns."""
        captured = self.captured
        if PendingChecks.queue:
            poll(False)
        if self.differentiable:
            for tensor, shape in zip(tensors, self.shapes, strict=True):
                if (tensor._raw.shape, tensor._raw.dtype) != shape:
                    raise GuardFailure(f"{tensor.name} is {tensor._raw.dtype.name}{list(tensor._raw.shape)}")
            out = run(self.kernel, [*tensors, *[wrap(get()) for get in self.getters]])
            raws = [o._raw for o in out]
            if self.has_effects:
                _finished(lambda: raws)
            set_all(_SET_RAW, [tensors[i] for i in self.donated], [raws[at] for at in self.at])
        else:
            if self.front is not None:
                self.front(tensors)
            out = raws = self._run(tensors)
            if local.ctx.frame.executor is not None and (checks := CapturedChecks.of(captured)) is not None:
                raise_if_failed(raws[-1], checks.checks)  # now, as each operation is looked at
        results = []
        for (stop, flows, place), value, raw in zip(captured.results, out, raws, strict=False):
            if place is not None:
                results.append(tensors[place])
            elif flows:
                value.stop_gradient = False
                results.append(value)
            else:
                results.append(wrap(raw, stop, None if stop or flows is None else self.spent))
        self._settle(tensors, out, raws)
        Counters.steps += captured.steps
        for generator, count in captured.draws:
            generator._offset += count
        for call, owner, args, kwargs in captured.effects:
            call(owner, *args, **kwargs)
        return captured.rebuild(results)

    def _run(self, tensors):
        if self.pack is None:
            return self._direct(None, tensors)
        members = self.members(tensors)
        try:
            flat = self.pack.take(members)
        except Scattered:
            self._split(len(tensors), None)
            return self._run(tensors)
        with self.pack.lock:
            return self._direct(flat, tensors, members)

    def _direct(self, flat, tensors, members=()):
        """Runs the compiled function, and gives the Tensors their new values in the same step; returns the
        results (None for what Tensors have taken)."""
        arrays = self._arrays(self.others(tensors))
        handed = list(self.pick(arrays))
        if any(map(_SHARED.__lt__, map(sys.getrefcount, handed))):
            # + 1: the variable of this line
            handed = [a if sys.getrefcount(a) <= _SHARED + 1 else jax.numpy.array(a) for a in handed]
        kept = arrays[len(handed) :]
        del arrays
        try:
            arguments, changed, unwritten = (
                (flat, handed, kept, self._numbers()),
                [tensors[i] for i in self.donated],
                [],
            )

            def take(results):
                values = itertools.chain(map(_SET_RAW, changed, results), map(unwritten.append, results))
                return (
                    values if self.pack is None else itertools.chain(self.pack.give(members, results), values)
                )

            if self.has_effects:
                call_and_store(iter, [_finished(self.direct, *arguments)], take)
            else:
                self.once(
                    arguments,
                    take,
                    None,
                    (*map(type, arguments[3]), *map(_COMMITTED, handed), *map(_COMMITTED, kept)),
                )
            out = [None] * self.width
            for at, value in zip(self.plain, unwritten, strict=True):
                out[at] = value
            return out
        except Exception as error:
            ours = as_out_of_memory(error, self.name, [tensor._raw for tensor in tensors])
            if any(
                tensors[i]._raw is a and a.is_deleted() for i, a in zip(self.donated, handed, strict=True)
            ):
                names = ", ".join(tensors[i].name for i in self.donated[:3])
                kind = RuntimeError if ours is error else type(ours)
                raise kind(
                    f"{self.name}: failed after it had taken over the memory of {names} and others; "
                    f"load their values again: {ours}"
                ) from None
            if ours is error:
                raise
            raise ours from None

    def _numbers(self):
        """The numbers from the host; one that stays the same is kept on the device, which saves
        handing it over."""
        values = []
        for i, get in enumerate(self.getters):
            number, (known, held) = get(), self.numbers[i]
            if number is not known and (type(number) is not np.float64 or number != known):
                self.numbers[i] = number, None
            else:
                if held is None:
                    held = put(np.asarray(number))
                    self.numbers[i] = known, held
                number = held
            values.append(number)
        return values

    def _fits(self, target, at):
        """Whether a new value is of the shape and dtype of the old one, whose memory it can have."""
        struct = self.captured.structs[at]
        return (struct.shape, struct.dtype) == self.shapes[target]

    def _split(self, count, pack):
        """Which operands give their memory away: what gets a new value of the same shape. All is
        set in one step."""
        packed = [] if pack is None else pack.places
        inside = set(packed)
        plain = [each for each in self.values if each[0] not in inside]
        news = {target: (at, steps) for target, at, steps in self.values}
        spots = [news[i][0] for i in packed]
        written = [
            *[(target, at) for target, at, _ in plain],
            *[(i, at) for i, at, c in self.rest if c.kind == "value" and not c.flows],
        ]
        donated, at = [target for target, _ in written], [at for _, at in written]
        width = len(self.captured.results) + sum(change.count for change in self.captured.changes)
        rest = [i for i in range(width) if i not in {*at, *spots}]
        taken = inside.union(donated)
        order = [*donated, *[i for i in range(count) if i not in taken]]
        place = {i: k for k, i in enumerate([*packed, *order])}
        sources = [place[i] for i in range(count)]

        def direct(flat, handed, kept, numbers):
            parts = [*([] if pack is None else pack.split(flat)), *handed, *kept]
            out = self._flat(*[parts[k] for k in sources], *numbers)
            joined = [] if pack is None else [pack.joined([out[i] for i in spots])]
            return [*joined, *[out[i] for i in at], *[out[i] for i in rest]]

        direct.__name__ = self.name
        # after a failed assertion everything is as before
        donate = () if self.has_effects or not all([self._fits(*each) for each in written]) else 1
        jaxpr = self.captured.jaxpr
        options = compiler_options(len(jaxpr.eqns)) | fusion_options(jaxpr)
        compiled = interrupt_safe_jit(direct, donate_argnums=donate, compiler_options=options or None)
        self.__dict__.update(
            pack=pack,
            replaced=_picker([*[target for target, _, _ in plain], *packed]),
            steps=[*[steps for _, _, steps in plain], *[news[i][1] for i in packed]],
            members=_picker(packed),
            donated=donated,
            at=at,
            width=width,
            plain=rest,
            others=_picker(order),
            pick=operator.itemgetter(slice(len(donated))),
            avals=[None] * len(order),
            direct=compiled,
            once=InterruptSafeCall(compiled, "to_static"),
        )

    def _settle(self, tensors, out, raws):
        """Whatever else a call changes, now that the Tensors have their new values."""
        replaced = self.replaced(tensors)
        for tensor, steps in zip(replaced, self.steps, strict=True):
            tensor._version += steps
        if any(map(_NODE, replaced)):
            for tensor in replaced:
                tensor._node, tensor._idx = None, 0
        if not self.steady:
            for target, change in self.zeros:
                _set_grad(tensors[target], change)
        for target, at, change in self.rest:
            if change.kind == "value":
                tensor = tensors[target]
                if change.flows:
                    tensor._adopt(out[at])
                else:
                    tensor._node, tensor._idx, tensor.stop_gradient = None, 0, change.stop_gradient
                    tensor._version += change.steps
            elif change.kind == "flag":
                tensors[target].stop_gradient = change.stop_gradient
            elif change.kind == "grad":
                _set_grad(tensors[target], change, *raws[at : at + change.count])
            elif change.kind == "rows":
                note_program(out, tensors[target], raws[at])
            elif change.kind == "checks":
                enqueue_results(raws[at], change.checks)
            else:
                _set_attribute(change, raws[at : at + change.count], out[at : at + change.count])
        relink_views(self.captured.relations)


_SET_RAW = Tensor._raw.__set__
_RAW, _AVAL, _STOP, _GRAD, _NODE, _COMMITTED, _HOOKS, _ALIAS = map(
    operator.attrgetter, ("_raw", "aval", "stop_gradient", "_grad", "_node", "_committed", "_hooks", "_alias")
)


def _is_outside(tensor):
    """Whether a Tensor is none that the captured run has left behind."""
    return not isinstance(tensor._raw, jax.core.Tracer)


def _picker(places):
    """A quick function that picks these places of a list."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return lambda values: [values[i] for i in places]


_KINDS = {"none": "None", "zero": "zero", "array": "there", "rows": "one of some rows"}


def _set_grad(tensor, change, raw=None, used=None):
    grad = tensor._grad
    if used is not None:
        tensor._grad = RowsGrad(Rows(raw.shape, raw.dtype, array=raw, used=used), change.stop_gradient)
        return
    if change.to == "none":
        tensor._grad = None
        return
    if change.to == "zero":
        raw = constant(0, aval_of(tensor._raw.shape, tensor._raw.dtype))
    if grad is None or change.anew:
        tensor._grad = wrap(raw, change.stop_gradient)
    elif grad._raw is not raw:
        grad._raw = raw


def _set_attribute(change, raws, results):
    number, name = change.key
    store = stores_of(change.target)[number]
    if change.gone:
        store.pop(name, None)
        return
    value, now = change.rebuild(raws, results), store.get(name, MISSING)
    if raws or not same_value(now, value):  # else it may stay the object that it is
        store[name] = value
        LayerVersion.count += 1


def _hooks_of(tensors):
    """The gradient hooks of Tensors."""
    return [tuple(hooks.values()) if hooks else () for hooks in map(_HOOKS, tensors)]


def _baseline():
    """What sys.getrefcount says in `_run` of an array that only its Tensor holds."""
    tensor = wrap(object())
    arrays = list(map(_RAW, [tensor]))
    picked = list(_picker([0])(arrays))
    return next(map(sys.getrefcount, picked))


_SHARED = _baseline()
