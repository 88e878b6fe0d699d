"""Plans: a jaxpr as a list of NumPy calls, for what is not worth a compilation."""

import numpy as np

from paddle_jax._core.numpy_backend import cost as costs
from paddle_jax._core.numpy_backend.flatten import flatten
from paddle_jax._core.numpy_backend.keys import laid_out
from paddle_jax._core.numpy_backend.rules import RULES, Refusal, size_of

_FOLD = 1 << 14  # elements up to which the result of an equation on constants is kept
_LARGEST = 1 << 31  # bytes of the results of an equation
_RECYCLE = 1 << 15  # bytes from which memory of dead results is let go of at once, and used again
_VIEWS = frozenset(("broadcast_in_dim", "iota"))
_KEYS = frozenset(
    ("random_wrap", "random_unwrap", "random_bits", "random_split", "random_fold_in", "random_seed")
)


def plan(closed_jaxpr, limit=None) -> "Plan":
    """The Plan of a closed jaxpr; raises Refusal when there is none, or when its `cost` exceeds
    `limit` (seconds)."""
    made = Plan(closed_jaxpr)
    if any(
        not isinstance(v.aval.dtype, np.dtype)
        for v in (*closed_jaxpr.jaxpr.invars, *closed_jaxpr.jaxpr.outvars)
    ):
        raise Refusal("random keys as operands or results: NumPy has no array of them")
    if limit is not None and made.cost > limit:
        raise Refusal(f"an estimated {made.cost:.2g} s per run in NumPy exceeds the limit of {limit:.2g} s")
    return made


class Plan:
    """A jaxpr ready to run with NumPy. Calling it is safe in several threads at once.

    `plan(*operands)` takes one NumPy array per operand, of exactly its shape and dtype, and gives a list of
    NumPy arrays in C order. Operands are never written to. A result may be an operand or share its memory,
    two results may share memory, and one that does not depend on an operand may be the same read-only array
    in every run: treat results as constants. A result never keeps memory alive that is larger than itself,
    unless that belongs to an operand's owner.

    cost: estimated seconds of one run (one trip of each `while`), from counts only. compile_cost: estimated
    seconds that XLA takes to compile it. shapes: of the results. names: {primitive: how often}.
    """

    __slots__ = ("_arity", "_ends", "_results", "_start", "_steps", "compile_cost", "cost", "names", "shapes")

    def __init__(self, closed_jaxpr):
        flat = flatten(closed_jaxpr)
        self.cost, self.compile_cost, self.names = costs.CALL, costs.COMPILE_BASE, {}
        self._arity = flat.arity
        self.shapes = [flat.avals[s].shape for s in flat.results]
        with np.errstate(all="ignore"):
            made = [step for equation in flat.equations for step in self._step(flat, *equation)]
        used = {s for _, ins, _, _ in made for s in ins}.union(flat.results)
        self._start = [flat.constants.get(s) if s in used else None for s in range(len(flat.avals))]
        self._steps = _scheduled(made, flat)
        fresh = {s for run, _, outs, _ in made if isinstance(run, np.ufunc) for s in outs}
        self._results = flat.results
        self._ends = [(s in fresh, flat.avals[s].shape, flat.avals[s].dtype) for s in flat.results]

    def __call__(self, *operands):
        with np.errstate(all="ignore"):
            return self.quietly(operands)

    def quietly(self, operands):
        """As a call, for callers that have NumPy's warnings off."""
        return [_finished(x, *end) for x, end in zip(self.execute(operands), self._ends)]  # noqa: B905

    def execute(self, operands):
        """The results as they come, NumPy scalars among them; for callers that have NumPy's warnings off."""
        slots = self._start.copy()
        slots[: self._arity] = operands
        for kind, run, i, j, out, dead in self._steps:
            if kind == 2:
                slots[out] = run(slots[i], slots[j])
            elif kind == 1:
                slots[out] = run(slots[i])
            elif kind == 3:
                slots[out] = run(*[slots[k] for k in i])
            elif kind == 4:
                slots[out] = run(*[slots[k] for k in i], out=slots[j])
            else:
                for k, x in zip(out, run(*[slots[k] for k in i])):  # noqa: B905
                    slots[k] = x
            if dead is not None:
                for k in dead:
                    slots[k] = None
        return [slots[s] for s in self._results]

    def _step(self, flat, primitive, params, ins, outs, in_avals, out_avals):
        """The step of one equation; none when its results are constants, which are then computed here."""
        name = primitive.name
        if sum(map(_size, out_avals)) > _LARGEST:
            raise Refusal(f"primitive '{name}' gives more than 2 GiB; compiled code may not hold it")
        run = _built(name, params, in_avals, out_avals)
        many = primitive.multiple_results
        self.names[name] = self.names.get(name, 0) + 1
        self.compile_cost += costs.compile_cost(name, run)
        if all(i in flat.constants for i in ins) and (
            name in _VIEWS or sum(map(size_of, out_avals)) <= _FOLD
        ):
            results = run(*[flat.constants[i] for i in ins])
            for s, x in zip(outs, results if many else [results], strict=True):
                flat.constants[s] = np.asarray(x).view()
                flat.constants[s].flags.writeable = False
            return
        self.cost += costs.cost(name, params, in_avals, out_avals, run)
        yield run, ins, outs, many


