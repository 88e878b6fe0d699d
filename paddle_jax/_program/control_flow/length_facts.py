"""What is known of lengths in a branch or loop, which proves what a slice needs.

In a branch the condition holds, or it does not. A number that no step of a loop makes smaller is at least
what it was before the loop. While the body runs, the test has held. All of it is said with expressions
(`_core/lazy/length_expressions.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import length_expressions as ex
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.tensors.tensor import Tensor

_NOTHING: tuple[Any, Any] = ((), ())
UP = 1
DOWN = -1
Ends = tuple[ex.Node | None, ex.Node | None]


def direction(before: Any, after: Any) -> int:
    """UP or DOWN where a step changes a whole number in one direction alone, for all lengths; else 0."""
    if not _is_whole(before) or not _is_whole(after):
        return 0
    low, high = ex.bounds(ex.add(ls.expression_of(after), ls.expression_of(before), -1))
    if low is not None and low >= 0:
        return UP
    if high is not None and high <= 0:
        return DOWN
    return 0


def _is_whole(value: Any) -> bool:
    return type(value) is int or type(value) is ls.Length


@dataclasses.dataclass(slots=True, eq=False)
class Counting:
    """A number that a loop carries.

    Attributes:
        before: the number before the loop.
        after: the number after the first step.
        sign: UP, DOWN, or 0 where it is not known to change in one direction.
        shown: Length that stands for it in the present run of the test or the body.
    """

    before: Any
    after: Any
    sign: int = 0
    shown: Any = None

    def __post_init__(self) -> None:
        self.sign = direction(self.before, self.after)

    def confirm(self, after: Any) -> bool:
        """Whether another run of the body changes it in the same direction; else it has none."""
        if not self.sign or direction(self.shown, after) == self.sign:
            return True
        # A number that stays the same is within its bounds.
        if _is_whole(after) and ls.expression_of(after) == ls.expression_of(self.shown):
            return True
        self.sign = 0
        return False

    def show(self, tensor: Tensor) -> None:
        """Sets what stands for it, where a Variable has its value."""
        frame = local.ctx.frame
        start = ls.expression_of(self.before)
        if self.sign == UP:
            self.shown = counter(tensor, self.before, self.after - self.before, (start, None))
        elif self.sign == DOWN:
            self.shown = counter(tensor, self.before, self.after - self.before, (None, start))
        else:
            self.shown = frame.number_from(tensor, self.before, self.after)

    def begin_again(self) -> None:
        """Takes the number before the loop for the two values of what stands for it."""
        if self.sign:
            self.shown = ls.number(ls.values_of(self.before), self.shown.node)


def counter(tensor: Tensor, start: Any, step: Any, ends: Ends) -> Any:
    """The Length that a Variable stands for, a number that changes from step to step.

    Args:
        tensor: the Variable.
        start: the number before the first step.
        step: what the first step adds to it.
        ends: expressions of its least and its greatest value, None where there is no bound.
    """
    frame = local.ctx.frame
    # The second or third number, so that a body that takes the plain number is found out.
    skipped = frame.turn if frame.turn > 1 else 0
    pair = []
    for which in (0, 1):
        first = int(ls.values_of(start)[which])
        value = first + int(ls.values_of(step)[which]) * (1 + which + skipped)
        low, high = (_value(end, which) for end in ends)
        is_within = (low is None or low <= value) and (high is None or value <= high)
        pair.append(value if is_within else first)
    leaf = ("counter", frame.number_of(frame.symbol(tensor)), ends)
    return ls.number((pair[0], pair[1]), leaf)


def _value(node: ex.Node | None, which: int) -> Any:
    """The first (0) or second (1) value of an expression; None where it is not known."""
    frame: Any = local.ctx.frame

    def value_of(leaf: tuple[Any, ...]) -> Any:
        if leaf[0] == "dim":
            return frame.numbered[leaf[1]].avals[which].shape[leaf[2]]
        return frame.seen_values[leaf][which]

    try:
        return ex.evaluate(node, value_of)
    except (ArithmeticError, ValueError, LookupError):
        return None


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What holds where the test of a loop holds.

    Attributes:
        positive: tuple of expressions that are above zero.
        asked: tuple of the expressions of what stood for the numbers in the test.
    """

    positive: tuple[ex.Node, ...]
    asked: tuple[ex.Node, ...]

    @classmethod
    def of(cls, answer: Any, countings: Sequence[Counting], first_inside: int) -> Facts:
        """The Facts of the answer of a test. first_inside: number of the first Symbol that the test made."""
        asked = tuple([ls.expression_of(one.shown) for one in countings])
        # What the test computes itself is not known in the body.
        known = [
            node
            for node in facts_of(answer)
            if all(leaf in asked or leaf[1] < first_inside for leaf in ex.leaves_of(node))
        ]
        return cls(tuple(known), asked)

    def within(self, countings: Sequence[Counting]) -> tuple[ex.Node, ...]:
        """What is above zero while the body runs."""
        renamed = dict(zip(self.asked, [ls.expression_of(one.shown) for one in countings], strict=True))
        known = tuple([ex.rebuilt(node, lambda leaf: renamed.get(leaf, leaf)) for node in self.positive])
        values = [_value(node, which) for node in known for which in (0, 1)]
        # The values that stand for the numbers are past the end.
        if any(value is None or value <= 0 for value in values):
            for counting in countings:
                counting.begin_again()
        return known


