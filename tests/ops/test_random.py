"""Random functions by distribution: moments against theory within five standard errors, seeds,
dtypes, gradients."""

import math

import numpy as np
import pytest
import scipy.stats

import paddle_jax as paddle

N = 40_000


def zeros(dtype="float32"):
    return paddle.zeros([N], dtype)


def full(value, dtype="float32"):
    return paddle.full([N], value, dtype)


# name: (draw, mean, variance, smallest, largest), all from the definition of the distribution
SAMPLES = {
    "rand": (lambda: paddle.rand([N]), 1 / 2, 1 / 12, 0, 1),
    "rand_like": (lambda: paddle.rand_like(zeros()), 1 / 2, 1 / 12, 0, 1),
    "uniform": (lambda: paddle.uniform([N], min=-1.0, max=3.0), 1, 16 / 12, -1, 3),
    "uniform float64": (lambda: paddle.uniform([N], "float64", -1.0, 3.0), 1, 16 / 12, -1, 3),
    "uniform_": (lambda: zeros().uniform_(2.0, 4.0), 3, 4 / 12, 2, 4),
    "randn": (lambda: paddle.randn([N]), 0, 1, None, None),
    "randn_like": (lambda: paddle.randn_like(zeros()), 0, 1, None, None),
    "standard_normal": (lambda: paddle.standard_normal([N]), 0, 1, None, None),
    "normal": (lambda: paddle.normal(2.0, 3.0, [N]), 2, 9, None, None),
    "normal of tensors": (lambda: paddle.normal(full(2.0), full(3.0)), 2, 9, None, None),
    "normal_": (lambda: zeros().normal_(-1.0, 0.5), -1, 1 / 4, None, None),
    "log_normal": (
        lambda: paddle.log_normal(0.1, 0.2, [N]),
        math.exp(0.12),
        (math.exp(0.04) - 1) * math.exp(0.24),
        0,
        None,
    ),
    "log_normal_": (
        lambda: zeros().log_normal_(0.1, 0.2),
        math.exp(0.12),
        (math.exp(0.04) - 1) * math.exp(0.24),
        0,
        None,
    ),
    "exponential_": (lambda: zeros().exponential_(2.0), 1 / 2, 1 / 4, 0, None),
    "geometric_": (lambda: zeros().geometric_(0.3), -1 / math.log(0.7), 1 / math.log(0.7) ** 2, 0, None),
    "bernoulli": (lambda: paddle.bernoulli(full(0.3)), 0.3, 0.21, 0, 1),
    "bernoulli with p": (lambda: paddle.bernoulli(zeros(), p=0.3), 0.3, 0.21, 0, 1),
    "bernoulli_": (lambda: zeros().bernoulli_(0.3), 0.3, 0.21, 0, 1),
    "randint": (lambda: paddle.randint(-2, 4, [N]), 0.5, 35 / 12, -2, 3),
    "randint_like": (lambda: paddle.randint_like(zeros(), -2, 4), 0.5, 35 / 12, -2, 3),
    "random_": (lambda: zeros("int64").random_(-2, 4), 0.5, 35 / 12, -2, 3),
    "poisson": (lambda: paddle.poisson(full(3.0)), 3, 3, 0, None),
    "standard_gamma": (lambda: paddle.standard_gamma(full(2.5)), 2.5, 2.5, 0, None),
    "binomial": (lambda: paddle.binomial(full(10.0), full(0.3)), 3, 2.1, 0, 10),
    "multinomial": (lambda: paddle.multinomial(paddle.to_tensor([1.0, 2.0, 1.0]), N, True), 1, 1 / 2, 0, 2),
    "top_p_sampling": (
        lambda: paddle.to_tensor([[0.5, 0.0, 0.25, 0.25]] * N).top_p_sampling(full(1.0))[1],
        5 / 4,
        27 / 16,
        0,
        3,
    ),
}


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(20)


@pytest.mark.parametrize("name", SAMPLES)
def test_moments(name):
    draw, mean, variance, low, high = SAMPLES[name]
    sample = draw().numpy().astype(np.float64).ravel()
    deviation = sample - sample.mean()
    assert abs(sample.mean() - mean) < 5 * math.sqrt(variance / N)
    assert abs(sample.var() - variance) < 5 * math.sqrt(((deviation**4).mean() - variance**2) / N)
    assert low is None or sample.min() >= low
    assert high is None or sample.max() <= high


@pytest.mark.parametrize("name", SAMPLES)
def test_a_seed_repeats_the_numbers_and_draws_differ(name):
    draw = SAMPLES[name][0]
    first, second = draw().numpy(), draw().numpy()
    paddle.seed(20)
    assert np.array_equal(draw().numpy(), first)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [0.3, 0.99, 1.0, 3.0, 40.0])
def test_gamma_numbers_have_the_distribution_function(shape, dtype):
    sample = paddle.standard_gamma(full(shape).astype(dtype)).numpy().astype(np.float64)
    assert scipy.stats.kstest(sample, "gamma", args=(shape,)).pvalue > 1e-5


def test_gamma_numbers_of_what_is_no_shape_parameter():
    drawn = paddle.standard_gamma(paddle.to_tensor([math.nan, -1.0, 0.0, math.inf, 1e30])).numpy()
    assert np.isnan(drawn[:2]).all() and drawn[2] == 0 and drawn[3] == math.inf
    assert abs(drawn[4] / 1e30 - 1) < 1e-6


