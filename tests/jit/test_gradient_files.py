"""`paddle.grad` in functions that are saved: our files give in both engines what Paddle gives eagerly,
and Paddle's files here what they give there."""

import contextlib

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save

pytestmark = pytest.mark.own_process
# x: float32[None, 3], w: float32[3, 3], i: int64[2]
EXPRESSIONS = {
    "products": "(P.matmul(x, w) * x + P.matmul(x, w, transpose_y=True)).sum()",
    "linear": "F.linear(x, w, w[0]).square().sum()",
    "batched": "P.bmm(x.unsqueeze(0), w.unsqueeze(0)).tanh().sum()",
    "arithmetic": "((x * 2 + 1) / (x * x + 3) - (1 - x) * w[1] + 2 / (x + 9)).sum()",
    "powers": "(x ** 2 + x ** 3 + P.pow(x.abs() + 1, 0.5) - x).sum()",
    "functions": "(x.exp() + P.sin(x) * P.cos(x) + (x.abs() + 1).log() + P.sqrt(x * x + 1)).sum()",
    "more_functions": "(P.expm1(x) + P.log1p(x * x) + P.rsqrt(x * x + 1)).sum() + P.erf(x).sum()",
    "reciprocals": "P.reciprocal(x + 9).sum()",
    "activations": "(F.relu(x) + F.sigmoid(x) * 2 + F.gelu(x) + F.silu(x) + F.softplus(x)).sum()",
    "more_activations": "(F.leaky_relu(x) + F.elu(x) + F.gelu(x, True) + F.swish(x)).sum()",
    "reductions": "(x.mean(0) * w[0]).sum() + x.max() - x.min() + (x.sum([0], keepdim=True) ** 2).sum()",
    "rows": "(x.mean(axis=-1, keepdim=True) * x).sum() + P.logsumexp(x, 1).sum() + x.max(axis=1).sum()",
    "norms": "P.norm(x) + P.norm(x, p=2, axis=1).sum()",
    "softmax": "(F.softmax(x) * w[0]).sum() + (F.log_softmax(x) * w[1]).sum() + (F.softmax(x, 0) * x).sum()",
    "losses": "F.mse_loss(x, x * 2) + F.mse_loss(x, w[:1], reduction='sum')",
    "shapes": "(P.reshape(x, [-1]) ** 2).sum() + (x.t() @ x).sum() + x.flatten().exp().sum()",
    "axes": "(x.transpose([1, 0]).unsqueeze(1).squeeze(1) * 3).sum() + (x.expand([2, -1, 3]) ** 2).sum()",
    "pieces": "(P.concat([x, x * 2], axis=1) ** 2).sum() + (P.stack([x, x * x], axis=1) * 2).tanh().sum()",
    "slices": "(x[:, 1:] * x[:, :2]).sum() + (x[0] * w[0]).sum() + x[:, -1].exp().sum()",
    "split": "sum([(k + 1) * (t ** 2).sum() for k, t in enumerate(P.split(x, 3, axis=1))])",
    "gathered": "(P.gather(w, i) * 2 + F.embedding(i, w).exp()).sum() + x.sum()",
    "choices": "(P.where(x > 0, x * 2, x ** 2) + P.maximum(x, w[0]) + P.minimum(x * 2, w[1])).sum()",
    "clipped": "(x.clip(-0.5, 0.7) * x).sum()",
    "casts": "(x.astype('float64') * 2).astype('float32').square().sum()",
    "open_lengths": "(x[1:] * x[:-1]).sum() + (P.concat([x, x[: x.shape[0] // 2]]) ** 2).sum()",
    "sums_so_far": "P.cumsum(x, 0).square().sum() + P.cumsum(x).exp().sum()",
    "norm_of_slope": "(P.grad([(x * x * x * w[0]).sum()], [x], create_graph=True)[0] ** 2).sum()",
}
# the real Paddle cannot save it
NOT_BY_PADDLE = {"norm_of_slope"}


def function(P, text):
    code = compile(text, __file__, "eval")

    def slopes(x, w, i):
        x.stop_gradient = False
        w.stop_gradient = False
        value = eval(code, {"P": P, "F": P.nn.functional, "x": x, "w": w, "i": i, "sum": sum})
        # the real Paddle only saves functions that use all their inputs
        used = x.sum() + w.sum() + i.sum().astype("float32")
        return P.grad([value], [x])[0], P.grad([value * 2 + w.sum()], [w])[0], used

    return slopes


def specs(P):
    InputSpec = P.static.InputSpec
    return [
        InputSpec([None, 3], "float32", "x"),
        InputSpec([3, 3], "float32", "w"),
        InputSpec([2], "int64", "i"),
    ]


def values():
    rng = np.random.RandomState(0)
    for length in (0, 1, 2, 3, 7):
        yield (
            rng.randn(length, 3).astype("f4"),
            rng.randn(3, 3).astype("f4"),
            rng.permutation(3)[:2].astype("i8"),
        )


def cases_of(P, call, arguments):
    """[(arguments, results)], without those that the real Paddle refuses."""
    cases = []
    for arrays in arguments:
        with contextlib.suppress(RuntimeError, ValueError, IndexError):
            cases.append((arrays, [one.numpy() for one in call(*map(P.to_tensor, arrays))]))
    assert len(cases) >= 4
    return cases


def checked(P, call, cases):
    for arrays, expected in cases:
        results = [result.numpy() for result in call(*[P.to_tensor(array) for array in arrays])]
        assert [result.shape for result in results] == [one.shape for one in expected]
        for result, one in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, one, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_gradients_in_files(oracle, tmp_path, name):
    text = EXPRESSIONS[name]
    cases = cases_of(oracle, function(oracle, text), values())
    here = str(tmp_path / "here")
    save(function(paddle_jax, text), here, input_spec=specs(paddle_jax))
    checked(oracle, oracle.jit.load(here), cases)
    checked(paddle_jax, load(here), cases)
    if name in NOT_BY_PADDLE:
        return
    there = str(tmp_path / "there")
    saved = oracle.jit.to_static(function(oracle, text), full_graph=True)
    oracle.jit.save(saved, there, input_spec=specs(oracle))
    again = oracle.jit.load(there)  # its lengths may be wrong
    checked(paddle_jax, load(there), cases_of(oracle, again, [arrays for arrays, _ in cases]))
