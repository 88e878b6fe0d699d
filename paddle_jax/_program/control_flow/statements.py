"""What converted code calls in place of Python's statements: as Python where the condition is known, a
compiled branch or loop where it is traced."""

from __future__ import annotations

import functools as ft
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import TRACING, CheckError, Unsupported
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import lengths
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.control_flow.cond import ListLengthDiffers, TryState, cond, select, truth
from paddle_jax._program.control_flow.growing_lists import is_open, opened
from paddle_jax._program.control_flow.host_effects import check
from paddle_jax._program.control_flow.host_values import as_host_value, numeral
from paddle_jax._program.control_flow.length_facts import assuming, counter, facts_of, with_facts
from paddle_jax._program.control_flow.region import Undefined, is_traced
from paddle_jax._program.control_flow.while_loop import repeat
from paddle_jax.tensor.attribute import shape
from paddle_jax.tensor.creation import full

_IN_A_TENSOR = object()
_MARK = re.compile(r"(break_|continue_|do_return)(_\d+)?")  # a variable that malt adds, a bool


def _final(statement: Callable[..., Any]) -> Callable[..., Any]:
    """Lets the run know that a statement cannot be compiled: the user's `except` may catch the error."""

    @ft.wraps(statement)
    def reporting(*args: Any) -> Any:
        try:
            return statement(*args)
        except Unsupported as error:
            local.ctx.frame.on_refusal(error)
            raise

    return reporting


def _condition(value: Any) -> Any:
    """A condition; of unknown lengths the answer as a bool, or as a LengthBool."""
    if lengths.is_length(value):
        return lengths.to_bool(value)
    return value


class Range:
    """`range` with a traced bound.

    Attributes:
        start, stop, step: Tensors or ints.
        bounds: start and stop, but Lengths as the program gave them.
        counts_lengths: bool, whether the bounds are Lengths, so that the counter is a number too.
    """

    def __init__(self, *bounds: Any) -> None:
        self.counts_lengths = lengths.has_lengths(bounds) and not any(isinstance(b, Tensor) for b in bounds)
        frame = local.ctx.frame
        # Bounds made of lengths become Tensors; a plain number stays one.
        known = [frame.tensor_of(b, np.int64) if lengths.is_length(b) else b for b in bounds]
        # As Python refuses it. A traced step of 0 gives no steps, see `holds`.
        if len(known) == 3 and not is_traced(known[2]) and int(known[2]) == 0:
            raise ValueError("range() arg 3 must not be zero")
        tensors = [b for b in known if isinstance(b, Tensor)]
        if any(t.size != 1 or not t.is_integer() for t in tensors):
            raise TypeError(
                "range: a bound is not an integer tensor with one element; cast it with astype('int64')"
            )
        # The counter is an int64 for bounds of any dtype, as in Paddle's programs.
        numbers: list[Any] = [b.reshape([]).astype("int64") if isinstance(b, Tensor) else b for b in known]
        # `range(stop)`
        if len(numbers) == 1:
            numbers.insert(0, 0)
            bounds = (0, *bounds)
        pairs = zip(bounds[:2], numbers[:2], strict=True)
        self.bounds = [given if lengths.is_length(given) else number for given, number in pairs]
        self.start = numbers[0]
        self.stop = numbers[1]
        self.step = numbers[2] if len(numbers) == 3 else 1

    def __iter__(self) -> Iterator[Any]:
        if self.counts_lengths:
            instead = "; write such a loop, or give these lengths as numbers in input_spec"
        else:
            instead = ""
        raise Unsupported(
            f"a range with a traced bound can only be looped over with a plain `for i in range(n)`{instead}"
        )

    def __reversed__(self) -> Range:
        # With a step the last number needs a division.
        if is_traced(self.step) or self.step != 1:
            raise Unsupported(
                "reversed(range(...)) with a traced bound and a step; write range(last, first - 1, -step)"
            )
        start, stop = self.bounds
        return Range(stop - 1, start - 1, -1)

    def first(self) -> Any:
        """The start, as a Tensor."""
        if isinstance(self.start, Tensor):
            return self.start
        return full([], self.start, "int64")

    def shown(self, i: Any) -> Any:
        """The counter as the body of the loop gets it."""
        # A counter over Tensors stands for a number: `if i:` asks whether it is not 0.
        if not self.counts_lengths:
            if isinstance(i, Tensor):
                return as_host_value(i)
            return i
        if not is_traced(self.step):
            return self._counter(i)
        # The first two numbers, so that a body that takes the plain number is found out.
        start = 0 if is_traced(self.start) else self.start
        return local.ctx.frame.number_from(i, start + 1, start + 2)

    def _counter(self, i: Any) -> Any:
        """The Length that the counter stands for. The body runs only while it is within the bounds."""
        start, stop = self.bounds
        if self.step > 0:
            least, greatest = start, stop - 1
        else:
            least, greatest = stop + 1, start
        return counter(i, start, self.step, (lengths.expression_of(least), lengths.expression_of(greatest)))

    def holds(self, i: Any) -> Any:
        """Whether i is not past the end."""
        # The sign is known only at run time, so both ways of counting are possible.
        if is_traced(self.step):
            return ((self.step > 0) & (i < self.stop)) | ((self.step < 0) & (i > self.stop))
        if self.step > 0:
            return i < self.stop
        return i > self.stop


