"""Distributions in compiled functions, static programs, JAX transforms, and with a double
precision default."""

import numpy as np
import pytest

import paddle_jax

VALUE = np.random.default_rng(3).standard_normal((5, 3)).astype("float32")

# what a distribution of each kind is made of, from a tensor x [n, 3]; the members that it has
KINDS = {
    "Normal": lambda D, x: D.Normal(x, x.exp()),
    "Uniform": lambda D, x: D.Uniform(x, x + 1),
    "Bernoulli": lambda D, x: D.Bernoulli(paddle_jax.nn.functional.sigmoid(x)),
    "Beta": lambda D, x: D.Beta(x.exp(), x.exp() + 1),
    "Binomial": lambda D, x: D.Binomial(5, paddle_jax.nn.functional.sigmoid(x)),
    "Categorical": lambda D, x: D.Categorical(x),
    "Cauchy": lambda D, x: D.Cauchy(x, x.exp()),
    "Chi2": lambda D, x: D.Chi2(x.exp()),
    "ContinuousBernoulli": lambda D, x: D.ContinuousBernoulli(paddle_jax.nn.functional.sigmoid(x)),
    "Dirichlet": lambda D, x: D.Dirichlet(x.exp()),
    "Exponential": lambda D, x: D.Exponential(x.exp()),
    "Gamma": lambda D, x: D.Gamma(x.exp(), x.exp()),
    "Geometric": lambda D, x: D.Geometric(paddle_jax.nn.functional.sigmoid(x)),
    "Gumbel": lambda D, x: D.Gumbel(x, x.exp()),
    "Independent": lambda D, x: D.Independent(D.Normal(x, x.exp()), 1),
    "Laplace": lambda D, x: D.Laplace(x, x.exp()),
    "LKJCholesky": lambda D, x: D.LKJCholesky(3, x.exp()),
    "LogNormal": lambda D, x: D.LogNormal(x, x.exp()),
    "Multinomial": lambda D, x: D.Multinomial(5, x.exp()),
    "MultivariateNormal": lambda D, x: D.MultivariateNormal(x, paddle_jax.eye(3)),
    "Poisson": lambda D, x: D.Poisson(x.exp()),
    "StudentT": lambda D, x: D.StudentT(x.exp(), x, x.exp()),
    "TransformedDistribution": lambda D, x: D.TransformedDistribution(
        D.Normal(x, x.exp()), [D.StickBreakingTransform()]
    ),
}


def results(make, x):
    """A sample, its probability and the entropy, as far as the distribution has them."""
    made = make(paddle_jax.distribution, x)
    sample = value = made.sample([2])
    if type(made).__name__ == "Categorical":
        value = paddle_jax.to_tensor([0, 2])
    found = [sample]
    for call in (
        lambda: made.entropy(),
        lambda: (made.log_pmf if hasattr(made, "log_pmf") else made.log_prob)(value),
    ):
        try:
            found.append(call())
        except NotImplementedError:
            assert type(made).__name__ in ("LKJCholesky", "TransformedDistribution")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_static_program_with_unknown_length(kind, paddle):
    eager = results(KINDS[kind], paddle.to_tensor(VALUE))
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            fetched = results(KINDS[kind], paddle.static.data("x", [-1, 3], "float32"))
        found = paddle.static.Executor().run(program, feed={"x": VALUE}, fetch_list=fetched)
    finally:
        paddle.disable_static()
    assert [(v.shape, str(v.dtype)) for v in found] == [(tuple(v.shape), v.numpy().dtype.name) for v in eager]
    if len(found) == 3:
        np.testing.assert_allclose(found[1], eager[1].numpy(), 1e-4, 1e-5)


def test_compiled_functions(paddle):
    """One training step's worth of samples and divergences: fresh numbers at each call, the same after the
    same seed, gradients."""

    def step(loc, scale):
        D = paddle.distribution
        q = D.Normal(loc, scale)
        z = q.rsample([4]) + D.Gamma(scale, scale).rsample([4]) + D.Dirichlet(scale).rsample([4])
        return z.pow(2).mean() + D.kl_divergence(q, D.Normal(paddle.zeros([3]), paddle.ones([3]))).sum()

    values = []
    for function in (step, paddle.jit.to_static(step)):
        loc, scale = (
            paddle.to_tensor([0.5, -1.0, 2.0], stop_gradient=False),
            paddle.to_tensor([1.0, 0.3, 2.0], stop_gradient=False),
        )
        paddle.seed(11)
        first, second = function(loc, scale), function(loc, scale)
        assert first.item() != second.item()
        first.backward()
        values.append([first.item(), *loc.grad.tolist(), *scale.grad.tolist()])
    np.testing.assert_allclose(values[1], values[0], 1e-4, 1e-5)


def test_default_dtype(oracle):
    """Which distributions follow set_default_dtype."""
    calls = [
        "Normal(0.0, 1.0)",
        "Uniform(0.0, 1.0)",
        "Bernoulli(0.2)",
        "Beta(1.0, 2.0)",
        "Binomial(3, 0.5)",
        "Cauchy(0.0, 1.0)",
        "Exponential(1.0)",
    ]
    calls += [
        "Gamma(1.0, 2.0)",
        "Geometric(0.2)",
        "Gumbel(0.0, 1.0)",
        "Laplace(0.0, 1.0)",
        "Poisson(1.0)",
        "StudentT(1.0, 2.0, 3.0)",
    ]
    calls += ["ContinuousBernoulli(0.2)", "LKJCholesky(2, 1.0)", "LogNormal(0.0, 1.0)", "Chi2(1.0)"]
    found = []
    for engine in (oracle, paddle_jax):
        engine.set_default_dtype("float64")
        try:
            found.append(
                {call: str(eval(f"D.{call}", {"D": engine.distribution}).sample([2]).dtype) for call in calls}
            )
        finally:
            engine.set_default_dtype("float32")
    assert found[1] == found[0]


def test_derivatives_of_densities(paddle):
    """Second derivatives of log-densities against difference quotients of the first."""
    for kind, value in (
        ("StudentT", 0.4),
        ("Gamma", 0.4),
        ("Beta", 0.4),
        ("Gumbel", 0.4),
        ("ContinuousBernoulli", 0.4),
    ):

        def first(at, kind=kind, value=value):
            x = paddle.full([1, 3], at, "float64")
            x.stop_gradient = False
            total = (
                KINDS[kind](paddle.distribution, x).log_prob(paddle.to_tensor(value, dtype="float64")).sum()
            )
            (gradient,) = paddle.grad(total, [x], create_graph=True)
            return x, gradient

        x, gradient = first(0.3)
        (second,) = paddle.grad(gradient.sum(), [x])
        quotient = (first(0.3 + 1e-5)[1] - first(0.3 - 1e-5)[1]) / 2e-5
        np.testing.assert_allclose(second, quotient, 1e-6, 1e-8)
