"""Parameters in groups, whose gradients travel together. The expected groups are the real Paddle's."""

import pytest

import paddle_jax as paddle
from paddle_jax.distributed.fleet.utils import tensor_fusion_helper

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
