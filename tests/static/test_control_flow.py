"""cond, case, switch_case and while_loop: in static programs as the real Paddle, in dynamic mode and inside
compiled functions the same."""

import numpy as np
import pytest

import paddle_jax
from tests.static.engines import Built, close

pytestmark = pytest.mark.own_process
X = np.array([1.0, -2.0, 3.0], "float32")


def cases(m):
    nn = m.static.nn
    return {
        "cond": lambda p, i, x: nn.cond(p, lambda: x + 1, lambda: x * 2),
        "cond of several": lambda p, i, x: nn.cond(p, lambda: (x + 1, x.sum()), lambda: (x * 2, x.max())),
        "cond of a dict": lambda p, i, x: nn.cond(p, lambda: {"a": x + 1}, lambda: {"a": x - 1})["a"],
        "nested": lambda p, i, x: nn.cond(
            p, lambda: nn.cond(x.sum() > 0, lambda: x * 5, lambda: x), lambda: x * 2
        ),
        "nothing": lambda p, i, x: nn.cond(p, None, None),
        "case": lambda p, i, x: nn.case([(x.sum() > 100, lambda: x), (p, lambda: x * 2)], lambda: x * 3),
        "case without default": lambda p, i, x: nn.case([(p, lambda: x * 1), (x.sum() > 0, lambda: x * 2)]),
        "switch": lambda p, i, x: nn.switch_case(i, [lambda: x * 1, lambda: x * 2, lambda: x * 3]),
        "switch dict": lambda p, i, x: nn.switch_case(i, {0: lambda: x * 1, 5: lambda: x * 2}, lambda: x * 7),
        "switch pairs": lambda p, i, x: nn.switch_case(i, [(3, lambda: x * 1), (1, lambda: x * 2)]),
        "while": lambda p, i, x: nn.while_loop(
            lambda k, v: (k < 4).all(), lambda k, v: [k + 1, v * 2], [i * 1, x * 1]
        )[1],
        "while of a dict": lambda p, i, x: nn.while_loop(
            lambda k, v: (k < 4).all(), lambda k, v: [k + 1, {"a": v["a"] + x}], [i * 1, {"a": x * 1}]
        )[1]["a"],
        "while in cond": lambda p, i, x: nn.cond(
            p,
            lambda: nn.while_loop(
                lambda k, v: (k < 3).all(), lambda k, v: [k + 1, v + k.astype("float32")], [i * 1, x * 1]
            )[1],
            lambda: x * 2,
        ),
        "one long step": lambda p, i, x: nn.while_loop(  # XLA ran none
            lambda k, v: k < 1, lambda k, v: [k + 2, v * 2], [m.zeros([], "int64"), x * 1]
        )[1],
        "no step": lambda p, i, x: nn.while_loop(
            lambda k, v: (k > 99).all(), lambda k, v: [k + 1, v * 2], [i * 1, x * 1]
        )[1],
    }


NAMES = list(cases(paddle_jax))
FEEDS = [
    {"p": np.array([p]), "i": np.array([i], "int32"), "x": X} for p, i in ((True, 0), (False, 1), (False, 9))
]


@pytest.mark.parametrize("name", NAMES)
def test_as_the_real_paddle(name, oracle):
    def build(m):
        data = m.static.data
        out = cases(m)[name](data("p", [1], "bool"), data("i", [1], "int32"), data("x", [None]))
        return [] if out is None else list(out) if isinstance(out, tuple | list) else [out]

    theirs, mine = Built(oracle, build), Built(paddle_jax, build)
    for feed in FEEDS:
        close(mine.run(feed), theirs.run(feed))


COMPILED = ("nested", "case", "switch", "while")


