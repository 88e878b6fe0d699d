"""Gradients of `scan` against `jax.vjp`: where they flow, what is kept, and their own gradients.

Unit tests of `_core.kernels`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.kernels import loop_template, reverse, scan_gradients
from paddle_jax._core.kernels.jaxpr_tracing import trace_function

RANDOM = np.random.RandomState(5)
W, H, XS = (RANDOM.randn(*shape).astype("float32") * 0.5 for shape in ((4, 4), (3, 4), (6, 3, 4)))


def network(w, h, xs, **options):
    def step(h, x):
        h = jnp.tanh(h @ w + x)
        return h, h * w[0]

    last, outs = lax.scan(step, h, xs, **options)
    return last.sum() + (outs**2).sum()


def gated(w, h, xs):
    """States that hand on to each other, one a number that has no gradient."""

    def step(state, x):
        h, c, n = state
        c = jax.nn.sigmoid(h @ w) * c + x
        return (c * jnp.tanh(h), c, n + 1), (c, n, h > 0)

    (h, c, n), (cs, ns, signs) = lax.scan(step, (h, h * 0.5, jnp.int32(0)), xs)
    return (h * c).sum() + (cs * ns[:, None, None]).sum() + jnp.where(signs, cs, 0).sum() + n


def shifting(w, h, xs):
    """A gradient reaches the operands by way of a state of a state."""

    def step(state, x):
        a, b, c = state
        return (x, a * w[0], b), c

    _, outs = lax.scan(step, (h, h, h), xs)
    return (outs * outs).sum()


def unused(w, h, xs):
    """A result whose derivative is infinite, and that nobody asks for."""
    zeros = xs * 0

    def step(h, item):
        x, zero = item
        return h * x, jnp.sqrt(jnp.abs(zero * h)) @ w

    return lax.scan(step, h, (xs, zeros))[0].sum()


def nested(w, h, xs):
    def outer(h, x):
        inner = lax.scan(lambda c, row: (c * 0.9 + jnp.sin(row) @ w, c.sum()), x[0], x)
        return h + inner[0], inner[1]

    last, sums = lax.scan(outer, h, xs)
    return (last**2).sum() + sums.sum()


def masked(w, h, xs):
    valid = jnp.arange(6)[:, None] < jnp.array([2, 6, 4])[None]

    def step(h, item):
        x, ok = item
        return jnp.where(ok[:, None], jnp.tanh(h @ w + x), h), h.sum()

    last, sums = lax.scan(step, h, (xs, valid), reverse=True)
    return (last * last).sum() + sums.sum()


def counted(w, h, xs):
    """No rows; the same weights twice; a weight computed in every step."""

    def step(h, _):
        return jnp.tanh(h @ jnp.exp(-w) @ w) + xs[0], None

    return lax.scan(step, h, None, length=4)[0].sum()


CASES = {
    "network": network,
    "backwards": lambda *a: network(*a, reverse=True),
    "unrolled": lambda *a: network(*a, unroll=2),
    "gated": gated,
    "shifting": shifting,
    "unused": unused,
    "nested": nested,
    "masked": masked,
    "counted": counted,
    "no steps": lambda w, h, xs: network(w, h, xs[:0]),
    "one operand": lambda w, h, xs: network(w, h * 0 + 1, lax.stop_gradient(xs)),
    "wide": lambda w, h, xs: network(*[x.astype("float64") for x in (w, h, xs)]),
}


def own(fn, operands, moving=(True, True, True)):
    """The gradients of a sum, by this package's rules."""
    equations = trace_function(fn, "f", [jax.typeof(x) for x in operands])
    (out,), pull = reverse.linearize(equations.jaxpr, equations.consts, operands, moving, [True])
    grads = pull([jnp.ones_like(out)])
    return [jnp.zeros_like(x) if g is None else g for g, x in zip(grads, operands, strict=True)]


@pytest.fixture
def by_rule(monkeypatch):
    """Fails where a loop is left to JAX."""
    left = []
    rule = reverse.LINEARIZE_RULES["scan"]

    def watched(*arguments):
        found = rule(*arguments)
        left.append(found is None)
        return found

    monkeypatch.setitem(reverse.LINEARIZE_RULES, "scan", watched)
    yield
    assert left and not any(left)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_jax(name, by_rule):
    operands = list(map(jnp.asarray, (W, H, XS)))
    wanted = jax.grad(CASES[name], (0, 1, 2))(*operands)
    for grad, want in zip(own(CASES[name], operands), wanted, strict=True):
        assert grad.shape == want.shape and grad.dtype == want.dtype
        np.testing.assert_allclose(grad, want, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["network", "gated", "nested", "masked", "counted"])
