"""Files and pickles of older versions are read; tests/data/write_files.py wrote them."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as paddle

FILES = Path(__file__).resolve().parent.parent / "data" / "files"
EXPECTED = dict(np.load(FILES / "expected.npz"))


def network():
    return paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 2))


def from_checkpoint():
    state = network().state_dict()
    paddle.distributed.load_state_dict(state, str(FILES / "checkpoint"))
    return state


@pytest.mark.parametrize(
    "read",
    [
        lambda: paddle.load(str(FILES / "net.pdparams")),
        lambda: paddle.load(str(FILES / "net.safetensors"), safetensors=True),
        from_checkpoint,
    ],
)
def test_parameters(read):
    net = network()
    net.set_state_dict(read())
    np.testing.assert_allclose(net(paddle.to_tensor(EXPECTED["x"])), EXPECTED["y"], rtol=1e-6)


def test_optimizer():
    with paddle.utils.unique_name.guard():  # its state names the parameters
        net = network()
    schedule = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
    optimizer = paddle.optimizer.Adam(schedule, parameters=net.parameters())
    optimizer.set_state_dict(paddle.load(str(FILES / "net.pdopt")))
    net(paddle.to_tensor(EXPECTED["x"])).sum().backward()
    optimizer.step()
    powers = [value for name, value in optimizer.state_dict().items() if "beta1_pow" in name]
    np.testing.assert_allclose([float(power) for power in powers], 0.9**3, rtol=1e-6)


def test_model():
    net = paddle.jit.load(str(FILES / "model"))
    np.testing.assert_allclose(net(paddle.to_tensor(EXPECTED["x"])), EXPECTED["y"], rtol=1e-6)


def test_operations_of_ours():
    """Functions that are saved in parts today were one operation each, under our name."""
    x = EXPECTED["x"]
    found = paddle.jit.load(str(FILES / "own_operations"))(paddle.to_tensor(x))
    distances = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    right = np.rot90(x), np.quantile(x, 0.25).astype("float32"), distances, x.view("int32")
    for one, array in zip(found, right, strict=True):
        assert (one.shape, one.numpy().dtype) == (list(array.shape), array.dtype)
        np.testing.assert_allclose(one.numpy(), array, rtol=1e-6)


def test_static_model(tmp_path):
    shutil.copy(FILES / "static.json", tmp_path)
    paddle.enable_static()
    try:
        executor = paddle.static.Executor(paddle.CPUPlace())
        program, feeds, fetches = paddle.static.load_inference_model(str(tmp_path / "static"), executor)
        (found,) = executor.run(program, feed={feeds[0]: EXPECTED["x"]}, fetch_list=fetches)
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, np.exp(EXPECTED["x"]) * 2, rtol=1e-6)


def test_pickled_objects():
    values = pickle.loads((FILES / "values.pickle").read_bytes())
    np.testing.assert_array_equal(values["tensor"], EXPECTED["x"])
    assert values["bfloat16"].dtype == paddle.bfloat16
    assert values["bfloat16"].tolist() == [1.0, 2.0]
    assert values["complex"].tolist() == [1 + 2j]
    assert values["dtype"] is paddle.float16
    assert values["place"] == paddle.CPUPlace()
    assert values["shape"] == paddle.Size([2, 3])
    assert isinstance(values["parameter"], paddle.nn.Parameter)
    assert values["spec"] == paddle.static.InputSpec([None, 3], "float32", "x")
    assert values["linear"](paddle.ones([1, 3])).shape == [1, 2]
    assert values["scheduler"]() == 0.1


def test_saved_objects():
    values = paddle.load(str(FILES / "values.pdparams"))
    assert values["dtype"] == paddle.float16
    assert values["place"] == paddle.CPUPlace()
    assert values["shape"] == [2, 3]
    assert values["tensor"].tolist() == [1.0, 1.0]
    assert values["list"] == [1, 2.0]
