"""`cond` and `switch` on traced Tensors: one operation on the tape, whatever its branches read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import TRACING, Unsupported
from paddle_jax._core.base.hidden_frames import user_source_line
from paddle_jax._core.base.signal_handlers import is_from_signal_handler
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.python_state import RowsOrItems
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import expression_of, is_length, values_of
from paddle_jax._core.lazy.lengths import to_bool as lengths_truth
from paddle_jax._core.lazy.symbol import NoValueError, SymbolError, known_lengths
from paddle_jax._core.tensors.held_values import element_count, numpy_dtype
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.control_flow.container_contents import (
    Container,
    put_contents,
    run_with_contents,
    with_contents,
)
from paddle_jax._program.control_flow.effects import kernel_of
from paddle_jax._program.control_flow.host_effects import check
from paddle_jax._program.control_flow.host_values import HostValue, as_host_value, is_number, numeral
from paddle_jax._program.control_flow.length_facts import facts_of, number_of_branches, with_facts
from paddle_jax._program.control_flow.region import (
    Leaf,
    Mismatch,
    Operands,
    Pick,
    Region,
    Undefined,
    flatten,
    is_traced,
    pick_of,
    picked_array,
    without_gradient,
    write_back,
)


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
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
        if pred:
            return true_fn()
        return false_fn()
    return select(truth(pred), [false_fn, true_fn])


def switch(index: Any, functions: list[Callable[[], Any]]) -> Any:
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
    # As a switch of Paddle: the last function for anything out of range.
    last = len(functions) - 1
    if not is_traced(index):
        index = int(index)
        return functions[index if 0 <= index <= last else last]()
    # Computed without a branch: an index out of range becomes `last`.
    index = index.reshape([]).astype("int32")
    outside = (index < 0).logical_or(index > last)
    return select(
        index * outside.logical_not().astype("int32") + outside.astype("int32") * last, list(functions)
    )


def truth(value: Any) -> Tensor:
    """Whether the element of a Tensor is positive, as `Tensor.__bool__` says: a bool Tensor without axes. Of
    a Tensor that stands for a number, whether it is not 0."""
    if is_length(value):
        answer = lengths_truth(value)
        if is_length(answer):
            result = local.ctx.frame.condition_tensor(answer)
            # Branches on it know what it says of lengths.
            result._answer = answer
            return with_facts(result, facts_of(answer), facts_of(answer, False))
        return as_tensor(answer)
    if element_count(value) != 1:
        raise ValueError(
            f"if or while: the condition is a tensor of shape {list(value.shape)}; "
            "it must have one element; use any() or all()"
        )
    stands_for_number = isinstance(value, HostValue)
    if value.ndim:
        # A condition of shape [1], as Paddle allows it.
        value = value.reshape([])
    if numpy_dtype(value).kind == "b":
        return value
    # Python's rule for numbers; Paddle's rule for Tensors, "is it positive", differs for negative ones.
    if stands_for_number:
        return value != 0
    if value.is_complex():  # in NumPy's order of complex numbers
        return (value.real() > 0).logical_or((value.real() == 0).logical_and(value.imag() > 0))
    return value > 0


def select(
    index: Tensor,
    codes: Sequence[Callable[[], Any]],
    names: Sequence[str] | None = None,
    roots: Sequence[Any] = (),
    explicit: bool = False,
) -> Any:
    """Runs `codes[index]()`.

    Args:
        index: traced Tensor without axes, bool for two codes.
        codes: list of functions.
        names: how the parts of what they return (a tuple) are called in messages. Default: they return one
            value.
        roots: functions through which the codes may reach Python objects.
        explicit: whether the rules of Paddle's `cond` hold: what a code raises is raised, what they return
            has as many leaves, and numbers are of one kind.
    Returns:
        What the code returned; a list for `names`.
    """
    return run_with_contents(
        lambda containers: _select(index, codes, names, roots, explicit, containers),
    )


def _select(
    index: Tensor,
    codes: Sequence[Callable[[], Any]],
    names: Sequence[str] | None,
    roots: Sequence[Any],
    explicit: bool,
    containers: Sequence[Container],
) -> Any:
    """`select`, where the codes change some lists and dicts."""
    # All branches draw the same random numbers, and afterwards the generator stands where the longest ends.
    generator = default_generator()
    start = generator._offset
    first_inside = local.ctx.frame.symbol_count()
    # Code that users pass to `cond` themselves may change objects as it likes, as in Paddle.
    if explicit:
        roots_of_codes: list[Sequence[Any]] = [()] * len(codes)
    else:
        roots_of_codes = [(*roots, code) for code in codes]
    # What a branch does to lists and dicts becomes a part of what it gives.
    with_contents = [_with_contents(code, containers) for code in codes]
    stores = [container.store for container in containers]
    regions, raised = _run_branches(with_contents, roots_of_codes, explicit, stores)
    # Paths that raise become checks of the condition; the others run as if they were alone.
    if raised:
        return _select_without(index, codes, raised)
    watched = _changed_tensors(regions)
    for k, region in enumerate(regions):
        if not region.can_return(watched):
            # This branch leaves a Tensor alone that another one changes: run again, it returns the old
            # value.
            regions[k] = Region(with_contents[k], watched=watched, roots=roots_of_codes[k], may_change=stores)
    # One run takes a branch, and which one is not known: the longest counts.
    generator._offset = start + max(region.drawn for region in regions)
    # Joining makes Outputs, whose positions the operation's results have.
    joined = BranchJoin(len(regions), explicit)
    joined.test = index
    joined.first_inside = first_inside
    values_of_branches = [region.value[0] for region in regions]
    if names is None:
        values = [joined.join("the result", values_of_branches)]
    else:
        values = [joined.join(name, column) for name, *column in zip(names, *values_of_branches, strict=True)]
    # Contents come after the values, so that both are joined alike.
    contents = [
        _joined_contents(joined, container, [region.value[1][place] for region in regions])
        for place, container in enumerate(containers)
    ]
    changes = []
    for tensor in watched:
        versions = [region.changes[id(tensor)] for region in regions]
        changes.append((versions, joined.add_output(tensor.name, [change.leaf for change in versions])))
    results = _emit(index, regions, joined)
    for versions, output in changes:
        # One result stands for all branches, so a gradient in one of them is enough.
        versions[0].has_gradient = any(change.has_gradient for change in versions)
        write_back(versions[0], results[output.index])
    filled = put_contents(containers, [joined.fill(value, results) for value in (*values, *contents)])
    if names is None:
        return filled[0]
    return filled


class ListLengthDiffers(Mismatch):
    """A list that may become the rows of a Tensor has other lengths after the branches.

    Attributes:
        container: Container of the list.
        contents: list of what it holds after each branch, with Leafs.
    """

    def __init__(self, mismatch: Mismatch, container: Container, contents: list[Any]) -> None:
        super().__init__(str(mismatch), mismatch.kind, mismatch.concerns_lengths)
        self.container = container
        self.contents = contents


def _joined_contents(joined: BranchJoin, container: Container, contents: list[Any]) -> Any:
    """What a list or dict holds after the branches."""
    try:
        return joined.join(container.name, contents)
    except Mismatch as mismatch:
        # Lists that may become rows of a Tensor may have other lengths; the caller tries that.
        if not isinstance(container.store, RowsOrItems) or container.store.rows is not None:
            raise
        raise ListLengthDiffers(mismatch, container, contents) from None


def _with_contents(code: Callable[[], Any], containers: Sequence[Container]) -> Callable[[], Any]:
    """Function that gives (what the code gives, the contents of the containers afterwards)."""

    def run() -> tuple[Any, Sequence[Any]]:
        value = code()
        if not containers or not isinstance(value, tuple):
            # The code changes no containers that are known, or gives one value.
            return value, [container.take() for container in containers]
        parts = with_contents(containers, value)
        return tuple(parts[: len(value)]), parts[len(value) :]

    return run


def _run_branches(
    codes: Sequence[Callable[[], Any]],
    roots: Sequence[Sequence[Any]],
    explicit: bool,
    may_change: Sequence[Any] = (),
) -> tuple[list[Any], dict[int, Exception]]:
    """(the Region of each code, {number: exception} of those that raise)."""
    regions: list[Any] = [None] * len(codes)
    raised: dict[int, Exception] = {}
    # of an `if` the body comes first
    # Errors and prints then come in the order of the text.
    if len(codes) == 2:
        order = (1, 0)
    else:
        order = range(len(codes))
    for k in order:
        try:
            regions[k] = Region(codes[k], roots=roots[k], may_change=may_change)
        # Not for its values: it cannot be traced, and tracing it again would change nothing.
        except (Unsupported, SymbolError, NoValueError, *TRACING):
            raise
        except Exception as error:
            # Ctrl-C during a trace is no property of the branch.
            if explicit or is_from_signal_handler(error):
                raise
            raised[k] = error
    return regions, raised


def _changed_tensors(regions: Sequence[Region]) -> list[Tensor]:
    """The Tensors from outside that one of the Regions changes, each once."""
    changed = {key: change.tensor for region in regions for key, change in region.changes.items()}
    return list(changed.values())


class TryState:
    """The state of the run with regard to `try` statements.

    Attributes:
        in_try: bool, whether it is in a `try` with handlers.
    """

    in_try = False


def _select_without(index: Tensor, codes: Sequence[Callable[[], Any]], raised: dict[int, Exception]) -> Any:
    """As `select` where codes raise: an exception if one of them is chosen."""
    # Whatever the condition is, it raises.
    if len(raised) == len(codes):
        raise raised[0]
    for k, error in raised.items():
        # A `try` around would have to catch what the program raises later. Of more than two branches the
        # remaining ones would need another index.
        if TryState.in_try or len(codes) != 2:
            raise Unsupported(
                f"a branch of a condition on a tensor raises {type(error).__name__}: "
                f"{error}, which a `try` might catch"
            ) from error
        # The line where it was raised, as the traceback of the trace is gone by then.
        error.add_note(f"raised at {user_source_line(error)}")
        # Branch 0 is the one for False: its check fails where the condition is False.
        check(index if k == 0 else index.logical_not(), error.with_traceback(None))
    remaining = next(code for k, code in enumerate(codes) if k not in raised)
    return remaining()


def _emit(index: Tensor, regions: Sequence[Region], joined: BranchJoin) -> list[Tensor]:
    """Adds the operation of the branches; its results."""
    results: list[Tensor] = []
    frame = local.ctx.frame
    # Without results and effects there is nothing to compute, whatever is chosen.
    if joined.outputs or any(region.effects for region in regions):

        def compiled() -> list[Tensor]:
            return _compiled(index, regions, joined.outputs)

        results = frame.emit_cond(compiled, index, regions, joined.outputs)
    # A result may be a Tensor from outside itself, so that changing it would have to change that one.
    for output, result in zip(joined.outputs, results, strict=False):
        for tensor in output.possible_sources:
            frame.on_uncertain_result(result, tensor)
    if frame.symbolic:
        joined.answers = frame.condition_values(index)
    return results


def _compiled(index: Tensor, regions: Sequence[Region], outputs: Sequence[Output]) -> list[Tensor]:
    """The results of the operation inside a trace."""
    # Each Tensor is one operand, whichever branches read it.
    operands = Operands([index])
    operand_indices = [operands.indices_of(region.outside) for region in regions]

    def make() -> Callable[..., Any]:
        branches = [
            _branch(region.fn, indices, k, outputs)
            for k, (region, indices) in enumerate(zip(regions, operand_indices, strict=True))
        ]

        def fn(index: jax.Array, *arrays: jax.Array) -> Any:
            arrays = (index, *arrays)
            if len(branches) == 2:
                # `lax.cond` takes the function for True first.
                return jax.lax.cond(index.astype(bool), branches[1], branches[0], arrays)
            return jax.lax.switch(index, branches, arrays)

        return fn

    types = [(output.picks, output.shape, output.dtype) for output in outputs]
    # Equal programs share one compiled form; `repr` because Picks hold numbers of several types, and 1
    # equals True.
    key = (tuple([region.key for region in regions]), tuple(operand_indices), repr(types))
    kernel = kernel_of("cond", key, make, any(region.effects for region in regions))
    results = run(kernel, operands.tensors)
    return [
        without_gradient(tensor, output.stop_gradient)
        for tensor, output in zip(results, outputs, strict=True)
    ]


def _branch(
    fn: Callable[..., Any], operand_indices: tuple[int, ...], k: int, outputs: Sequence[Output]
) -> Callable[..., Any]:
    """The function of branch number k, of the arrays of all operands."""

    def branch(arrays: Sequence[jax.Array]) -> tuple[jax.Array, ...]:
        # Step 0: a branch runs once.
        results = fn(np.uint32(0), *[arrays[i] for i in operand_indices])
        return tuple([picked_array(output.picks[k], results, output) for output in outputs])

    return branch


@dataclasses.dataclass(slots=True, eq=False)
class Output:
    """A result of the operation.

    Attributes:
        index: int, its position among the results.
        picks: tuple, for each branch the position among its results, or (number,).
        shape: tuple of ints.
        dtype: NumPy dtype.
        stop_gradient: bool, whether no gradient flows through it.
        undefined_name: str, the name of a variable that is undefined after some branch, or "".
        is_python_number: bool, whether it is an int, or a bool, of Python in all branches.
        numbers: tuple of the numbers in all branches, where it is one in all.
        is_host_value: bool, whether it is a number, or stands for one, in all branches.
        possible_sources: list of the Tensors from outside that it is in some of the branches.
    """

    index: int
    picks: tuple[Pick, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    stop_gradient: bool
    undefined_name: str
    is_python_number: bool = False
    numbers: tuple[Any, ...] = ()
    is_host_value: bool = False
    possible_sources: list[Tensor] = dataclasses.field(default_factory=list)


class BranchJoin:
    """Makes one value of those that several branches gave.

    What is the same in all of them stays. Tensors and numbers become results of the operation.

    Attributes:
        count: int, the number of branches.
        explicit: bool, see `select`.
        outputs: list of Outputs.
        answers: the two answers to the condition where lengths are unknown.
        test: Tensor, the condition; None where nothing is known of it.
        first_inside: int, the number of the first Symbol that the branches made.
    """

    def __init__(self, count: int, explicit: bool = False) -> None:
        self.count = count
        self.explicit = explicit
        self.outputs: list[Output] = []
        self.answers = (True, False)
        self.test: Tensor | None = None
        self.first_inside = 0

    def fill(self, value: Any, tensors: Sequence[Tensor]) -> Any:
        """The joined value with the Tensors of the operation."""
        leaves, tree = flatten(value)
        # First of all, as a number may stand for several results.
        for x in leaves:
            if isinstance(x, Output):
                _mark(x, tensors[x.index])
        return jax.tree.unflatten(tree, [self._result(x, tensors) for x in leaves])

    def _result(self, leaf: Any, tensors: Sequence[Tensor]) -> Any:
        if not isinstance(leaf, Output):
            return leaf
        tensor = tensors[leaf.index]
        # It was a number in both branches, and is one of them afterwards: a Length with an expression.
        if local.ctx.frame.symbolic and len(leaf.numbers) == 2:
            no, yes = leaf.numbers
            number = local.ctx.frame.number_from(tensor, yes, no, self.answers)
            return number_of_branches(number, self.test, yes, no, self.first_inside)
        return tensor

    def join(self, name: str, values: Sequence[Any]) -> Any:
        """The joined value, with Outputs."""
        defined = [v for v in values if not isinstance(v, Undefined)]
        if not defined:
            # Undefined in all branches: it stays so.
            return values[0]
        flat = [flatten(v) for v in defined]
        trees = [tree for _, tree in flat]
        # Lists of different lengths, a list and a Tensor.
        if any(self._is_other_structure(tree, trees[0]) for tree in trees):
            raise _mismatch(name, defined, "make it the same kind of thing in all", "structure")
        is_missing = [isinstance(v, Undefined) for v in values]
        # An attribute or item that one branch does not have cannot be undefined in Python's sense.
        if any(is_missing) and ("." in name or "[" in name):
            raise Unsupported(
                f"{name} exists after one branch of a condition on a tensor only; set it in all"
            )
        leaves = []
        for column in zip(*[leaves for leaves, _ in flat], strict=True):
            # Undefined stands in for the leaf of a branch without the name.
            rest: Iterator[Any] = iter(column)
            leaves.append(
                self.join_leaf(name, [values[k] if is_missing[k] else next(rest) for k in range(self.count)])
            )
        return jax.tree.unflatten(trees[-1], leaves)

    def _is_other_structure(self, tree: Any, first: Any) -> bool:
        if self.explicit:
            # Paddle's `cond` compares the number of leaves alone.
            return tree.num_leaves != first.num_leaves
        return tree != first

    def join_leaf(self, name: str, values: Sequence[Any]) -> Any:
        """The joined leaf."""
        defined = [v for v in values if not isinstance(v, Undefined)]
        first = defined[0]
        if isinstance(first, Leaf):
            # The result of `cond` is always a new Tensor in Paddle, so that changing it changes nothing
            # outside.
            tensor = None if self.explicit else first.outside()
            if tensor is not None and self._is_everywhere(tensor, defined):
                return tensor
        # Equal in all branches: nothing to choose.
        elif all(v is first or _equal(v, first) for v in defined):
            return first
        # It decides about gradients when the program is made, so it cannot depend on a value.
        elif name.endswith(".stop_gradient"):
            raise _mismatch(name, defined, "set it outside", "type")
        if all(isinstance(v, Leaf) or is_number(v) for v in defined):
            output = self.add_output(name, values)
            sources = [v.outside() for v in defined if isinstance(v, Leaf)]
            output.possible_sources = [tensor for tensor in sources if tensor is not None]
            return output
        kind = "type"
        # None on one side is a missing value.
        if None in defined:
            kind = "structure"
        raise _mismatch(name, defined, "make it a Tensor in all", kind)

    def _is_everywhere(self, tensor: Tensor, defined: Sequence[Any]) -> bool:
        """Whether all branches give this Tensor from outside."""
        return len(defined) == self.count and all(
            isinstance(v, Leaf) and v.outside() is tensor for v in defined
        )

    def add_output(self, name: str, values: Sequence[Any]) -> Output:
        """The joined leaf where it is a Tensor or number in all branches that define it."""
        defined = [v for v in values if not isinstance(v, Undefined)]
        # Python's numbers have kinds, Tensors have dtypes.
        kinds = {np.asarray(v).dtype.kind for v in defined if not isinstance(v, Leaf)}
        if self.explicit and len(kinds) > 1:
            raise _mismatch(name, defined, "make it one kind of number in all", "type")
        shape, dtype = common_type(name, defined)
        # The fill is never read: whoever uses the variable is refused (`on_undefined`), or runs eagerly.
        picks = []
        for value in values:
            if isinstance(value, Undefined):
                picks.append((undefined_fill(dtype),))
            else:
                picks.append(pick_of(value, dtype))
        is_undefined_somewhere = len(defined) < len(values)
        are_numbers = not self.explicit and all(map(is_number, values))
        output = Output(
            index=len(self.outputs),
            picks=tuple(picks),
            shape=shape,
            dtype=dtype,
            # One branch with a gradient is enough: the operation passes zeros to the others.
            stop_gradient=dtype.kind not in INEXACT
            or all(v.stop_gradient for v in values if isinstance(v, Leaf)),
            undefined_name=name if is_undefined_somewhere else "",
            numbers=tuple(values) if are_numbers else (),
            is_host_value=all(is_number(v) or v.is_host_value for v in defined),
        )
        # An int in all branches is one for Python afterwards, where it may be an index or a length.
        if not is_undefined_somewhere and is_whole_number(shape, dtype):
            output.is_python_number = output.is_host_value
        self.outputs.append(output)
        return output


def _mark(output: Output, tensor: Tensor) -> None:
    """Notes what a result stands for in Python."""
    if output.is_python_number:
        numeral(tensor)
    if output.is_host_value:
        as_host_value(tensor)
    if output.undefined_name:
        local.ctx.frame.on_undefined(tensor, output.undefined_name)


def undefined_fill(dtype: np.dtype) -> Any:
    """What the result for an undefined name holds: NaN, where there is such a thing."""
    if dtype.kind in INEXACT:
        return np.nan
    if dtype.kind == "b":
        return False
    return 0


def common_type(name: str, values: Sequence[Any]) -> tuple[tuple[int, ...], np.dtype]:
    """The common (shape, dtype) of Leafs and numbers."""
    leaves = [v for v in values if isinstance(v, Leaf)]
    numbers = [v for v in values if not isinstance(v, Leaf)]
    if not leaves:
        return (), number_dtype(numbers)
    shape = leaves[0].shape
    # Lengths alone may differ where a program is recorded.
    dtype = leaves[0].dtype
    if any(v.shape != shape or v.dtype != dtype for v in leaves):
        frame = local.ctx.frame
        avals = frame.joined_avals([leaf.avals for leaf in leaves])
        if avals is None:
            raise _mismatch(name, leaves, "make shapes and dtypes the same in all", "dtype")
        if frame.symbolic:
            shape = avals[0].shape
        else:
            shape = known_lengths(avals)
    # A number becomes a Tensor of the other branch's dtype, where that keeps its value.
    for number in numbers:
        if not is_single(shape) or not number_fits(number, dtype):
            advice = "make it a Tensor of that shape and dtype"
            raise _mismatch(name, [number, leaves[0]], advice, "dtype")
    return shape, dtype


def is_whole_number(shape: Sequence[int], dtype: np.dtype) -> bool:
    """Whether an array has the shape of a number and the dtype of an int or bool of Python."""
    return not shape and dtype.kind in "bi"


def is_single(shape: Sequence[int]) -> bool:
    """Whether an array of a shape is known to have one element."""
    return all(n == 1 for n in shape)


def number_fits(number: Any, dtype: np.dtype) -> bool:
    """Whether a number may become a Tensor of a dtype without losing anything but digits."""
    # Each kind holds the numbers of those before it. "V" is the kind of bfloat16.
    ranks = "b", "iu", "fV", "c"
    rank = {kind: i for i, kinds in enumerate(ranks) for kind in kinds}
    kind = np.asarray(values_of(number)[0]).dtype.kind
    # A bool is no number here: its Tensor has other operations.
    return rank[kind] <= rank[dtype.kind] and (kind == "b") == (dtype.kind == "b")


def number_dtype(numbers: Sequence[Any]) -> np.dtype:
    """The dtype of a Tensor that stands for one of several Python numbers."""
    kinds = {np.asarray(values_of(n)).dtype.kind for n in numbers}
    # Numbers made of lengths are computed in float64 by the file, as Python does it.
    if "f" in kinds and any(map(is_length, numbers)) and "c" not in kinds:
        return np.dtype(np.float64)
    if kinds == {"b"}:
        return np.dtype(bool)
    if "b" in kinds:
        raise Unsupported(
            f"a variable is {' and '.join(map(repr, numbers))} in the branches of a condition "
            "on a tensor; use numbers of one kind"
        )
    if "c" in kinds:
        return np.dtype(np.complex64)
    return np.dtype(dtypes.default().np if "f" in kinds else np.int64)


def _mismatch(name: str, values: Sequence[Any], advice: str, kind: str) -> Mismatch:
    """The refusal to join values of a variable."""
    return Mismatch(
        f"{name} is {' and '.join(sorted({description(v) for v in values}))} in the branches of "
        f"a condition on a tensor; {advice}",
        kind,
        _differ_in_lengths(values),
    )


def _differ_in_lengths(values: Sequence[Any]) -> bool:
    """Whether values are lists, or Tensors of one dtype and number of axes."""
    # Another length may become an open one, when the program is recorded for open lengths.
    if all(isinstance(value, Leaf) for value in values):
        return len({(value.dtype, len(value.shape)) for value in values}) == 1
    return all(isinstance(value, list) for value in values)


def _equal(a: Any, b: Any) -> bool:
    if is_length(a) or is_length(b):
        return expression_of(a) == expression_of(b)
    # Types first: 1 equals True and 1.0, and code may tell them apart.
    return type(a) is type(b) and isinstance(a, bool | int | float | str | np.generic | np.dtype) and a == b


def description(value: Any) -> str:
    """A value in words."""
    # Leafs and Tensors.
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"a Tensor of {np.dtype(value.dtype).name}{list(value.shape)}"
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if is_number(value):
        return f"the number {value!r}"
    if value is None or isinstance(value, str):
        return repr(value)
    return f"a {type(value).__name__}"


def as_tensor(value: Any) -> Tensor:
    """A Tensor, or the Tensor of a number."""
    if is_length(value):
        return local.ctx.frame.tensor_of(value, number_dtype([value]))
    if isinstance(value, Tensor):
        return value
    return wrap(jnp.asarray(value, number_dtype([value])))
