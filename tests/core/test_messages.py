"""Messages of mistakes name what is wrong and what to do; their classes are those of the real Paddle."""

import numpy as np
import pytest
from safetensors.numpy import save_file

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.io import DataLoader, Dataset


class Samples(Dataset):
    """Samples whose second field grows."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return {"x": np.ones([2]), "y": [np.ones([index + 1])]}


def test_samples_of_different_shapes():
    text = r"field \['y'\]\[0\] of sample 1 of the batch has shape \[2\], and sample 0 has \[1\]"
    with pytest.raises(ValueError, match=text):
        list(DataLoader(Samples(), batch_size=2))


def test_missing_feed():
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            a = paddle.static.data("a", [None, 3])
            total = a + paddle.static.data("b", [None, 3])
        with pytest.raises(KeyError, match=r"'a' is missing; got 'b'; feed .* \[-1, 3\]"):
            feed = {"b": np.ones([2, 3], "float32")}
            paddle.static.Executor().run(program, feed=feed, fetch_list=[total])
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("groups, channels, expected", [(1, 1, 3), (2, 6, 4)])
def test_channels_of_a_convolution(groups, channels, expected):
    layer = nn.Conv2D(expected, 4, 3, groups=groups)
    with pytest.raises(ValueError, match=f"with {channels} channels; .* takes {expected} channels"):
        layer(paddle.ones([1, channels, 8, 8]))


def test_groups_that_do_not_divide():
    with pytest.raises(ValueError, match="groups: got 2; it must divide the 3 output channels"):
        nn.functional.conv2d(paddle.ones([1, 4, 8, 8]), paddle.ones([3, 2, 3, 3]), groups=2)


def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match=r'pip install "jax\[tpu\]"'):
        paddle.set_device("tpu:7")


def test_safetensors_files(tmp_path):
    file = tmp_path / "w.safetensors"
    save_file({"w": np.ones([2], "float32")}, file)
    with pytest.raises(ValueError, match="safetensors=True"):
        paddle.load(file)


def test_addresses_are_no_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="only local files"):
        paddle.save({"w": paddle.ones([2])}, "s3://bucket/w")
    with pytest.raises(ValueError, match="only local files"):
        paddle.load("gs://bucket/w")
    assert not list(tmp_path.iterdir())
