"""The communication of a compiled program.

Bytes are those that each device receives in a ring: n - 1 of n parts for a gather, a scatter or an exchange,
twice that for a reduction to all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.report_text import size_text
from paddle_jax.aot.hlo import Program
from paddle_jax.aot.scopes import origin

_KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


class Collective:
    """Communication of one kind for one operation.

    Attributes:
        kind: str, such as "all-reduce".
        group: int, how many devices take part in each; 0 where that is not known.
        count: int, how often it runs in a step.
        nbytes: int, what each device receives in a step.
        result: int, bytes of its result on each device.
        op, where: str, the operation it is for and the line of the program; "" where XLA does not say.
    """

    __slots__ = ("count", "group", "kind", "nbytes", "op", "result", "where")

    def cells(self) -> tuple[Any, ...]:
        """Its row in the table of a report."""
        return self.kind, self.group, self.count, size_text(self.nbytes), self.op or "?", self.where or "?"

    def __repr__(self) -> str:
        return (
            f"<{self.count} x {self.kind} among {self.group} for {self.op or '?'} at "
            f"{self.where or '?'}: {self.nbytes} bytes>"
        )


def collectives(program: Program, ops: Sequence[str] = ()) -> list[Collective]:
    """The Collectives of a compiled program, the largest first. ops: lines of the program by number."""
    found: dict[tuple[str, int, str, str], Collective] = {}
    for name, times in program.reached():
        for instruction in program.computations[name].values():
            # The two halves of an asynchronous instruction count once, at its start.
            kind = instruction.opcode.removesuffix("-start")
            if kind not in _KINDS:
                continue
            result = instruction.nbytes
            group = _group(instruction.line)
            key = (kind, group, *origin(instruction.op_name, ops))
            each = found.get(key)
            if each is None:
                each = found[key] = Collective()
                each.kind, each.group, each.op, each.where = key
                each.count = each.nbytes = each.result = 0
            each.count += times
            each.result = max(each.result, result)
            each.nbytes += times * _received(kind, result, group)
    return sorted((each for each in found.values() if each.group != 1), key=lambda each: -each.nbytes)


def _received(kind: str, result: int, n: int) -> int:
    if n == 0:
        return result
    # By rings: each of n devices receives n - 1 parts of the n, and for an all-reduce twice.
    share = {"all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1, "collective-permute": 1}.get(
        kind, (n - 1) / n
    )
    return int(result * share)


def _group(line: str) -> int:
    """How many devices take part in each group, by the text of an instruction."""
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", line)
    if listed:
        return len(listed[1].split(","))
    tiled = re.search(r"replica_groups=\[([\d,]+)\]<=", line)
    if tiled:
        return int(tiled[1].split(",")[-1])
    named = re.search(r"replica_groups=mesh\[([^\]]*)\]\s*\{([^}]*)\}", line)
    if named:  # axes of a mesh, or parts of them: 'x', 'y':(1)2
        lengths = dict(re.findall(r"'([^']+)'=(\d+)", named[1]))
        return math.prod(
            int(part or lengths[name]) for name, part in re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", named[2])
        )
    # 0: in a form that is not known here
    if "source_target_pairs" in line:
        return 2
    return 0
