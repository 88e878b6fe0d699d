"""Unit tests of `_program.capture.xla_options`: programs of many operations on few numbers are compiled
without fusion, which would take minutes; others are not."""

import jax
import jax.numpy as jnp

from paddle_jax._program.capture.xla_options import fusion_options


def chain(y, steps):
    for _ in range(steps):
        y = y + 0.1 * jnp.stack([y[1], -y[0]])
    return y


def test_which_programs():
    small, large = jnp.ones(2), jnp.ones((2, 10_000))
    assert fusion_options(jax.make_jaxpr(lambda y: chain(y, 100))(small).jaxpr)
    assert not fusion_options(jax.make_jaxpr(lambda y: chain(y, 100))(large).jaxpr)
    assert not fusion_options(jax.make_jaxpr(lambda y: chain(y, 3))(small).jaxpr)
    inside = jax.make_jaxpr(lambda y: jax.lax.cond(y.sum() > 0, lambda y: chain(y, 100), lambda y: y, y))
    assert fusion_options(inside(small).jaxpr) and not fusion_options(inside(large).jaxpr)
