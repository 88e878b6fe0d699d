"""Matrices of maps between images."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def affine_matrix(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """Six numbers of the map that leads from places of the result back to the image.

    The image is sheared, turned by `angle` degrees and scaled about `center`, then moved by
    `translate` pixels.
    """
    turn, (shear_x, shear_y) = math.radians(angle), map(math.radians, shear)
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    b = -a * math.tan(shear_x) - math.sin(turn)
    d = -c * math.tan(shear_x) + math.cos(turn)
    inverse = np.array([[d, -b], [-c, a]]) / scale
    # The centre of the result lies at the centre of the image, moved back.
    offset = np.array(center) - inverse @ (np.array(center) + np.array(translate))
    return [*inverse[0].tolist(), float(offset[0]), *inverse[1].tolist(), float(offset[1])]


def perspective_coefficients(
    startpoints: Sequence[Sequence[float]], endpoints: Sequence[Sequence[float]]
) -> list[float]:
    """Eight numbers of the projective map that leads from four end points to four start points."""
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        # u = (a x + b y + c) / (g x + h y + 1), multiplied by the divisor; v alike.
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    return np.linalg.lstsq(
        np.array(rows, np.float64), np.array(startpoints, np.float64).reshape(8), rcond=None
    )[0].tolist()
