"""Parameters in groups, whose gradients travel together. The expected groups are the real Paddle's."""

import pytest

import paddle_jax as paddle
from paddle_jax.distributed.communication.group import Group
from paddle_jax.distributed.fleet.utils import tensor_fusion_helper
from paddle_jax.distributed.fleet.utils.tensor_fusion_helper import FusedCommBuffer

SPECS = [
    (10, "float32"),
    (20, "float32"),
    (5, "float64"),
    (100, "float32"),
    (1, "float32"),
    (2, "float64"),
    (3, "float32"),
    (4, "float16"),
    (50, "float32"),
    (1, "float32"),
]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9]]),
        (40, [[0], [1], [2], [3], [4, 6, 8], [5], [7], [9]]),
        (120, [[0, 1], [2, 5], [3], [4, 6, 8], [7], [9]]),
        (160, [[0, 1, 3], [2, 5], [4, 6, 8], [7], [9]]),
        (1000, [[0, 1, 3, 4, 6, 8, 9], [2, 5], [7]]),
    ],
)
def test_groups_by_size(size, expected):
    parameters = [paddle.zeros([length], dtype) for length, dtype in SPECS]
    numbers = {id(parameter): number for number, parameter in enumerate(parameters)}
    groups = tensor_fusion_helper.assign_group_by_size(parameters, size)
    assert list(groups) == list(range(len(expected)))
    assert [[numbers[id(parameter)] for parameter in group] for group in groups.values()] == expected


@pytest.mark.parametrize("size", [-1, 40.5, None, "a"])
def test_sizes_that_are_refused(size):
    with pytest.raises(TypeError, match="group_size"):
        tensor_fusion_helper.assign_group_by_size([paddle.zeros([2])], size)


def test_values_that_are_no_tensors():
    with pytest.raises(TypeError, match="got float"):
        tensor_fusion_helper.assign_group_by_size([1.0])


def test_tables():
    actions = tensor_fusion_helper.HOOK_ACTION
    assert (actions.ALL_REDUCE, actions.REDUCE, actions.REDUCE_SCATTER) == (0, 1, 2)
    assert tensor_fusion_helper.align == {paddle.float16: 2, paddle.bfloat16: 2, paddle.float32: 4}
    assert tensor_fusion_helper.alignment[tensor_fusion_helper.get_current_device_type()] == 256


ACTIONS = tensor_fusion_helper.HOOK_ACTION
ALONE = Group(0, 11, [0])


def pair():
    return [paddle.create_parameter([2], "float32") for _ in range(2)]


def test_a_buffer_of_one_process():
    """Each Parameter checks in twice, in any order; gradients stay as they are."""
    first, second = pair()
    buffer = FusedCommBuffer(0, [first, second], ALONE, acc_steps=2, act=ACTIONS.ALL_REDUCE)
    assert first.grad.tolist() == [0.0, 0.0]
    for parameter in (first, first, second, second):
        (parameter.sum() * 3).backward()
        buffer.add_grad(parameter)
    buffer.scale_grads()
    assert first.grad.tolist() == second.grad.tolist() == [6.0, 6.0]


def scaled_early(buffer, parameters):
    buffer.scale_grads()


def scaled_twice(buffer, parameters):
    for parameter in parameters:
        buffer.add_grad(parameter)
    buffer.scale_grads()
    buffer.scale_grads()


def exchanged_early(buffer, parameters):
    buffer.add_grad(parameters[0])
    buffer.comm_grads()


def added_twice(buffer, parameters):
    buffer.add_grad(parameters[0])
    buffer.add_grad(parameters[0])


def added_unscaled(buffer, parameters):
    for parameter in (*parameters, parameters[0]):
        buffer.add_grad(parameter)


