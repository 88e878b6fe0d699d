"""Recurrent layers over sequences of several lengths, in files of Paddle's and of ONNX."""

import numpy as np
import pytest

import paddle_jax as ours
from tests.onnx.test_export import run

pytestmark = pytest.mark.own_process


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "SimpleRNN"])
def test_both_directions(oracle, tmp_path, kind):
    def network(P):
        class Network(P.nn.Layer):
            def __init__(self):
                super().__init__()
                self.layer = getattr(P.nn, kind)(3, 4, direction="bidirect")

            def forward(self, x, lengths):
                out, last = self.layer(x, sequence_length=lengths)
                return (out, *last) if isinstance(last, tuple) else (out, last)

        return Network()

    model, real = network(ours), network(oracle)
    real.set_state_dict({k: oracle.to_tensor(v.numpy()) for k, v in model.state_dict().items()})
    path = str(tmp_path / "m")
    spec = ours.static.InputSpec
    specs = [spec([None, None, 3], "float32", "x"), spec([None], "int64", "lengths")]
    ours.jit.save(model, path, specs)
    ours.onnx.export(model, path, specs)
    loaded = oracle.jit.load(path)
    for steps, lengths in ((5, [5, 2]), (3, [1, 0, 3]), (1, [1])):
        x = np.random.default_rng(0).normal(size=(len(lengths), steps, 3)).astype("float32")
        given = oracle.to_tensor(x), oracle.to_tensor(np.array(lengths))
        wanted = real(*given)
        for found in (loaded(*given), run(path + ".onnx", x, np.array(lengths))):
            for got, want in zip(found, wanted, strict=True):
                np.testing.assert_allclose(np.asarray(got), want.numpy(), rtol=1e-4, atol=1e-5)
