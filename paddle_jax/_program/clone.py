"""Copies of Programs: whole, shortened, and for evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.held_values import held_symbol
from paddle_jax._program.control_flow.blocks import Block, with_blocks
from paddle_jax._program.evaluate import Gradient
from paddle_jax._program.evaluation_rules import replacement_of
from paddle_jax._program.operation import Operation
from paddle_jax._program.variable import Variable

if TYPE_CHECKING:
    from paddle_jax._program.program import Program

# Operations that only make sense in training, beside Gradients.
_TRAINING = ("optimizer_step", "gradients")
_COPIED_DICTS = (
    "data",
    "vars",
    "values",
    "initializers",
    "current_symbols",
    "scope_symbols",
    "captured",
    "learning_rates",
)


# Symbols and Operations are shared: nothing changes them after they are made, and replacing one is a change
# of `ops`.
def clone_program(program: Program, for_test: bool = False) -> Program:
    """A Program with the same operations; its Variables are those of the original."""
    clone = type(program)()
    for name in _COPIED_DICTS:
        setattr(clone, name, dict(getattr(program, name)))
    clone.fetched = list(program.fetched)
    clone.ops = list(program.ops)
    clone.random_seed = program.random_seed
    clone.draws = program.draws
    clone.seed_words = program.seed_words
    clone.process_grid = program.process_grid
    if program.hook is not None:
        clone.hook = program.hook.copied(for_test)
    if for_test:
        _remove_training(clone, [] if program.hook is None else program.hook.training_inputs())
    return clone


def prune_program(program: Program, targets: list[Variable] | tuple[Variable, ...]) -> Program:
    """A Program with those operations that Variables need, and the inputs and Parameters of these."""
    if not isinstance(targets, list | tuple) or not all(isinstance(v, Variable) for v in targets):
        raise TypeError(f"Program._prune: targets: got {targets!r}; it must be a list of Variables")
    ends = [held_symbol(v) for v in targets]
    clone = clone_program(program)
    clone.ops = program.pruned(ends)
    used = {symbol for op in clone.ops for symbol in op.inputs} | set(ends)
    # What a Variable is set to by an operation that was left out is not stored: it keeps its value.
    computed = {symbol for op in clone.ops for symbol in op.outputs}
    clone.data = {name: v for name, v in program.data.items() if held_symbol(v) in used}
    clone.vars = {}
    for name, v in program.vars.items():
        # A Parameter is needed as operand, or because the kept operations make its new value.
        symbols = {program.scope_symbols.get(name), program.current_symbols.get(name)}
        if held_symbol(v) in used or symbols & (used | computed):
            clone.vars[name] = v
    clone.current_symbols = {}
    for name, symbol in program.current_symbols.items():
        if name not in clone.vars:
            continue
        if symbol not in computed:
            symbol = program.scope_symbols[name]
        clone.current_symbols[name] = symbol
    return clone


def _remove_training(program: Program, training_inputs: Iterable[Symbol]) -> None:
    """Removes gradients and updates; normalisation then uses running statistics, and nothing is dropped."""
    kept = []
    removed: set[Symbol] = set(training_inputs)
    for op in program.ops:
        # What is computed from gradients goes as well, such as clipping and the learning rate's own counts.
        if isinstance(op, Gradient) or op.name in _TRAINING or any(s in removed for s in op.inputs):
            removed.update(op.outputs)
        else:
            kept.append(op)
    program.ops = kept
    use_evaluation_forms(program, removed)


def use_evaluation_forms(program: Program, removed: Iterable[Symbol] = ()) -> None:
    """Replaces operations by those of evaluation. A run does not store results that are removed."""
    program.ops, replaced = evaluation_ops(program.ops)
    program.changed()
    # Running statistics stay as they are in evaluation.
    not_stored = {*removed, *replaced}
    for name, symbol in list(program.current_symbols.items()):
        if symbol in not_stored:
            program.current_symbols[name] = program.scope_symbols[name]


def evaluation_ops(ops: list[Operation]) -> tuple[list[Operation], dict[Symbol, Symbol]]:
    """(operations of evaluation, {Symbol of a result that is no longer computed: what replaces it})."""
    changed = []
    replaced: dict[Symbol, Symbol] = {}
    for op in ops:
        # Later operations take what stands for a result that is gone.
        inputs = [replaced.get(s, s) for s in op.inputs]
        changed.append(_evaluation_op(op, inputs, replaced))
    return changed, replaced


def _evaluation_op(op: Operation, inputs: list[Symbol], replaced: dict[Symbol, Symbol]) -> Operation:
    """What an operation is in evaluation, with these operands; adds to `replaced`."""
    if hasattr(op.kernel.fn, "blocks"):  # a branch or a loop
        return _with_kernel(op, with_blocks(op.kernel, _evaluation_block), inputs, op.many, len(op.outputs))
    replacement = replacement_of(op.kernel)
    if replacement is not None:
        # Such as new running statistics: they are the old ones in evaluation.
        for result, operand in replacement.passed_on.items():
            replaced[op.outputs[result]] = inputs[operand]
        return _with_kernel(op, replacement.kernel, inputs[: replacement.operand_count], None)
    # Nothing changes for it, so both programs share it.
    if inputs == op.inputs:
        return op
    return _with_kernel(op, op.kernel, inputs, op.many, len(op.outputs))


def _evaluation_block(block: Block) -> Block:
    """A block of a branch or loop, in evaluation."""
    changed = Block()
    changed.inputs = block.inputs
    changed.ops, replaced = evaluation_ops(block.ops)
    changed.results = [replaced.get(s, s) for s in block.results]
    return changed


def _with_kernel(
    op: Operation, kernel: Kernel, inputs: list[Symbol], many: type | None, result_count: int = 1
) -> Operation:
    """A copy of an operation with another kernel, operands and the first results."""
    copy = Operation(kernel, list(inputs), op.stops[: len(inputs)], many, op.scope, op.host)
    copy.device = op.device
    copy.outputs = op.outputs[:result_count]
    copy.where = op.where
    return copy


__all__ = ["clone_program", "evaluation_ops", "prune_program", "use_evaluation_forms"]
