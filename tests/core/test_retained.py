"""Gradients of a Tensor that keeps its gradient and is changed in place, in every spelling of the change, as
the real Paddle."""

import numpy as np
import pytest

import paddle_jax

SPELLINGS = [
    "y.fill_diagonal_(5.)",
    "T.fill_diagonal_(y, 5.)",
    "T.fill_diagonal_(y, value=5., offset=1)",
    "y.scale_(3., 1.)",
    "T.scale_(y, scale=3.)",
    "y.clip_(-1, 1)",
    "T.clip_(y, min=-1., max=1.)",
    "y.add_(ones)",
    "T.subtract_(y, ones)",
    "y.cumsum_(1)",
    "P.cumsum_(y, axis=0)",
    "y.tril_()",
    "P.tril_(y, 1)",
    "T.triu_(y, diagonal=1)",
    "P.reshape_(y, [9])",
    "P.unsqueeze_(y, 0)",
    "T.flatten_(y, 0, 1)",
    "T.transpose_(y, [1, 0])",
    "y.pow_(2)",
    "P.masked_fill_(y, y > 0, 1.)",
    "y.index_fill_(zero, 0, 2.)",
    "y.index_add_(zero, 0, ones[:1])",
    "y.scatter_(zero, ones[:1])",
    "y.__setitem__(0, 1.)",
    "T.__setitem__(y, (0, 0), 5.)",
    "y.fill_(2.)",
    "y.zero_()",
    "T.fill_(y, 2.)",
    "T.fill_diagonal_tensor_(y, ones[0], offset=0, dim1=0, dim2=1)",
    "F.leaky_relu_(y, 0.2)",
    "F.elu_(y, alpha=.5)",
    "F.thresholded_relu_(y, .5)",
    "T.floor_(y)",
    "y.lerp_(ones, .5)",
    "P.where_(y > 0, y, ones)",
    "T.logit_(y, 0.2)",
    "y.renorm_(1., 0, 1.)",
]


def gradients(module, spelling, retain):
    x = module.to_tensor(np.linspace(-1.1, 1.3, 9, dtype="float32").reshape(3, 3), stop_gradient=False)
    y = x * 2
    names = {
        "y": y,
        "P": module,
        "T": module.Tensor,
        "F": module.nn.functional,
        "ones": module.ones([3, 3]),
        "zero": module.to_tensor([0]),
    }
    if retain == "before":
        y.retain_grads()
    eval(spelling, names)  # noqa: S307
    if retain == "after":
        y.retain_grads()
    (y * y * 3).sum().backward()
    return [None if t.grad is None else t.grad.numpy() for t in (y, x)]


@pytest.mark.parametrize("retain", ["before", "after", "not"])
def test_as_the_real_paddle(retain, oracle):
    for spelling in SPELLINGS:
        for want, got in zip(
            gradients(oracle, spelling, retain), gradients(paddle_jax, spelling, retain), strict=True
        ):
            assert (want is None) == (got is None), spelling
            if want is not None:
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=spelling)
