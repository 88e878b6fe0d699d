"""States of optimizers that `load_state_dict` fills in place, as PaddleNLP's trainers resume."""

import copy
import pickle

import numpy as np
import pytest

import paddle_jax as paddle

dist = paddle.distributed


def make(module, cls="AdamW", low=False):
    """A layer and its optimizer, under the same names each time."""
    with module.utils.unique_name.guard():
        module.seed(3)
        net = module.nn.Linear(3, 2)
        if low:
            net.bfloat16()
        optimizer = getattr(module.optimizer, cls)(0.1, parameters=net.parameters(), multi_precision=low)
    return net, optimizer


def train(net, optimizer, factors):
    for factor in factors:
        rows = paddle.full([2, 3], factor, net.weight.dtype)
        (net(rows) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()


def flat(optimizer):
    """The states with the float32 weights among them."""
    state = optimizer.state_dict()
    return state | {tensor.name: tensor for tensor in state.pop("master_weights", {}).values()}


@pytest.mark.parametrize(("cls", "low"), [("AdamW", False), ("AdamW", True), ("Momentum", False)])
@pytest.mark.parametrize("early", [[], [5.0]], ids=["before the first step", "after a step"])
def test_loading_resumes(tmp_path, cls, low, early):
    net, optimizer = make(paddle, cls, low)
    train(net, optimizer, [1.0, 2.0])
    dist.save_state_dict({"model": net.state_dict(), "optimizer": flat(optimizer)}, str(tmp_path))
    train(net, optimizer, [3.0])
    again, resumed = make(paddle, cls, low)
    train(again, resumed, early)
    if not early:
        assert not resumed.state_dict()
        block = paddle.static.default_main_program().global_block()
        resumed._create_accumulators(block, resumed._parameter_list)
    dist.load_state_dict({"model": again.state_dict(), "optimizer": flat(resumed)}, str(tmp_path))
    train(again, resumed, [3.0])
    for one, other in zip(again.parameters(), net.parameters(), strict=True):
        np.testing.assert_array_equal(one.astype("float32").numpy(), other.astype("float32").numpy())


def made_states(module):
    _, optimizer = make(module)
    block = module.base.framework.default_main_program().global_block()
    with module.utils.unique_name.guard():
        optimizer._create_accumulators(block, optimizer._parameter_list)
    return {name: value.tolist() for name, value in optimizer.state_dict().items()}


def test_states_before_the_first_step(oracle):
    assert made_states(paddle) == made_states(oracle)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tensor: pickle.loads(pickle.dumps(tensor))])
def test_copies_are_no_states(tmp_path, copied):
    net, optimizer = make(paddle)
    train(net, optimizer, [1.0])
    before = flat(optimizer)
    zeros = {name: paddle.zeros_like(tensor) for name, tensor in before.items()}
    dist.save_state_dict(zeros, str(tmp_path))
    copies = {name: copied(tensor) for name, tensor in before.items()}
    dist.load_state_dict(copies, str(tmp_path))
    assert all(float(tensor.abs().sum()) == 0 for tensor in copies.values())
    assert {k: v.tolist() for k, v in flat(optimizer).items()} == {k: v.tolist() for k, v in before.items()}


def test_another_optimizer_keeps_its_states(tmp_path):
    """States that wait for the first step of one optimizer come from another one."""
    net, optimizer = make(paddle)
    train(net, optimizer, [1.0])
    kept = {name: value.tolist() for name, value in flat(optimizer).items()}
    again, waiting = make(paddle)
    waiting.set_state_dict(optimizer.state_dict())
    dist.save_state_dict({k: paddle.full_like(v, 0.5) for k, v in flat(waiting).items()}, str(tmp_path))
    dist.load_state_dict(flat(waiting), str(tmp_path))
    assert {name: value.tolist() for name, value in flat(optimizer).items()} == kept
    assert all((value == 0.5).all() for value in flat(waiting).values())
    train(again, waiting, [1.0])
    assert float(flat(waiting)["linear_0.b_0_beta1_pow_acc_0"]) == 0.5 * np.float32(0.9)


def test_states_under_other_names(tmp_path):
    net, optimizer = make(paddle)
    train(net, optimizer, [1.0])
    state = flat(optimizer)
    for number, tensor in enumerate(state.values()):
        tensor.name = f"renamed_{number}"
    dist.save_state_dict({k: paddle.full_like(v, 0.5) for k, v in state.items()}, str(tmp_path))
    dist.load_state_dict(state, str(tmp_path))
    assert all((value == 0.5).all() for value in flat(optimizer).values())


def sharded_states(module):
    """Names, shapes and offsets of the states of a layer whose weight is cut."""
    net, optimizer = make(module)
    (net(module.ones([1, 3])) ** 2).mean().backward()
    with module.utils.unique_name.guard():  # Paddle names states when it makes them
        optimizer.step()
    part = module.distributed.ShardedWeight
    weight, bias = net.weight, net.bias
    weights = {
        "tied": part("tied", weight, (3, 2), (6, 2), (3, 0)),
        "a.weight": part("a.weight", weight, (3, 2), (6, 2), (3, 0)),
        "a.bias": part("a.bias", bias, (2,), (2,), (0,)),
    }
    found = optimizer.sharded_state_dict(weights)
    return sorted(
        (key, one.key, tuple(one.local_shape), tuple(one.global_shape), tuple(one.global_offset))
        for key, one in found.items()
    )


def test_sharded_states(oracle):
    found = sharded_states(paddle)
    assert found == sharded_states(oracle)
    assert ("a.weight.moment1_0", "a.weight.moment1_0", (3, 2), (6, 2), (3, 0)) in found


def test_sharded_states_of_another_model():
    net, optimizer = make(paddle)
    train(net, optimizer, [1.0])
    with pytest.raises(KeyError, match=r"linear_0\.w_0"):
        optimizer.sharded_state_dict({})
