"""`paddle_jax.explain()`: what was compiled, how long it took and why, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.positions import OP_MASK

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import OpSignature
    from paddle_jax._core.runner.compiled_segment import CompiledSegment

_MAX_LISTED = 3  # results in one message


def reason(program: CompiledSegment, programs: Iterable[CompiledSegment]) -> str:
    """Why a segment had to be compiled: its difference from the most similar one compiled before."""
    ops, live, hosts, device = program.key
    others = [other for other in programs if other is not program and len(other.key[0]) == len(ops)]
    same_kernels = [other for other in others if _agree(ops, other.key[0], lambda kernel: kernel)]
    if not same_kernels:
        same_names = [other for other in others if _agree(ops, other.key[0], lambda kernel: kernel.name)]
        return _attribute_reason(ops, same_names)
    old_ops, old_live, old_hosts, old_device = same_kernels[-1].key
    for entry, old_entry in zip(ops, old_ops, strict=True):
        if entry[0] is not old_entry[0]:
            return (
                f"{entry[0].kernel.name} got {_operands(entry[0])}, before {_operands(old_entry[0])} "
                f"({entry[0].user_line})"
            )
    if set(live) != set(old_live):
        return _reference_reason(ops, set(live), set(old_live))
    if hosts != old_hosts:
        return "a Python number stands where an array stood, or the other way round"
    if device != old_device:
        return "the operands are on another device than before"
    return "the ops read other operands than before"


def _agree(
    ops: Iterable[tuple[Any, ...]], old_ops: Iterable[tuple[Any, ...]], of_kernel: Callable[[Any], Any]
) -> bool:
    """Whether two sequences of operations agree in a property of their kernels."""
    pairs = zip(ops, old_ops, strict=True)
    return all(of_kernel(entry[0].kernel) == of_kernel(old[0].kernel) for entry, old in pairs)


def _attribute_reason(ops: Iterable[tuple[Any, ...]], same_names: list[CompiledSegment]) -> str:
    if not same_names:
        return "a sequence of ops not met before"
    pairs = zip(ops, same_names[-1].key[0], strict=True)
    signature, old = next((a[0], b[0]) for a, b in pairs if a[0].kernel is not b[0].kernel)
    return f"an attribute of {signature.kernel.name} differs ({signature.user_line}; before: {old.user_line})"


def _reference_reason(ops: tuple[tuple[Any, ...], ...], live: set[int], old_live: set[int]) -> str:
    texts = []
    for positions, change in ((live - old_live, "still"), (old_live - live, "no longer")):
        for position in sorted(positions)[:_MAX_LISTED]:
            signature = ops[position & OP_MASK][0]
            texts.append(
                f"the result of {signature.kernel.name} ({signature.user_line}) is {change} referenced"
            )
    return "; ".join(texts)


def _operands(signature: OpSignature) -> str:
    return ", ".join(map(repr, signature.operand_avals))


class Explanation:
    """Counts and events of deferred execution; its text says them in words.

    Attributes:
        segments: int, sequences of operations that were run.
        hits: int, those that ran as a compiled program.
        compiles: int, compilations of whole segments.
        seconds: float, time that these compilations took.
        background_seconds: float, the part of it that another thread spent while the program went on.
        interpreted: int, operations that ran in NumPy.
        filled_templates: int, operations that were not traced for a new shape, since the equations of other
            shapes hold for it with other numbers.
        refusals: dict from the reason why operations could not run in NumPy to their number.
        guard_failures: dict from the kind of guard that did not hold to how often a function of
            `to_static` was compiled again for it, such as "Python state", "gradients", "shapes".
        flat_buffers: dict of how often something happened to a flat buffer, the one array in which a
            compiled step keeps the small values that it writes. "joined": it was made of separate arrays.
            "part read": other code got a copy of one value. "given up": the values got arrays of their
            own again, since such copies cost more than was saved or a shape changed.
        events: list of str.
    """

    def __init__(self) -> None:
        self.segments: int = log.segments
        self.hits: int = log.compiled_runs
        self.compiles: int = log.compiles
        self.seconds: float = log.compile_seconds
        self.background_seconds: float = log.background_seconds
        self.events: list[str] = list(log.events)
        self.interpreted: int = log.interpreted_ops
        self.filled_templates: int = log.filled_templates
        self.refusals: dict[str, int] = dict(log.refusals)
        self.guard_failures: dict[str, int] = dict(log.guard_failures)
        self.flat_buffers: dict[str, int] = dict(log.flat_buffers)

    def __repr__(self) -> str:
        background = ""
        if self.background_seconds:
            background = f", {self.background_seconds:.2f} s of it while the program went on"
        head = (
            f"{self.segments} segments were run: {self.hits} as compiled programs, "
            f"{self.segments - self.hits} op by op. {self.compiles} programs were compiled in "
            f"{self.seconds:.2f} s{background}. {self.interpreted} ops were interpreted with NumPy."
        )
        lines = [head]
        if self.guard_failures:
            counts = ", ".join(f"{guard} {count}" for guard, count in self.guard_failures.items())
            lines.append(f"Functions were compiled again since a guard did not hold: {counts}.")
        if self.flat_buffers:
            counts = ", ".join(f"{event} {count}" for event, count in self.flat_buffers.items())
            lines.append(f"Flat buffers of the values that compiled steps write: {counts}.")
        return "\n".join([*lines, *self.events])


def explain(reset: bool = False) -> Any:
    """Says what deferred execution did: what was compiled, how long it took, why, and why something was not.

    Args:
        reset: bool, start counting at zero afterwards.
    Returns:
        An object to print, with the numbers `segments`, `hits`, `compiles`, `seconds`, `background_seconds`,
        `interpreted`, `filled_templates`, the dicts `refusals`, `guard_failures` and `flat_buffers`, and the
        list `events`.
    Example:
        >>> import paddle_jax; report = paddle_jax.explain()
        >>> report.compiles <= report.segments
        True
    """
    explanation = Explanation()
    if reset:
        log.clear()
    return explanation