class _Variables:
    """The variables that a statement may change, through the functions that malt makes.

    Attributes:
        get: function that returns their values.
        put: function that sets them.
        before: their values before the statement.
    """

    def __init__(self, get: Callable[[], tuple[Any, ...]], put: Callable[[tuple[Any, ...]], Any]) -> None:
        self.get = get
        self.put = put
        self.before = get()
        self.put(self.before)

    def run(self, code: Callable[..., Any], values: Sequence[Any] | None = None) -> tuple[Any, list[Any]]:
        """What the variables are after `code()`, which starts with the given values; then
        they are as before."""
        try:
            # malt's variables are closures, which the code reads and sets.
            self.put(self.before if values is None else tuple(values))
            answer = code()
            return answer, list(self.get())
        finally:
            self.put(self.before)


@_final
def if_stmt(
    test: Any,
    body: Callable[..., Any],
    orelse: Callable[..., Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], Any],
    names: Sequence[str],
    nouts: int,
) -> None:
    """`if`."""
    test = _condition(test)
    if not is_traced(test):
        if test:
            return body()
        return orelse()
    variables = _Variables(get_state, set_state)
    # `while not done: ... if done: ...`: inside a branch on a mark of `break` or `return` its value is
    # known.
    facts = [_known(name, value, test) for name, value in zip(names, variables.before, strict=True)]

    def branch(code: Callable[..., Any], k: int) -> Any:
        values = [
            value if fact is None else fact[k] for value, fact in zip(variables.before, facts, strict=True)
        ]
        return assuming(test, k == 0, lambda: tuple(variables.run(code, values)[1]))

    codes = [branch(orelse, 1), branch(body, 0)]
    # Once more for each list whose length turns out to differ.
    while True:
        try:
            results = select(truth(test), codes, names, roots=(body, orelse))
            break
        except ListLengthDiffers as error:
            container = error.container
            if not opened(container.store, list(container.before), error.contents):
                raise
    variables.put(tuple(results))


def _is_opposite(name: str, value: Any, test: Any) -> bool:
    """Whether a condition is the opposite of a variable."""
    if isinstance(test, lengths.LengthBool):
        return (
            isinstance(value, lengths.LengthBool)
            and lengths.expression_of(lengths.logical_not(value)) == test.node
        )
    return _is_mark(name, value) and getattr(test, "_not_of", None) is value


def _is_mark(name: str, value: Any) -> bool:
    """Whether a variable says that the code came to a `break`, `continue` or `return`. Nobody else reads it,
    so that it may become a bool of Python; a Tensor that is a condition itself stays what it is."""
    # A user's variable that is a condition stays a Tensor, as it may be used as one.
    return isinstance(value, Tensor) and _is_bool(value) and _MARK.fullmatch(name) is not None


def _known(name: str, value: Any, test: Any) -> Any:
    """What a variable is in the two branches where it is itself the condition, or what the condition is the
    opposite of; else None."""
    # In the branch for True the variable itself is known to be true.
    if value is test and _is_mark(name, value) or _is_same_answer(value, test):
        return True, False
    if _is_opposite(name, value, test):
        return (False, True)
    return None


def _is_same_answer(value: Any, test: Any) -> bool:
    return (
        isinstance(test, lengths.LengthBool)
        and isinstance(value, lengths.LengthBool)
        and value.node == test.node
    )


