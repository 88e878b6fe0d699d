"""The values that a row begins with: drawn from (seed, table, id), so that every server and every order of
requests gives the same ones."""

import math
from typing import Any

import numpy as np

from paddle_jax.distributed.ps.id_index import mixed

# 2**64 / golden ratio: neighbouring ids and columns get different bits
_STEP = np.uint64(0x9E3779B97F4A7C15)
_TRIES = 64  # draws until a value lies between the bounds; then it is clipped


def _bits(ids: np.ndarray, width: int, key: int) -> np.ndarray:
    """Random bits, uint64 [n, width], that depend on the id, the column and the key alone."""
    # Overflow is meant: the arithmetic is modulo 2**64.
    with np.errstate(over="ignore"):
        rows = mixed(ids.view(np.uint64) * _STEP + np.uint64(key))
        columns = np.arange(1, width + 1, dtype=np.uint64) * _STEP
        return mixed(rows[:, None] + columns)


def chances(ids: np.ndarray, width: int, key: int) -> np.ndarray:
    """Random numbers of [0, 1), float64 [n, width]."""
    # 53 bits are what a float64 holds.
    return (_bits(ids, width, key) >> np.uint64(11)) * 2.0**-53


def _normal(ids: np.ndarray, width: int, key: int) -> np.ndarray:
    """Normally distributed numbers, float64 [n, width] (Box and Muller)."""
    # 1 minus the number, which is never 0.
    radius = np.sqrt(-2.0 * np.log1p(-chances(ids, width, key)))
    # Box and Muller's formula needs two independent numbers.
    return radius * np.cos(2.0 * math.pi * chances(ids, width, key + 1))


def _truncated(ids: np.ndarray, width: int, key: int, low: float, high: float) -> np.ndarray:
    """Normally distributed numbers between two bounds: drawn again where they lie outside."""
    values = _normal(ids, width, key)
    for attempt in range(1, _TRIES):
        outside = (values < low) | (values > high)
        if not outside.any():
            break
        # Each try draws twice, with two keys of its own.
        values = np.where(outside, _normal(ids, width, key + 2 * attempt), values)
    return np.clip(values, low, high)


def first_values(ids: np.ndarray, width: int, rule: dict[str, Any], seed: int, table: int) -> np.ndarray:
    """The rows that ids begin with, float32 [n, width].

    Args:
        ids: int64 [n].
        width: length of a row.
        rule: "kind": constant (value), uniform (low, high), normal (mean, std), truncated_normal (mean, std,
            a, b).
        seed: of the program.
        table: number of the table.
    """
    kind = rule["kind"]
    # 8 bits are left for the draws of one table.
    key = ((seed & 0xFFFFFFFF) << 32) ^ (table << 8)
    if kind == "constant":
        return np.full((len(ids), width), rule["value"], np.float32)
    if kind == "uniform":
        low = rule["low"]
        values = low + (rule["high"] - low) * chances(ids, width, key)
    elif kind == "normal":
        values = rule["mean"] + rule["std"] * _normal(ids, width, key)
    else:
        mean = rule["mean"]
        std = rule["std"]
        bounds = sorted(((rule["a"] - mean) / std, (rule["b"] - mean) / std))
        values = mean + std * _truncated(ids, width, key, *bounds)
    return values.astype(np.float32)