def test_cauchy_by_quartiles():
    sample = zeros().cauchy_(1.0, 2.0).numpy()
    quartiles = np.quantile(sample, [0.25, 0.5, 0.75])
    assert np.allclose(quartiles, [-1, 1, 3], atol=0.15)  # standard errors 0.03, 0.016, 0.03


@pytest.mark.parametrize(
    "draw", [lambda: paddle.randn([N], "complex64"), lambda: paddle.zeros([N], "complex64").normal_(0.0, 1.0)]
)
def test_complex_normal_has_unit_variance_in_all(draw):
    sample = draw().numpy()
    assert sample.dtype == np.complex64
    assert np.allclose([sample.real.var(), sample.imag.var()], 0.5, atol=0.02)
    assert abs((sample.real * sample.imag).mean()) < 0.02


@pytest.mark.parametrize(
    "draw",
    [
        lambda m: m.rand([N], "complex64"),
        lambda m: m.uniform([N], "complex128", 2, 3, 5),
        lambda m: m.uniform([N], "complex64", min=-1.0, max=2.0),
        lambda m: m.rand_like(m.zeros([N], "complex64")),
        lambda m: m.create_parameter(
            [N], "complex64", default_initializer=m.nn.initializer.Uniform(1.0, 3.0)
        ),
    ],
)
def test_both_parts_of_complex_numbers_are_uniform(draw, oracle):
    ours, real = draw(paddle).numpy(), draw(oracle).numpy()
    assert ours.dtype == real.dtype
    for part in ("real", "imag"):
        a, b = np.sort(getattr(ours, part)), np.sort(getattr(real, part))
        np.testing.assert_allclose(a, b, atol=0.05 * (b[-1] - b[0]))
    assert abs(np.corrcoef(ours.real, ours.imag)[0, 1]) < 0.05


def test_randperm_is_a_permutation_and_each_place_is_equally_likely():
    draws = np.stack([paddle.randperm(5).numpy() for _ in range(400)])
    assert (np.sort(draws, 1) == np.arange(5)).all()
    assert np.abs(draws.mean(0) - 2).max() < 5 * math.sqrt(2 / 400)


def test_multinomial_without_replacement_draws_each_class_once_and_never_a_zero():
    weights = paddle.to_tensor([[0.0, 1.0, 2.0, 3.0]] * 500)
    drawn = paddle.multinomial(weights, 3).numpy()
    assert (np.sort(drawn, 1) == [1, 2, 3]).all()
    first = np.bincount(drawn[:, 0], minlength=4) / 500
    assert np.abs(first - [0, 1 / 6, 2 / 6, 3 / 6]).max() < 5 * math.sqrt(0.25 / 500)


def test_nucleus_sampling_draws_from_the_likeliest_classes_only():
    drawn = paddle.to_tensor([[0.5, 0.3, 0.1, 0.1]] * 200).top_p_sampling(paddle.full([200], 0.7))[1].numpy()
    assert set(drawn.ravel()) == {0, 1}


def test_uniform_with_a_seed_of_its_own_does_not_touch_the_generator():
    first = paddle.rand([3]).numpy()
    paddle.seed(20)
    fixed = paddle.uniform([3], seed=5).numpy()
    assert np.array_equal(paddle.uniform([3], seed=5).numpy(), fixed)
    assert np.array_equal(paddle.rand([3]).numpy(), first)


def test_the_mean_and_standard_deviation_of_normal_get_gradients():
    mean, std = paddle.zeros([4]), paddle.ones([4])
    mean.stop_gradient = std.stop_gradient = False
    sample = paddle.normal(mean, std)
    sample.sum().backward()
    assert mean.grad.tolist() == [1.0] * 4
    assert np.allclose(std.grad.numpy(), sample.detach().numpy())  # d(mean + std * z)/d std = z


@pytest.mark.parametrize(
    "name", ["uniform_", "normal_", "exponential_", "bernoulli_", "cauchy_", "log_normal_", "random_"]
)
def test_a_leaf_that_needs_a_gradient_is_not_overwritten(name):
    leaf = paddle.zeros([2])
    leaf.stop_gradient = False
    with pytest.raises(ValueError, match="leaf"):
        getattr(leaf, name)()
    with paddle.no_grad():
        assert getattr(leaf, name)() is leaf


REFUSED = [
    (lambda: paddle.rand([2], "int32"), RuntimeError),
    (lambda: paddle.zeros([2], "int64").normal_(), RuntimeError),
    (lambda: paddle.zeros([2], "int64").uniform_(), RuntimeError),
    (lambda: zeros().exponential_(0.0), ValueError),
    (lambda: zeros().uniform_(1.0, 1.0), ValueError),
    (lambda: zeros().random_(5, 2), ValueError),
    (lambda: paddle.poisson(full(-1.0)), ValueError),
    (lambda: paddle.binomial(full(1.0), full(2.0)), ValueError),
    (lambda: paddle.bernoulli(full(1.5)), IndexError),
    (lambda: paddle.normal(), ValueError),
    (lambda: paddle.normal(paddle.zeros([2]), paddle.ones([3])), ValueError),
    (lambda: paddle.uniform([2], min=paddle.zeros([2])), AssertionError),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_bad_arguments(number):
    call, error = REFUSED[number]
    with pytest.raises(error):
        call()
