"""Samples: Kolmogorov-Smirnov and chi-squared tests at fixed seeds, gradients of moments, derivatives of
gamma numbers by their parameter.

Unit tests of `distribution.draws`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

import paddle_jax
from paddle_jax.distribution.draws import _following
from tests.distribution.engines import evaluate

N = 20_000
UNLIKELY = 1e-4  # a right sampler fails at one seed in ten thousand; the seed is fixed


def drawn(expression, count=N, gradients=False):
    paddle_jax.seed(7)
    made = evaluate(paddle_jax, expression)
    return made.rsample([count]) if gradients else made.sample([count])


CONTINUOUS = {
    "D.Normal(1.0, 2.0)": stats.norm(1, 2).cdf,
    "D.Uniform(-1.0, 2.0)": stats.uniform(-1, 3).cdf,
    "D.Beta(0.4, 2.0)": stats.beta(0.4, 2).cdf,
    "D.Beta(5.0, 3.0)": stats.beta(5, 3).cdf,
    "D.Cauchy(1.0, 2.0)": stats.cauchy(1, 2).cdf,
    "D.Chi2(1.5)": stats.chi2(1.5).cdf,
    "D.ContinuousBernoulli(T(0.2))": lambda x: (0.2**x * 0.8 ** (1 - x) - 0.8) / (0.2 - 0.8),
    "D.Exponential(0.7)": stats.expon(scale=1 / 0.7).cdf,
    "D.Gamma(0.1, 2.0)": stats.gamma(0.1, scale=0.5).cdf,
    "D.Gamma(1.0, 2.0)": stats.gamma(1.0, scale=0.5).cdf,
    "D.Gamma(40.0, 2.0)": stats.gamma(40.0, scale=0.5).cdf,
    "D.Gumbel(1.0, 2.0)": stats.gumbel_r(1, 2).cdf,
    "D.Laplace(1.0, 2.0)": stats.laplace(1, 2).cdf,
    "D.LogNormal(1.0, 0.5)": stats.lognorm(0.5, scale=np.e).cdf,
    "D.StudentT(3.0, 1.0, 2.0)": stats.t(3, 1, 2).cdf,
    "D.TransformedDistribution(D.Uniform(0.0, 1.0), [D.PowerTransform(T(2.0))])": np.sqrt,
    "D.Independent(D.Normal([0.0], [1.0]), 1)": stats.norm.cdf,
}


@pytest.mark.parametrize("expression", CONTINUOUS)
@pytest.mark.parametrize("gradients", [False, True])
def test_continuous(expression, gradients):
    if gradients and "Uniform" in expression:
        pytest.skip("Uniform has no rsample in Paddle; its sample has gradients")
    sample = drawn(expression, gradients=gradients).numpy().astype(np.float64).ravel()
    assert stats.kstest(sample, CONTINUOUS[expression]).pvalue > UNLIKELY


DISCRETE = {
    "D.Bernoulli(0.3)": stats.bernoulli(0.3),
    "D.Binomial(6, 0.3)": stats.binom(6, 0.3),
    "D.Binomial(T(40.0), T(0.9))": stats.binom(40, 0.9),
    "D.Geometric(0.3)": stats.geom(0.3, -1),
    "D.Poisson(0.5)": stats.poisson(0.5),
    "D.Poisson(30.0)": stats.poisson(30.0),
    "D.Categorical(T([0.0, 1.0, 2.0]))": stats.rv_discrete(
        values=([0, 1, 2], special.softmax([0.0, 1.0, 2.0]))
    ),
    "D.Multinomial(6, T([3.0, 7.0]))": stats.binom(6, 0.3),
}


@pytest.mark.parametrize("expression", DISCRETE)
def test_discrete(expression):
    sample = drawn(expression).numpy().astype(int)
    sample = sample[..., 0].ravel() if "Multinomial" in expression else sample.ravel()
    values = np.arange(sample.min(), sample.max() + 1)
    expected, seen = DISCRETE[expression].pmf(values) * N, np.bincount(sample - sample.min())
    assert expected.sum() > N * 0.999
    many = expected >= 5
    rest = [seen[~many].sum()], [N - expected[many].sum()]
    seen, expected = (np.append(a[many], b) for a, b in zip((seen, expected), rest, strict=True))
    if expected[-1] < 5:
        seen, expected = np.append(seen[:-2], seen[-2:].sum()), np.append(expected[:-2], expected[-2:].sum())
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > UNLIKELY


@pytest.mark.parametrize("method", ["onion", "cvine"])
@pytest.mark.parametrize(("dim", "eta"), [(2, 1.0), (3, 0.7), (5, 2.0)])
def test_correlations(method, dim, eta):
    """Each correlation r has (r + 1) / 2 distributed as Beta(b, b) with b = eta - 1 + dim / 2; the factors
    have rows of length 1."""
    factors = drawn(f"D.LKJCholesky({dim}, {eta}, '{method}')", 4000).numpy().astype(np.float64)
    matrices = factors @ factors.transpose(0, 2, 1)
    np.testing.assert_allclose(np.diagonal(matrices, axis1=1, axis2=2), 1.0, 1e-5)
    assert not np.triu(factors, 1).any()
    for i, j in [(1, 0), (dim - 1, 0), (dim - 1, dim - 2)]:
        assert (
            stats.kstest(
                (matrices[:, i, j] + 1) / 2, stats.beta(eta - 1 + dim / 2, eta - 1 + dim / 2).cdf
            ).pvalue
            > UNLIKELY
        )


def test_vectors():
    covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
    sample = (
        drawn("D.MultivariateNormal(T([1.0, -1.0]), T([[2.0, 0.6], [0.6, 1.0]]))").numpy().astype(np.float64)
    )
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    for column in ((sample - [1.0, -1.0]) @ root.T).T:
        assert stats.kstest(column, stats.norm.cdf).pvalue > UNLIKELY
    np.testing.assert_allclose(np.cov(sample.T), covariance, atol=0.08)
    sample = drawn("D.Dirichlet(T([0.3, 1.0, 2.0]))").numpy().astype(np.float64)
    np.testing.assert_allclose(sample.sum(-1), 1.0, 1e-5)
    for i, weight in enumerate([0.3, 1.0, 2.0]):
        assert stats.kstest(sample[:, i], stats.beta(weight, 3.3 - weight).cdf).pvalue > UNLIKELY


def test_relaxed_bernoulli():
    """rsample gives logits plus logistic noise: its sign is Bernoulli, its distance from the
    logits logistic."""
    paddle_jax.seed(7)
    sample = paddle_jax.distribution.Bernoulli(0.3).rsample([N], temperature=0.5).numpy().astype(np.float64)
    assert stats.kstest(sample * 0.5 - np.log(0.3 / 0.7), stats.logistic.cdf).pvalue > UNLIKELY


def test_seeds_and_shapes(paddle):
    D = paddle.distribution
    for made in (D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0)):
        assert made.sample([3], seed=5).tolist() == made.sample([3], seed=5).tolist()
        assert made.sample([3], seed=5).tolist() != made.sample([3], seed=6).tolist()
        assert made.sample([3]).tolist() != made.sample([3]).tolist()
    assert D.Normal(0.0, 1.0).sample(paddle.to_tensor([2, 3])).shape == [2, 3]
    assert D.Gamma(paddle.ones([2]), paddle.ones([3, 1])).sample([4]).shape == [4, 3, 2]
    small = D.Dirichlet(paddle.full([3], 1e-3)).sample([50])
    assert bool(small.isfinite().all()) and np.allclose(small.sum(-1).numpy(), 1.0)


# gradients --------------------------------------------------------------------------------------------------

# expression with parameters a and b, and the mean of x**2 and of exp(-x**2) under it by numerical integration
MOVED = {
    "D.Normal(a, b)": (lambda a, b: stats.norm(a, b), 0.5, 1.2),
    "D.Uniform(a, b)": (lambda a, b: stats.uniform(a, b - a), 0.5, 2.0),
    "D.Beta(a, b)": (lambda a, b: stats.beta(a, b), 0.7, 2.5),
    "D.Gamma(a, b)": (lambda a, b: stats.gamma(a, scale=1 / b), 0.6, 1.5),
    "D.Gamma(a, b) ": (lambda a, b: stats.gamma(a, scale=1 / b), 5.0, 4.0),
    "D.Gumbel(a, b)": (lambda a, b: stats.gumbel_r(a, b), 0.5, 0.8),
    "D.Laplace(a, b)": (lambda a, b: stats.laplace(a, b), 0.5, 0.8),
    "D.LogNormal(a, b)": (lambda a, b: stats.lognorm(b, scale=np.exp(a)), 0.1, 0.4),
    "D.StudentT(a, b, b)": (lambda a, b: stats.t(a, b, b), 6.0, 0.9),
    "D.Cauchy(a, b)": (lambda a, b: stats.cauchy(a, b), 0.4, 0.7),
    "D.Exponential(a * b)": (lambda a, b: stats.expon(scale=1 / (a * b)), 0.8, 1.4),
    "D.Chi2(a + b)": (lambda a, b: stats.chi2(a + b), 2.0, 0.5),
    "D.ContinuousBernoulli(a * b)": (None, 0.4, 0.5),
}


def mean_of(frozen, function):
    """The mean of function(x), by the inverse of the distribution function at midpoints."""
    return function(frozen.ppf((np.arange(20_000) + 0.5) / 20_000)).mean()


class Continuous:
    """What SciPy has no class for."""

    def __init__(self, p):
        self.p = p

    def ppf(self, u):
        return np.log1p(u * (2 * self.p - 1) / (1 - self.p)) / np.log(self.p / (1 - self.p))


@pytest.mark.parametrize("expression", MOVED)
def test_gradients_of_moments(expression, paddle):
    """The mean over samples of d f(x) / d parameter is the derivative of the mean of f, within five
    standard errors."""
    make, a, b = MOVED[expression]
    make = make or (lambda a, b: Continuous(a * b))
    n = 30_000
    as_, bs = (paddle.full([n], v, "float64") for v in (a, b))
    as_.stop_gradient = bs.stop_gradient = False
    distribution = eval(expression, {"D": paddle.distribution, "a": as_, "b": bs})
    x = distribution.sample() if "Uniform" in expression else distribution.rsample()
    gradients = paddle.grad((-(x**2)).exp().sum(), [as_, bs])
    for index, gradient in enumerate(gradients):
        low, high = ([v * (1 + s * 1e-3 * (i == index)) for i, v in enumerate((a, b))] for s in (-1, 1))
        step = (a, b)[index] * 2e-3
        truth = (
            mean_of(make(*high), lambda x: np.exp(-(x**2))) - mean_of(make(*low), lambda x: np.exp(-(x**2)))
        ) / step
        values = gradient.numpy()
        assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(n) + 1e-4


def test_gradients_of_dirichlet(paddle):
    """The mean of a part is its concentration divided by the sum; the mean of its square is known too."""
    concentration = paddle.to_tensor(np.tile([0.5, 1.5, 3.0], (40_000, 1)), stop_gradient=False)
    sample = paddle.distribution.Dirichlet(concentration).rsample()
    for power, truth in ((1, [4.5, -0.5, -0.5]), (2, None)):
        (gradient,) = paddle.grad((sample[:, 0] ** power).sum(), [concentration], retain_graph=True)
        if power == 1:
            truth = np.array(truth) / 25
        else:  # the mean of the square is a (a + 1) / (s (s + 1)) with a = 0.5, s = 5
            by_sum = -0.75 * 11 / 900
            truth = np.array([2 / 30 + by_sum, by_sum, by_sum])
        values = gradient.numpy()
        assert np.all(np.abs(values.mean(0) - truth) < 5 * values.std(0) / 200 + 1e-6)


# compiled once for each dtype, not once for each number
_DERIVATIVE = jax.jit(jax.grad(_following))
_SECOND_DERIVATIVE = jax.jit(jax.grad(jax.grad(_following)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("a", [0.05, 0.3, 1.0, 2.5, 30.0, 1000.0, 1e5])
@pytest.mark.parametrize("share", [0.02, 0.37, 0.98])
def test_derivatives_of_gamma_numbers(a, share, dtype):
    """First and second derivatives of log z by a, where z has P(a, z) = share, against difference quotients
    of SciPy's inverse of P."""
    z = special.gammaincinv(a, share)
    if z < 1e-290:
        pytest.skip("below what SciPy's inverse gives exactly")

    def log_z(x):
        return np.log(special.gammaincinv(x, special.gammainc(a, z)))

    at = jnp.asarray(a, dtype)
    start = jnp.asarray(np.log(z), dtype)
    h = 1e-4 * a
    k = 2e-3 * a
    np.testing.assert_allclose(
        _DERIVATIVE(at, start),
        (log_z(a + h) - log_z(a - h)) / (2 * h),
        1e-5 if dtype == "float64" else 1e-4,
        1e-9,
    )
    second = (log_z(a + k) - 2 * log_z(a) + log_z(a - k)) / k**2
    np.testing.assert_allclose(_SECOND_DERIVATIVE(at, start), second, 2e-3, 1e-9 + 1e-3 / a**2)


def test_tiny_gamma_numbers():
    """Far below the smallest float, P(a, z) = z**a / Gamma(a + 1): log z = (log share + log
    Gamma(a + 1)) / a."""
    a, log_z = 0.01, -2000.0
    got = jax.grad(lambda x: _following(x, jnp.asarray(log_z)))(a)
    np.testing.assert_allclose(got, (special.digamma(a + 1) - log_z) / a, 1e-9)


def test_second_derivatives_through_samples(paddle):
    """d^2/da^2 of the mean of z^2 = a (a + 1) is 2."""
    a = paddle.full([30_000], 1.3, "float64")
    a.stop_gradient = False
    z = paddle.distribution.Gamma(a, paddle.ones_like(a)).rsample()
    (first,) = paddle.grad((z**2).sum(), [a], create_graph=True)
    (second,) = paddle.grad(first.sum(), [a])
    for values, truth in ((first, 3.6), (second, 2.0)):
        assert abs(values.numpy().mean() - truth) < 5 * values.numpy().std() / np.sqrt(30_000)
