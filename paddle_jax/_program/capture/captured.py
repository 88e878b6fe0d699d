"""A captured run: a function of Tensors, and the other effects of each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Captured:
    """A function of Tensors after its run.

    Attributes:
        fn: function (*arrays of inputs) -> tuple of arrays: results, then new values of what it changes.
        jaxpr: the jaxpr that it evaluates.
        parts: (constants that the jaxpr begins with, indices in `inputs` of its other operands).
        structs: shapes and dtypes of the results.
        inputs: list of CapturedInput, the arguments first.
        rebuild: function that makes the result of the function from a list of its Tensors.
        results: for each of these Tensors (stop_gradient, whether gradients flow into it or None for a leaf,
            the input that it is or None).
        changes: list of Change.
        grads: list of (Tensor, kind that its gradient must have).
        relations: views among the Tensors that it changes, at the end.
        draws: list of (Generator, how many random numbers it draws).
        host_reads: list of (input, value that the host has read).
        host_guards: list of (function without arguments, its value, which must stay the same).
        effects: list of (function, object, arguments, named arguments) to call after each run.
        steps: int, how many steps of optimizers it makes.
        again: list of str, why the code was run again, for each further run.
    """

    __slots__ = (
        "again",
        "changes",
        "draws",
        "effects",
        "fn",
        "grads",
        "host_guards",
        "host_reads",
        "inputs",
        "jaxpr",
        "parts",
        "rebuild",
        "relations",
        "results",
        "steps",
        "structs",
    )

    again: list[str]
    changes: list[Change]
    draws: list[tuple[Any, int]]
    effects: list[tuple[Callable[..., Any], Any, tuple[Any, ...], dict[Any, Any]]]
    fn: Callable[..., tuple[Any, ...]]
    grads: list[tuple[Any, str]]
    host_guards: list[tuple[Callable[[], Any], Any]]
    host_reads: list[tuple[Any, Any]]
    inputs: list[Any]
    jaxpr: Any
    parts: tuple[list[Any], list[int]]
    rebuild: Callable[[list[Any]], Any]
    relations: Any
    results: list[tuple[bool, bool | None, Any]]
    steps: int
    structs: Any


class Change:
    """Something outside that a run changes.

    Attributes:
        kind: "value", "grad" or "flag" (stop_gradient) of a Tensor, "attribute" of an object, "rows" for
            marks of the rows of a table that are looked up, or "checks" for the outcome of checks.
        target: the Tensor or object.
        count: number of arrays among the results.
        flows: whether gradients flow through it.
        stop_gradient: for a value, flag or gradient: as in Captured.
        steps: for a value: the versions that it goes on by.
        shares: for a value: whether its views change with it.
        to: for a gradient: "none", "zero", "array" or "rows" (then their marks follow).
        is_new_object: for a gradient: whether it is another object afterwards.
        key: for an attribute: (index of the store, name).
        rebuild: for an attribute: function that makes its value.
        gone: for an attribute: whether it is removed.
        checks: for checks: list of (count, error, line).
    """

    __slots__ = (
        "is_new_object",
        "checks",
        "count",
        "flows",
        "gone",
        "key",
        "kind",
        "rebuild",
        "shares",
        "steps",
        "stop_gradient",
        "target",
        "to",
    )

    is_new_object: bool
    checks: list[tuple[int, Any, Any]]
    gone: bool
    key: tuple[int, Any]
    rebuild: Callable[..., Any]
    shares: bool
    steps: int
    stop_gradient: bool
    to: str

    def __init__(self, kind: str, target: Any, count: int, **more: Any) -> None:
        self.kind = kind
        self.target = target
        self.count = count
        self.flows = False
        for name, value in more.items():
            setattr(self, name, value)
