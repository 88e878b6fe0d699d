"""Plans as a whole: composition, memory, refusals.

Unit tests of `_core.numpy_backend`.
"""

import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.numpy_backend import Plan, Refusal, plan
from tests.interpreter.compare import check

R = np.random.RandomState(5)
X, W = R.randn(4, 8).astype("float32"), R.randn(8, 3).astype("float32")
KEY = np.array([3, 9], np.uint32)


def loss(x, w):
    return jnp.mean(jax.nn.relu(x @ w) ** 2)


PROGRAMS = {
    "loss": (loss, X, W),
    "gradient": (jax.grad(loss, (0, 1)), X, W),
    "second gradient": (jax.grad(lambda x, w: jax.grad(loss)(x, w).sum()), X, W),
    "softmax": (lambda x: jax.nn.softmax(jnp.tanh(x)), X),
    "checkpoint": (jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.cos(v)))(x).sum()), X),
    "while": (lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, jnp.abs(x)), X),
    "scan": (lambda x: lax.scan(lambda c, a: (c + a, c * a), x[0], x), X),
    "scan of constants": (lambda x, w: lax.scan(lambda c, a: (c + a @ w, (c[0], a)), W[0], x), X, W),
    "scan without slices": (lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=3), X),
    "scan whose result is an operand": (lambda x: lax.scan(lambda c, a: (c + a, (a, c * a)), x[0], x), X),
    "search": (lambda x, y: jnp.searchsorted(x, y), np.sort(X[0]), X[1]),
    "scan reversed": (
        jax.grad(lambda x: lax.scan(lambda c, a: (jnp.tanh(c + a), c * a), x[0], x)[1].sum()),
        X,
    ),
    "cond": (lambda x: lax.cond(x[0, 0] > 0, lambda v: v + 1, lambda v: v - 1, x), X),
    "switch": (lambda i, x: lax.switch(i, [lambda v: v, lambda v: -v], x), np.int32(7), X),
    "rows": (lambda x, i: x[i], X, np.array([0, 3, -1, 9])),
    "columns": (lambda x, i: x[:, i], X, np.array([0, 3, -1, 9])),
    "scatter": (lambda x, i: x.at[i].add(1.0), X, np.array([1, 1, 9])),
    "sort gradient": (jax.grad(lambda x: jnp.sort(x)[:, 1].sum()), X),
    "uniform": (
        lambda k: jax.random.uniform(jax.random.fold_in(jax.random.wrap_key_data(k), 7), (1000,)),
        KEY,
    ),
    "solve": (lambda a, b: lax.custom_linear_solve(lambda v: a * v, b, lambda _, v: v / a), X[0], X[1]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    function, *operands = PROGRAMS[name]
    check(function, *operands, ulp=16, scale=8)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_joined_plan_gives_the_results_of_all(name):
    function, *operands = PROGRAMS[name]
    first = plan(jax.make_jaxpr(function)(*operands))
    results = [np.asarray(x) for x in first(*operands)]
    second = plan(jax.make_jaxpr(lambda x, *rest: (x.T, [y + x.sum() for y in rest]))(*results, operands[-1]))
    count = len(results)
    leaves = [-1 - i for i in range(len(operands))]
    # The second plan reads the results of the first one and a leaf, the third one what the second gives.
    sources = [leaves, [*range(count), leaves[-1]], [*range(count, 2 * count + 1), leaves[-1]]]
    third = plan(
        jax.make_jaxpr(lambda *xs: [x * 2 for x in xs])(*second(*results, operands[-1]), operands[-1])
    )
    joined = Plan.join([first, second, third], sources, len(operands))
    alone = [*results, *second(*results, operands[-1])]
    alone += third(*alone[count:], operands[-1])
    for _ in range(2):
        for got, wanted in zip(joined(*operands), alone, strict=True):
            np.testing.assert_array_equal(got, wanted)
            assert type(got) is np.ndarray and got.dtype == wanted.dtype and got.flags.c_contiguous


def test_results_are_arrays_in_c_order_also_of_no_dimensions():
    made = plan(jax.make_jaxpr(lambda x: (x + 1, x, x.T, jnp.float32(3), x.sum()))(X))
    for result in made(X):
        assert type(result) is np.ndarray and result.flags.c_contiguous


def test_memory_of_intermediates_is_used_again_but_never_that_of_operands_or_results():
    x = R.randn(300, 300)
    made = plan(jax.make_jaxpr(lambda x: ((y := x + 1), ((x * 2 + 3) * x + y, (x * 3).T + 1)))(x))
    kept = x.copy()
    first = made(x)
    again = [r.copy() for r in first]
    made(x + 5)
    assert (x == kept).all() and all((a == b).all() for a, b in zip(first, again, strict=True))
    np.testing.assert_array_equal(first[1], (x * 2 + 3) * x + (x + 1))


def test_a_small_result_does_not_keep_a_large_array_alive():
    (result,) = plan(jax.make_jaxpr(lambda x: jnp.tanh(x)[:2])(R.randn(400, 400)))(R.randn(400, 400))
    assert result.base is None or result.base.nbytes <= 2 * result.nbytes


def test_constants_are_folded_and_dead_code_left_out():
    def function(x):
        jnp.sort(x)
        return x + jnp.arange(8.0, dtype="float32").reshape(8) * 2

    assert plan(jax.make_jaxpr(function)(X)).names.get("sort") is None
    assert len(plan(jax.make_jaxpr(function)(X))._steps) <= 2
    check(function, X)


def test_refusals_say_why():
    def printing(x):
        jax.debug.print("{}", x)
        return x

    for function, word in (
        (printing, "effects"),
        (lambda x: jax.pure_callback(lambda v: v, x, x), "pure_callback"),
    ):
        with pytest.raises(Refusal, match=word):
            plan(jax.make_jaxpr(function)(X))
    with pytest.raises(Refusal, match="limit"):
        plan(jax.make_jaxpr(lambda x: x @ x.T)(np.zeros((4000, 4000), "float32")), limit=0.1)


def test_cost_grows_with_the_work_and_does_not_change():
    small, large = (
        plan(jax.make_jaxpr(lambda x: jnp.tanh(x @ x.T))(np.zeros((n, n), "float32"))) for n in (8, 512)
    )
    assert small.cost < 1e-5 < large.cost
    assert small.compile_cost == large.compile_cost
    assert small.cost == plan(jax.make_jaxpr(lambda x: jnp.tanh(x @ x.T))(np.zeros((8, 8), "float32"))).cost


def test_a_joined_plan_gives_what_is_wanted_and_frees_the_rest():
    x = R.randn(100, 100)
    half = plan(jax.make_jaxpr(lambda a: a * 0.5 - 1)(x))
    chain = [[-1], *([k] for k in range(19))]
    joined = Plan.join([half] * 20, chain, 1, [19, 4])
    wanted = [x]
    for _ in range(20):
        wanted.append(wanted[-1] * 0.5 - 1)
    for got, expected in zip(joined(x), (wanted[20], wanted[5]), strict=True):
        np.testing.assert_array_equal(got, expected)
    tracemalloc.start()
    joined(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * x.nbytes  # of 40 arrays
