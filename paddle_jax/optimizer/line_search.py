"""A line search for the strong Wolfe conditions (Nocedal and Wright, "Numerical Optimization", algorithms 3.5 and 3.6)."""

import dataclasses
import math
from typing import Any


@dataclasses.dataclass
class Point:
    """A point on the line: its distance, loss, gradient, slope along the direction, and the largest element of the gradient."""

    length: float
    loss: float
    grad: Any
    slope: float
    largest: float


def _minimum(a, b, low, high):
    """The minimum of the cubic through two points with their slopes, within [low, high]; the middle where there is none."""
    if a.length > b.length:
        a, b = b, a
    if a.length == b.length:
        return (low + high) / 2
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = mean * mean - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    root = math.sqrt(square)
    divisor = b.slope - a.slope + 2 * root
    place = b.length - (b.length - a.length) * (b.slope + root - mean) / divisor if divisor else math.nan
    return min(max(place, low), high) if math.isfinite(place) else (low + high) / 2


def strong_wolfe(at, length, start, reach, tolerance, decrease=1e-4, curvature=0.9, limit=25):
    """Looks for a step with enough decrease and a flat enough slope.

    Args:
        at: callable, length to Point.
        length: float, the first length to try.
        start: Point at length 0; its slope is negative.
        reach: float, how far a step of length 1 moves the parameter that it moves most.
        tolerance: float, an interval that moves the parameters less is not divided further.
        decrease: float, part of the slope that the loss must fall by.
        curvature: float, part of the slope that may be left.
        limit: int, largest number of evaluations.
    Returns:
        (Point, evaluations).
    """
    used, loss, slope = 1, start.loss, start.slope

    def too_high(point):
        return not point.loss <= loss + decrease * point.length * slope  # also for NaN

    previous, point = start, at(length)
    bracket = None
    while used < limit:
        if too_high(point) or (previous is not start and point.loss >= previous.loss):
            bracket = previous, point
            break
        if abs(point.slope) <= -curvature * slope:
            return point, used
        if point.slope >= 0:
            bracket = point, previous
            break
        nearest, farthest = point.length + 0.01 * (point.length - previous.length), point.length * 10
        previous, point, used = point, at(_minimum(previous, point, nearest, farthest)), used + 1
    low, high = bracket or (start, point)
    if high.loss < low.loss and math.isfinite(high.loss):
        low, high = high, low
    near_end = False
    while used < limit and abs(high.length - low.length) * reach >= tolerance:
        left, right = sorted((low.length, high.length))
        length, margin = _minimum(low, high, left, right) if math.isfinite(high.loss) else (left + right) / 2, 0.1 * (right - left)
        inside = min(max(length, left + margin), right - margin)
        # A minimum close to an end is tried once; the second time in a row, or at the end itself, a tenth of the interval is cut off.
        near_end, length = (True, length) if inside != length and left < length < right and not near_end else (False, inside)
        if length in (left, right):  # no number lies between
            break
        point, used = at(length), used + 1
        if too_high(point) or point.loss >= low.loss:
            high = point
            continue
        if abs(point.slope) <= -curvature * slope:
            low = point
            break
        if point.slope * (high.length - low.length) >= 0:
            high = low
        low = point
    return low, used