def added_from_outside(buffer, parameters):
    buffer.add_grad(paddle.create_parameter([1], "float32"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (scaled_early, "exchanged no gradients"),
        (scaled_twice, "exchanged no gradients"),
        (exchanged_early, "1 of 2 Parameters have not checked in 1 times"),
        (added_twice, "has checked in 1 times"),
        (added_unscaled, "has checked in 1 times"),
        (added_from_outside, "is not in buffer 0"),
    ],
)
def test_calls_in_the_wrong_order(call, message):
    """The real Paddle raises AssertionError, too."""
    parameters = pair()
    with pytest.raises(AssertionError, match=message):
        call(FusedCommBuffer(0, parameters, ALONE, act=ACTIONS.ALL_REDUCE), parameters)


def mixed():
    return [paddle.create_parameter([2], dtype) for dtype in ("float32", "float16")]


def untrained():
    first, second = pair()
    second.stop_gradient = True
    return [first, second]


@pytest.mark.parametrize(
    ("parameters", "settings", "error", "message"),
    [
        (pair, {"act": None}, ValueError, "act: got None"),
        (pair, {"act": 7}, ValueError, "act: got 7"),
        (pair, {"act": ACTIONS.REDUCE}, AssertionError, "dst: got -1"),
        (pair, {"act": ACTIONS.REDUCE_SCATTER}, NotImplementedError, "REDUCE_SCATTER"),
        (pair, {"fuse_param": True}, NotImplementedError, "fuse_param"),
        (pair, {"free_grads_in_comm": True}, AssertionError, "free_grads_in_comm"),
        (pair, {"use_main_grad": True}, AttributeError, "has no main_grad"),
        (pair, {"acc_steps": 0}, ValueError, "acc_steps: got 0"),
        (pair, {"comm_group": Group(-1, 12, [1, 2])}, ValueError, "not in rank: -1"),
        (mixed, {}, AssertionError, "one dtype"),
        (untrained, {}, AssertionError, "is not trained"),
        (list, {}, IndexError, "no Parameter"),
    ],
)
def test_buffers_that_are_refused(parameters, settings, error, message):
    settings = {"comm_group": ALONE, "act": ACTIONS.ALL_REDUCE, **settings}
    with pytest.raises(error, match=message):
        FusedCommBuffer(0, parameters(), **settings)


def fused(parameters, **settings):
    settings = {
        "comm_group": ALONE,
        "act": ACTIONS.ALL_REDUCE,
        "fuse_param": False,
        "comm_overlap": True,
        **settings,
    }
    return tensor_fusion_helper.fused_parameters(parameters, **settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [[1, 5], [3, 7], [0, 4], [2, 6]]),
        ({"group_size": 4}, [[1], [5], [3], [7], [0], [4], [2], [6]]),
        ({"comm_overlap": False}, []),
    ],
)
def test_buffers_of_parameters(settings, expected):
    """The expected buffers are the real Paddle's."""
    parameters = [paddle.create_parameter([1], "float32") for _ in range(8)]
    for number, parameter in enumerate(parameters):
        parameter.is_distributed = number % 2 == 1
        parameter.need_clip = number % 4 < 2
    numbers = {id(parameter): number for number, parameter in enumerate(parameters)}
    first, second, buffers = fused(parameters, **settings)
    assert first == second == []
    assert [[numbers[id(parameter)] for parameter in buffer.params] for buffer in buffers] == expected


def test_buffers_of_groups_of_parameters():
    groups = [{"params": pair(), "weight_decay": 0.5}, {"params": pair()}]
    left, buffers = fused(groups, group_params=True)
    assert left == [{"params": [], "weight_decay": 0.5}, {"params": []}]
    assert [buffer.params for buffer in buffers] == [group["params"] for group in groups]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"act": None}, AssertionError, "act: got None"),
        ({"act": ACTIONS.REDUCE, "dst": 0, "comm_group": None}, AssertionError, "comm_group: got None"),
        ({"fuse_param": True}, NotImplementedError, "fuse_param"),
    ],
)
def test_fused_parameters_that_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        fused(pair(), **settings)
