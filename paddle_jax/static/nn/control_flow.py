"""Branches and loops on Tensors: in static programs, in functions being compiled, and, where the values are
known, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES, Symbol
from paddle_jax._core.tensors.held_values import element_count, held_symbol, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.blocks import branch, loop
from paddle_jax._program.control_flow.cond import cond as cond_on_traced
from paddle_jax._program.control_flow.while_loop import while_loop as repeat_while
from paddle_jax._program.variable import variable
from paddle_jax.framework.mode import in_dynamic_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _kind(tensor: Tensor) -> str:
    """ "static" for a Variable, "traced" inside a function being compiled, else "eager"."""
    raw = held_symbol(tensor)
    # An eager Tensor in static mode becomes a Variable.
    if not isinstance(raw, ABSTRACT_TYPES):
        if in_dynamic_mode():
            return "eager"
        return "static"
    if type(raw) is Symbol:
        return "static"
    return "traced"


def _callable(where: str, name: str, function: Any, optional: bool = True) -> None:
    if not (callable(function) or optional and function is None):
        raise TypeError(f"{where}: {name}: got {type(function).__name__}; it must be callable")


def cond(
    pred: Tensor | bool,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Any = None,
) -> Any:
    """Calls one of two functions, depending on a Tensor.

    Args:
        pred: bool Tensor with one element.
        true_fn, false_fn: callables without arguments that return Tensors, or nested lists, tuples and dicts
            of them, both of the same structure. Default None: returns None.
        name, return_names: accepted for compatibility.
    Returns:
        What the chosen function returns. Gradients flow to what it uses.
    Raises:
        TypeError: pred is no bool Variable, or a function is not callable.
        ValueError: the functions return different numbers of Variables.
        RuntimeError: they return different dtypes.
    Example:
        >>> x = paddle.to_tensor(3.0)
        >>> paddle.static.nn.cond(x > 2, lambda: x * 2, lambda: x).item()
        6.0
    """
    _callable("cond", "true_fn", true_fn)
    _callable("cond", "false_fn", false_fn)
    if not isinstance(pred, Tensor):
        # Paddle's class differs by mode.
        if in_dynamic_mode():
            error = AssertionError
        else:
            error = TypeError
        raise error(
            f"cond: pred: got {type(pred).__name__}; it must be a Tensor; use a Python if for Python values"
        )
    kind = _kind(pred)
    if kind == "static":
        if numpy_dtype(pred).name != "bool":
            raise TypeError(
                f"cond: pred: got dtype {numpy_dtype(pred).name}; it must be bool; compare with something"
            )
        if true_fn is None and false_fn is None:
            return None
        return branch(_as_variable(pred), true_fn, false_fn)
    if element_count(pred) != 1:
        raise AssertionError(f"cond: pred: got shape {list(pred.shape)}; it must have one element")
    if kind == "traced":
        return cond_on_traced(pred, true_fn or _nothing, false_fn or _nothing)
    # Known: Python's own `if`, without recording the other function.
    chosen = true_fn if bool(pred) else false_fn
    if chosen is None:
        return None
    return chosen()


def _nothing() -> None:
    return None


def _as_variable(tensor: Tensor) -> Tensor:
    """A Tensor as a Variable of the program that is being recorded."""
    return variable(local.ctx.frame.symbol(tensor), tensor.stop_gradient)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """Repeats `loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` holds.

    Args:
        cond: callable that takes the loop variables and returns a bool Tensor with one element.
        body: callable that takes the loop variables and returns the new ones: as many, of the same dtypes.
        loop_vars: list or tuple of Tensors, or of nested lists, tuples and dicts of them.
        is_test, name: accepted for compatibility.
    Returns:
        list of the last values. Gradients flow to all that the loop uses.
    Raises:
        TypeError: an argument is of the wrong type, or cond returns something else than one bool.
        ValueError: loop_vars is empty, or body returns another number of values.
    Differs from Paddle: in dynamic mode the Tensors in `loop_vars` keep their values.
    Example:
        >>> i = paddle.to_tensor([0])
        >>> paddle.static.nn.while_loop(lambda i: i < 5, lambda i: [i + 2], [i])[0].tolist()
        [6]
    """
    _callable("while_loop", "cond", cond, optional=False)
    _callable("while_loop", "body", body, optional=False)
    if not isinstance(loop_vars, list | tuple):
        raise TypeError(f"while_loop: loop_vars: got {type(loop_vars).__name__}; it must be a list or tuple")
    if len(loop_vars) == 0:
        raise ValueError("while_loop: loop_vars: got none; there must be one at least")
    if not in_dynamic_mode():
        return loop(cond, body, loop_vars)

    # Dynamic mode, also inside of a function that is compiled.
    def tested(*state: Any) -> Any:
        answer = cond(*state)
        if isinstance(answer, Tensor) and element_count(answer) != 1:
            raise TypeError(f"while_loop: cond returns shape {list(answer.shape)}; it must have one element")
        return answer

    def stepped(*state: Any) -> list[Any]:
        out = body(*state)
        out = list(out) if isinstance(out, list | tuple) else [out]
        if len(out) != len(state):
            raise ValueError(
                f"while_loop: body returns {len(out)} values; loop_vars has {len(state)}; "
                "they must be as many"
            )
        return out

    return repeat_while(tested, stepped, list(loop_vars))


def case(
    pred_fn_pairs: Sequence[tuple[Tensor, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Calls the function of the first condition that holds.

    Args:
        pred_fn_pairs: list or tuple of (bool Tensor with one element, callable without arguments).
        default: callable that is called when no condition holds. Default: the last of the pairs.
        name: accepted for compatibility.
    Returns:
        What the chosen function returns; all must return the same structure.
    Raises:
        TypeError: an argument is of the wrong type.
    Example:
        >>> x = paddle.to_tensor(3.0)
        >>> paddle.static.nn.case([(x > 5, lambda: x), (x > 2, lambda: x * 10)], lambda: -x).item()
        30.0
    """
    if not isinstance(pred_fn_pairs, list | tuple):
        raise TypeError(
            f"case: pred_fn_pairs: got {type(pred_fn_pairs).__name__}; it must be a list or tuple of pairs"
        )
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            if isinstance(pair, tuple):
                got = f"a tuple of {len(pair)}"
            else:
                got = type(pair).__name__
            raise TypeError(
                f"case: pred_fn_pairs: got {got}; each item must be a tuple (condition, function)"
            )
        if not isinstance(pair[0], Tensor):
            raise TypeError(
                f"case: pred_fn_pairs: got {type(pair[0]).__name__} as a condition; it must be a Tensor"
            )
        _callable("case", "pred_fn_pairs", pair[1], optional=False)
    _callable("case", "default", default)
    pairs = list(pred_fn_pairs)
    # Paddle takes the last function for the default.
    if default is None:
        default = pairs[-1][1]
        pairs = pairs[:-1]
    return _chained(pairs, default)


