"""paddle.nn.utils against the real Paddle line by line, and against NumPy."""

import numpy as np
import pytest

from tests.nn.scripts import same

LINEAR = (
    "l = nn.Linear(3, 4, weight_attr=nn.initializer.Assign(np.linspace(-1, 1, 12, "
    "dtype='float32').reshape(3, 4)))",
)
GRADS = (*LINEAR, "(l(paddle.ones([2, 3])) * 3).sum().backward()")
SCRIPTS = {
    "weight_norm": [
        "l = nn.Conv2D(3, 4, 3, weight_attr=nn.initializer.Constant(2.0))",
        "nn.utils.weight_norm(l) is l",
        "[(k, v.shape, v.name) for k, v in l.state_dict().items()]",
        "l._parameters.keys(), l._buffers.keys()",
        "l.weight.numpy()",
        "l.weight_g",
        "l(paddle.ones([1, 3, 4, 4])).shape",
        "len(l._forward_pre_hooks)",
        "nn.utils.weight_norm(l)",
        "l(paddle.ones([1, 3, 3, 3])).sum().backward()",
        "l.weight_g.grad.numpy()",
        "nn.utils.remove_weight_norm(l) is l",
        "[(k, v.shape, v.name) for k, v in l.state_dict().items()]",
        "l.weight",
        "nn.utils.remove_weight_norm(l)",
        "len(l._forward_pre_hooks)",
        *[
            f"nn.utils.weight_norm(nn.Conv2D(3, 4, 3), dim={dim}).weight_g.shape"
            for dim in (None, -1, 0, 1, 3, 4)
        ],
        "nn.utils.weight_norm(nn.Linear(2, 2), 'foo')",
        "nn.utils.weight_norm(nn.Linear(2, 2), 'bias', 1)",
        *LINEAR,
        "nn.utils.weight_norm(l, 'weight', 1)",
        "l.weight_g.numpy(), l.weight.numpy()",
    ],
    "spectral_norm": [
        *LINEAR,
        "nn.utils.spectral_norm(l) is l",
        "[(k, v.shape, v.stop_gradient) for k, v in l.state_dict().items()]",
        "l.weight_orig.name",
        "l._parameters.keys(), l._buffers.keys()",
        "l.weight.stop_gradient",
        "[l(paddle.ones([1, 3])) for _ in range(60)][-1].numpy()",
        "l.weight.numpy()",
        "l.eval()(paddle.ones([1, 3])).numpy()",
        "nn.utils.spectral_norm(l)",
        *[
            f"nn.utils.spectral_norm(nn.{made}).weight_u.shape"
            for made in ("Conv2D(3, 4, 3)", "Conv2DTranspose(3, 5, 3)", "Linear(3, 4)")
        ],
        "nn.utils.spectral_norm(nn.Linear(3, 4), dim=0).weight_u.shape",
        "nn.utils.spectral_norm(nn.Linear(3, 4), n_power_iterations=0)",
        "nn.utils.spectral_norm(nn.Linear(3, 4), 'foo')",
        "nn.utils.spectral_norm(nn.Linear(3, 4), dim=5)",
    ],
    "vectors": [
        *LINEAR,
        "v = nn.utils.parameters_to_vector(l.parameters())",
        "v.shape, v.stop_gradient",
        "nn.utils.vector_to_parameters(v * 2, l.parameters())",
        "l.weight",
        "nn.utils.vector_to_parameters(v[:5], l.parameters())",
        "nn.utils.vector_to_parameters(paddle.arange(40.0), l.parameters())",
        "l.bias",
        "nn.utils.parameters_to_vector([])",
        "nn.utils.parameters_to_vector(l.weight)",
        "nn.utils.parameters_to_vector(l.parameters()).shape",
    ],
    "clip_grad_norm_": [
        *(
            line
            for norm in ("2.0", "1", "float('inf')", "0")
            for line in (
                *GRADS,
                f"nn.utils.clip_grad_norm_(l.parameters(), 1.5, {norm})",
                "l.weight.grad.numpy()",
            )
        ),
        *GRADS,
        "nn.utils.clip_grad_norm_(l.parameters(), 1000.0)",
        "l.weight.grad.numpy()",
        "nn.utils.clip_grad_norm_(l.weight, 1.0)",
        "nn.utils.clip_grad_norm_([], 1.0)",
        "nn.utils.clip_grad_norm_([paddle.ones([1])], 1.0)",
        "nn.utils.clip_grad_norm_(l.parameters(), 'a')",
        "nn.utils.clip_grad_norm_(iter(l.parameters()), 1.0, 2.5)",
        "l.weight.grad = paddle.full([3, 4], float('nan'))",
        "nn.utils.clip_grad_norm_(l.parameters(), 1.0, error_if_nonfinite=True)",
    ],
    "clip_grad_value_": [
        *GRADS,
        "nn.utils.clip_grad_value_(l.parameters(), 1.0)",
        "l.weight.grad.numpy()",
        "nn.utils.clip_grad_value_(l.weight, 0.5)",
        "l.weight.grad.numpy()",
        "l.bias.grad.numpy()",
        "nn.utils.clip_grad_value_(l.parameters(), -1.0)",
        "nn.utils.clip_grad_value_(l.parameters(), 'a')",
        "nn.utils.clip_grad_value_(l.parameters(), 0)",
        "nn.utils.clip_grad_value_([paddle.ones([1])], 1.0)",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def test_spectral_norm_finds_the_largest_singular_value(paddle):
    layer = paddle.nn.utils.spectral_norm(paddle.nn.Linear(5, 4), n_power_iterations=50)
    layer(paddle.ones([1, 5]))
    assert np.linalg.svd(layer.weight.numpy(), compute_uv=False)[0] == pytest.approx(1.0, abs=1e-4)


def test_weight_norm_keeps_the_gradient_of_the_product(paddle):
    plain = paddle.nn.Linear(3, 2)
    normed = paddle.nn.Linear(3, 2)
    normed.set_state_dict(plain.state_dict())
    paddle.nn.utils.weight_norm(normed, dim=1)
    x = paddle.rand([4, 3])
    for layer in (plain, normed):
        layer(x).square().sum().backward()
    v, g, grad = (t.numpy() for t in (normed.weight_v, normed.weight_g, plain.weight.grad))
    length = np.linalg.norm(v, axis=0)
    np.testing.assert_allclose(normed.weight_g.grad.numpy(), (grad * v / length).sum(0), rtol=1e-4)
    expected = g / length * (grad - v / length * (grad * v / length).sum(0))
    np.testing.assert_allclose(normed.weight_v.grad.numpy(), expected, rtol=1e-4, atol=1e-5)