@pytest.mark.parametrize(
    ("name", "compiled"), [*[(name, False) for name in NAMES], *[(name, True) for name in COMPILED]]
)
def test_the_same_with_values(name, compiled):
    """In dynamic mode, and inside a compiled function, the results and gradients of a program."""

    def build(m):
        p, i, x = (
            m.static.data("p", [1], "bool"),
            m.static.data("i", [1], "int32"),
            m.static.data("x", [None]),
        )
        x.stop_gradient = False
        out = cases(m)[name](p, i, x)
        outs = [] if out is None else list(out) if isinstance(out, tuple | list) else [out]
        return [*outs, *m.static.gradients(sum(o.sum() for o in outs), x)] if outs else []

    program = Built(paddle_jax, build)
    for feed in FEEDS:
        p, i, x = (paddle_jax.to_tensor(feed[n]) for n in "pix")
        x.stop_gradient = False
        function = cases(paddle_jax)[name]
        out = (paddle_jax.jit.to_static(function, full_graph=True) if compiled else function)(p, i, x)
        outs = [] if out is None else list(out) if isinstance(out, tuple | list) else [out]
        grads = paddle_jax.grad(sum(o.sum() for o in outs), [x]) if outs else []
        want = program.run(feed)
        assert len(want) == len(outs) + len(grads)
        for got, value in zip([*outs, *grads], want, strict=True):
            np.testing.assert_allclose(got.numpy(), value, rtol=1e-6)


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("outer", [False, True], ids=["known state", "fed state"])
@pytest.mark.parametrize(
    ("dtype", "shape", "assigned"), [("int64", [1], False), ("int32", [], True), ("float32", [1], False)]
)
def test_a_counter_that_nothing_fed_decides(dtype, shape, assigned, outer, gradient):
    """Whether the loop goes on is known while the program is compiled; what it computes is not, or is
    not wanted then."""

    def build(m):
        x = m.static.data("x", [2, 2])
        x.stop_gradient = False
        i, n = (m.assign(np.full(shape, v, dtype)) if assigned else m.full(shape, v, dtype) for v in (0, 5))
        doubled = x * 2
        start = doubled if outer else m.full([2, 2], 1.0)
        i, last = m.static.nn.while_loop(lambda k, v: k < n, lambda k, v: [k + 1, v * 2], [i, start])
        loss = (last * doubled).sum()
        return [i, last, loss, *(m.static.gradients([loss], [x]) if gradient else [])]

    x = np.arange(4, dtype="float32").reshape(2, 2)
    last = 2**5 * (2 * x if outer else np.ones_like(x))
    derivative = 2**6 * (4 * x if outer else np.ones_like(x))
    want = [np.full(shape, 5, dtype), last, (last * 2 * x).sum(), *([derivative] if gradient else [])]
    close(Built(paddle_jax, build).run({"x": x}), want)


