"""A line search for the strong Wolfe conditions (Nocedal and Wright, "Numerical Optimization",
algorithms 3.5 and 3.6)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass
class Point:
    """A point on the line: its distance, loss, gradient, slope along the direction, and the largest element
    of the gradient."""

    length: float
    loss: float
    grad: Any
    slope: float
    largest: float


def _minimum(a: Point, b: Point, low: float, high: float) -> float:
    """The minimum of the cubic through two points with their slopes, within [low, high]; the middle
    where there is none."""
    if a.length > b.length:
        a, b = b, a
    # Without a distance there is no cubic.
    if a.length == b.length:
        return (low + high) / 2
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = mean * mean - a.slope * b.slope
    # No real minimum; written so that NaN is caught as well.
    if not square >= 0:
        return (low + high) / 2
    root = math.sqrt(square)
    divisor = b.slope - a.slope + 2 * root
    if divisor:
        minimum = b.length - (b.length - a.length) * (b.slope + root - mean) / divisor
    else:
        minimum = math.nan
    if math.isfinite(minimum):
        return min(max(minimum, low), high)
    return (low + high) / 2


@dataclasses.dataclass
class _Search:
    """A search in progress.

    Attributes:
        evaluate_at: function of a length that gives the Point there.
        start: Point, where the search begins.
        decrease: float, the share of the expected decrease that a step must reach.
        curvature: float, the share of the first slope that a step may have.
        limit: int, evaluations at most.
        used: int, evaluations so far.
    """

    evaluate_at: Callable[[float], Point]
    start: Point
    decrease: float
    curvature: float
    limit: int
    used: int = 0

    def evaluate(self, length: float) -> Point:
        self.used += 1
        return self.evaluate_at(length)

    def too_high(self, point: Point) -> bool:
        # also for NaN
        # Sufficient decrease (Armijo); a loss of NaN is too high.
        return not point.loss <= self.start.loss + self.decrease * point.length * self.start.slope

    def flat(self, point: Point) -> bool:
        # The curvature condition in its strong form.
        return abs(point.slope) <= -self.curvature * self.start.slope

    def bracket(self, length: float) -> tuple[Point, Point]:
        """Goes out from the start: two Points with a good one between them, the better one first, or twice
        the Point that is good itself."""
        previous = self.start
        point = self.evaluate(length)
        while self.used < self.limit:
            if self.too_high(point) or (previous is not self.start and point.loss >= previous.loss):
                return previous, point
            if self.flat(point):
                return point, point
            # The slope turned, so a minimum lies between.
            if point.slope >= 0:
                return point, previous
            # The next step is longer, but not by more than ten times.
            nearest = point.length + 0.01 * (point.length - previous.length)
            farthest = point.length * 10
            previous, point = point, self.evaluate(_minimum(previous, point, nearest, farthest))
        # The limit is reached: the start is the best that is known for sure.
        return self.start, point

    def narrow(self, low: Point, high: Point, reach: float, tolerance: float) -> Point:
        """Divides the interval between two Points until a good one is found or it is too
        short; gives the best."""
        near_end = False
        while self.used < self.limit and abs(high.length - low.length) * reach >= tolerance:
            length, near_end = _division(low, high, near_end)
            if length in (low.length, high.length):  # no number lies between
                break
            point = self.evaluate(length)
            if self.too_high(point) or point.loss >= low.loss:
                high = point
                continue
            if self.flat(point):
                return point
            # The minimum lies between `low` and the new point.
            if point.slope * (high.length - low.length) >= 0:
                high = low
            low = point
        return low


def _division(low: Point, high: Point, near_end: bool) -> tuple[float, bool]:
    """(where to divide the interval between two Points, whether that is close to an end).

    A minimum close to an end is tried once; the second time in a row, or at the end itself, a tenth of the
    interval is cut off.
    """
    left, right = sorted((low.length, high.length))
    # A loss that is infinite fits no cubic.
    if math.isfinite(high.loss):
        length = _minimum(low, high, left, right)
    else:
        length = (left + right) / 2
    # Close to an end the interval would hardly shrink; once is allowed, twice is not.
    margin = 0.1 * (right - left)
    inside = min(max(length, left + margin), right - margin)
    if inside != length and left < length < right and not near_end:
        return length, True
    return inside, False


def strong_wolfe(
    evaluate_at: Callable[[float], Point],
    length: float,
    start: Point,
    reach: float,
    tolerance: float,
    decrease: float = 1e-4,
    curvature: float = 0.9,
    limit: int = 25,
) -> tuple[Point, int]:
    """Looks for a step with enough decrease and a flat enough slope.

    Args:
        evaluate_at: callable, length to Point.
        length: float, the first length to try.
        start: Point evaluate_at length 0; its slope is negative.
        reach: float, how far a step of length 1 moves the parameter that it moves most.
        tolerance: float, an interval that moves the parameters less is not divided further.
        decrease: float, part of the slope that the loss must fall by.
        curvature: float, part of the slope that may be left.
        limit: int, largest number of evaluations.
    Returns:
        (Point, evaluations).
    """
    search = _Search(evaluate_at, start, decrease, curvature, limit)
    low, high = search.bracket(length)
    # A good step was found on the way out.
    if low is high:
        return low, search.used
    # The better end counts as the low one.
    if high.loss < low.loss and math.isfinite(high.loss):
        low, high = high, low
    return search.narrow(low, high, reach, tolerance), search.used
