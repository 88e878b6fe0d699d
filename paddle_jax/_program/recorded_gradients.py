"""`paddle.grad` in a function that is recorded for a file: its gradients are recorded as operations, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tape.grad_mode import enable_grad, no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.export_rules import ExportRules
from paddle_jax._program.operation import Operation
from paddle_jax._program.variable import variable


class RecordedCall:
    """A recorded operation whose gradient is taken.

    Attributes:
        name: str, the name of the operation.
        attributes: dict of its attributes, which may hold Lengths.
        operands: list of its operands as Tensors.
        results: list of its results as Tensors.
        constant: function of a Tensor that gives its value where it is known, else None.
        operation: Operation.
        create_graph: bool, whether gradients flow through the results.
        recorder: the LengthRecorder.
        wanted: list of bools, for each operand whether its gradient is needed.
    """

    def __init__(self, op: Operation, attrs: Any, create_graph: bool) -> None:
        recorder = local.ctx.frame
        self.operation = op
        self.wanted: list[bool] = []
        self.create_graph = create_graph
        self.recorder: Any = recorder
        self.name = op.name
        self.attributes: dict[str, Any] = op.attrs
        # With Lengths in place of the first values that the kernel has.
        if attrs is not None:
            self.attributes = dict(zip(op.attrs, attrs, strict=True))

        def tensor_of(symbol: Symbol) -> Tensor:
            # Gradients of gradients need a way back through the operands.
            stops = not create_graph or symbol.dtype.kind not in INEXACT
            return variable(symbol, stops, recorder.variable_class)

        self.operands = list(map(tensor_of, op.inputs))
        self.results = list(map(tensor_of, op.outputs))
        self.constant: Callable[[Tensor], Any] = lambda tensor: recorder.constant_value(tensor)

    def named(self) -> dict[str, Any]:
        """The operands by name: a Tensor, a list of Tensors, or None."""
        op, layout, _ = self.operation.kernel.declaration
        rest = iter(self.operands)
        found: dict[str, Any] = {}
        for name, count in zip(op.tensors, layout, strict=True):
            if count == -1:
                found[name] = None
            elif count == -2:
                found[name] = next(rest)
            else:
                found[name] = [next(rest) for _ in range(count)]
        return found

    def repeated_on(self, *operands: Any) -> Any:
        """The results of the same operation on other operands."""
        declared, _, _ = self.operation.kernel.declaration
        return self.recorder.call_with_lengths(declared, operands, tuple(self.attributes.values()))

    def elements(self, tensor: Tensor) -> list[Any]:
        """The elements of a vector of whole numbers: ints and Lengths where they are known, else Tensors."""
        symbol = self.recorder.symbol(tensor)
        # Lengths first: their values may be equal in this recording, and differ in another one.
        if symbol.kind == "constant" and isinstance(symbol.value, list):
            return symbol.value
        known = self.constant(tensor)
        if known is not None:
            return known.tolist()
        return [tensor[k] for k in range(tensor.shape[0])]


def recorded_gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    starts: Sequence[Tensor | None],
    create_graph: bool,
    cut: Iterable[Tensor],
    ends_at_inputs: bool = False,
) -> list[Tensor | None]:
    """Records what computes the gradients of outputs by inputs; None for inputs that do not matter.

    Args:
        outputs: Variables.
        inputs: Variables, or Tensors that the function reads.
        starts: gradients to start from, None for ones.
        create_graph: whether gradients flow through the results.
        cut: Tensors at which gradients end. They get none from operations that use them.
        ends_at_inputs: whether gradients end at inputs, also where one is computed from another one.
    Raises:
        NotWritable: an operation on the way has no rule.
    """
    recorder = local.ctx.frame
    ends = [recorder.symbol(one) for one in inputs]
    targets = [recorder.symbol(one) for one in outputs]
    ending = set(map(recorder.symbol, cut))
    ops = _ops_between(targets, set(ends), ending, ends_at_inputs)
    cotangents: dict[Symbol, Tensor] = {}
    mode = enable_grad if create_graph else no_grad
    # The operands were cast when the operations were recorded. Mixed precision would cast the gradients as
    # well.
    with mode(), swapped_attributes(local.ctx, amp=None):
        for output, start in zip(outputs, starts, strict=True):
            if start is None:
                start = ExportRules.ones(output)
            _add(cotangents, recorder.symbol(output), start)
        # Operations are in the order of their dependence, so each one has all its cotangents when its turn
        # comes.
        leading = set(ops)
        for op in reversed(ops):
            wanted = [s not in ending and (s in ends or s.op in leading) for s in op.inputs]
            _pull(op, cotangents, create_graph, wanted)
    found = [cotangents.get(symbol) for symbol in ends]
    # As `paddle.grad` does it: without `create_graph` results are constants for later gradients.
    for cotangent in found:
        if cotangent is not None and not create_graph:
            cotangent.stop_gradient = True
    return found


def _add(cotangents: dict[Symbol, Tensor], symbol: Symbol, cotangent: Tensor) -> None:
    if symbol in cotangents:
        cotangent = cotangents[symbol] + cotangent
    cotangents[symbol] = cotangent


def _pull(
    op: Operation, cotangents: dict[Symbol, Tensor], create_graph: bool, wanted: Sequence[bool]
) -> None:
    """Adds the gradients of the operands of an operation. wanted: for each whether it leads to an input."""
    # No gradient reaches it.
    of_results = [cotangents.get(symbol) for symbol in op.outputs]
    if all(cotangent is None for cotangent in of_results) or op.kernel.nondiff:
        return
    rule = _rule_of(op)
    call = RecordedCall(op, local.ctx.frame.attributes.get(op), create_graph)
    call.wanted = [is_wanted and not stop for is_wanted, stop in zip(wanted, op.stops, strict=True)]
    for symbol, is_wanted, cotangent in zip(op.inputs, call.wanted, rule(call, of_results), strict=False):
        if cotangent is not None and is_wanted and symbol.dtype.kind in INEXACT:
            _add(cotangents, symbol, cotangent)


def _rule_of(op: Operation) -> Callable[..., Any]:
    """The rule of an operation."""
    is_complex = any(symbol.dtype.kind == "c" for symbol in (*op.inputs, *op.outputs))
    if is_complex:
        rule = ExportRules.complex_gradient_rule(op.name)
    else:
        rule = ExportRules.gradient_rule(op.name)
    if rule is None and is_complex:
        raise NotWritable(
            f"paddle.grad through {op.name} of complex numbers cannot be saved; keep real and imaginary "
            "parts in Tensors of real numbers"
        )
    if rule is None:
        raise NotWritable(
            f"paddle.grad through {op.name} cannot be saved; write its derivative, or leave it out of what "
            "is saved"
        )
    return rule


def _ops_between(
    outputs: Sequence[Symbol], inputs: set[Symbol], cut: set[Symbol], ends_at_inputs: bool
) -> list[Operation]:
    """The operations on a way from an input to an output, in order."""
    # A walk in depth without recursion, since a deep network would exceed Python's limit: an operation
    # comes twice, before and after its sources.
    leads: dict[Operation, bool] = {}
    order: list[Operation] = []
    final = inputs if ends_at_inputs else set()
    pending: list[Any] = [(symbol.op, False) for symbol in outputs if symbol not in final]
    while pending:
        op, is_done = pending.pop()
        if op is None or not is_done and op in leads:
            continue
        sources = [s for s, stop in zip(op.inputs, op.stops, strict=True) if not stop and s not in cut]
        if not is_done:
            leads[op] = False
            pending.append((op, True))
            pending += [
                (s.op, False) for s in sources if s.op is not None and s.op not in leads and s not in final
            ]
            continue
        # Its sources are done, so it is known whether one of them leads to an input.
        leads[op] = any(s in inputs or s.op is not None and leads.get(s.op, False) for s in sources)
        if leads[op]:
            order.append(op)
    return order


__all__ = ["RecordedCall", "recorded_gradients"]