@_final
def while_stmt(
    test: Any,
    body: Callable[..., Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], Any],
    names: Sequence[str],
    opts: Any,
) -> None:
    """`while`."""
    frame = local.ctx.frame
    steps = frame.loop(body.__code__)
    while True:
        answer = _condition(test())
        # Steps run in Python until the condition is traced: the first ones may still be plain values.
        if is_traced(answer) or steps[2]:
            break
        if not answer:
            return
        body()
        steps[1] += 1
    variables = _Variables(get_state, set_state)

    def tested(values: Sequence[Any]) -> Any:
        answer, after = variables.run(test, values)
        # An assignment such as `(n := n - 1)` in the condition would be lost after the last test.
        if any(a is not b for a, b in zip(after, values, strict=True)):
            raise Unsupported(
                "the condition of a while over a tensor assigns a variable; assign it in the loop"
            )
        return answer

    results = repeat(
        tested, lambda values, _: variables.run(body, values)[1], variables.before, names, roots=(test, body)
    )
    variables.put(tuple(results))
    # When the test fails, the mark that it is the opposite of must be set: the code after it is then known
    # to have returned.
    # a loop that only a `return` or `break` ends has come to it
    last = frame.run_and_undo(test)
    variables.put(
        tuple(
            [
                True if _is_opposite(name, value, last) else value
                for name, value in zip(names, results, strict=True)
            ]
        )
    )


@_final
def for_stmt(
    over: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[..., Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], Any],
    names: Sequence[str],
    opts: Any,
) -> None:
    """`for`. extra_test: None, or what has to hold besides (no `break` or `return` yet)."""
    if is_open(over):
        # Its rows are one Tensor.
        over = over.rows
    if isinstance(over, Range):
        return _for_range(over, extra_test, body, get_state, set_state, names)
    rows = _recorded_rows(over, body)
    if rows is not None:
        numbers, row = rows
        return _for_range(numbers, extra_test, lambda i: body(row(i)), get_state, set_state, names)
    # Long loops over rows are one program for all rows, if no row ends the loop.
    if extra_test is None and _is_long(over) and _tried_for_rows(over, body, get_state, set_state, names):
        return None
    for value in over:
        if extra_test is not None:
            # A `break` on a Tensor: the remaining rows run under its condition.
            going = extra_test()
            if is_traced(going):
                if_stmt(going, ft.partial(body, value), lambda: None, get_state, set_state, names, 0)
                continue
            if not going:
                break
        body(value)


def _is_long(over: Any) -> bool:
    """Whether a loop runs over the rows of a Tensor, too many for one piece of program each."""
    return isinstance(over, Tensor) and bool(over.ndim) and not local.ctx.frame.unrolls_rows(over.shape[0])


def _tried_for_rows(
    over: Any,
    body: Callable[..., Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], Any],
    names: Sequence[str],
) -> bool:
    """Runs one program for all rows; returns False, with everything as before, where that cannot be done."""
    # A failed attempt leaves the variables as they were.
    before = get_state()
    try:
        local.ctx.frame.attempt(lambda: _for_rows(over, body, get_state, set_state, names))
    except (Unsupported, *TRACING):
        set_state(before)  # what one program for all rows cannot do, one piece per row may
        return False
    return True


