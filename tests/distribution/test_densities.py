"""Densities, distribution functions and moments against SciPy, in double precision."""

import numpy as np
import pytest
from scipy import integrate, stats

import paddle_jax
from tests.distribution.engines import evaluate

A, B = np.array([0.3, 1.0, 4.5]), np.array([2.0, 0.7, 1.3])
VALUES, SHARES, COUNTS = np.array([0.2, 1.7, 3.0]), np.array([0.15, 0.5, 0.93]), np.array([0.0, 2.0, 5.0])
A_, B_, P_ = (
    "T([0.3, 1.0, 4.5], 'float64')",
    "T([2.0, 0.7, 1.3], 'float64')",
    "T([0.15, 0.5, 0.93], 'float64')",
)

# expression: (the distribution of SciPy, values)
CONTINUOUS = {
    f"D.Normal({A_}, {B_})": (stats.norm(A, B), VALUES),
    f"D.Uniform({A_}, {A_} + {B_})": (stats.uniform(A, B), A + B * SHARES),
    f"D.Beta({A_}, {B_})": (stats.beta(A, B), SHARES),
    f"D.Cauchy({A_}, {B_})": (stats.cauchy(A, B), VALUES),
    f"D.Chi2({A_})": (stats.chi2(A), VALUES),
    f"D.Exponential({B_})": (stats.expon(scale=1 / B), VALUES),
    f"D.Gamma({A_}, {B_})": (stats.gamma(A, scale=1 / B), VALUES),
    f"D.Gumbel({A_}, {B_})": (stats.gumbel_r(A, B), VALUES),
    f"D.Laplace({A_}, {B_})": (stats.laplace(A, B), VALUES),
    f"D.LogNormal({A_}, {B_})": (stats.lognorm(B, scale=np.exp(A)), VALUES),
    f"D.StudentT({A_} + 2.1, {A_}, {B_})": (stats.t(A + 2.1, A, B), VALUES),
}
DISCRETE = {
    f"D.Bernoulli({P_})": (stats.bernoulli(SHARES), np.array([0.0, 1.0, 1.0])),
    f"D.Binomial(7, {P_})": (stats.binom(7, SHARES), COUNTS),
    f"D.Geometric({P_})": (stats.geom(SHARES, -1), COUNTS),
    f"D.Poisson({A_})": (stats.poisson(A), COUNTS),
}


@pytest.mark.parametrize("expression", CONTINUOUS)
def test_continuous(expression):
    truth, values = CONTINUOUS[expression]
    made = evaluate(paddle_jax, expression)
    value = paddle_jax.to_tensor(values)
    np.testing.assert_allclose(made.log_prob(value), truth.logpdf(values), 1e-9)
    np.testing.assert_allclose(made.prob(value), truth.pdf(values), 1e-9)
    np.testing.assert_allclose(made.entropy(), truth.entropy(), 1e-9, 1e-12)
    if type(made).__name__ not in ("Cauchy", "Uniform"):
        np.testing.assert_allclose(made.mean, truth.mean(), 1e-9)
        np.testing.assert_allclose(made.variance, truth.var(), 1e-9)
    if hasattr(made, "cdf"):
        np.testing.assert_allclose(made.cdf(value), truth.cdf(values), 1e-9)
    if hasattr(made, "icdf"):
        np.testing.assert_allclose(made.icdf(paddle_jax.to_tensor(SHARES)), truth.ppf(SHARES), 1e-9)


@pytest.mark.parametrize("expression", DISCRETE)
def test_discrete(expression):
    truth, values = DISCRETE[expression]
    made = evaluate(paddle_jax, expression)
    value = paddle_jax.to_tensor(values)
    mass, log_mass = (made.pmf, made.log_pmf) if hasattr(made, "pmf") else (made.prob, made.log_prob)
    np.testing.assert_allclose(mass(value), truth.pmf(values), 1e-9)
    np.testing.assert_allclose(log_mass(value), truth.logpmf(values), 1e-9)
    np.testing.assert_allclose(made.entropy(), truth.entropy(), 1e-8)
    np.testing.assert_allclose(made.mean, truth.mean(), 1e-9)
    np.testing.assert_allclose(made.variance, truth.var(), 1e-9)
    if hasattr(made, "cdf"):
        np.testing.assert_allclose(made.cdf(value), truth.cdf(values), 1e-9)


def test_what_cannot_occur_has_probability_zero():
    wrong = paddle_jax.to_tensor([-1.0, 11.0])
    assert paddle_jax.distribution.Binomial(10, 0.3).prob(wrong).tolist() == [0.0, 0.0]
    assert paddle_jax.distribution.Poisson(3.0).prob(wrong[:1]).tolist() == [0.0]


@pytest.mark.parametrize("rate", [1e-8, 0.5, 30.0, 99.9, 100.1, 1000.0])
def test_entropy_of_poisson(rate):
    k = np.arange(0, int(rate + 40 * np.sqrt(rate) + 40))
    log_mass = stats.poisson(rate).logpmf(k)
    made = paddle_jax.distribution.Poisson(paddle_jax.to_tensor(rate, dtype="float64"))
    np.testing.assert_allclose(made.entropy().item(), -(np.exp(log_mass) * log_mass).sum(), 1e-8)