REFUSED = {
    "arity": lambda nn, p, i, x: nn.cond(p, lambda: (x, x), lambda: x),
    "one is None": lambda nn, p, i, x: nn.cond(p, lambda: x, None),
    "dtypes": lambda nn, p, i, x: nn.cond(p, lambda: x, lambda: x.astype("int64")),
    "float condition": lambda nn, p, i, x: nn.cond(x.sum(), lambda: x, lambda: x),
    "Python condition": lambda nn, p, i, x: nn.cond(True, lambda: x, lambda: x),
    "no function": lambda nn, p, i, x: nn.cond(p, x, lambda: x),
    "number kinds": lambda nn, p, i, x: nn.cond(p, lambda: 1, lambda: 2.0),
    "empty loop": lambda nn, p, i, x: nn.while_loop(lambda: p, lambda: [], []),
    "loop of one": lambda nn, p, i, x: nn.while_loop(lambda k: k < 1, lambda k: k, i),
    "test of two": lambda nn, p, i, x: nn.while_loop(lambda v: v > 0, lambda v: [v], [x]),
    "loop test": lambda nn, p, i, x: nn.while_loop(3, lambda k: [k], [i]),
    "loop arity": lambda nn, p, i, x: nn.while_loop(lambda k: (k < 1).all(), lambda k: [k, k], [i]),
    "case of number": lambda nn, p, i, x: nn.case(3),
    "case of tensors": lambda nn, p, i, x: nn.case([p]),
    "case pair": lambda nn, p, i, x: nn.case([(p,)]),
    "case function": lambda nn, p, i, x: nn.case([(p, x)]),
    "case condition": lambda nn, p, i, x: nn.case([(3, lambda: x)]),
    "empty case": lambda nn, p, i, x: nn.case([]),
    "case default": lambda nn, p, i, x: nn.case([(p, lambda: x)], default=3),
    "switch twice": lambda nn, p, i, x: nn.switch_case(i, [(0, lambda: x), (0, lambda: x)]),
    "switch float": lambda nn, p, i, x: nn.switch_case(x, [lambda: x]),
    "switch number": lambda nn, p, i, x: nn.switch_case(3, [lambda: x]),
    "switch of number": lambda nn, p, i, x: nn.switch_case(i, 3),
    "switch key": lambda nn, p, i, x: nn.switch_case(i, [("a", lambda: x)]),
    "switch function": lambda nn, p, i, x: nn.switch_case(i, [(0, x)]),
    "switch default": lambda nn, p, i, x: nn.switch_case(i, {0: lambda: x}, default=3),
    "switch arity": lambda nn, p, i, x: nn.switch_case(i, [lambda: x, lambda: (x, x)]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, oracle):
    errors = []
    for engine in (oracle, paddle_jax):
        engine.enable_static()
        main, S = engine.static.Program(), engine.static
        with S.program_guard(main):
            try:
                errors.append(
                    REFUSED[name](S.nn, S.data("p", [1], "bool"), S.data("i", [1], "int32"), S.data("x", [2]))
                )
            except Exception as error:
                errors.append(error)
        engine.disable_static()
    want, got = errors
    assert isinstance(want, Exception)
    assert isinstance(got, type(want)), repr(got)


def test_second_gradients_through_a_loop(static):
    S, main, _ = static
    x = S.data("x", [2])
    x.stop_gradient = False
    _, power = S.nn.while_loop(
        lambda k, v: (k < 3).all(), lambda k, v: [k + 1, v * x], [paddle_jax.zeros([1], "int32"), x * 1]
    )
    (first,) = S.gradients(power, x)
    (second,) = S.gradients(first, x)
    value = np.array([2.0, -1.0], "float32")
    got = S.Executor().run(main, {"x": value}, [power, first, second])
    for a, b in zip(got, [value**4, 4 * value**3, 12 * value**2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_branches_change_what_is_outside(static):
    S, main, startup = static
    count = S.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    p, x = S.data("p", [1], "bool"), S.data("x", [2])
    kept = x * 1

    def counted():
        count.add_(paddle_jax.ones([1]))
        kept.add_(x)
        return x * 2

    out = S.nn.cond(p, counted, lambda: x * 3)
    exe = S.Executor()
    exe.run(startup)
    results = [exe.run(main, {"p": np.array([p]), "x": X[:2]}, [out, kept]) for p in (True, False, True)]
    assert np.array(S.global_scope().find_var("count").get_tensor()).tolist() == [2.0]
    assert [r[1].tolist() for r in results] == [[2, -4], [1, -2], [2, -4]]


def test_a_loop_that_trains_inside(static):
    """Parameters that a body reads get gradients."""
    S, main, startup = static
    w = S.create_parameter([2, 2], "float32", default_initializer=paddle_jax.nn.initializer.Constant(0.5))
    x = S.data("x", [1, 2])
    _, out = S.nn.while_loop(
        lambda k, v: (k < 2).all(), lambda k, v: [k + 1, v @ w], [paddle_jax.zeros([1], "int32"), x * 1]
    )
    ((_, grad),) = S.append_backward(out.sum())
    exe = S.Executor()
    exe.run(startup)
    a = np.full((2, 2), 0.5)
    v, ones = np.array([[1.0, 3.0]]), np.ones((1, 2))
    want = v.T @ (ones @ a.T) + (v @ a).T @ ones
    np.testing.assert_allclose(exe.run(main, {"x": v.astype("float32")}, [grad])[0], want, rtol=1e-6)


def test_shapes_that_hang_on_the_branch_or_the_step(static):
    S, main, _ = static
    p, x = S.data("p", [1], "bool"), S.data("x", [None])
    branch = S.nn.cond(p, lambda: x, lambda: paddle_jax.zeros([5]))
    _, grown = S.nn.while_loop(
        lambda k, v: (k < 2).all(),
        lambda k, v: [k + 1, paddle_jax.concat([v, v])],
        [paddle_jax.zeros([1], "int32"), x],
    )
    assert branch.shape == [-1] and grown.shape == [-1]
    out = S.Executor().run(main, {"p": np.array([False]), "x": X}, [branch, grown])
    assert out[0].shape == (5,) and out[1].tolist() == [*X.tolist()] * 4


def test_random_numbers_in_a_loop_and_a_branch(static):
    S, main, _ = static
    p = S.data("p", [1], "bool")
    drawn = S.nn.cond(p, lambda: paddle_jax.rand([50]), lambda: paddle_jax.zeros([50]))
    exe = S.Executor()
    runs = [exe.run(main, {"p": np.array([v])}, [drawn])[0] for v in (True, True, False)]
    assert (runs[0] != runs[1]).any() and (runs[2] == 0).all() and ((runs[0] >= 0) & (runs[0] < 1)).all()


def test_gradients_through_what_a_loop_changes_in_place(static):
    """A sum that starts as a constant: each step adds y."""
    S, main, _ = static
    y = S.data("y", [2])
    y.stop_gradient = False
    total = paddle_jax.zeros([2])

    def body(i):
        paddle_jax.assign(total + y * y, output=total)
        return [i + 1]

    S.nn.while_loop(lambda i: i < 3, body, [paddle_jax.zeros([1], "int64")])
    (grad,) = S.gradients([total.sum()], [y])
    value = np.array([1.5, -2.0], "float32")
    got = S.Executor().run(main, {"y": value}, [total, grad])
    np.testing.assert_allclose(got, [3 * value**2, 6 * value], rtol=1e-6)


def test_numbers_among_loop_variables(static):
    """One that stays is given back as it is, as the real Paddle does; one that changes becomes a Variable."""
    S, main, _ = static
    _, kept, counted = S.nn.while_loop(
        lambda i, k, n: i < 3, lambda i, k, n: [i + 1, k, n + 2], [paddle_jax.zeros([1], "int64"), 7, 1]
    )
    assert kept == 7 and isinstance(kept, int)
    assert S.Executor().run(main, {}, [counted])[0] == 7


def test_layers_inside_a_loop_of_which_shapes_are_found_out(static):
    """The body is recorded again with lengths that are not known; its parameters are the same."""
    S, main, startup = static
    x = S.data("x", [1, 3])
    _, grown = S.nn.while_loop(
        lambda i, v: i < 2,
        lambda i, v: [i + 1, paddle_jax.concat([v, S.nn.fc(v, 3, weight_attr="shared_w")])],
        [paddle_jax.zeros([1], "int64"), x],
    )
    assert sorted(p.name for p in main.all_parameters()) == ["fc_0.b_0", "shared_w"]
    exe = S.Executor()
    exe.run(startup)
    assert exe.run(main, {"x": np.ones((1, 3), "float32")}, [grown])[0].shape == (4, 3)


@pytest.mark.parametrize(
    "pair",
    [lambda a, b: ((a, b), [b, a]), lambda a, b: ({"a": a, "b": b}, {"c": b, "d": a})],
    ids=["tuple and list", "dicts"],
)
def test_branches_of_other_containers(pair, oracle):
    """The structure of true_fn counts."""

    def build(m):
        p, x = m.static.data("p", [1], "bool"), m.static.data("x", [2])
        yes, no = pair(x * 2, x * 3)
        out = m.static.nn.cond(p, lambda: yes, lambda: no)
        return list(out.values() if isinstance(out, dict) else out)

    theirs, mine = Built(oracle, build), Built(paddle_jax, build)
    for p in (True, False):
        feed = {"p": np.array([p]), "x": X[:2]}
        close(mine.run(feed), theirs.run(feed))


def test_a_layer_used_twice_and_branches_in_a_clone_for_test(static):
    """A normalisation that both uses share has the running statistics in both; nothing is dropped in branches
    and loops."""
    S, main, startup = static
    x, p = S.data("x", [4, 3]), S.data("p", [1], "bool")
    norm, drop = paddle_jax.nn.BatchNorm1D(3), paddle_jax.nn.functional.dropout
    twice = norm(norm(x))
    branch = S.nn.cond(p, lambda: norm(drop(x, 0.5)), lambda: x)
    _, looped = S.nn.while_loop(
        lambda i, v: i < 2, lambda i, v: [i + 1, drop(v, 0.5)], [paddle_jax.zeros([1], "int64"), x]
    )
    test = main.clone(for_test=True)
    exe = S.Executor()
    exe.run(startup)
    value = np.arange(12, dtype="float32").reshape(4, 3) + 1
    feed = {"x": value, "p": np.array([True])}
    scale = (1 + 1e-5) ** -0.5  # running statistics start as 0 and 1
    for _ in range(2):
        got = exe.run(test, feed, [twice, branch, looped, norm._mean])
        for array, want in zip(got, [value * scale**2, value * scale, value, np.zeros(3)], strict=True):
            np.testing.assert_allclose(array, want, rtol=1e-6)
    *_, mean = exe.run(main, feed, [twice, branch, looped, norm._mean])
    assert (mean != 0).all()
