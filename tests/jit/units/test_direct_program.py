"""Unit tests of `_program.capture.direct_program` and `_program.capture.flat_buffer`: calls that fail, and
arrays that are bound to a device."""

import jax
import numpy as np
import pytest

import paddle_jax as paddle
from tests.jit.corpus.script import see, small
from tests.jit.test_packing import stepped


def test_a_call_that_fails_keeps_the_values(monkeypatch):
    net = small()
    step = stepped(net, paddle.optimizer.Momentum(0.1, parameters=net.parameters()))
    (program,) = step.program_cache

    def broken(*args):
        raise RuntimeError("out of luck")

    with monkeypatch.context() as patch:
        patch.setattr(program.direct, "call", broken)
        with pytest.raises(RuntimeError, match="luck"):
            step()
    before = see(net)
    with monkeypatch.context() as patch:
        patch.setattr(program.direct, "call", broken)
        with pytest.raises(RuntimeError, match="luck"):  # this time what it holds was separate
            step()
    for a, b in zip(see(net), before, strict=True):
        np.testing.assert_array_equal(a, b)
    step()
    assert all(np.isfinite(v).all() for v in see(net))


def test_bound_to_a_device():
    """Arrays that are bound to a device stay bound to it."""
    net = small()
    device = jax.devices("cpu")[0]
    for p in net.parameters():
        p._raw = jax.device_put(p._value, device)
    stepped(net, paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    assert all(p._value.committed for p in net.parameters())
