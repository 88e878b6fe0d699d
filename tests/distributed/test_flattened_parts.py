"""Rows of consecutive elements of weights in checkpoints."""

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import ShardedWeight, load_state_dict, save_state_dict

SHAPE = (3, 2, 4)
WHOLE = np.arange(24, dtype="float32").reshape(SHAPE)


def row(start, stop, length, values=None):
    """Elements of a part that has rows 1 and 2 of a weight, in a Tensor of a length."""
    tensor = paddle.full([length], -1.0) if values is None else paddle.to_tensor(values)
    part = (2, 2, 4), SHAPE, (1, 0, 0)
    return ShardedWeight("w", tensor, *part, is_flattened=True, flattened_range=slice(start, stop))


@pytest.mark.parametrize(("start", "stop"), [(0, 16), (1, 3), (3, 13), (4, 8), (7, 9), (15, 16), (5, 5)])
def test_elements_of_a_whole(tmp_path, start, stop):
    save_state_dict({"w": paddle.to_tensor(WHOLE)}, str(tmp_path))
    part = row(start, stop, stop - start + 2)
    load_state_dict({"w": part}, str(tmp_path))
    wanted = WHOLE[1:].reshape(-1)[start:stop].tolist()
    # What a Tensor has after its elements becomes zeros.
    assert part.local_tensor.tolist() == [*wanted, 0.0, 0.0]


def test_elements_that_are_saved(tmp_path):
    # The last number of the Tensor is none of the elements.
    save_state_dict({"w": row(3, 13, 11, np.append(np.arange(10, dtype="float32"), 99))}, str(tmp_path))
    part = row(5, 9, 4)
    load_state_dict({"w": part}, str(tmp_path))
    assert part.local_tensor.tolist() == [2.0, 3.0, 4.0, 5.0]
    with pytest.raises(ValueError, match="pieces of w are missing"):
        load_state_dict({"w": row(2, 9, 7)}, str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"is_flattened": True}, "flattened_range: got None"),
        ({"flattened_range": slice(0, 3)}, "with is_flattened=False"),
        ({"is_flattened": True, "flattened_range": slice(0, 3, 2)}, "flattened_range: got slice"),
        ({"is_flattened": True, "flattened_range": slice(0, 7)}, "has the elements 0 to 6"),
        ({"is_flattened": True, "flattened_range": slice(None, 3)}, "has the elements 0 to 6"),
        ({"is_flattened": True, "flattened_range": slice(0, 6)}, "got shape"),
    ],
)
def test_ranges_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ShardedWeight("w", paddle.ones([5]), (2, 3), (2, 3), (0, 0), **arguments)