def test_second_gradients_are_those_of_jax(name, by_rule):
    operands = list(map(jnp.asarray, (W, H, XS)))

    def first(gradient):
        return lambda *xs: sum((g * g).sum() for g in gradient(*xs))

    found = own(first(lambda *xs: own(CASES[name], list(xs))), operands)
    wanted = jax.grad(first(jax.grad(CASES[name], (0, 1, 2))), (0, 1, 2))(*operands)
    for grad, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(grad, want, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("moving", [(True, False, False), (False, True, False), (False, False, True)])
@pytest.mark.parametrize("name", ["network", "gated", "shifting", "masked"])
def test_gradients_that_are_not_asked_for_are_not_computed(name, moving, by_rule):
    operands = list(map(jnp.asarray, (W, H, XS)))
    want = jax.grad(CASES[name], (0, 1, 2))(*operands)
    for k, grad in enumerate(own(CASES[name], operands, moving)):
        np.testing.assert_allclose(grad, want[k] * moving[k], rtol=2e-5, atol=1e-5)


def test_what_is_the_same_in_every_step_is_computed_once_and_not_stacked():
    operands = list(map(jnp.asarray, (W, H, XS)))
    gradient = trace_function(lambda *xs: own(counted, list(xs)), "g", list(map(jax.typeof, operands)))
    scans = [each for each in gradient.jaxpr.eqns if each.primitive.name == "scan"]
    assert len(scans) == 2
    for scan in scans:
        inner = scan.params["jaxpr"].jaxpr
        assert "exp" not in [each.primitive.name for each in inner.eqns]
        assert all(v.aval.shape[1:] != W.shape for v in scan.outvars)


def test_a_loop_with_effects_is_left_to_jax():
    def noisy(h, xs):
        def step(h, x):
            jax.debug.callback(lambda: None)
            return h * x, None

        return lax.scan(step, h, xs)[0].sum()

    equations = trace_function(noisy, "f", list(map(jax.typeof, (H, XS))))
    scan = next(each for each in equations.jaxpr.eqns if each.primitive.name == "scan")
    assert scan_gradients._linearize_scan(scan, [H, XS], [True, True], [True]) is None


def templated(w, h, xs, reverse=False):
    """`network` by a loop that is traced once for all lengths."""

    def step(consts, carry, slices):
        h = jnp.tanh(carry[0] @ consts[0] + slices[0])
        return [h], [h * consts[0][0]]

    (last,), (outs,) = loop_template.scan_loop("network", step, ([w], [h], [xs]), xs.shape[0], reverse)
    return last.sum() + (outs**2).sum()


@pytest.mark.parametrize("backwards", [False, True])
def test_loops_of_all_lengths_share_their_steps(backwards, monkeypatch):
    monkeypatch.setattr(loop_template._Cache, "templates", {})
    scan_gradients._step_of.cache_clear()
    counts = []
    for length in (6, 3, 1, 5):
        xs = XS[:length]
        forward = trace_function(
            lambda *operands: templated(*operands, reverse=backwards),
            "loop",
            list(map(jax.typeof, (W, H, xs))),
        )
        want, want_grads = jax.value_and_grad(network, (0, 1, 2))(W, H, xs, reverse=backwards)
        np.testing.assert_allclose(forward(W, H, xs), want, rtol=1e-5)
        results, pull = reverse.linearize(forward.jaxpr, forward.consts, [W, H, xs], [True] * 3, [True])
        np.testing.assert_allclose(results[0], want, rtol=1e-5)
        for got, grad in zip(pull([np.float32(1)]), want_grads, strict=True):
            np.testing.assert_allclose(got, grad, rtol=1e-4, atol=1e-6)
        counts.append((len(loop_template._Cache.templates), scan_gradients._step_of.cache_info().currsize))
    assert counts == [counts[0]] * 4 and counts[0][1] == 1


def test_a_loop_that_is_not_one_equation_goes_to_jax():
    def step(consts, carry, slices):
        return [carry[1], carry[0]], [slices[0]]

    loop = trace_function(
        lambda h, k, xs: loop_template.scan_loop("swap", step, ([], [h, k], [xs]), 6)[0],
        "loop",
        list(map(jax.typeof, (H, H, XS))),
    )
    first, second = loop(H, H * 2, XS)
    assert np.array_equal(first, H) and np.array_equal(second, H * 2)
