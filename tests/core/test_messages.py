"""Messages of mistakes name what is wrong and what to do.

The classes of errors in dynamic mode are compared with the real Paddle's. Its DataLoader hangs after samples
of different shapes, and its `save` makes a folder `s3:`.
"""

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
    with pytest.raises(ValueError, match="fsspec knows no file system s9://"):
        paddle.save({"w": paddle.ones([2])}, "s9://bucket/w")
    with pytest.raises(ValueError, match="fsspec knows no file system s9://"):
        paddle.load("s9://bucket/w")
    assert not list(tmp_path.iterdir())


class Scaled(nn.Layer):
    """A layer whose weight takes three columns."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3, 2])

    def forward(self, image, scale=1.0):
        return paddle.matmul(image, self.weight) * scale


def test_arguments_that_an_input_spec_excludes(tmp_path):
    spec = paddle.static.InputSpec([None, 3], "float32", "image")
    paddle.jit.save(Scaled(), str(tmp_path / "model"), input_spec=[spec])
    compiled = paddle.jit.to_static(Scaled(), input_spec=[spec])
    for call in (paddle.jit.load(str(tmp_path / "model")), compiled):
        with pytest.raises(ValueError, match="matmul") as caught:
            call(paddle.ones([2, 4]))
        (note,) = caught.value.__notes__
        assert (
            "forward: image: got paddle.float32 [2, 4]; its InputSpec allows paddle.float32 [-1, 3]" in note
        )
    wrong = paddle.static.InputSpec([None, 4], "float32", "image")
    with pytest.raises(ValueError, match="matmul") as caught:
        paddle.jit.save(Scaled(), str(tmp_path / "wrong"), input_spec=[wrong])
    assert "jit.save: the code ran on inputs" in caught.value.__notes__[-1] and "(-1, 4)" in str(
        caught.value.__notes__
    )
    with pytest.raises(RuntimeError, match="image: got 3.0 where input_spec has"):
        compiled(3.0)


def test_one_warning_lists_what_was_not_loaded():
    values = {"weight": paddle.ones([5, 5]), "extra": paddle.ones([1])}
    with pytest.warns(UserWarning) as found:
        nn.Linear(2, 3).set_state_dict(values)
    lines = str(found[0].message).splitlines()
    assert len(found) == 1 and lines == [
        "Skip loading for weight. weight receives a shape [5, 5], but the expected shape is [2, 3].",
        "Skip loading for bias. bias is not found in the provided dict.",
        "0 were loaded; not used from the provided dict: weight, extra.",
    ]
    many = nn.Sequential(*[nn.Linear(1, 1) for _ in range(20)])
    with pytest.warns(UserWarning) as found:
        many.set_state_dict({})
    assert len(found) == 1 and "30 more were not loaded" in str(found[0].message)


STATES = {
    "layer": (lambda p: p.nn.Linear(2, 2), AttributeError),
    "optimizer": (lambda p: p.optimizer.Adam(parameters=p.nn.Linear(2, 2).parameters()), AttributeError),
    "scheduler": (lambda p: p.optimizer.lr.StepDecay(0.1, 2), TypeError),
    "program": (lambda p: p.static.Program(), TypeError),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STATES)
def test_states_that_are_no_dicts(name, oracle):
    make, kind = STATES[name]
    with pytest.raises(kind):
        make(oracle).set_state_dict(None)
    with pytest.raises(kind, match="state_dict: got NoneType; pass the dict"):
        make(paddle).set_state_dict(None)


def test_a_name_of_a_file_in_place_of_its_state():
    with pytest.raises(AttributeError, match="got str; pass the dict .* paddle.load"):
        nn.Linear(2, 2).set_state_dict("model.pdparams")
    for state in ("scaler.pdparams", None):
        with pytest.raises(TypeError, match="pass the dict"):
            paddle.amp.GradScaler().load_state_dict(state)


def test_files_that_are_no_pickles(tmp_path):
    (tmp_path / "note.txt").write_text("hello")
    with pytest.raises(ValueError, match="not a checkpoint .byte 0x65 is no operation of a pickle"):
        paddle.load(tmp_path / "note.txt")


def hooked(p, result):
    """The gradient of x when the hook of an intermediate Tensor gives another one."""
    x = p.ones([2, 3])
    x.stop_gradient = False
    y = x @ p.ones([3, 3])
    y.register_hook(lambda grad: result)
    (y * 2).sum().backward()
    return x.grad


def test_hooks_keep_the_size_of_a_gradient():
    with pytest.raises(ValueError, match=r"hook returned shape \[2\]; .* its shape \[2, 3\]"):
        hooked(paddle, paddle.ones([2]))
    assert hooked(paddle, paddle.ones([2, 3])).tolist() == [[3.0] * 3] * 2


def test_minimize_takes_no_parameters(oracle):
    for p in (oracle, paddle):
        assert p.optimizer.Adam(parameters=[]).minimize(p.ones([1])) == ([], [])


def test_steps_of_static_programs():
    """The real Paddle raises this class, too."""
    paddle.enable_static()
    try:
        with pytest.raises(AssertionError, match=r"static mode; call Adam.minimize\(loss\)"):
            paddle.optimizer.Adam(0.1).step()
    finally:
        paddle.disable_static()


MISTAKES = {
    "no parameters": lambda p: p.optimizer.AdamW(parameters=[]).step(),
    "no parameters, LBFGS": lambda p: p.optimizer.LBFGS(parameters=[]).step(lambda: p.ones([1])),
    "no parameters, SGD": lambda p: p.optimizer.SGD(parameters=[]).step(),
    "channels": lambda p: p.nn.Conv2D(3, 4, 3)(p.ones([1, 1, 8, 8])),
    "channels of groups": lambda p: p.nn.Conv2D(4, 4, 3, groups=2)(p.ones([1, 6, 8, 8])),
    "groups": lambda p: p.nn.functional.conv2d(p.ones([1, 4, 8, 8]), p.ones([3, 2, 3, 3]), groups=2),
    "device": lambda p: p.set_device("tpu:7"),
    "safetensors": lambda p: p.load("w.safetensors"),
    "address": lambda p: p.load("s9://bucket/w"),
}


@pytest.mark.filterwarnings("ignore")  # those of the real Paddle would count as its errors
@pytest.mark.parametrize("name", MISTAKES)
def test_classes_are_those_of_the_real_paddle(name, oracle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_file({"w": np.ones([2], "float32")}, "w.safetensors")
    with pytest.raises(Exception) as wanted:
        MISTAKES[name](oracle)
    with pytest.raises(wanted.type):
        MISTAKES[name](paddle)
