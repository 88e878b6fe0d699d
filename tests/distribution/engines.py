"""Runs the same expressions in the real Paddle and here, and compares what they give."""

from typing import NamedTuple

import numpy as np

import paddle_jax

MEMBERS = ("mean", "variance", "stddev", "entropy")
DENSITIES = ("log_prob", "prob", "probs", "cdf", "icdf", "pmf", "log_pmf")


class Result(NamedTuple):
    """A tensor that a call gave: its values, or its shape alone."""

    dtype: str
    content: object


def evaluate(engine, expression):
    """The value of an expression in terms of D (the distributions), T (makes a tensor), P (one with
    gradients) and np."""

    def tensor(value, dtype="float32"):
        return engine.to_tensor(np.asarray(value, dtype))

    def parameter(value, dtype="float32"):
        return engine.to_tensor(np.asarray(value, dtype), stop_gradient=False)

    package = engine.distribution
    return eval(
        expression,
        {"D": package, "T": tensor, "P": parameter, "np": np, "V": package.variable, "C": package.constraint},
    )


def described(value, shape_only=False):
    """A result as something comparable: arrays with their dtype, the rest as it is."""
    if isinstance(value, list | tuple):
        return tuple(described(v, shape_only) for v in value)
    if not hasattr(value, "stop_gradient"):
        return value
    array = value.numpy()
    return Result(array.dtype.name, array.shape if shape_only else array)


def outcome(call, shape_only=False):
    """What a call gives, or the class of the exception: the nearest one that Python has."""
    try:
        return described(call(), shape_only)
    except Exception as error:
        return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


def agree(theirs, ours):
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return type(theirs) is type(ours) and theirs == ours
    if not (isinstance(theirs, Result) and isinstance(ours, Result)):
        return len(theirs) == len(ours) and all(map(agree, theirs, ours))
    a, b = theirs.content, ours.content
    if theirs.dtype != ours.dtype:
        return False
    if isinstance(a, tuple):
        return a == b
    loose = 1e-9 if theirs.dtype in ("float64", "complex128") else 3e-5
    return a.shape == b.shape and np.allclose(a, b, loose, loose, equal_nan=True)


def everything(engine, expression, values):
    """{what: its outcome} for a distribution: shapes, moments, samples by shape, densities at values."""
    try:
        distribution = evaluate(engine, expression)
    except Exception:
        return {"made": outcome(lambda: evaluate(engine, expression))}
    found = {}
    if "Categorical" not in expression:  # whose batch_shape raises AttributeError in the real Paddle
        found["batch_shape"], found["event_shape"] = distribution.batch_shape, distribution.event_shape
    for name in MEMBERS:
        if hasattr(type(distribution), name):
            member = (
                (lambda n=name: getattr(distribution, n)())
                if name == "entropy"
                else (lambda n=name: getattr(distribution, n))
            )
            found[name] = outcome(member)
    for shape in ([], [2], [2, 3], [0]):
        if shape != [0] or engine is paddle_jax:
            found["sample", str(shape)] = outcome(lambda s=shape: distribution.sample(s), shape_only=True)
    for value in values:
        for name in DENSITIES:
            if callable(getattr(distribution, name, None)):
                found[name, value] = outcome(
                    lambda n=name, v=value: getattr(distribution, n)(evaluate(engine, v))
                )
    return found