class Rows:
    """`enumerate`, `zip` or `reversed` of Tensors, whose rows a Program can take by their number.

    A list that grew in a loop is one Tensor, too.

    Attributes:
        over: function that calls the builtin.
        tensors: the Tensors that are looped over.
        row: function of a number, counted from 0, that gives the row.
    """

    def __init__(
        self, over: Callable[[], Iterator[Any]], tensors: Sequence[Tensor], row: Callable[[Any], Any]
    ) -> None:
        self.over = over
        self.tensors = tensors
        self.row = row

    def __iter__(self) -> Iterator[Any]:
        # A list that grew in a loop refuses it.
        return self.over()

    @classmethod
    def of(cls, kind: Any, *args: Any, **kwargs: Any) -> Any:
        """`kind(*args)`, as Rows if all that is looped over are Tensors or Rows, and a
        Program is recorded."""
        # `enumerate` has a start as its second argument.
        parts = args[:1] if kind is enumerate else args
        # Something else among them has no rows: Python's own function.
        if not parts or not all(isinstance(t, cls) or is_open(t) or _has_rows(t) for t in parts):
            return kind(*args, **kwargs)
        return local.ctx.frame.emit_rows(
            lambda: kind(*args, **kwargs), lambda: cls._of(kind, parts, args, kwargs)
        )

    @classmethod
    def _of(cls, kind: Any, parts: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Rows:
        """The Rows of `kind(*args)`. parts: the Tensors and Rows among the arguments."""
        rows = []
        tensors = []
        for part in parts:
            if isinstance(part, cls):
                rows.append(part.row)
                tensors += part.tensors
            else:
                rows.append(part.__getitem__)
                tensors.append(part.rows if is_open(part) else part)
        over = ft.cache(lambda: kind(*args, **kwargs))  # an iterator, so there is one
        if kind is enumerate:
            # By position, by keyword, or 0.
            start = (*args[1:], *kwargs.values(), 0)[0]
            return cls(over, tensors, lambda i: (i + start, rows[0](i)))
        if kind is reversed:
            return cls(over, tensors, lambda i: rows[0](_length(tensors[0]) - 1 - i))
        return cls(over, tensors, lambda i: tuple([row(i) for row in rows]))


def _has_rows(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim > 0


def _length(tensor: Tensor) -> Tensor:
    """The number of rows, as a Tensor."""
    return shape(tensor)[0]


def _row_count(tensors: Sequence[Tensor]) -> Any:
    """How many rows there are at least; a Length where one is not known."""
    counts = [t.shape[0] for t in tensors]
    unknown = [n for n in counts if lengths.is_length(n)]
    if unknown:
        return unknown[0]
    return min(counts)


def _recorded_rows(over: Any, body: Callable[..., Any]) -> tuple[Range, Callable[[Any], Any]] | None:
    """For a loop whose length is known only when the recorded program runs: (Range, function of its numbers
    that gives the rows); else None."""
    if isinstance(over, range):
        if not local.ctx.frame.loop(body.__code__, len(over))[2]:
            return None
        # Tensors as bounds, so that the loop is recorded and not run.
        bounds = [wrap(jnp.asarray(n, np.int64)) for n in (over.start, over.stop)]
        return Range(*bounds, over.step), lambda i: i
    if isinstance(over, Rows):
        tensors = over.tensors
        row = over.row
    elif isinstance(over, Tensor) and over.ndim:
        tensors = [over]
        row = over.__getitem__
    else:
        return None
    if not tensors or not local.ctx.frame.loop(body.__code__, _row_count(tensors))[2]:
        return None
    # As `zip`: the shortest one ends it.
    return Range(ft.reduce(Tensor.minimum, map(_length, tensors))), row


def _for_range(
    over: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[..., Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], Any],
    names: Sequence[str],
) -> None:
    variables = _Variables(get_state, set_state)

    def tested(values: Sequence[Any]) -> Any:
        goes = over.holds(values[-1])
        if extra_test is None:
            return goes
        # The counter comes last, and the further test knows nothing of it.
        further = extra_test
        return and_(lambda: goes, lambda: variables.run(further, values[:-1])[0])

    def step(values: Sequence[Any], _: Any) -> Any:
        i = values[-1]
        return [*variables.run(ft.partial(body, over.shown(i)), values[:-1])[1], i + over.step]

    results = repeat(tested, step, [*variables.before, over.first()], [*names, "the counter"], roots=(body,))
    variables.put(tuple(results[:-1]))


def _for_rows(
    over: Any,
    body: Callable[..., Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], Any],
    names: Sequence[str],
) -> None:
    variables = _Variables(get_state, set_state)

    def step(values: Sequence[Any], i: Any) -> Any:
        return variables.run(lambda: body(over[i]), values)[1]

    # Without a test: the number of rows is known.
    results = repeat(None, step, variables.before, names, length=over.shape[0], roots=(body,))
    variables.put(tuple(results))


# expressions ------------------------------------------------------------------------------------------------


def and_(left: Callable[[], Any], right: Callable[[], Any]) -> Any:
    """`left and right`, of functions."""
    return _either(left, right, False)


def or_(left: Callable[[], Any], right: Callable[[], Any]) -> Any:
    """`left or right`, of functions."""
    return _either(left, right, True)


