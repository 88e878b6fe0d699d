"""How servers update rows: the optimizers' rules in NumPy.

Each rule has states beside a row, `state_width(width)` columns that begin as `first_state(width)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class UpdateRule(NamedTuple):
    """A rule.

    Attributes:
        first_state: function of (settings, width) that gives the states of a new row, float32 [columns].
        update: function of (settings, values [n, width], states [n, columns], gradients [n, width], rate)
            that changes values and states in place.
    """

    first_state: Callable[[dict[str, Any], int], np.ndarray]
    update: Callable[[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, Any], None]


def _no_state(settings: dict[str, Any], width: int) -> np.ndarray:
    return np.zeros(0, np.float32)


def _sgd(
    settings: dict[str, Any], values: np.ndarray, states: np.ndarray, gradients: np.ndarray, rate: Any
) -> None:
    values -= rate * gradients


def _one_moment(settings: dict[str, Any], width: int) -> np.ndarray:
    return np.full(width, settings["initial"], np.float32)


def _adagrad(
    settings: dict[str, Any], values: np.ndarray, states: np.ndarray, gradients: np.ndarray, rate: Any
) -> None:
    """The rule of `paddle.optimizer.Adagrad`."""
    states += gradients * gradients
    values -= rate * gradients / (np.sqrt(states) + np.float32(settings["epsilon"]))


def _one_sum(settings: dict[str, Any], width: int) -> np.ndarray:
    return np.zeros(1, np.float32)


def _row_adagrad(settings: Any, values: Any, states: Any, gradients: Any, rate: Any) -> None:
    """AdaGrad of Paddle's tables for click models: one sum of squares for a row."""
    initial = np.float32(settings["initial"])
    # By the sum without this gradient, unlike the optimizer of that name.
    values -= rate * gradients * np.sqrt(initial / (initial + states))
    states += np.mean(gradients * gradients, axis=1, keepdims=True)


def _sums(settings: dict[str, Any], width: int) -> np.ndarray:
    return np.zeros(width, np.float32)


def _std_adagrad(settings: Any, values: Any, states: Any, gradients: Any, rate: Any) -> None:
    """AdaGrad of Paddle's tables for click models: a sum of squares for each column."""
    initial = np.float32(settings["initial"])
    values -= rate * gradients * np.sqrt(initial / (initial + states))
    states += gradients * gradients


def _adam_state(settings: dict[str, Any], width: int) -> np.ndarray:
    state = np.zeros(2 * width + 2, np.float32)
    # the powers of the decays for the first update
    state[-2] = settings["beta1"]
    state[-1] = settings["beta2"]
    return state


def _adam(
    settings: dict[str, Any], values: np.ndarray, states: np.ndarray, gradients: np.ndarray, rate: Any
) -> None:
    """The rule of `paddle.optimizer.Adam`; each row has the powers of its own updates."""
    width = values.shape[1]
    first = np.float32(settings["beta1"])
    second = np.float32(settings["beta2"])
    moments = states[:, :width]
    squares = states[:, width : 2 * width]
    powers = states[:, 2 * width :]
    moments *= first
    moments += (1 - first) * gradients
    squares *= second
    squares += (1 - second) * gradients * gradients
    correction = np.sqrt(1 - powers[:, 1:])
    step = rate * correction / (1 - powers[:, :1])
    values -= step * moments / (np.sqrt(squares) + np.float32(settings["epsilon"]) * correction)
    powers *= np.array([first, second], np.float32)


def _shared_adam_state(settings: dict[str, Any], width: int) -> np.ndarray:
    return np.array([0.0, 0.0, settings["beta1"], settings["beta2"]], np.float32)


def _shared_adam(settings: Any, values: Any, states: Any, gradients: Any, rate: Any) -> None:
    """Adam with one pair of moments for a row: the means over its columns."""
    first = np.float32(settings["beta1"])
    second = np.float32(settings["beta2"])
    moments = first * states[:, :1] + (1 - first) * gradients
    squares = second * states[:, 1:2] + (1 - second) * gradients * gradients
    correction = np.sqrt(1 - states[:, 3:])
    step = rate * correction / (1 - states[:, 2:3])
    values -= step * moments / (np.sqrt(squares) + np.float32(settings["epsilon"]))
    states[:, 0] = moments.mean(axis=1)
    states[:, 1] = squares.mean(axis=1)
    states[:, 2:] *= np.array([first, second], np.float32)


RULES = {
    "sgd": UpdateRule(_no_state, _sgd),
    "adagrad": UpdateRule(_one_moment, _adagrad),
    "row_adagrad": UpdateRule(_one_sum, _row_adagrad),
    "std_adagrad": UpdateRule(_sums, _std_adagrad),
    "adam": UpdateRule(_adam_state, _adam),
    "shared_adam": UpdateRule(_shared_adam_state, _shared_adam),
}
