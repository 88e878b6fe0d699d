"""`cond` and `switch` on traced Tensors: one operation on the tape, whatever its branches read."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import TRACING, Unsupported
from paddle_jax._core.base.signal_handlers import is_from_signal_handler
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import expression_of, is_length, values_of
from paddle_jax._core.lazy.lengths import to_bool as lengths_truth
from paddle_jax._core.lazy.symbol import NoValueError, SymbolError, known_lengths
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.control_flow.effects import kernel_of
from paddle_jax._program.control_flow.host_effects import check
from paddle_jax._program.control_flow.host_values import HostValue, as_host_value, is_number, numeral
from paddle_jax._program.control_flow.region import (
    Leaf,
    Mismatch,
    Operands,
    Region,
    Undefined,
    array_at,
    doubt,
    finished,
    flat,
    is_traced,
    lacking,
    place_of,
    widened,
    write_back,
)


def cond(pred, true_fn, false_fn):
    """Calls one of two functions without arguments. Where `pred` is traced both are compiled, and
    one of them runs.

    Args:
        pred: Tensor with one element, or bool.
        true_fn, false_fn: functions that return Tensors, numbers or nested lists, tuples and dicts of them:
            both the same structure, shapes and dtypes. They may read and change Tensors from outside.
    Returns:
        What the function returned. Gradients of any order flow to all that the functions read.
    Raises:
        Unsupported: pred is traced, and what the functions return cannot be joined.
    Example:
        >>> from paddle_jax.jit.dy2static import cond
        >>> x = paddle.to_tensor(3.0)
        >>> cond(x > 2, lambda: x * 2, lambda: x).item()
        6.0
    """
    if not is_traced(pred):
        return true_fn() if pred else false_fn()
    return select(truth(pred), [false_fn, true_fn])


def switch(index, functions):
    """Calls one of several functions without arguments, the last one for an index out of range. As
    `cond` otherwise.

    Args:
        index: integer Tensor with one element, or int.
        functions: list of functions.
    Returns:
        What the function returned.
    Raises:
        Unsupported: index is traced, and what the functions return cannot be joined.
    Example:
        >>> from paddle_jax.jit.dy2static import switch
        >>> switch(paddle.to_tensor(1), [lambda: "zero", lambda: "one", lambda: "else"])
        'one'
    """
    last = len(functions) - 1
    if not is_traced(index):
        index = int(index)
        return functions[index if 0 <= index <= last else last]()
    index = index.reshape([]).astype("int32")
    outside = (index < 0).logical_or(index > last)
    return select(
        index * outside.logical_not().astype("int32") + outside.astype("int32") * last, list(functions)
    )


def truth(value):
    """Whether the element of a Tensor is positive, as `Tensor.__bool__` says: a bool Tensor without axes. Of
    a Tensor that stands for a number, whether it is not 0."""
    if is_length(value):
        answer = lengths_truth(value)
        return local.ctx.frame.condition(answer) if is_length(answer) else as_tensor(answer)
    if value._raw.size != 1:
        raise ValueError(
            f"if or while: the condition is a tensor of shape {list(value.shape)}; "
            "it must have one element; use any() or all()"
        )
    stands_for_number = isinstance(value, HostValue)
    value = value.reshape([]) if value._raw.ndim else value
    if value._raw.dtype.kind == "b":
        return value
    if stands_for_number:
        return value != 0
    if value.is_complex():  # in NumPy's order of complex numbers
        return (value.real() > 0).logical_or((value.real() == 0).logical_and(value.imag() > 0))
    return value > 0


def select(index, codes, names=None, roots=(), explicit=False):
    """Runs `codes[index]()`; index is a traced Tensor without axes, bool for two codes. names: how the parts
    of what they return (a tuple) are called in messages. explicit: as Paddle's `cond` is told: what a code
    raises is raised, what they return has as many leaves, and numbers are of one kind."""
    generator = default_generator()
    start, roots = generator._offset, [() if explicit else (*roots, code) for code in codes]
    regions, raised = _regions(codes, roots, explicit)
    if raised:
        return _without(index, codes, raised)
    changes = [change for region in regions for change in region.changes.items()]
    watched = list({key: change.tensor for key, change in changes}.values())
    regions = [
        region if region.watch(watched) else Region(code, watched=watched, roots=reached)
        for region, code, reached in zip(regions, codes, roots, strict=True)
    ]
    generator._offset = start + max(region.drawn for region in regions)
    joined = Joined(len(regions), explicit)
    if names is None:
        out = joined.join("the result", [region.value for region in regions])
    else:
        out = [
            joined.join(name, values)
            for name, *values in zip(names, *[region.value for region in regions], strict=True)
        ]
    changes = []
    for tensor in watched:
        versions = [region.changes[id(tensor)] for region in regions]
        changes.append((versions, joined.tensor(tensor.name, [c.leaf for c in versions])))
    if joined.outputs or any(region.effects for region in regions):
        results = _run(index, regions, joined)
    else:
        results = []
    for output, result in zip(joined.outputs, results, strict=False):
        for tensor in output.perhaps:
            doubt(result, tensor)
    if local.ctx.frame.symbolic:
        joined.answers = local.ctx.frame.answers(index)
    for versions, at in changes:
        versions[0].adopts = any(c.adopts for c in versions)
        write_back(versions[0], results[at.at])
    return joined.fill(out, results) if names is None else [joined.fill(value, results) for value in out]


def _regions(codes, roots, explicit):
    """(the Region of each code, {number: exception} of those that raise)."""
    regions, raised = [None] * len(codes), {}
    for k in (1, 0) if len(codes) == 2 else range(len(codes)):  # as an `if` is read
        try:
            regions[k] = Region(codes[k], roots=roots[k])
        except (Unsupported, SymbolError, NoValueError, *TRACING):
            raise
        except Exception as error:
            if explicit or is_from_signal_handler(error):
                raise
            raised[k] = error
    return regions, raised


class Tries:
    """open: whether the run is in a `try` with handlers."""

    open = False


def _without(index, codes, raised):
    """As `select` where codes raise: an exception if one of them is chosen."""
    if len(raised) == len(codes):
        raise raised[0]
    for k, error in raised.items():
        if Tries.open or len(codes) != 2:
            raise Unsupported(
                f"a branch of a condition on a tensor raises {type(error).__name__}: "
                f"{error}, which a `try` might catch"
            ) from error
        check(index if k == 0 else index.logical_not(), error.with_traceback(None))
    return next(code for k, code in enumerate(codes) if k not in raised)()


def _run(index, regions, joined):
    def compiled():
        return _compiled(index, regions, joined)

    return local.ctx.frame.emit_cond(compiled, index, regions, joined.outputs)


def _compiled(index, regions, joined):
    """The results of the operation inside a trace."""
    operands = Operands([index])
    places = [operands.places_of(region.outside) for region in regions]
    outputs = [(out.picks, out.shape, out.dtype) for out in joined.outputs]
    wanted = [[out.picks[k] for out in joined.outputs] for k in range(len(regions))]

    def make():
        def branch(region, at, picks):
            def chosen(arrays):
                results = region.fn(np.uint32(0), *[arrays[i] for i in at])
                return tuple(
                    [array_at(pick, results, out) for pick, out in zip(picks, joined.outputs, strict=True)]
                )

            return chosen

        branches = [branch(*each) for each in zip(regions, places, wanted, strict=True)]

        def fn(index, *arrays):
            arrays = (index, *arrays)
            if len(branches) == 2:
                return jax.lax.cond(index.astype(bool), branches[1], branches[0], arrays)
            return jax.lax.switch(index, branches, arrays)

        return fn

    key = (tuple([region.key for region in regions]), tuple(places), repr(outputs))
    kernel = kernel_of("cond", key, make, any(region.effects for region in regions))
    results = run(kernel, operands.tensors)
    return [finished(t, out.stop) for t, out in zip(results, joined.outputs, strict=True)]


@dataclasses.dataclass(slots=True, eq=False)
class Output:
    """A result of the operation."""

    at: int  # its place among the results
    picks: tuple  # for each branch the place among its arrays, or (number,)
    shape: tuple
    dtype: np.dtype
    stop: bool  # whether no gradient flows through it
    lacking: str  # the name of a variable that is undefined after some branch, or ""
    number: bool  # whether it is an int, or a bool, of Python in all branches
    values: tuple = ()  # the numbers in all branches, where it is one in all
    stands_for_number: bool = False  # whether it is a number, or stands for one, in all branches
    # Tensors outside that it is in some of the branches
    perhaps: list = dataclasses.field(default_factory=list)


class Joined:
    """Makes one value of those that several branches gave: what is the same in all stays, Tensors and numbers
    become results of the operation."""

    def __init__(self, count, explicit=False):
        self.count, self.explicit, self.outputs = count, explicit, []
        self.answers = True, False  # where lengths are unknown, the two answers to the condition

    def fill(self, value, tensors):
        """The joined value with the Tensors of the operation."""
        leaves, tree = flat(value)
        for x in leaves:
            if isinstance(x, Output) and x.number:
                numeral(tensors[x.at])
            if isinstance(x, Output) and x.stands_for_number:
                as_host_value(tensors[x.at])
            if isinstance(x, Output) and x.lacking:
                lacking(tensors[x.at], x.lacking)
        return jax.tree.unflatten(tree, [self._result(x, tensors) for x in leaves])

    def _result(self, leaf, tensors):
        if not isinstance(leaf, Output):
            return leaf
        if local.ctx.frame.symbolic and len(leaf.values) == 2:
            no, yes = leaf.values
            return local.ctx.frame.number_from(tensors[leaf.at], yes, no, self.answers)
        return tensors[leaf.at]

    def join(self, name, values):
        """The joined value, with Outputs."""
        known = [v for v in values if not isinstance(v, Undefined)]
        if not known:
            return values[0]
        trees = [flat(v) for v in known]
        if any(
            [
                tree.num_leaves != trees[0][1].num_leaves if self.explicit else tree != trees[0][1]
                for _, tree in trees
            ]
        ):
            raise _unlike(name, known, "make it the same kind of thing in all", "structure")
        missing = [isinstance(v, Undefined) for v in values]
        if any(missing) and ("." in name or "[" in name):
            raise Unsupported(
                f"{name} exists after one branch of a condition on a tensor only; set it in all"
            )
        leaves = []
        for column in zip(*[leaves for leaves, _ in trees], strict=True):
            column = iter(column)
            leaves.append(
                self.leaf(name, [values[k] if missing[k] else next(column) for k in range(self.count)])
            )
        return jax.tree.unflatten(trees[-1][1], leaves)

    def leaf(self, name, values):
        """The joined leaf."""
        known = [v for v in values if not isinstance(v, Undefined)]
        first = known[0]
        if isinstance(first, Leaf):
            same = None if self.explicit else first.ref()
            if (
                same is not None
                and len(known) == self.count
                and all(isinstance(v, Leaf) and v.ref() is same for v in known)
            ):
                return same
        elif all(v is first or _equal(v, first) for v in known):
            return first
        elif name.endswith(".stop_gradient"):
            raise _unlike(name, known, "set it outside", "type")
        if all(isinstance(v, Leaf) or is_number(v) for v in known):
            output = self.tensor(name, values)
            output.perhaps = [v.ref() for v in known if isinstance(v, Leaf) and v.ref() is not None]
            return output
        raise _unlike(name, known, "make it a Tensor in all", "structure" if None in known else "type")

    def tensor(self, name, values):
        """The joined leaf where it is a Tensor or number in all branches that define it."""
        known = [v for v in values if not isinstance(v, Undefined)]
        if self.explicit and len({np.asarray(v).dtype.kind for v in known if not isinstance(v, Leaf)}) > 1:
            raise _unlike(name, known, "make it one kind of number in all", "type")
        shape, dtype = joint(name, known)
        picks = [(blank(dtype),) if isinstance(v, Undefined) else place_of(v, dtype) for v in values]
        stop = dtype.kind not in INEXACT or all(v.stop for v in values if isinstance(v, Leaf))
        lacks = "" if len(known) == len(values) else name
        number = not lacks and {type(v) for v in known} in ({bool}, {int})
        plain = not self.explicit and all(map(is_number, values))
        self.outputs.append(
            Output(
                len(self.outputs),
                tuple(picks),
                shape,
                dtype,
                stop,
                lacks,
                number,
                tuple(values) if plain else (),
                all(is_number(v) or v.number for v in known),
            )
        )
        return self.outputs[-1]


def blank(dtype):
    """What a name that is undefined holds: not a number, where there is such a thing."""
    return np.nan if dtype.kind in INEXACT else False if dtype.kind == "b" else 0


def joint(name, values):
    """The common (shape, dtype) of Leafs and numbers."""
    leaves = [v for v in values if isinstance(v, Leaf)]
    numbers = [v for v in values if not isinstance(v, Leaf)]
    if not leaves:
        return (), number_dtype(numbers)
    shape, dtype = leaves[0].shape, leaves[0].dtype
    if any(v.shape != shape or v.dtype != dtype for v in leaves):
        common = widened(leaves)
        if common is None:
            raise _unlike(name, leaves, "make shapes and dtypes the same in all", "dtype")
        shape = known_lengths(common) if not local.ctx.frame.symbolic else common[0].shape
    for number in numbers:
        if not is_single(shape) or not fits(number, dtype):
            raise _unlike(name, [number, leaves[0]], "make it a Tensor of that shape and dtype", "dtype")
    return shape, dtype


def is_single(shape):
    """Whether an array of a shape is known to have one element."""
    return all(n == 1 for n in shape)


def fits(number, dtype):
    """Whether a number may become a Tensor of a dtype without losing anything but digits."""
    ranks = "b", "iu", "fV", "c"
    rank = {kind: i for i, kinds in enumerate(ranks) for kind in kinds}
    kind = np.asarray(values_of(number)[0]).dtype.kind
    return rank[kind] <= rank[dtype.kind] and (kind == "b") == (dtype.kind == "b")


def number_dtype(numbers):
    """The dtype of a Tensor that stands for one of several Python numbers."""
    kinds = {np.asarray(values_of(n)).dtype.kind for n in numbers}
    if "f" in kinds and any(map(is_length, numbers)) and "c" not in kinds:
        return np.dtype(np.float64)
    if kinds == {"b"}:
        return np.dtype(bool)
    if "b" in kinds:
        raise Unsupported(
            f"a variable is {' and '.join(map(repr, numbers))} in the branches of a condition "
            "on a tensor; use numbers of one kind"
        )
    return np.dtype(np.complex64 if "c" in kinds else dtypes.default().np if "f" in kinds else np.int64)


def _unlike(name, values, advice, kind):
    """The refusal to join values of a variable."""
    return Mismatch(
        f"{name} is {' and '.join(sorted({described(v) for v in values}))} in the branches of "
        f"a condition on a tensor; {advice}",
        kind,
    )


def _equal(a, b):
    if is_length(a) or is_length(b):
        return expression_of(a) == expression_of(b)
    return type(a) is type(b) and isinstance(a, bool | int | float | str | np.generic | np.dtype) and a == b


def described(value):
    """A value in words."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"a Tensor of {np.dtype(value.dtype).name}{list(value.shape)}"
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return (
        f"the number {value!r}"
        if is_number(value)
        else repr(value)
        if value is None or isinstance(value, str)
        else f"a {type(value).__name__}"
    )


def as_tensor(value):
    """A Tensor, or the Tensor of a number."""
    if is_length(value):
        return local.ctx.frame.tensor_of(value, number_dtype([value]))
    return value if isinstance(value, Tensor) else wrap(jnp.asarray(value, number_dtype([value])))
