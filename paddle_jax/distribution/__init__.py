"""Probability distributions, transforms of random variables and Kullback-Leibler divergences
(`paddle.distribution`)."""

from paddle_jax.distribution import transform as transform
from paddle_jax.distribution.bernoulli import Bernoulli
from paddle_jax.distribution.beta import Beta
from paddle_jax.distribution.binomial import Binomial
from paddle_jax.distribution.categorical import Categorical
from paddle_jax.distribution.cauchy import Cauchy
from paddle_jax.distribution.chi2 import Chi2
from paddle_jax.distribution.continuous_bernoulli import ContinuousBernoulli
from paddle_jax.distribution.dirichlet import Dirichlet
from paddle_jax.distribution.distribution import Distribution
from paddle_jax.distribution.exponential import Exponential
from paddle_jax.distribution.exponential_family import ExponentialFamily
from paddle_jax.distribution.gamma import Gamma
from paddle_jax.distribution.geometric import Geometric
from paddle_jax.distribution.gumbel import Gumbel
from paddle_jax.distribution.independent import Independent
from paddle_jax.distribution.kl import kl_divergence, register_kl
from paddle_jax.distribution.laplace import Laplace
from paddle_jax.distribution.lkj_cholesky import LKJCholesky
from paddle_jax.distribution.lognormal import LogNormal
from paddle_jax.distribution.multinomial import Multinomial
from paddle_jax.distribution.multivariate_normal import MultivariateNormal
from paddle_jax.distribution.normal import Normal
from paddle_jax.distribution.poisson import Poisson
from paddle_jax.distribution.student_t import StudentT
from paddle_jax.distribution.transform import (
    AbsTransform,
    AffineTransform,
    ChainTransform,
    ExpTransform,
    IndependentTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
)
from paddle_jax.distribution.transformed_distribution import TransformedDistribution
from paddle_jax.distribution.uniform import Uniform

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "Uniform",
    "kl_divergence",
    "register_kl",
    "Independent",
    "TransformedDistribution",
    "Laplace",
    "LogNormal",
    "LKJCholesky",
    "Gamma",
    "Gumbel",
    "Geometric",
    "Binomial",
    "Poisson",
    "StudentT",
    "Transform",
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
]