def _either(left: Callable[[], Any], right: Callable[[], Any], enough: bool) -> Any:
    """What `left()` gives if its truth is `enough`, else what `right()` gives."""
    a = left()
    if not is_traced(_condition(a)):
        # Python's own operators: they give one of the operands, not its truth.
        return (a or right()) if enough else (a and right())
    if isinstance(a, lengths.LengthBool):
        b = right()
        if isinstance(b, bool | lengths.LengthBool):
            return a | b if enough else a & b
        right = lambda: b  # noqa: E731
        # Lengths and Tensors: both as Tensors.
        if _is_bool(b):
            a = truth(a)
    if _is_bool(a):
        b = right()
        # A plain bool decides at once.
        if isinstance(b, bool):
            return enough if b is enough else a
        if isinstance(b, lengths.LengthBool):
            b = truth(b)
        if _is_bool(b):
            # Two bools need no branch: both are computed.
            return _joined(a, b, enough)
        right = lambda: b  # noqa: E731
    # As in Python the right side counts only where the left one does not decide.
    return cond(a, lambda: a, right) if enough else cond(a, right, lambda: a)


def _joined(a: Any, b: Any, enough: bool) -> Tensor:
    """`a or b` where one is enough, else `a and b`, of two Tensors that are bools."""
    # Where both hold, or both fail, it is known what either says of lengths.
    if enough:
        return with_facts(truth(a).logical_or(truth(b)), (), facts_of(a, False) + facts_of(b, False))
    return with_facts(truth(a).logical_and(truth(b)), facts_of(a) + facts_of(b), ())


def _is_bool(value: Any) -> bool:
    return isinstance(value, Tensor) and numpy_dtype(value) == np.bool_ and value.size == 1


def tested(value: Any) -> Any:
    """A part of a condition, of which nothing but its truth counts."""
    if lengths.is_length(value):
        return value
    if is_traced(value):
        return truth(value)
    return bool(value)


def not_(value: Any) -> Any:
    """`not value`."""
    if lengths.is_length(value):
        return lengths.logical_not(lengths.to_bool(value))
    if not is_traced(value):
        return not value
    result: Any = numeral(truth(value).logical_not())
    # Lets `_is_opposite` see that a branch on this is one on the opposite of the value.
    result._not_of = value
    with_facts(result, facts_of(value, False), facts_of(value))
    return result


@_final
def if_exp(test: Any, body: Callable[..., Any], orelse: Callable[..., Any]) -> Any:
    """`body if test else orelse`."""
    test = _condition(test)
    if not is_traced(test):
        if test:
            return body()
        return orelse()
    return select(
        truth(test),
        # Tuples of one, as `select` has names for their parts.
        [assuming(test, False, lambda: (orelse(),)), assuming(test, True, lambda: (body(),))],
        ("the value of `... if ... else ...`",),
        roots=(body, orelse),
    )[0]


@_final
def assert_stmt(test: Any, message: Callable[[], Any] | None) -> None:
    """`assert`. A traced condition is checked when the program runs; recorded programs have no
    assertions, as in Paddle."""
    test = _condition(test)
    if is_traced(test):
        local.ctx.frame.emit_assertion(lambda: check(truth(test), _assertion_error(message)))
    elif not test:
        # Without a message Python raises the class alone.
        if message is None:
            raise AssertionError
        raise AssertionError(message())


def _assertion_error(message: Callable[[], Any] | None) -> Exception:
    """The exception of an assertion on a Tensor. message: function that gives its text, or None."""
    if message is None:
        return CheckError("an assertion on a tensor does not hold")
    return CheckError(str(message()))


def ld(value: Any) -> Any:
    """Reads a variable."""
    if isinstance(value, Undefined):
        return value.read()
    return value


def guarded() -> Any:
    """The body of a `try` with handlers."""
    return swapped_attributes(TryState, in_try=True)


def put_attribute(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute, or takes it away."""
    if not isinstance(value, Undefined):
        setattr(owner, name, value)
    elif hasattr(owner, name):
        delattr(owner, name)


def put_item(container: Any, key: Any, value: Any) -> None:
    """Sets an item, or takes it away."""
    # Assignments to elements of a Tensor have happened already, in place.
    if value is _IN_A_TENSOR or isinstance(container, Tensor):
        return
    if not isinstance(value, Undefined):
        container[key] = value
    elif isinstance(container, dict) and key in container:
        # A key that one branch has added is removed again.
        del container[key]


def item(container: Any, key: Any) -> Any:
    """An item as a variable; what is in a Tensor is none."""
    if isinstance(container, Tensor | np.ndarray):
        return _IN_A_TENSOR
    return container[key]


def ldu(load: Callable[[], Any], name: str) -> Any:
    """Reads an attribute or item that may not be there."""
    try:
        return load()
    # Written only where it is there; the branch may add it.
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(name)
