"""Where Values lie: programs that NumPy computes start nothing of XLA's, and what is compiled later
finds their values.

Unit tests of `_core.lazy`.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

STARTED = "from jax._src import xla_bridge\nstarted = lambda: sorted(xla_bridge._backends)\n"

TRAINING = """
import io
import numpy as np
import paddle_jax as paddle
paddle.set_device("cpu")
paddle.seed(1)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Dropout(0.1), paddle.nn.Linear(8, 3))
optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))
x, y = paddle.rand([6, 4]), paddle.to_tensor([0, 1, 2, 0, 1, 2])
for _ in range(3):
    loss = paddle.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print(loss, net[0].weight, x.place, paddle.get_device(), x[x > 0.5].shape, file=io.StringIO())
buffer = io.BytesIO()
paddle.save(net.state_dict(), buffer)
buffer.seek(0)
net.set_state_dict(paddle.load(buffer))
assert np.isfinite(float(loss)) and x.place.is_cpu_place()
assert started() == [], started()
compiled = paddle.jit.to_static(net)
net.eval()
np.testing.assert_allclose(compiled(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6)
assert started() == ["cpu"]
assert (x + compiled(x).sum()).place == x.place
"""  # noqa: E501

SEVERAL = """
import jax
import numpy as np
import paddle_jax as paddle
from paddle_jax._core.lazy import devices
x = paddle.ones([40])
assert devices.default_device() is devices.HOST and started() == []
first, second = jax.devices()
near, far = (paddle.to_tensor(jax.device_put(np.ones(40, "float32"), device)) for device in (first, second))
assert devices.device_of(near._value) is devices.HOST and devices.device_of(far._value) is second
assert float((x + near).sum()) == 80.0
alone = far * 2
assert alone.numpy().sum() == 80.0 and alone._value.devices() == {second}
with jax.default_device(second):
    assert devices.default_device() is second
    assert float((paddle.ones([40]) + 1).sum()) == 80.0
assert devices.jax_device(devices.HOST) is first
"""

ANOTHER = """
import paddle_jax as paddle
from paddle_jax._core.lazy import devices
xla_bridge._plugins_registered = True  # nothing else is looked for
assert devices._has_only_cpu()
xla_bridge.register_backend_factory("other", lambda: None)
assert not devices._has_only_cpu()
"""

REFUSED = """
import paddle_jax as paddle
paddle.set_device("cpu")
try:
    paddle.set_device("gpu")
except ValueError as error:
    assert "cpu" in str(error)
else:
    raise AssertionError
assert (paddle.ones([3]) + 1).tolist() == [2.0, 2.0, 2.0]
"""

NOT_ALONE = """
import paddle_jax
from paddle_jax._core.lazy import devices
assert not devices._has_only_cpu()
"""


def run(code, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("JAX_PLATFORMS", "XLA_FLAGS")} | environment
    done = subprocess.run(
        [sys.executable, "-c", STARTED + code], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("platforms", ["", "cpu"])
def test_a_program_that_numpy_computes_starts_no_client(platforms):
    run(TRAINING, JAX_PLATFORMS=platforms)


def test_one_of_several_devices():
    run(SEVERAL, JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=2")


def test_another_platform_is_asked():
    run(ANOTHER, JAX_PLATFORMS="")
    run(NOT_ALONE, JAX_PLATFORMS="cuda,cpu")


def test_a_device_that_is_not_there_is_refused():
    run(REFUSED, JAX_PLATFORMS="cpu")


def test_processes_of_one_program_meet_at_the_first_look():
    run(NOT_ALONE, JAX_PLATFORMS="cpu", PADDLE_TRAINERS_NUM="2")


@pytest.mark.parametrize(
    "made, want",
    [
        ("[1, 2], dtype='int32'", np.array([1, 2], "int32")),
        ("dtype='float32'", np.zeros(0, "float32")),
        ("np.ones(3), dtype='float32'", np.ones(3, "float32")),
        ("paddle.ones([3]), dtype='int32'", np.ones(3, "int32")),
        ("[1, 2]", np.array([1, 2], "float32")),
        ("np.arange(3)", np.arange(3)),
        ("2, 3", np.zeros((2, 3), "float32")),
    ],
)
def test_tensors_made_by_their_class(made, want, paddle):
    tensor = eval(f"paddle.Tensor({made})", {"paddle": paddle, "np": np})
    np.testing.assert_array_equal(tensor.numpy(), want, strict=True)
    np.testing.assert_array_equal((tensor + tensor).numpy(), want + want, strict=True)


PLUGIN = """
import importlib.metadata
import sys
import paddle_jax
from paddle_jax._core.lazy import jax_plugins
for folder in FOLDERS:
    sys.path.insert(0, folder)
    advertised = bool(importlib.metadata.entry_points(group="jax_plugins"))
    assert advertised or "jax_plugins" not in folder, folder
    assert jax_plugins.none_installed() == (not advertised), folder
    sys.path.remove(folder)
"""


def test_a_plugin_that_is_advertised_is_seen(tmp_path):
    folders = []
    for group in ("jax_plugins", "console_scripts"):
        for name in ("new-1.0.dist-info", "New.egg-info"):
            folder = tmp_path / f"{group}_{name[-8:]}"
            (folder / name).mkdir(parents=True)
            (folder / name / "entry_points.txt").write_text(f"[{group}]\nnew = new.plugin\n")
            folders.append(str(folder))
    run(f"FOLDERS = {folders}\n{PLUGIN}")


UNUSUAL = """
import sys
import paddle_jax
from paddle_jax._core.lazy import jax_plugins
usual = jax_plugins.none_installed()
sys.path.append(sys.executable)  # no directory
assert not jax_plugins.none_installed()
sys.path.pop()
sys.meta_path.append(type("Finder", (), {"find_distributions": lambda self, context: []})())
assert not jax_plugins.none_installed()
sys.meta_path.pop()
assert jax_plugins.none_installed() == usual
"""


def test_where_it_is_not_certain_jax_searches_for_plugins():
    run(UNUSUAL)
