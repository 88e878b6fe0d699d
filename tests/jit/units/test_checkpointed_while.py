"""Unit tests of `_program.control_flow.checkpointed_while`: loops over arrays, and their gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_jax._program.control_flow import checkpointed_while
from paddle_jax._program.control_flow.checkpointed_while import Loop


def rotate(x, angles, n):
    """n turns of a point, each with an angle of its own and a bit further out: nothing dies away
    over many steps."""

    def step(i, carry, fixed):
        k, (a, b) = carry[0], carry[1]
        angle = fixed[0][i.astype(jnp.int32) % 3]
        turned = jnp.stack([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)])
        return k + 1, turned / jnp.sqrt((turned**2).sum()) + 0.01 * turned

    return (
        Loop(lambda i, carry, fixed: carry[0] < fixed[1], step, (False, True), (True, False)),
        (jnp.int32(0), x),
        (angles, n),
    )


def looped(x, angles, n):
    loop, carry, fixed = rotate(x, angles, n)
    return loop.reversible(carry, fixed)[1]


def scanned(x, angles, n):
    loop, carry, fixed = rotate(x, angles, n)
    return jax.lax.scan(lambda c, i: (loop.step(i, c, fixed), None), carry, jnp.arange(n, dtype=jnp.uint32))[
        0
    ][1]


POINT, ANGLES = jnp.array([1.0, 0.5]), jnp.array([0.3, 1.1, -0.7])


@pytest.fixture(scope="module")
def gradient():
    return jax.jit(jax.grad(lambda x, a, n: looped(x, a, n)[0], argnums=(0, 1)))


@pytest.mark.parametrize("n", [0, 1, 5, 64, 65, 129, 300, 1000])
def test_gradient_of_a_loop_of_any_length(n, gradient):
    expected = jax.jit(jax.grad(lambda x, a: scanned(x, a, n)[0], argnums=(0, 1)))(POINT, ANGLES)
    for got, want in zip(gradient(POINT, ANGLES, jnp.int32(n)), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
        assert n < 2 or np.abs(want).max() > 1e-3


def test_large_states_are_saved_less_often(monkeypatch, gradient):
    expected = gradient(POINT, ANGLES, jnp.int32(200))
    monkeypatch.setattr(checkpointed_while, "_BYTES", 0)
    got = jax.jit(jax.grad(lambda x, a, n: looped(x, a, n)[0], argnums=(0, 1)))(POINT, ANGLES, jnp.int32(200))
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-4)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-4)


def test_second_derivative_of_a_loop():
    def second(f, n):
        return jax.jit(jax.grad(lambda x: jax.grad(lambda x: f(x, ANGLES, n)[0])(x)[0]))

    np.testing.assert_allclose(
        second(looped, jnp.int32(70))(POINT), second(scanned, 70)(POINT), rtol=1e-3, atol=1e-4
    )


def test_third_derivative_of_a_loop():
    loop = Loop(
        lambda i, carry, fixed: i < 5,
        lambda i, carry, fixed: (carry[0] * jnp.sin(carry[0]) + fixed[0],),
        (True,),
        (True,),
    )

    def unrolled(x):
        y = x
        for _ in range(5):
            y = y * jnp.sin(y) + x * x
        return y

    def third(f):
        return jax.jit(jax.grad(jax.grad(jax.grad(f))))

    np.testing.assert_allclose(
        third(lambda x: loop.reversible((x,), (x * x,))[0])(0.7), third(unrolled)(0.7), rtol=1e-4
    )


def test_a_batch_of_loops_of_different_lengths():
    gradient = jax.grad(lambda x, n: looped(x, ANGLES, n)[0])
    got = jax.jit(jax.vmap(gradient))(jnp.stack([POINT, 2 * POINT, POINT]), jnp.array([2, 0, 5]))
    want = [
        jax.grad(lambda x, n=n: scanned(x, ANGLES, n)[0])(x)
        for x, n in ((POINT, 2), (2 * POINT, 0), (POINT, 5))
    ]
    np.testing.assert_allclose(got, jnp.stack(want), rtol=1e-4, atol=1e-6)