@pytest.mark.parametrize("probs", [0.05, 0.4985, 0.4999, 0.5, 0.5008, 0.502, 0.97])
def test_continuous_bernoulli_is_what_its_density_says(probs):
    """Its density integrates to one; mean, variance, entropy and distribution function are the
    integrals they should be."""
    made = paddle_jax.distribution.ContinuousBernoulli(paddle_jax.to_tensor(probs, dtype="float64"))

    def mean(function, top=1.0):
        x, weights = np.polynomial.legendre.leggauss(60)
        x = (x + 1) / 2 * top
        density = made.prob(paddle_jax.to_tensor(x)).numpy()
        return (weights / 2 * top * density * function(x, density)).sum()

    np.testing.assert_allclose(mean(lambda x, p: 1.0), 1.0, 1e-9)
    np.testing.assert_allclose(made.mean.item(), mean(lambda x, p: x), 1e-8)
    np.testing.assert_allclose(made.variance.item(), mean(lambda x, p: (x - made.mean.item()) ** 2), 1e-7)
    np.testing.assert_allclose(made.entropy().item(), -mean(lambda x, p: np.log(p)), 1e-7, 1e-9)
    # there the distribution function is that of a uniform number, as in Paddle
    near = 1e-3 if abs(probs - 0.5) < 1e-3 else 1e-9
    np.testing.assert_allclose(
        made.cdf(paddle_jax.to_tensor(0.3, dtype="float64")).item(), mean(lambda x, p: 1.0, 0.3), near * 2
    )
    there_and_back = made.icdf(made.cdf(paddle_jax.to_tensor([0.1, 0.8], dtype="float64")))
    np.testing.assert_allclose(there_and_back, [0.1, 0.8], 1e-9)


def test_vectors():
    paddle = paddle_jax
    loc, root = np.array([0.5, -1.0, 2.0]), np.array([[1.0, 0, 0], [0.4, 1.5, 0], [-0.3, 0.2, 0.7]])
    truth = stats.multivariate_normal(loc, root @ root.T)
    values = np.array([[0.0, 0.0, 0.0], [1.0, -2.0, 3.0]])
    matrices = {
        "covariance_matrix": root @ root.T,
        "precision_matrix": np.linalg.inv(root @ root.T),
        "scale_tril": root,
    }
    for name, matrix in matrices.items():
        made = paddle.distribution.MultivariateNormal(
            paddle.to_tensor(loc), **{name: paddle.to_tensor(matrix)}
        )
        np.testing.assert_allclose(made.log_prob(paddle.to_tensor(values)), truth.logpdf(values), 1e-9)
        np.testing.assert_allclose(made.entropy().item(), truth.entropy(), 1e-9)
        np.testing.assert_allclose(made.variance, np.diag(root @ root.T), 1e-9)
    weights = np.array([0.6, 2.0, 3.5])
    made = paddle.distribution.Dirichlet(paddle.to_tensor(weights))
    truth = stats.dirichlet(weights)
    np.testing.assert_allclose(
        made.log_prob(paddle.to_tensor([0.2, 0.3, 0.5], dtype="float64")).item(),
        truth.logpdf([0.2, 0.3, 0.5]),
        1e-9,
    )
    np.testing.assert_allclose(made.entropy().item(), truth.entropy(), 1e-9)
    np.testing.assert_allclose(
        [made.mean.tolist(), made.variance.tolist()], [truth.mean(), truth.var()], 1e-9
    )
    made = paddle.distribution.Multinomial(6, paddle.to_tensor(weights))
    truth = stats.multinomial(6, weights / weights.sum())
    np.testing.assert_allclose(
        made.log_prob(paddle.to_tensor([1, 2, 3])).item(), truth.logpmf([1, 2, 3]), 1e-9
    )
    np.testing.assert_allclose(made.entropy().item(), truth.entropy(), 1e-9)


@pytest.mark.parametrize("eta", [0.6, 1.0, 3.0])
def test_density_of_cholesky_factors_integrates_to_one(eta):
    """Over the lower triangular matrices of three rows of length 1: half circles and half spheres."""
    made = paddle_jax.distribution.LKJCholesky(3, paddle_jax.to_tensor(eta, dtype="float64"))

    def density(z, phi, x):
        r = np.sqrt(1 - z * z)
        rows = [[1.0, 0, 0], [x, np.sqrt(1 - x * x), 0], [r * np.cos(phi), r * np.sin(phi), z]]
        return made.prob(paddle_jax.to_tensor(rows, dtype="float64")).item()

    # the density by the entries below the diagonal; dL31 dL32 = z dz dphi with z the last entry of the
    # diagonal
    across = integrate.quad(lambda x: density(0.5, 0.0, x), -1, 1, limit=30, epsabs=1e-6)[0]
    at = density(0.5, 0.0, 0.0)
    down = integrate.quad(lambda z: density(z, 0.0, 0.0) / at * z, 0, 1, epsabs=1e-7)[0] * 2 * np.pi
    np.testing.assert_allclose(across * down, 1.0, 1e-4)
