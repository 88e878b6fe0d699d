"""Paddle code as a pure function of arrays: one run of it inside a JAX trace, with everything it takes from
outside found and made an operand.

What the code takes from outside shows as constants of the jaxpr. Those that gradients are wanted of enter
under an array object of their own, which tells where they came from; all others are constants to JAX's
derivatives too. What the code changes outside (running statistics, random state) is noted while it runs, put
back, and becomes a result.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax._src.core import (  # for a value of the trace around this one; there is no public way
    set_current_trace,
    trace_ctx,
)

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.interrupt_safe import AtomicContext, eager_evaluation
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.frame import InnerFrame
from paddle_jax._core.execution.python_state import IdentityKey
from paddle_jax._core.execution.shape_folding import fold_shapes
from paddle_jax._core.execution.undo_log import UndoLog
from paddle_jax._core.kernels.dependence import holds_jaxpr, is_literal, open_jaxpr
from paddle_jax._core.kernels.jaxpr_tracing import trace_function
from paddle_jax._core.kernels.kernel import Kernel, compute
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tape.node import Node, source_of
from paddle_jax._core.tensors.tensor import Tensor, raw_for_trace, wrap

_MAX_KERNELS = 512
_MAX_PARAMS = 4096


class Trace(AtomicContext, InnerFrame):
    """A run of Paddle code inside a JAX trace. It notes what happens to Tensors and generators outside.

    Two Tensors may hold one array. The second source then gets an array object of its own.

    Attributes:
        index: None, or the traced position in a batch, which then gets random numbers of its own.
        undo_log: UndoLog of the Tensors that the run changes.
        drawn: {generator: (its first seed words and offset as values of the run, the words, the offset)}.
        sources: {id of array: (array, what the Tensor holds, source, output index)} of what came in and wants
            gradients.
        entered: {(id of source, output index, id of what the Tensor holds): array} of these.
    """

    eager = False

    def __init__(self, index: Any = None) -> None:
        AtomicContext.__init__(self)
        InnerFrame.__init__(self)
        self.index = index
        self.undo_log = UndoLog()
        self.drawn = {}
        self.sources = {}
        self.entered = {}

    def steps(self) -> tuple[list[Any], list[Any]]:
        """What is set for the run, and put back after it."""
        ctx = local.ctx
        return (
            [(setattr, ctx, "frame", self.nest_in(ctx.frame)), (setattr, ctx, "grad", True)],
            [(setattr, ctx, "frame", ctx.frame), (setattr, ctx, "grad", ctx.grad)],
        )

    def call(self, kernel: Kernel, tensors: Sequence[Tensor]) -> Any:
        """As outside, but that only operations on pending values wait."""
        ctx = local.ctx
        if ctx.segment is not None and all(type(t._raw) is LazyArray for t in tensors):
            return super().call(kernel, tensors)
        values = self.operands(tensors)
        executor = self.executor
        if self.capture is not None and (out := fold_shapes(kernel, tensors, values)) is not None:
            return self.results(kernel, tensors, values, out)
        return self.results(
            kernel, tensors, values, compute(kernel, values) if executor is None else executor(kernel, values)
        )

    def operands(self, tensors: Sequence[Tensor], deferred: bool = False) -> list[Any]:
        """What a kernel gets for Tensors; pending values alone stay pending."""
        if deferred and all(type(t._raw) is LazyArray for t in tensors):
            return [t._raw for t in tensors]
        return [self._operand(t) for t in tensors]

    def on_grad_access(self, tensor: Tensor, accumulates: bool = False) -> None:
        outside = not isinstance(tensor._raw, jax.core.Tracer) or (
            self.capture is not None and id(tensor) in self.capture.tensors
        )
        if accumulates and outside:
            kind = RuntimeError if self.capture is None else Unsupported
            raise kind(
                "backward is called inside a transformed function or a compiled branch, and reaches "
                f"{tensor.name} outside of it; take the gradient with paddle.grad or "
                "paddle.func.grad and return it"
            )
        super().on_grad_access(tensor, accumulates)

    def on_node_gradient(self, node: Node) -> None:
        """What a node kept from outside comes from where it came from then."""
        values: Any = node.values
        for i, (source, idx) in zip(node.diff, node.edges, strict=True):
            if not isinstance(values[i], jax.core.Tracer):
                continue
            own = self._entered(values[i], values[i], source, idx)
            if own is not values[i]:
                values = node.values = (*values[:i], own, *values[i + 1 :])

    def _operand(self, tensor: Tensor) -> Any:
        value = to_array(self.read(tensor))
        if value.dtype.kind not in INEXACT:
            return value
        if tensor.stop_gradient:
            # also what is no tracer: the same array may come in with a gradient wanted
            return jax.lax.stop_gradient_p.bind(value)
        return self._entered(value, tensor._raw, *source_of(tensor))

    def _entered(self, value: Any, raw: Any, source: Any, idx: int) -> Any:
        """The array object under which a value (of what a Tensor holds) comes in from a source: each
        source has its own."""
        if isinstance(value, jax.core.Tracer) and value._trace is trace_ctx.trace:
            return value  # of this run
        own = self.entered.get((id(source), idx, id(raw)))
        if own is None:
            entry = self.sources.get(id(value))
            if entry is None or entry[2] is source and entry[3] == idx:
                own = value
            else:
                own = self._another(value)
            if not isinstance(own, jax.Array):
                with eager_evaluation():
                    own = jnp.asarray(own)
            self.entered[id(source), idx, id(raw)] = own
            self.sources[id(own)] = own, raw, source, idx
        return own

    @staticmethod
    def _another(value: Any) -> Any:
        """The same value under another object."""
        if isinstance(value, jax.core.Tracer):
            with set_current_trace(value._trace):
                return jax.lax.copy_p.bind(value)
        with eager_evaluation():
            return alias_array(jnp.asarray(value))

    def on_assign(self, tensor: Tensor, shares: bool = True) -> None:
        self.undo_log.save(tensor)

    def undo_changes(self) -> list[tuple[Tensor, Any]]:
        """Puts back what was noted; returns [(Tensor, its traced value)] for those that are still alive."""
        return [(tensor, now) for tensor, now, _ in self.undo_log.undo()]

    def next_random_key(self, generator: Any) -> tuple[Any, Any]:
        """The operands of a random op: the same numbers as outside a trace, or others for each
        position of a batch."""
        offset = generator._offset
        operands = self.random_key_at(generator, offset)
        generator._offset = offset + 1
        return operands

    def random_key_at(self, generator: Any, offset: int) -> tuple[Any, Any]:
        words, first, start = self._base(generator)
        if self.index is not None:
            words = jax.random.key_data(
                jax.random.fold_in(jax.random.wrap_key_data(words, impl="threefry2x32"), self.index)
            )
        return words, first + np.uint32((offset - start) & 0xFFFFFFFF)

    def _base(self, generator: Any) -> tuple[Any, ...]:
        """Seed words and offset at the first draw of this run, as values in it, and that offset."""
        if generator not in self.drawn or self.drawn[generator][1] is not generator._words:
            start = generator._offset
            self.drawn[generator] = self.outer.random_key_at(generator, start), generator._words, start
        base, _, start = self.drawn[generator]
        return *base, start


def alias_array(value: Any) -> Any:
    """Another array object with the same memory."""
    return jax.make_array_from_single_device_arrays(
        value.shape,
        value.sharding,
        [shard.data for shard in value.addressable_shards],
        dtype=value.dtype,  # this process may have none of the devices
    )


class Traced:
    """A function over Tensors after its run: `fn(*operands, *taken) -> tuple of arrays`, and how the
    results are to be seen.

    Attributes:
        fn: the function; `fn.jaxpr` is what it runs.
        taken: Tensors that the code took from outside, in the order of the operands they have become.
        changed: Tensors outside that get the last results.
        rebuild: function that makes what the code returned from a list of its Tensors.
        key: hashable, equal for equal programs.
        structs: shapes and dtypes of the results.
    """

    __slots__ = ("changed", "fn", "key", "rebuild", "structs", "taken")

    fn: Any
    taken: list[Tensor]
    changed: list[Tensor]
    rebuild: Callable[[Any], Any]
    key: tuple[Any, ...]
    structs: Sequence[Any]


def is_tensor(x: Any) -> bool:
    """For `is_leaf`: Tensors are leaves here, though JAX could look inside. A sparse one is a
    node of several."""
    return isinstance(x, Tensor) and not x.is_sparse()


def trace(
    function: Callable[..., Any], structs: Sequence[Any], indexed: bool = False, frame: type[Trace] = Trace
) -> Traced:
    """Runs `function` on traced Tensors of the given shapes and dtypes; with `indexed` the last one is the
    position in a batch, which the function does not get. frame: the kind of Trace."""
    program = Traced()
    sources = {}

    def inner(*arrays: Any) -> tuple[Any, ...]:
        run = frame(arrays[-1] if indexed else None)
        with run:
            try:
                tensors = [wrap(a, a.dtype.kind not in INEXACT) for a in (arrays[:-1] if indexed else arrays)]
                returned, program.rebuild = flatten_tensors(function(*tensors))
                results = tuple([to_array(raw_for_trace(t)) for t in returned])
                del tensors, returned
                changed = run.undo_changes()
            except BaseException:  # not `finally`: see interrupt_safe.run_within
                run.undo_changes()
                raise
            sources.update(run.sources)
            program.changed = [t for t, _ in changed]
            return results + tuple(to_array(raw) for _, raw in changed)

    equations = trace_function(inner, "trace", structs, quick=False)
    jaxpr = equations.jaxpr
    program.structs = equations.out_avals
    # with what the Tensors hold, not the array objects of the run: these share its memory, which the deferred
    # tier may give away
    program.taken = [
        wrap(sources[id(c)][1], False, *sources[id(c)][2:]) if id(c) in sources else wrap(jnp.asarray(c))
        for c in equations.consts
    ]
    program.fn = constants_last(jaxpr)
    program.fn.jaxpr = jaxpr
    program.key = (fingerprint(jaxpr),)
    return program


def constants_last(jaxpr: Any) -> Callable[..., tuple[Any, ...]]:
    """A jaxpr as a function of its operands and then its constants."""
    count = len(jaxpr.invars)
    return lambda *operands: tuple(jax.core.eval_jaxpr(jaxpr, operands[count:], *operands[:count]))


def flatten_tensors(
    value: Any, is_own: Callable[[Any], bool] = is_tensor
) -> tuple[list[Tensor], Callable[[Any], Any]]:
    """(Tensors in a structure, a function that gives the structure with other things in their places).
    is_own: which of its leaves those are."""
    leaves, tree = jax.tree.flatten(value, is_leaf=is_tensor)
    tensors: list[Any] = [x for x in leaves if is_own(x)]
    if len(tensors) == len(leaves) == 1 and jax.tree_util.treedef_is_leaf(tree):
        return tensors, operator.itemgetter(0)
    others = [None if is_own(x) else (x,) for x in leaves]

    def rebuild(values: Iterable[Any]) -> Any:
        values = iter(values)
        return jax.tree.unflatten(tree, [next(values) if x is None else x[0] for x in others])

    return tensors, rebuild


def fingerprint(jaxpr: Any) -> tuple[Any, ...]:
    """A hashable value that is equal for jaxprs which compute the same in the same way, whatever
    their variables are."""
    numbers: dict[Any, int] = {}

    def atom(v: Any) -> Any:
        if is_literal(v):
            value = np.asarray(v.val)
            return value.dtype, value.tobytes(), value.shape, v.aval.weak_type
        return numbers.setdefault(v, len(numbers))

    entries: list[Hashable] = [
        tuple((atom(v), v.aval.shape, v.aval.dtype, v.aval.weak_type) for v in vs)
        for vs in (jaxpr.constvars, jaxpr.invars)
    ]
    for e in jaxpr.eqns:
        entries.append(
            (e.primitive, tuple(map(atom, e.invars)), tuple(map(atom, e.outvars)), _params_of(e.params))
        )
    entries.append(tuple(map(atom, jaxpr.outvars)))
    return tuple(entries)


_params: dict[Any, Any] = {}  # id -> (parameters of an equation, what `_frozen` makes of them)


def _params_of(params: dict[str, Any]) -> Hashable:
    """The parameters of an equation as a hashable value. Equations that come from one kernel share them."""
    entry = _params.get(id(params))
    if entry is None:
        entry = params, _frozen(params)
        if not any(holds_jaxpr(value) or callable(value) for value in params.values()):  # may hold arrays
            if len(_params) >= _MAX_PARAMS:
                _params.clear()
            _params[id(params)] = entry
    return entry[1]


def _frozen(value: Any) -> Hashable:
    if hasattr(value, "eqns"):
        jaxpr, consts = open_jaxpr(value)
        return fingerprint(jaxpr), tuple(map(IdentityKey, consts))
    if isinstance(value, tuple | list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return tuple((k, _frozen(value[k])) for k in sorted(value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype, value.tobytes()
    try:
        hash(value)
    except TypeError:
        return IdentityKey(value)
    return type(value), value


_kernels: collections.OrderedDict = collections.OrderedDict()


def cached_kernel(name: str, key: tuple[Any, ...], make: Callable[[], Any]) -> Kernel:
    """The Kernel of a transformed program, made with `make()` unless an equal one is kept."""
    key = (name, *key)
    kernel = _kernels.get(key)
    if kernel is None:
        kernel = _kernels[key] = Kernel(name, make())
        if len(_kernels) > _MAX_KERNELS:
            _kernels.popitem(last=False)
    else:
        _kernels.move_to_end(key)
    return kernel
