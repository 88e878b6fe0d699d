"""Unit tests of `_program.function_recording`: a Layer is recorded outside of static mode."""

import numpy as np

import paddle_jax
from paddle_jax._program.function_recording import record


def test_recording_a_layer_outside_static_mode():
    net = paddle_jax.nn.Sequential(
        paddle_jax.nn.Linear(3, 4), paddle_jax.nn.BatchNorm1D(4), paddle_jax.nn.Dropout(0.5)
    )
    net.eval()
    x = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
    program, inputs, output = record(net, [paddle_jax.static.InputSpec([None, 3], "float32", "x")])
    assert [v.name for v in inputs] == ["x"] and paddle_jax.in_dynamic_mode()
    assert {p.name for p in program.all_parameters()} == {p.name for p in net.parameters()}
    # the global one may know a parameter of that name
    with paddle_jax.static.scope_guard(paddle_jax.static.Scope()):
        out = paddle_jax.static.Executor().run(program, {"x": x}, [output])[0]
    np.testing.assert_allclose(out, net(paddle_jax.to_tensor(x)).numpy(), rtol=1e-5, atol=1e-6)
    net.train()
    before = net[1]._mean.numpy()
    record(net, [paddle_jax.static.InputSpec([None, 3], "float32", "x")])
    assert (net[1]._mean.numpy() == before).all()