# A chain of conditions: the first one that holds decides.
def _chained(pairs: Sequence[tuple[Tensor, Callable[[], Any]]], default: Callable[[], Any]) -> Any:
    if not pairs:
        return default()
    (pred, function), *rest = pairs
    return cond(pred, function, lambda: _chained(rest, default))


def switch_case(
    branch_index: Tensor,
    branch_fns: dict[int, Callable[[], Any]] | Sequence[Any],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Calls the function that has a number.

    Args:
        branch_index: int32, int64 or uint8 Tensor with one element.
        branch_fns: dict of callables by number, list of (number, callable), or list of callables,
            numbered from 0.
        default: callable for other numbers. Default: the function with the largest number.
        name: accepted for compatibility.
    Returns:
        What the chosen function returns; all must return the same structure.
    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number appears twice.
    Example:
        >>> i = paddle.to_tensor(1)
        >>> paddle.static.nn.switch_case(i, [lambda: "zero", lambda: "one"])
        'one'
    """
    if not isinstance(branch_index, Tensor):
        raise TypeError(
            f"switch_case: branch_index: got {type(branch_index).__name__}; it must be a Tensor of integers"
        )
    if numpy_dtype(branch_index).name not in ("uint8", "int32", "int64") and not in_dynamic_mode():
        raise TypeError(
            f"switch_case: branch_index: got dtype {numpy_dtype(branch_index).name}; "
            "allowed are uint8, int32, int64"
        )
    if not isinstance(branch_fns, list | tuple | dict):
        raise TypeError(
            f"switch_case: branch_fns: got {type(branch_fns).__name__}; it must be a list, tuple or dict"
        )
    items = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    # A list of functions is numbered from 0.
    if items and all(callable(f) for f in items):
        items = list(enumerate(items))
    seen = {}
    for item in items:
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(
                f"switch_case: branch_fns: got {type(item).__name__}; "
                "each item must be a tuple (number, function)"
            )
        number, function = item
        if not isinstance(number, int):
            raise TypeError(f"switch_case: branch_fns: got the number {number!r}; it must be an int")
        if number in seen:
            raise ValueError(f"switch_case: branch_fns: the number {number} appears more than once")
        _callable("switch_case", "branch_fns", function, optional=False)
        seen[number] = function
    _callable("switch_case", "default", default)
    # In the order of the numbers, as the last one is the default.
    pairs = sorted(seen.items())
    if default is None:
        default = pairs[-1][1]
        pairs = pairs[:-1]
    return _chained([(branch_index == number, function) for number, function in pairs], default)


__all__ = ["case", "cond", "switch_case", "while_loop"]