def _built(name, params, ins, outs):
    """The function of an equation."""
    build = RULES.get(name)
    if build is None:
        raise Refusal(f"primitive '{name}' has no rule")
    if (
        any(not isinstance(a.dtype, np.dtype) for a in (*ins, *outs) if hasattr(a, "dtype"))
        and name not in _KEYS
    ):
        params, ins, outs = laid_out(name, params, ins, outs)
    try:
        return build(params, ins, outs)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # another version of JAX has other parameters
        raise Refusal(f"primitive '{name}': {type(error).__name__}: {error}") from error


def _scheduled(made, flat):
    """Steps in the form that `Plan.execute` reads, with what is let go of after each."""
    last, kept = {}, set(flat.results)
    for n, (_, ins, outs, _) in enumerate(made):
        for s in (*ins, *outs):
            last[s] = n
    private = _private(made, kept)
    steps = []
    for n, (run, ins, outs, many) in enumerate(made):
        dead = [
            s
            for s in {*ins, *outs}
            if last[s] == n and s not in kept and s not in flat.constants and _bytes(flat, s) >= _RECYCLE
        ]
        dead = tuple(s for s in dead if s >= flat.arity)
        target = (
            _target(flat, run, ins, outs, private.intersection(dead))
            if dead and isinstance(run, np.ufunc)
            else None
        )
        if many:
            steps.append((0, run, tuple(ins), None, tuple(outs), dead or None))
        elif target is not None:
            steps.append((4, run, tuple(ins), target, outs[0], dead))
        elif len(ins) == 1:
            steps.append((1, run, ins[0], None, outs[0], dead or None))
        elif len(ins) == 2:
            steps.append((2, run, *ins, outs[0], dead or None))
        else:
            steps.append((3, run, tuple(ins), None, outs[0], dead or None))
    return steps


def _private(made, kept):
    """Slots whose memory nothing else can see: made by a ufunc, read by ufuncs alone."""
    private = set()
    for run, ins, outs, _ in made:
        if isinstance(run, np.ufunc):
            private.update(outs)
        else:
            private.difference_update(ins)
    return private - kept


def _target(flat, run, ins, outs, candidates):
    """A dying operand into whose memory the result fits."""
    if run.nin != len(ins) or run.nout != 1:
        return None
    want = flat.avals[outs[0]]
    return next(
        (s for s in candidates if flat.avals[s].shape == want.shape and flat.avals[s].dtype == want.dtype),
        None,
    )


def _bytes(flat, s):
    return _size(flat.avals[s])


def _size(aval):
    return size_of(aval) * aval.dtype.itemsize if hasattr(aval, "shape") else 0


def _finished(x, owned, shape, dtype):
    """A result as a C-ordered array that keeps no larger array alive. That it has the right shape and dtype
    is checked, never assumed."""
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    if x.dtype is not dtype and x.dtype != dtype or x.shape != shape:
        raise TypeError(f"a rule gave {x.dtype}{list(x.shape)} in place of {dtype}{list(shape)}")
    if not x.flags.c_contiguous:
        return np.ascontiguousarray(x)
    if not owned and x.base is not None and getattr(x.base, "nbytes", 0) > x.nbytes:
        return x.copy()
    return x
