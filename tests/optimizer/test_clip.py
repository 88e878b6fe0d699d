"""Gradient clipping and regularizers as callables, against the real Paddle."""

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.nn
import paddle_jax.regularizer
from paddle_jax.nn import clip

oracle = pytest.importorskip("paddle")


def parameter(module, value, **attributes):
    param = module.create_parameter([len(value)], "float32")
    param.set_value(np.array(value, "float32"))
    for name, setting in attributes.items():
        setattr(param, name, setting)
    return param


def pairs(module):
    t = module.to_tensor
    return {
        "mixed": [
            (parameter(module, [1.0, 2.0]), t([3.0, -4.0])),
            (parameter(module, [1.0, 2.0], need_clip=False), t([30.0, 40.0])),
            (parameter(module, [1.0]), None),
            (parameter(module, [1.0]), t([12.0])),
        ],
        "none": [],
        "all_free": [(parameter(module, [1.0], need_clip=False), t([3.0]))],
        "zero": [(parameter(module, [1.0]), t([0.0]))],
        "infinite": [(parameter(module, [1.0, 1.0]), t([float("inf"), 1.0]))],
    }


CLIPS = {
    "value": lambda c: c.ClipGradByValue(1.0),
    "range": lambda c: c.ClipGradByValue(2, -1),
    "norm": lambda c: c.ClipGradByNorm(1.0),
    "global": lambda c: c.ClipGradByGlobalNorm(1.0),
    "global_loose": lambda c: c.ClipGradByGlobalNorm(100, "name", True),
}


@pytest.mark.parametrize("kind", ["mixed", "none", "all_free", "zero", "infinite"])
@pytest.mark.parametrize("name", CLIPS)
def test_clip(name, kind):
    mine, theirs = CLIPS[name](clip), CLIPS[name](oracle.nn)
    assert str(mine) == str(theirs)
    given, same = pairs(ours)[kind], pairs(oracle)[kind]
    found, expected = mine(given), theirs(same)
    assert len(found) == len(expected)
    for (_, a), (_, b) in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)
    # a global norm changes the gradients that were passed
    for (_, a), (_, b) in zip(given, same, strict=True):
        assert a is None and b is None or np.allclose(a.numpy(), b.numpy(), rtol=1e-6, equal_nan=True)
    assert [any(a is g for _, g in given) for _, a in found] == [
        any(b is g for _, g in same) for _, b in expected
    ]


@pytest.mark.parametrize(
    "call",
    [lambda c: c.ClipGradByValue(-1.0), lambda c: c.ClipGradByNorm("a"), lambda c: c.ClipGradByNorm(1.0)(3)],
)
def test_errors(call):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(oracle.nn)
    with pytest.raises(theirs.type):
        call(clip)


@pytest.mark.parametrize("name", ["L1Decay", "L2Decay"])
def test_regularizer(name):
    mine, theirs = (getattr(m.regularizer, name) for m in (ours, oracle))
    assert str(mine(0.25)) == str(theirs(0.25)) and vars(mine(0.25)) == vars(theirs(0.25))
    for module, cls in ((ours, mine), (oracle, theirs)):
        with pytest.raises(AssertionError):
            cls(None)
        assert isinstance(cls(0.5), module.regularizer.WeightDecayRegularizer)
    param = [-2.0, 0.0, 3.0]
    term = mine(0.5)(parameter(ours, param), None, None)
    # The gradients of coeff * sum|p| and coeff / 2 * sum p^2.
    assert term.tolist() == ([-0.5, 0.0, 0.5] if name == "L1Decay" else [-1.0, 0.0, 1.5])
