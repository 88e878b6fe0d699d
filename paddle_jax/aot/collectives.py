"""The communication in the text of a compiled program (HLO).

Bytes are those that each device receives in a ring: n - 1 of n parts for a gather, a scatter or an exchange,
twice that for a reduction to all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.report_text import size_text
from paddle_jax.aot.hlo import shape_sizes
from paddle_jax.aot.scopes import origin

_KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_CALL = re.compile(r"= (.*?) (" + "|".join(_KINDS) + r")(?:-start)?\((.*?)\)(.*)")


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


def collectives(text: str, ops: Sequence[str] = ()) -> list[Any]:
    """The Collectives in the text of a compiled program (HLO). ops: lines of the program by number."""
    times = _trips(text)
    found = {}
    inside = ""
    for line in text.splitlines():
        if line and not line[0].isspace():
            inside = line.removeprefix("ENTRY ").split(" ")[0].lstrip("%")
        match = _CALL.search(line)
        if match is None:
            continue
        shapes, kind, _, rest = match.groups()
        sizes = shape_sizes(shapes)
        result = max(sizes) if f"{kind}-start" in line else sum(sizes)
        n = _group(rest)
        count = times.get(inside, 1)
        op, where = origin(rest, ops)
        key = (kind, n, op, where)
        each = found.get(key)
        if each is None:
            each = found[key] = Collective()
            each.kind, each.group, each.op, each.where = key
            each.count = each.nbytes = each.result = 0
        each.count += count
        each.result = max(each.result, result)
        each.nbytes += count * _received(kind, result, n)
    return sorted((c for c in found.values() if c.group != 1), key=lambda c: -c.nbytes)


def _received(kind: Any, result: Any, n: Any) -> Any:
    if n == 0:
        return result
    share = {"all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1, "collective-permute": 1}.get(
        kind, (n - 1) / n
    )
    return int(result * share)


def _group(rest: Any) -> int:
    """How many devices take part in each group."""
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", rest)
    if listed:
        return len(listed[1].split(","))
    tiled = re.search(r"replica_groups=\[([\d,]+)\]<=", rest)
    if tiled:
        return int(tiled[1].split(",")[-1])
    named = re.search(r"replica_groups=mesh\[([^\]]*)\]\s*\{([^}]*)\}", rest)
    if named:  # axes of a mesh, or parts of them: 'x', 'y':(1)2
        lengths = dict(re.findall(r"'([^']+)'=(\d+)", named[1]))
        return math.prod(
            int(part or lengths[name]) for name, part in re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", named[2])
        )
    # 0: in a form that is not known here
    if "source_target_pairs" in rest:
        return 2
    return 0


def _trips(text: str) -> dict[Any, Any]:
    """How often computations run that are bodies of loops, as far as XLA knows."""
    found = {}
    for line in text.splitlines():
        body = re.search(r"body=%?([\w.\-]+)", line)
        trips = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
        if body and trips:
            found[body[1]] = int(trips[1])
    return found
