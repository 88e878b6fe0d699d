"""Gradients in static Programs: `gradients` and `append_backward`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.held_values import element_count, held_symbol
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.evaluate import Gradient
from paddle_jax._program.program import Program
from paddle_jax._program.variable import Variable, variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paddle_jax._program.operation import Operation


def _list_of(where: str, name: str, value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        found = list(value)
    else:
        found = [value]
    for item in found:
        if not isinstance(item, Variable):
            raise TypeError(
                f"{where}: {name}: got {type(item).__name__}; it must be a Variable, or a list of such"
            )
    return found


def _program(where: str, target: Tensor) -> Program:
    recorder = local.ctx.frame
    # A function of dynamic mode that is recorded has a program of its own.
    if recorder.recording and recorder.fixed_program is not None:
        return recorder.fixed_program
    found = held_symbol(target).program
    if not isinstance(found, Program):
        raise TypeError(f"{where}: the target belongs to no program")
    return found


def _names(no_grad_set: Iterable[Tensor | str] | None) -> tuple[set[Symbol], set[str]]:
    """The Symbols that gradients do not pass."""
    found = set()
    names = set()
    for item in no_grad_set or ():
        if isinstance(item, str):
            names.add(item)
        else:
            found.add(held_symbol(item))
    return found, names


def differentiated(
    program: Program,
    targets: Any,
    starts: Any,
    wanted: Any,
    no_grad_set: Any,
    checkpoints: Iterable[Symbol] = (),
) -> Any:
    """Appends derivatives of Symbols by Symbols; returns a list of Variables, None for those that no
    target depends on. What is between checkpoints is computed again."""
    ends, names = _names(no_grad_set)
    ops = program.pruned(targets)
    reached = set(wanted)
    between = []
    for op in ops:  # forwards: what depends on something wanted
        # Names are found where they occur: results have names too.
        ends.update(s for s in (*op.inputs, *op.outputs) if s.name in names)
        if any(
            s in reached and not stop and s not in ends and s.dtype.kind in INEXACT
            for s, stop in zip(op.inputs, op.stops, strict=True)
        ):
            if not op.kernel.nondiff:
                between.append(op)
                reached.update(o for o in op.outputs if o.dtype.kind in INEXACT)
    targets_reached = [(t, s) for t, s in zip(targets, starts, strict=True) if t in reached]
    touched = {t for t, _ in targets_reached}
    # Only these are differentiated; the rest of the program stays as it is.
    kept = []
    for op in reversed(between):  # backwards: what a target depends on
        if any(o in touched for o in op.outputs):
            kept.append(op)
            touched.update(
                s
                for s, stop in zip(op.inputs, op.stops, strict=True)
                if s in reached and not stop and s not in ends
            )
    # Once each, in the order of `wanted`.
    found = [s for s in dict.fromkeys(wanted) if s in touched and s not in ends]
    if not found:
        return [None] * len(wanted)
    region = kept[::-1]
    operation = Gradient(
        region,
        [t for t, _ in targets_reached],
        [s for _, s in targets_reached],
        found,
        ends,
        segments=_segments(ops, region, checkpoints),
    )
    # Paddle's name for the gradient of a Variable.
    operation.outputs = [
        Symbol(s.avals, "result", program, f"{s.name}@GRAD" if s.name else None, op=operation) for s in found
    ]
    program.append(operation)
    made = {s: variable(o, False) for s, o in zip(found, operation.outputs, strict=True)}
    return [made.get(s) for s in wanted]


def _segments(
    ops: Sequence[Operation], region: Sequence[Operation], checkpoints: Iterable[Symbol]
) -> list[list[Operation]]:
    """The operations of a region in segments, each of which ends with what makes a checkpoint.

    What comes after the last checkpoint is in no segment.
    """
    chosen = set(checkpoints)
    segments = []
    waiting: list[Operation] = []
    members = set(region)
    for op in ops:
        if op in members:
            waiting.append(op)
        if waiting and not chosen.isdisjoint(op.outputs):
            segments.append(waiting)
            waiting = []
    return segments


def _checkpoint_symbols(program: Program, checkpoints: Sequence[Tensor | str]) -> list[Symbol]:
    """The Symbols of Variables or names of such.

    Raises:
        TypeError: one is neither.
        ValueError: the program has no Variable of a name.
    """
    named = {symbol.name: symbol for op in program.ops for symbol in op.outputs}
    named |= {name: held_symbol(one) for name, one in program.data.items()}
    found = []
    for one in checkpoints:
        if isinstance(one, Variable):
            found.append(held_symbol(one))
        elif not isinstance(one, str):
            raise TypeError(
                f"append_backward: checkpoints: got {type(one).__name__}; they must be Variables or names"
            )
        elif one in named:
            found.append(named[one])
        else:
            raise ValueError(
                f"append_backward: checkpoints: the program has no Variable {one!r}; give a result of it"
            )
    return found


def _by_inputs(
    program: Program,
    targets: Sequence[Symbol],
    starts: Sequence[Symbol | None],
    inputs: Sequence[Any],
    no_grad_set: Iterable[Tensor | str] | None,
    checkpoints: Iterable[Symbol] = (),
) -> list[Tensor | None]:
    """The gradients of targets by Variables; None for those that no target depends on.

    The update of another loss gives a Parameter a new Symbol. A target depends on what it was recorded with.
    """
    last = [program.symbol_of(v) if v.persistable else held_symbol(v) for v in inputs]
    first = [program.scope_symbol(v) if v.persistable else s for v, s in zip(inputs, last, strict=True)]
    found = differentiated(program, targets, starts, [*first, *last], no_grad_set, checkpoints)
    results = []
    for i, (by_first, by_last) in enumerate(zip(found[: len(last)], found[len(last) :], strict=True)):
        if by_first is None:
            results.append(by_last)
        elif by_last is None or first[i] is last[i]:
            results.append(by_first)
        else:
            results.append(by_first + by_last)
    return results


def gradients(
    targets: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    target_gradients: Tensor | Sequence[Tensor | None] = None,
    no_grad_set: Iterable[Tensor | str] | None = None,
) -> list[Tensor | None]:
    """Adds to a program what computes the gradients of targets by inputs. Gradients of gradients work.

    Args:
        targets: Variable or list of Variables.
        inputs: Variable or list of Variables.
        target_gradients: Variable or list, the gradients to start from, None for ones. Default: ones.
        no_grad_set: set of Variables or names that no gradient passes.
    Returns:
        list of Variables, None for inputs with stop_gradient=True, or that no target depends on.
    Raises:
        TypeError: an argument is no Variable.
        ValueError: target_gradients has another length or shape than targets.
    Differs from Paddle: every differentiable operation has gradients of gradients.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2]); x.stop_gradient = False
        ...     first, = paddle.static.gradients(x ** 3, x)
        ...     second, = paddle.static.gradients(first, x)
        ...     paddle.static.Executor().run(feed={"x": np.array([1, 2], "float32")},
        ...                                  fetch_list=[first, second])
        [array([ 3., 12.], dtype=float32), array([ 6., 12.], dtype=float32)]
        >>> paddle.disable_static()
    """
    targets = _list_of("gradients", "targets", targets)
    inputs = _list_of("gradients", "inputs", inputs)
    starts = [None] * len(targets)
    if target_gradients is not None:
        if isinstance(target_gradients, list | tuple):
            starts = list(target_gradients)
        else:
            starts = [target_gradients]
        if len(starts) != len(targets):
            raise ValueError(
                f"gradients: target_gradients: got {len(starts)}; there are {len(targets)} targets"
            )
        for start, target in zip(starts, targets, strict=True):
            if start is not None and list(start.shape) != list(target.shape):
                raise ValueError(
                    f"gradients: target_gradients: got shape {list(start.shape)}; "
                    f"the target has {list(target.shape)}"
                )
    program = _program("gradients", targets[0])
    started = [None if s is None else _symbol(s) for s in starts]
    found = _by_inputs(program, [held_symbol(t) for t in targets], started, inputs, no_grad_set)
    # Paddle gives None for an input that no gradient shall reach.
    return [None if v.stop_gradient else g for v, g in zip(inputs, found, strict=True)]


def _symbol(start: Any) -> Symbol:
    # An eager Tensor is taken into the program.
    if isinstance(start, Variable) or not isinstance(start, Tensor):
        return held_symbol(start)
    return local.ctx.frame.symbol(start)


def append_backward(
    loss: Tensor,
    parameter_list: Sequence[Tensor | str] | None = None,
    no_grad_set: Iterable[Tensor | str] | None = None,
    callbacks: Sequence[Callable[..., None]] = None,
    checkpoints: Sequence[Tensor | str] | None = None,
    distop_context: object = None,
) -> list[tuple[Tensor, Tensor | None]]:
    """Adds to a program what computes the gradients of a loss by parameters.

    Args:
        loss: Variable of one element.
        parameter_list: list of Parameters or their names. Default: all trainable ones that the
            loss depends on.
        no_grad_set: set of Variables or names that no gradient passes.
        callbacks: functions `callback(block, context)`, called when the gradients have been added.
        checkpoints: list of Variables or names. The gradients keep these, and compute what is between them
            again. Default: everything is kept.
        distop_context: accepted.
    Returns:
        list of (Parameter, its gradient).
    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the loss has more than one element, or a checkpoint is not in the program.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([2], "float32")
        ...     pairs = paddle.static.append_backward((w * w).sum())
        >>> len(pairs), pairs[0][0].name == w.name
        (1, True)
        >>> paddle.disable_static()
    """
    if not isinstance(loss, Variable):
        raise TypeError(f"append_backward: loss: got {type(loss).__name__}; it must be a Variable")
    if element_count(loss) != 1:
        raise ValueError(f"append_backward: loss: got shape {list(loss.shape)}; it must have one element")
    for name, value, kinds in (
        ("parameter_list", parameter_list, list | tuple | set),
        ("checkpoints", checkpoints, list | tuple),
        ("no_grad_set", no_grad_set, list | tuple | set | frozenset),
    ):
        if value is not None and not isinstance(value, kinds):
            raise TypeError(f"append_backward: {name}: got {type(value).__name__}; it must be a list")
    program = _program("append_backward", loss)
    if parameter_list is None:
        chosen = program.all_parameters()
    else:
        chosen = [program.var(p) if isinstance(p, str) else p for p in parameter_list]
    chosen = [p for p in chosen if not p.stop_gradient]
    marks = _checkpoint_symbols(program, checkpoints or ())
    found = _by_inputs(program, [held_symbol(loss)], [None], chosen, no_grad_set, marks)
    # A parameter that was asked for by name stays in the list, also without a gradient.
    pairs = [
        (p, g) for p, g in zip(chosen, found, strict=True) if g is not None or parameter_list is not None
    ]
    # A callback of Paddle gets a block and a dict; a Program is its only block.
    for callback in callbacks or ():
        callback(program, {})
    return pairs


__all__ = ["append_backward", "differentiated", "gradients"]
