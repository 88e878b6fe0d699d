"""`paddle_jax.register_op`: operations declared in Python, in every mode; gradients against those of the same
function of Tensors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax


@paddle_jax.register_op("x weight", alias={"input": "x"})
def gate(x, weight=None, slope=1.0, name=None):
    """x by a sigmoid."""
    return x * jax.nn.sigmoid(slope * (x if weight is None else weight))


@paddle_jax.register_op(
    "x", gradient=lambda ct, y, x, limit: jnp.where(jnp.abs(x) < limit, ct, 0), inplace=True
)
def straight(x, limit=1.0):
    """Rounds; gradients pass as if it did not, between -limit and limit."""
    return jnp.round(x)


@paddle_jax.register_op(
    "*xs scale", gradient=lambda ct, y, xs, scale: ([ct * (i + 1) for i in range(len(xs))], None)
)
def weighted(xs, scale):
    """The sum of a list by its numbers."""
    return sum((i + 1) * x for i, x in enumerate(xs)) + 0 * scale


def extremes_gradient(cts, results, x):
    return cts[0] * (x == results[0]) + cts[1] * (x == results[1])


@paddle_jax.register_op("x", shapes=lambda x: [((), x.dtype), ((), x.dtype)], gradient=extremes_gradient)
def extremes(x):
    """On the host: the least and the greatest."""
    assert type(x) is np.ndarray
    return x.min(), x.max()


@paddle_jax.register_op("x", shapes=lambda x, times: ((x.shape[0] * times,), "int64"))
def ranks(x, times=1):
    """On the host, without gradients."""
    return np.tile(np.argsort(np.argsort(x)), times)


@pytest.fixture
def x(paddle):
    return paddle.to_tensor([0.4, -2.6, 1.2], stop_gradient=False)


def test_derived_gradients(paddle, x):
    weight = paddle.to_tensor([1.0, 2.0, -1.0], stop_gradient=False)
    for slope in (0.5, 1.0, 2.0, 3.0):
        for operands in ((x, weight), (x, None)):
            truth = x * paddle.nn.functional.sigmoid(slope * (x if operands[1] is None else weight))
            chains = []
            for y in (gate(*operands, slope=slope), truth):
                (first,) = paddle.grad(y.sum(), [x], create_graph=True)
                (second,) = paddle.grad((first**2).sum(), [x], create_graph=True)
                chains.append([y.numpy(), first.numpy(), second.numpy()])
            for ours, wanted in zip(*chains, strict=True):
                np.testing.assert_allclose(ours, wanted, 1e-5, 1e-6)
    assert (
        gate(input=x).tolist() == gate(x).tolist()
        and "gate" not in vars(paddle.Tensor)
        and gate.__doc__ == "x by a sigmoid."
    )


def test_own_gradients(paddle, x):
    straight(x, 1.5).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]
    y = x * 1.0
    assert straight.inplace(y) is y and y.tolist() == [0.0, -3.0, 1.0]
    others = [paddle.to_tensor(float(i), stop_gradient=False) for i in range(3)]
    count = paddle.to_tensor(5)
    total = weighted(others, count)
    total.backward()
    assert total.item() == 8.0 and [o.grad.item() for o in others] == [1.0, 2.0, 3.0]


def test_on_the_host(paddle, x):
    low, high = extremes(x)
    (low * 3 + high).backward()
    assert (low.item(), high.item(), x.grad.tolist()) == (
        pytest.approx(-2.6),
        pytest.approx(1.2),
        [0.0, 3.0, 1.0],
    )
    found = ranks(x, times=2)
    assert found.tolist() == [1, 0, 2, 1, 0, 2] and found.dtype == paddle.int64 and found.stop_gradient


@pytest.mark.filterwarnings("error")
def test_compiled(paddle, x):
    def step(x):
        low, _ = extremes(straight(gate(x, slope=2.0) * 3, limit=9.0))
        return low * ranks(x).astype("float32").sum()

    step(x).backward()
    eager, compiled = x.grad.numpy(), paddle.jit.to_static(step)
    for _ in range(3):
        x.clear_grad()
        compiled(x).backward()
        np.testing.assert_allclose(x.grad, eager, 1e-6)
    np.testing.assert_allclose(jax.jit(lambda v: gate(paddle.to_tensor(v))._value)(x.numpy()), gate(x), 1e-6)
    rows = paddle.stack([x, x * 2])
    np.testing.assert_allclose(paddle.func.vmap(lambda r: extremes(r)[1])(rows), rows.max(-1), 1e-6)


def test_static(paddle):
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            fed = paddle.static.data("x", [-1])
            results = [straight(gate(fed)), ranks(fed, 2)]
        for length in (2, 5):
            value = np.linspace(-2, 2, length).astype("float32")
            first, second = paddle.static.Executor().run(main, feed={"x": value}, fetch_list=results)
            np.testing.assert_allclose(first, np.round(value / (1 + np.exp(-value))))
            assert second.tolist() == list(range(length)) * 2
    finally:
        paddle.disable_static()


def test_what_is_wrong(paddle, x):
    with pytest.raises(ValueError, match="tensors: got 'y'; the parameters of f are x"):

        @paddle_jax.register_op("y")
        def f(x):
            return x

    @paddle_jax.register_op("x", shapes=lambda x: ((2,), x.dtype))
    def lying(x):
        return x

    @paddle_jax.register_op("x y", gradient=lambda ct, r, x, y: ct)
    def half(x, y):
        return x + y

    with pytest.raises(
        Exception, match=r"lying: the function gave float32 \[3\]; `shapes` said float32 \[2\]"
    ):
        lying(x).numpy()
    with pytest.raises(ValueError, match="half: gradient: it gave 1 gradients for 2 arrays"):
        half(x, x).sum().backward()


def test_the_text_of_a_public_function_can_be_seen(paddle):
    source_of = paddle_jax._core.ops.generated_source.source_of
    text = source_of(paddle_jax.clip)
    assert (
        text.startswith("def clip(x=_d_x, min=_d_min, max=_d_max") and source_of(paddle_jax.clip.op) == text
    )
    compile(text, "<clip>", "exec")


@paddle_jax.register_op("x")
def host_steps(x, limit=1.0):
    """A function on the host that keeps the attribute, and decides by it."""
    return jax.pure_callback(
        lambda values: np.asarray(values) * np.float32(limit) if limit > 2 else np.asarray(values), x, x
    )


@paddle_jax.register_op("x")
def half_on_host(x, limit=1.0):
    """A function on the host that keeps a number made of the attribute."""
    half = limit / 2
    return jax.pure_callback(lambda values: np.asarray(values) * np.float32(half), x, x)


@pytest.mark.parametrize(
    ("operation", "expected"), [(host_steps, [1.0, 3.0, 1.0, 4.0]), (half_on_host, [0.5, 1.5, 1.0, 2.0])]
)
def test_numbers_that_functions_of_the_host_keep(paddle, operation, expected):
    """Each call has another value, so the number might become an operand."""
    found = [operation(paddle.ones([1]), limit).item() for limit in (1.0, 3.0, 2.0, 4.0)]
    assert found == expected


@paddle_jax.register_op("x")
def with_slope(x, slope=1.0):
    """The identity, whose own gradient is the attribute."""

    @jax.custom_vjp
    def same(x):
        return x

    same.defvjp(lambda x: (x, None), lambda _, ct: (ct * slope,))
    return same(x)


def test_numbers_that_gradients_keep(paddle):
    for slope in (1.0, 3.0, 2.0, 4.0):
        x = paddle.ones([1])
        x.stop_gradient = False
        with_slope(x, slope).backward()
        assert x.grad.tolist() == [slope]