def facts_of(answer: Any, holds: bool = True) -> tuple[ex.Node, ...]:
    """What is above zero where an answer holds, or where it does not."""
    # A Tensor may be made of answers about lengths and others.
    if isinstance(answer, Tensor):
        return getattr(answer, "_implied", _NOTHING)[0 if holds else 1]
    node = ls.expression_of(answer)
    if not holds:
        node = ex.negate(node)
    frame: Any = local.ctx.frame
    return tuple(ex.positive_ones(node, frame.implied))


def with_facts(answer: Any, holding: tuple[ex.Node, ...], failing: tuple[ex.Node, ...]) -> Any:
    """A Tensor that is an answer, with what is above zero where it holds, and where it does not."""
    if holding or failing:
        answer._implied = holding, failing
    return answer


def number_of_branches(number: Any, test: Any, yes: Any, no: Any, first_inside: int) -> Any:
    """A number that is one of two after a branch, with what is known of it.

    Args:
        number: Length, LengthBool or LengthFloat that stands for it.
        test: the condition, a Tensor.
        yes: the number where the condition holds.
        no: the number where it does not.
        first_inside: the number of the first Symbol that the branches made.
    """
    answer = getattr(test, "_answer", None)
    # A mark that code came to a `break` or `return` says what the condition says.
    if yes is True and no is False and answer is not None:
        return answer
    if yes is False and no is True and answer is not None:
        return ls.logical_not(answer)
    frame: Any = local.ctx.frame
    if yes is True and no is False:
        frame.implied[number.node] = facts_of(test), facts_of(test, False)
    if type(number) is not ls.Length:
        return number
    ends = []
    for end, name in enumerate(("min", "max")):
        one, other = [_bound_outside(ls.expression_of(choice), end, first_inside) for choice in (yes, no)]
        if one is None or other is None:
            ends.append(None)
        else:
            ends.append(ex.binary(name, one, other, True))
    return ls.number(number.pair, ("counter", number.node[1], tuple(ends)))


def _bound_outside(node: ex.Node, end: int, first_inside: int) -> ex.Node | None:
    """The least (end 0) or greatest (1) value of an expression without what a branch made itself."""
    for leaf in set(ex.leaves_of(node)):
        if leaf[1] < first_inside:
            continue
        if leaf[0] != "counter" or leaf not in ex.terms_of(node)[1]:
            return None
        bound = ex.at_end(node, leaf, end)
        if bound is None:
            return None
        # The bound of one number may be made of others.
        return _bound_outside(bound, end, first_inside)
    return node


def assuming(test: Any, holds: bool, code: Callable[[], Any]) -> Callable[[], Any]:
    """Code of a branch that knows what a test says. holds: whether the branch is taken where it holds."""
    positive = facts_of(test, holds)
    if not positive:
        return code

    def run() -> Any:
        frame = local.ctx.frame
        with swapped_attributes(frame, assumed=frame.assumed + positive):
            return code()

    return run


__all__ = [
    "Counting",
    "Facts",
    "assuming",
    "counter",
    "direction",
    "facts_of",
    "number_of_branches",
    "with_facts",
]
