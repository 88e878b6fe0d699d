"""Divergences against the real Paddle and against sums and integrals; how they are found by class."""

import numpy as np
import pytest

import paddle_jax
from tests.distribution.engines import agree, evaluate, outcome

A, B, C, E = (
    f"T({values}, 'float64')"
    for values in ([0.3, 1.0, 4.5], [2.0, 0.7, 1.3], [0.6, 2.0, 1.1], [0.9, 1.5, 0.4])
)
P, Q = "T([0.15, 0.5, 0.93], 'float64')", "T([0.4, 0.45, 0.7], 'float64')"

PAIRS = [
    (f"D.Normal({A}, {B})", f"D.Normal({C}, {E})"),
    ("D.Normal(0.0, 1.0)", "D.Normal(1.0, 2.0)"),
    ("D.Normal(T([1.0, 2.0]), T([1.0, 2.0]))", "D.Normal(T([[0.0], [3.0]]), T([2.0, 2.0]))"),
    (
        "D.Normal(T([1.0 + 1j]), T([1.0]))".replace("1j])", "1j], 'complex64')"),
        "D.Normal(T([0.5], 'complex64'), T([2.0]))",
    ),
    (f"D.Bernoulli({P})", f"D.Bernoulli({Q})"),
    (f"D.Beta({A}, {B})", f"D.Beta({C}, {E})"),
    (f"D.Binomial(7, {P})", f"D.Binomial(7, {Q})"),
    ("D.Binomial(10, T([0.2, 0.3]))", "D.Binomial(11, T([0.4, 0.1]))"),
    ("D.Categorical(T([0.2, 0.3, 0.5]))", "D.Categorical(T([0.5, 0.3, 0.5]))"),
    ("D.Categorical(T([[0.2, 0.3, 0.5]]))", "D.Categorical(T([0.5, 0.3, 0.5]))"),
    (f"D.Cauchy({A}, {B})", f"D.Cauchy({C}, {E})"),
    (f"D.Chi2({A})", f"D.Chi2({C})"),
    (f"D.Chi2({A})", f"D.Gamma({C}, {E})"),
    ("D.ContinuousBernoulli(T([0.2, 0.5]))", "D.ContinuousBernoulli(T([0.4, 0.3]))"),
    (f"D.Dirichlet({A})", f"D.Dirichlet({C})"),
    (f"D.Exponential({A})", f"D.Exponential({C})"),
    (f"D.Gamma({A}, {B})", f"D.Gamma({C}, {E})"),
    (f"D.Laplace({A}, {B})", f"D.Laplace({C}, {E})"),
    (f"D.LogNormal({A}, {B})", f"D.LogNormal({C}, {E})"),
    (f"D.Poisson({A})", f"D.Poisson({C})"),
    (
        "D.MultivariateNormal(T([1.0, 2.0]), T([[2.0, 1.0], [1.0, 2.0]]))",
        "D.MultivariateNormal(T([0.0, 2.0]), T([[3.0, 1.0], [1.0, 2.0]]))",
    ),
    (
        "D.MultivariateNormal(T([[1.0, 2.0]]), T([[2.0, 1.0], [1.0, 2.0]]))",
        "D.MultivariateNormal(T([0.0, 2.0]), scale_tril=T([[3.0, 0.0], [1.0, 2.0]]))",
    ),
    ("D.LogNormal(0.0, 1.0)", "D.Normal(0.0, 1.0)"),
    ("D.Gumbel(0.0, 1.0)", "D.Gumbel(0.0, 1.0)"),
    ("D.Multinomial(5, T([0.2, 0.8]))", "D.Multinomial(5, T([0.2, 0.8]))"),
    ("D.Exponential(1.0)", "D.Gamma(1.0, 1.0)"),
]


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_against_the_oracle(p, q, oracle):
    theirs, ours = (
        outcome(lambda e=e: e.distribution.kl_divergence(evaluate(e, p), evaluate(e, q)))
        for e in (oracle, paddle_jax)
    )
    assert agree(theirs, ours)


# ranges of values that hold all but 1e-12 of the probability of p
SUPPORTS = [
    (f"D.Geometric({P})", f"D.Geometric({Q})", np.arange(0.0, 400.0)),
    (f"D.Poisson({A})", f"D.Poisson({C})", np.arange(0.0, 60.0)),
    (f"D.Binomial(7, {P})", f"D.Binomial(9, {Q})", np.arange(0.0, 8.0)),
    (f"D.Uniform({A}, {A} + 0.5)", f"D.Uniform({A} - 0.2, {A} + 0.5)", None),
    (f"D.Gamma({A} + 1, {B})", f"D.Gamma({C}, {E})", None),
    (f"D.Beta({A} + 1, {B} + 1)", f"D.Beta({C}, {E})", None),
    (f"D.Normal({A}, {B})", f"D.Normal({C}, {E})", None),
]


