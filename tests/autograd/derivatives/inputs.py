"""Inputs of the rows: a float64 (or complex) point and a direction to move it in, by a generator seeded with
the row's name; or a constant."""

import dataclasses
import typing

import numpy as np


@dataclasses.dataclass
class Given:
    """A point and a direction; a constant has no direction."""

    value: typing.Any
    direction: typing.Any = None


def _along(r, shape):
    d = r.uniform(-1, 1, shape)
    return d / max(1e-9, np.abs(d).max(initial=0)) if np.size(d) else d


def n(*shape):
    """Normal numbers that keep 0.2 away from 0."""
    return lambda r: Given((lambda z: np.sign(z) * (0.2 + abs(z)))(r.randn(*shape)), _along(r, shape))


def u(low, high, *shape):
    """Uniform numbers."""
    return lambda r: Given(r.uniform(low, high, shape), _along(r, shape))


def a(*shape):
    """Numbers round 0 of which each two are at least 0.37 apart, in a random order."""
    size = int(np.prod(shape))
    return lambda r: Given(((r.permutation(size) - size / 2 + 0.25) * 0.37).reshape(shape), _along(r, shape))


def m(*shape):
    """Well-conditioned matrices of distinct singular values."""
    return lambda r: Given(
        0.4 * r.randn(*shape) + np.eye(*shape[-2:]) * np.linspace(1, 2.5, shape[-1]), _along(r, shape)
    )


def spd(size, *lead):
    """Symmetric positive definite matrices of distinct eigenvalues, moved symmetrically."""

    def make(r):
        q = np.linalg.qr(r.randn(*lead, size, size))[0]
        d = _along(r, (*lead, size, size))
        return Given(
            q @ (np.linspace(1, 3, size)[:, None] * np.swapaxes(q, -1, -2)), (d + np.swapaxes(d, -1, -2)) / 2
        )

    return make


def c(*shape):
    """Complex numbers of normal parts that keep 0.2 away from 0."""
    return lambda r: Given(
        n(*shape)(r).value + 1j * n(*shape)(r).value, _along(r, shape) + 1j * _along(r, shape)
    )


def cm(*shape):
    """Well-conditioned complex matrices."""
    return lambda r: Given(
        m(*shape)(r).value + 0.4j * r.randn(*shape), _along(r, shape) + 1j * _along(r, shape)
    )


def hpd(size):
    """A Hermitian positive definite matrix of distinct eigenvalues, moved as such."""

    def make(r):
        q = np.linalg.qr(r.randn(size, size) + 1j * r.randn(size, size))[0]
        d = _along(r, (size, size)) + 1j * _along(r, (size, size))
        return Given(q @ (np.linspace(1, 3, size)[:, None] * q.conj().T), (d + d.conj().T) / 2)

    return make


def at(value):
    """This point, moved at random."""
    value = np.asarray(value, float)
    return lambda r: Given(value, _along(r, value.shape))


def k(value, dtype=None):
    """A constant: indices, masks, labels."""
    return lambda r: Given(np.asarray(value, dtype))
