"""`recompute_hybrid` of blocks that hand a mask on, and random states of a program's own."""

import importlib
import itertools

import numpy as np
import pytest

import paddle_jax

WEIGHT = np.float32([[0.5, 2], [-1, 0.25]])


def loss_and_gradients(call):
    """A chain of two blocks, the first of which returns the mask that it was given."""
    layer = paddle_jax.nn.Linear(2, 2, bias_attr=False)
    layer.weight.set_value(WEIGHT)
    x = paddle_jax.to_tensor(np.float32([[1, -2]]), stop_gradient=False)
    mask = paddle_jax.to_tensor(np.float32([[1, 3]]))
    hidden, handed_on = call(lambda a, b: (layer(a) * b, b), x, mask)
    loss = (call(lambda a: layer(a).tanh(), hidden) * handed_on).sum()
    loss.backward()
    return handed_on is mask, [loss.numpy(), x.grad.numpy(), layer.weight.grad.numpy()]


@pytest.mark.parametrize("keys", [{}, {"offload": True}, {"offload": True, "partition": True}])
def test_blocks_with_a_mask(keys):
    hybrid = paddle_jax.distributed.fleet.recompute.recompute_hybrid
    ctx = {"mp_group": paddle_jax.distributed.new_group([0]), **keys}
    is_same, found = loss_and_gradients(lambda *args: hybrid(ctx, *args))
    _, wanted = loss_and_gradients(lambda function, *args: function(*args))
    assert is_same
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_random_state_of_the_program(oracle, monkeypatch):
    """Both runs of the function start with the same state, and what follows goes on from the first."""
    found = []
    for module in (oracle, paddle_jax):
        part = importlib.import_module(f"{module.__name__}.distributed.fleet.recompute.recompute")
        manager = importlib.import_module(
            f"{module.__name__}.distributed.fleet.recompute"
        ).custom_state_manager
        assert manager is part.custom_state_manager
        numbers = {"next": 1.0}

        def draw(numbers=numbers):
            numbers["next"] += 1
            return numbers["next"]

        monkeypatch.setattr(manager, "custom_get_state_func", None)
        monkeypatch.setattr(manager, "custom_set_state_func", None)
        manager.set_custom_get_state_func(lambda numbers=numbers: dict(numbers))
        manager.set_custom_set_state_func(lambda state, numbers=numbers: numbers.update(state))
        with pytest.raises(AssertionError):
            manager.set_custom_get_state_func(dict)
        with pytest.raises(AssertionError):
            manager.set_custom_set_state_func(dict)
        x = module.to_tensor(np.float32([1, 2]), stop_gradient=False)
        out = part.recompute(lambda a, draw=draw: a * draw(), x)
        later = draw()
        out.sum().backward()
        found.append([out.tolist(), x.grad.tolist(), later, draw()])
        monkeypatch.undo()
    assert found[0] == found[1] == [[2.0, 4.0], [2.0, 2.0], 3.0, 4.0]


def test_one_function_of_two_is_refused():
    part = importlib.import_module("paddle_jax.distributed.fleet.recompute.recompute")
    for first, second in itertools.permutations((dict, None)):
        manager = part.CustomStatesManager()
        manager.custom_get_state_func = first
        manager.custom_set_state_func = second
        with pytest.raises(AssertionError, match="set both"):
            manager.functions()
