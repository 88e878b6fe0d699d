"""A model that is asked for ever other sizes: each runs op by op, those that recur are compiled."""

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.static import InputSpec


class Widths(paddle.nn.Layer):
    """A network for pictures of any width."""

    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(3, 4, 3, padding=1)
        self.norm = paddle.nn.BatchNorm2D(4)
        self.head = paddle.nn.Linear(4, 5)

    def forward(self, x):
        y = paddle.nn.functional.relu(self.norm(self.conv(x)))
        y = y.mean(axis=2).transpose([0, 2, 1]).reshape([x.shape[0] * x.shape[3], 4])
        return paddle.nn.functional.softmax(self.head(y), axis=-1)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The network and the prefix of its files."""
    prefix = str(tmp_path_factory.mktemp("model") / "widths")
    paddle.seed(0)
    net = Widths()
    net.eval()
    paddle.jit.save(net, prefix, input_spec=[InputSpec([None, 3, 4, None], "float32", "x")])
    return net, prefix


def _by_handles(prefix):
    predictor = paddle.inference.create_predictor(
        paddle.inference.Config(prefix + ".json", prefix + ".pdiparams")
    )
    handle = predictor.get_input_handle("x")
    out = predictor.get_output_handle(predictor.get_output_names()[0])

    def call(x):
        handle.copy_from_cpu(x)
        predictor.run()
        return out.copy_to_cpu()

    return call, predictor._runner


def _by_run(prefix):
    predictor = paddle.inference.create_predictor(
        paddle.inference.Config(prefix + ".json", prefix + ".pdiparams")
    )
    return lambda x: predictor.run([paddle.to_tensor(x)])[0].numpy(), predictor._runner


def _by_layer(prefix):
    layer = paddle.jit.load(prefix)
    return lambda x: layer(paddle.to_tensor(x)).numpy(), layer._runners["forward"]


def _by_layer_of_arrays(prefix):
    layer = paddle.jit.load(prefix)
    return lambda x: layer(x).numpy(), layer._runners["forward"]


def _by_executor(prefix):
    scope = paddle.static.Scope()
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(scope):
        program, feeds, fetches = paddle.static.load_inference_model(prefix, executor)

    def call(x):
        paddle.enable_static()
        try:
            return executor.run(program, feed={feeds[0]: x}, fetch_list=fetches, scope=scope)[0]
        finally:
            paddle.disable_static()

    program.file_runner.kernels.clear()  # that of the recording
    return call, program.file_runner


WAYS = {
    "handles": _by_handles,
    "run": _by_run,
    "layer": _by_layer,
    "layer of arrays": _by_layer_of_arrays,
    "executor": _by_executor,
}


@pytest.mark.parametrize("way", WAYS)
def test_new_sizes_are_right_and_only_recurring_ones_compiled(model, way):
    net, prefix = model
    call, runner = WAYS[way](prefix)
    rng = np.random.default_rng(0)
    for width in (1, 2, 3, 5, 8, 13, 7, 4):
        x = rng.random((width % 3 + 1, 3, 4, width), dtype="float32")
        want = net(paddle.to_tensor(x)).numpy()
        np.testing.assert_allclose(call(x), want, rtol=1e-5, atol=1e-6)
    assert len(runner.kernels) == 0
    for _ in range(55):
        found = call(x)
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    assert list(runner.kernels) == [(x.shape,)]
    other = rng.random((1, 3, 4, 11), dtype="float32")
    np.testing.assert_allclose(call(other), net(paddle.to_tensor(other)).numpy(), rtol=1e-5, atol=1e-6)
    assert len(runner.kernels) == 1


def test_the_kernels_of_a_model_are_bounded(model, monkeypatch):
    from paddle_jax.framework.model_files import interpreter

    monkeypatch.setattr(interpreter, "_MAX_KERNELS", 2)
    paddle.set_flags({"FLAGS_deferred_min_repeats": 1})
    try:
        call, runner = _by_run(model[1])
        for width in (1, 2, 3):
            call(np.ones((1, 3, 4, width), "float32"))
    finally:
        paddle.set_flags({"FLAGS_deferred_min_repeats": 0})
    assert [shapes[0][3] for shapes in runner.kernels] == [2, 3]


def test_a_size_that_is_asked_for_with_gradients(model):
    net, prefix = model
    layer = paddle.jit.load(prefix)
    for width in (2, 3, 2):
        x = np.random.default_rng(width).random((1, 3, 4, width), dtype="float32")
        grads = []
        for one in (net, layer):
            one.eval()
            t = paddle.to_tensor(x, stop_gradient=False)
            (one(t)[:, 0] ** 2).sum().backward()
            grads.append(t.grad.numpy())
        np.testing.assert_allclose(*grads, rtol=1e-4, atol=1e-6)


def test_a_changed_program_no_longer_runs_as_its_file_says(model):
    paddle.enable_static()
    try:
        executor = paddle.static.Executor(paddle.CPUPlace())
        program, feeds, fetches = paddle.static.load_inference_model(model[1], executor)
        assert program.file_runner is not None
        with paddle.static.program_guard(program):
            doubled = fetches[0] * 2
        x = np.ones((1, 3, 4, 2), "float32")
        one, two = executor.run(program, feed={feeds[0]: x}, fetch_list=[fetches[0], doubled])
        np.testing.assert_allclose(two, one * 2, rtol=1e-6)
        program.changed()
        assert program.file_runner is None
        again = executor.run(program, feed={feeds[0]: x}, fetch_list=fetches)[0]
        np.testing.assert_allclose(again, one, rtol=1e-6)
    finally:
        paddle.disable_static()


class Branches(paddle.nn.Layer):
    """Its branches give results of different shapes."""

    def forward(self, x):
        y = x[:1] if x.sum() > 0 else x
        return y + 1


class Grows(paddle.nn.Layer):
    """Its loop makes a Tensor longer."""

    def forward(self, x):
        y = x
        while y.sum() < 10:
            y = paddle.concat([y, x])
        return y


@pytest.mark.parametrize(("make", "factor"), [(Branches, -1.0), (Grows, 0.5)])
def test_shapes_that_depend_on_values_run_op_by_op_for_good(tmp_path, make, factor):
    net = make()
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=[InputSpec([None, 2], "float32", "x")])
    layer = paddle.jit.load(str(tmp_path / "m"))
    paddle.set_flags({"FLAGS_deferred_min_repeats": 1})
    try:
        for _ in range(3):
            x = paddle.ones([3, 2])
            np.testing.assert_array_equal(layer(x).numpy(), net(x).numpy())
    finally:
        paddle.set_flags({"FLAGS_deferred_min_repeats": 0})
    np.testing.assert_array_equal(layer(x * factor).numpy(), net(x * factor).numpy())
