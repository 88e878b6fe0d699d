"""The numbers that `Model.fit` gives for each epoch."""

from __future__ import annotations

from typing import Any

import numpy as np

_PLACE = ("step", "batch_size")  # where in the epoch a result was made


def numbers_of(logs: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """The losses and metrics of `logs` as numbers.

    Args:
        logs: dict that callbacks get. Of a list with one number that number counts; further ones get the
            endings `_1`, `_2` and so on.
        prefix: str before each name.
    """
    found = {}
    for name, value in logs.items():
        if name in _PLACE:
            continue
        # Accuracy for several k gives one number for each.
        for index, each in enumerate(np.ravel(value).tolist()):
            if isinstance(each, int | float):
                ending = f"_{index}" if index else ""
                found[f"{prefix}{name}{ending}"] = float(each)
    return found