@pytest.mark.parametrize(("p", "q", "values"), SUPPORTS)
def test_against_sums_and_integrals(p, q, values):
    p, q = evaluate(paddle_jax, p), evaluate(paddle_jax, q)

    def log(distribution, x):
        x = paddle_jax.to_tensor(x)
        return (distribution.log_pmf if hasattr(distribution, "log_pmf") else distribution.log_prob)(
            x
        ).numpy()

    if values is None:
        low, high = {"Gamma": (1e-9, 60.0), "Beta": (1e-9, 1 - 1e-9)}.get(type(p).__name__, (-25.0, 25.0))
        edges = np.linspace(low, high, 20_001)
        values, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    else:
        width = 1.0
    with np.errstate(invalid="ignore"):
        log_p, log_q = log(p, values[:, None]), log(q, values[:, None])
        terms = np.where(np.isfinite(log_p), np.exp(log_p) * (log_p - log_q), 0.0)
    np.testing.assert_allclose(paddle_jax.distribution.kl_divergence(p, q), terms.sum(0) * width, 2e-3, 2e-5)


def test_uniform_outside_is_infinite(paddle):
    D = paddle.distribution
    assert D.kl_divergence(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)).item() == np.inf


def scenario(engine):
    """Which of several registered functions answers, by class; what a class without one gets from its
    exponential family."""
    D = engine.distribution

    class Base(D.Normal):
        pass

    class Leaf(Base):
        pass

    class Rayleigh(D.ExponentialFamily):
        """Density x / s * exp(-x^2 / (2 s))."""

        def __init__(self, s):
            self.s = engine.to_tensor(s)
            super().__init__(tuple(self.s.shape))

        @property
        def _natural_parameters(self):
            return (-0.5 / self.s,)

        def _log_normalizer(self, x):
            return -engine.log(-2 * x)

        @property
        def _mean_carrier_measure(self):
            return 0.0

    @D.register_kl(Base, Base)
    def base(p, q):
        return "base"

    found = [D.kl_divergence(Leaf(0.0, 1.0), Leaf(0.0, 1.0)), D.kl_divergence(Leaf(0.0, 1.0), Base(0.0, 1.0))]
    found.append(outcome(lambda: D.kl_divergence(Leaf(0.0, 1.0), D.Normal(1.0, 1.0))))
    p, q = Rayleigh([0.5, 2.0]), Rayleigh([1.0, 2.0])
    found += [outcome(lambda: D.kl_divergence(p, q)), outcome(lambda: p.entropy()), base(p, q)]
    del D.kl._REGISTER_TABLE[Base, Base]
    return found


def test_dispatch_and_exponential_families(oracle):
    theirs, ours = scenario(oracle), scenario(paddle_jax)
    assert all(agree(a, b) for a, b in zip(theirs, ours, strict=True)), (theirs, ours)


def test_dispatch_of_two_classes(paddle):
    """The real Paddle raises KeyError here."""
    D = paddle.distribution

    class Wide(D.Normal):
        pass

    class Sharp(D.Laplace):
        pass

    D.register_kl(D.Normal, Sharp)(lambda p, q: "by the second")
    assert D.kl_divergence(Wide(0.0, 1.0), Sharp(0.0, 1.0)) == "by the second"
    D.register_kl(Wide, D.Laplace)(lambda p, q: "by the first")
    with pytest.warns(RuntimeWarning, match="two registered functions fit Wide and Sharp"):
        assert D.kl_divergence(Wide(0.0, 1.0), Sharp(0.0, 1.0)) == "by the first"
    for pair in ((D.Normal, Sharp), (Wide, D.Laplace)):
        del D.kl._REGISTER_TABLE[pair]


def test_gradients_of_divergences(oracle):
    for kind, p, q in [
        ("Normal", (0.3, 1.2), (0.5, 0.9)),
        ("Gamma", (0.7, 1.2), (1.5, 0.9)),
        ("Beta", (0.7, 1.2), (1.5, 0.9)),
    ]:
        gradients = []
        for engine in (oracle, paddle_jax):
            parameters = [engine.to_tensor([v], stop_gradient=False) for v in (*p, *q)]
            make = getattr(engine.distribution, kind)
            value = engine.distribution.kl_divergence(make(*parameters[:2]), make(*parameters[2:]))
            gradients.append([g.item() for g in engine.grad(value, parameters)])
        np.testing.assert_allclose(gradients[1], gradients[0], 2e-4, 1e-6)
