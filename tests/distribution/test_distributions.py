"""Every distribution against the real Paddle: parameters, shapes, dtypes, moments, densities, refusals."""

import pytest

import paddle_jax
from tests.distribution.cases import CASES
from tests.distribution.engines import agree, evaluate, everything, outcome


@pytest.mark.parametrize(("expression", "values"), CASES, ids=[case[0] for case in CASES])
def test_distribution(expression, values, oracle):
    theirs, ours = everything(oracle, expression, values), everything(paddle_jax, expression, values)
    missing = set(theirs) - set(ours)
    assert not missing
    different = {key: (theirs[key], ours[key]) for key in theirs if not agree(theirs[key], ours[key])}
    assert not different


REFUSALS = [
    "D.Normal(0.0, 1.0).sample(3)",
    "D.Normal(0.0, 1.0).sample(['a'])",
    "D.Normal(0.0, 1.0).sample([2.5])",
    "D.Uniform(0.0, 1.0).sample(3)",
    "D.Cauchy(0.0, 1.0).sample('ab')",
    "D.Cauchy(0.0, 1.0).log_prob(1.0)",
    "D.Geometric(0.2).pmf('a')",
    "D.Geometric(0.2).cdf([1])",
    "D.Laplace(0.0, 1.0).log_prob('a')",
    "D.Laplace(0.0, 1.0).log_prob([1.0])",
    "D.Exponential(1.0).log_prob([1.0])",
    "D.Beta(T([1.0, 2.0]), T([1.0, 2.0, 3.0]))",
    "D.Laplace(T([1.0, 2.0]), T([1.0, 2.0, 3.0]))",
    "D.Cauchy(T([1.0, 2.0]), T([1.0, 2.0, 3.0]))",
    "D.StudentT(T([1.0, 2.0]), T([1.0, 2.0, 3.0]), 1.0)",
    "D.Categorical(T([1.0, 2.0])).probs(T([True], 'bool'))",
    "D.MultivariateNormal(T([0.0, 0.0]), T([[1.0, 2.0], [2.0, 1.0]]))",
    "D.MultivariateNormal(T([0.0, 0.0]), T([[1.0, 0.0], [0.0, 1.0]])).log_prob(1.0)",
    "D.MultivariateNormal('a', T([[1.0, 0.0], [0.0, 1.0]]))",
    "D.Binomial('a', 0.2)",
    "D.Binomial(2, 'a')",
    "D.Chi2('a')",
    "D.Chi2(T([1.0, 0.0]))",
    "D.LogNormal('a', 1.0)",
    "D.LKJCholesky(3, 0.0)",
    "D.LKJCholesky(3, T(1.0)).log_prob(1.0)",
    "D.Independent(D.Normal(T([1.0]), T([2.0])), 1.5)",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
    "D.Multinomial(3, T([0.5, 0.5])).sample(3)",
    "D.register_kl(int, D.Normal)",
    "D.register_kl(D.Normal, 1)",
    "D.kl_divergence(1, 2)",
    "D.kl_divergence(D.Normal(0.0, 1.0), D.Laplace(0.0, 1.0))",
    "D.kl_divergence(D.StudentT(3.0, 0.0, 1.0), D.StudentT(3.0, 0.0, 1.0))",
    "D.Exponential(1.0).kl_divergence(D.Normal(0.0, 1.0))",
    "D.Cauchy(0.0, 1.0).kl_divergence(D.Normal(0.0, 1.0))",
    "D.Geometric(0.2).kl_divergence(D.Normal(0.0, 1.0))",
    "D.Gamma(1.0, 0.2).kl_divergence(D.Normal(0.0, 1.0))",
    "D.Poisson(1.0).kl_divergence(D.Poisson(T([1.0, 2.0])))",
    "D.Categorical(T([1.0, 2.0])).kl_divergence(D.Normal(0.0, 1.0))",
    "D.Normal(0.0, 1.0).kl_divergence(1)",
]


@pytest.mark.parametrize("expression", REFUSALS)
def test_refusal(expression, oracle):
    theirs, ours = (outcome(lambda e=engine: evaluate(e, expression)) for engine in (oracle, paddle_jax))
    assert isinstance(theirs, type)
    assert ours is theirs
