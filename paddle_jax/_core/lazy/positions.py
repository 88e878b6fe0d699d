"""Positions: the numbers of the operands and results of a segment's operations.

The result of operation i is `i`, or `i | k + 1 << OUTPUT_SHIFT` for each of several; leaf j is `-1 - j`. An
operation is a tuple of its OpSignature and the positions of its operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

OUTPUT_SHIFT = 20  # bits of the number of the operation within a position
OP_MASK = (1 << OUTPUT_SHIFT) - 1


def select_result(result: Any, position: int) -> Any:
    """The result at a position, from everything that its operation gave."""
    if position <= OP_MASK:
        return result
    return result[(position >> OUTPUT_SHIFT) - 1]


def value_at(position: int, leaves: Any, env: Mapping[int, Any]) -> Any:
    """The value at a position.

    Args:
        position: the position.
        leaves: the values of the leaves.
        env: results by operation.
    """
    if position < 0:
        return leaves[-1 - position]
    return select_result(env[position & OP_MASK], position)


def aval_at(position: int, avals: Sequence[Any], ops: Sequence[tuple[Any, ...]]) -> Any:
    """The Aval at a position; `avals` are those of the leaves."""
    if position < 0:
        return avals[-1 - position]
    return select_result(ops[position & OP_MASK][0].out_avals, position)


def result_positions(ops: Sequence[tuple[Any, ...]], op_index: int) -> tuple[int, ...]:
    """The positions of all results of an operation."""
    signature = ops[op_index][0]
    if signature.container is None:
        return (op_index,)
    return tuple(op_index | k + 1 << OUTPUT_SHIFT for k in range(len(signature.out_avals)))


def needed_ops(ops: Sequence[tuple[Any, ...]], live: Iterable[int]) -> list[tuple[int, set[int]]]:
    """The operations that live results depend on, in order.

    Each comes with the operations whose results nobody reads after it.
    """
    needed = {position & OP_MASK for position in live}
    order = []
    # Backwards: an operation is needed if a needed one reads it.
    for i in range(len(ops) - 1, -1, -1):
        if i not in needed:
            continue
        last_reads = set()
        for position in ops[i][1:]:
            if position >= 0:
                last_reads.add(position & OP_MASK)
        # What no later operation reads can be given back after this one.
        last_reads -= needed
        needed |= last_reads
        order.append((i, last_reads))
    order.reverse()
    return order
