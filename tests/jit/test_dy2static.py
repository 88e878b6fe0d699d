"""Compiled branches and loops called alone, and what converted code does besides computing."""

import pathlib
import tomllib
import uuid

import jax
import numpy as np
import pytest

from paddle_jax.jit import dy2static
from paddle_jax.jit.dy2static import cond, convert, switch, while_loop

# functions over Tensors -------------------------------------------------------------------------------------


def in_both(paddle, function, *arguments):
    """Results and gradients, eager and compiled."""
    found = []
    for call in (function, paddle.jit.to_static(function, full_graph=True)):
        given = [paddle.to_tensor(a, stop_gradient=False) for a in arguments]
        out = call(*given)
        out.sum().backward()
        found.append([out.numpy(), *[t.grad.numpy() for t in given]])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_cond_while_loop_and_switch(paddle):
    weight = paddle.to_tensor([3.0, 4.0], stop_gradient=False)

    def function(x):
        y = cond(x.sum() > 0, lambda: x * weight, lambda: x)
        _, y = while_loop(
            lambda i, y: i < x.max(), lambda i, y: [i + 1, y * weight.tanh()], [paddle.zeros([]), y]
        )
        return switch(x.max().astype("int32"), [lambda: y, lambda: y * y, lambda: y * x, lambda: y - x])

    for value in ([1.0, 2.0], [1.0, -3.0], [-1.0, -2.0], [7.0, 0.0]):
        weight.clear_gradient(False)
        in_both(paddle, function, np.array(value, "f4"))
    with pytest.warns(UserWarning, match="runs op by op, .* Tensor of float32"):
        paddle.jit.to_static(
            lambda x: cond(x > 0, lambda: paddle.ones([2]), lambda: paddle.ones([3])), full_graph=True
        )(paddle.to_tensor(1.0))


def test_branches_under_functional_transforms(paddle):
    def function(x):
        return cond(x > 0, lambda: x**3, lambda: x * 2)

    x = paddle.to_tensor([2.0, -1.0])
    np.testing.assert_allclose(paddle.func.vmap(function)(x).numpy(), [8.0, -2.0])
    np.testing.assert_allclose(
        paddle.func.vmap(paddle.func.grad(paddle.func.grad(function)))(x).numpy(), [12.0, 0.0]
    )


# random numbers, printing, checks ---------------------------------------------------------------------------


def test_random_numbers_in_branches_are_those_of_eager_execution(paddle):
    def function(x):
        first = paddle.rand([2])
        y = x + paddle.rand([2]) if x.sum() > 0 else x - paddle.rand([2])
        return [first, y, paddle.rand([2])]

    call = paddle.jit.to_static(function, full_graph=True)
    for sign in (1.0, -1.0):
        found = []
        for run in (function, call):
            paddle.seed(5)
            found.append([t.numpy() for _ in range(2) for t in run(paddle.full([2], sign))])
        np.testing.assert_array_equal(found[0], found[1])


def test_random_numbers_in_loops_differ_from_step_to_step(paddle):
    def function(x):
        found, i = paddle.zeros([6, 2, 50]), 0
        while i < x.sum():
            found[i, 0] = paddle.rand([50])
            j = paddle.zeros([])
            while j < 1:
                found[i, 1] = paddle.nn.functional.dropout(x[0] * paddle.rand([50]), 0.5)
                j = j + 1
            i = i + 1
        return found, paddle.rand([50])

    call = paddle.jit.to_static(function, full_graph=True)
    x = paddle.to_tensor([1.0, 5.0])
    paddle.seed(1)
    (first, after), (second, _) = call(x), call(x)
    paddle.seed(1)
    again, _ = call(x)
    np.testing.assert_array_equal(first.numpy(), again.numpy())
    rows = np.concatenate(
        [first.numpy().reshape(12, 50), second.numpy().reshape(12, 50), after.numpy()[None]]
    )
    nonzero = [row[row > 0] for row in rows]
    assert len(np.unique(np.concatenate(nonzero))) == sum(map(len, nonzero))  # no number twice
    dropped = (first.numpy()[:, 1] == 0).mean()
    assert 0.35 < dropped < 0.65 and (first.numpy()[:, 0] > 0).all()


def test_prints_when_the_program_comes_to_it(paddle, capsys):
    def function(x):
        if x.sum() > 0:
            print("positive", x, x.max(), sep="; ")
            x = x * x
        else:
            print("negative")
        return x

    call = paddle.jit.to_static(function, full_graph=True)
    for sign in (1.0, -1.0, 1.0):
        value = paddle.to_tensor([sign, 2 * sign], stop_gradient=False)
        function(value).sum().backward()
        expected = capsys.readouterr().out
        call(value).sum().backward()  # what backward computes again does not print again
        jax.effects_barrier()
        assert capsys.readouterr().out == expected


def test_failed_assertion_arrives_where_a_result_is_looked_at(paddle, capfd):
    def function(x):
        y = x
        while y.sum() < 10:
            assert y.max() < 4, f"too large for shape {x.shape}"
            y = y + x
        return y

    call = paddle.jit.to_static(function, full_graph=True)
    assert call(paddle.to_tensor([5.0, 5.0])).tolist() == [5.0, 5.0]
    with pytest.raises(AssertionError, match="too large for shape"):
        call(paddle.to_tensor([0.5, 3.0])).tolist()
    assert call(paddle.to_tensor([2.0, 3.0])).tolist() == [4.0, 6.0]


def test_exception_in_a_branch_is_raised_when_the_branch_is_taken(paddle, capfd):
    class Invalid(Exception):
        pass

    net = paddle.nn.BatchNorm1D(2)

    def function(x):
        y = net(x)
        if paddle.isnan(x).any():
            raise Invalid("not a number")
        if x.sum() > 10:
            return y + paddle.ones([3])
        return y * 2

    call = paddle.jit.to_static(function, full_graph=True)
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 1.0]])
    np.testing.assert_allclose(call(x).numpy(), function(x).numpy(), rtol=1e-5)
    before = net._mean.numpy()
    with pytest.raises(Invalid, match="not a number"):
        call(paddle.full([2, 2], float("nan"))).numpy()
    with pytest.raises(ValueError, match="add"):
        call(x * 10).numpy()
    np.testing.assert_array_equal(net._mean.numpy(), before)  # a call that fails has changed nothing

    def catching(x):
        try:
            if x.sum() > 0:
                raise Invalid
            return x
        except Invalid:
            return x * 2

    with pytest.raises(RuntimeError, match="raises Invalid"):
        paddle.jit.to_static(catching, full_graph=True)(x)


# conversion -------------------------------------------------------------------------------------------------


def halved(x, by=2, *, more=0):
    """Halves."""
    if x > 0:
        return x / by + more
    return x


halved.tag = "kept"


def test_converted_functions_keep_what_they_were(paddle):
    made = convert(halved)
    assert (made.__name__, made.__doc__, made.__module__, made.tag) == ("halved", "Halves.", __name__, "kept")
    assert made.__defaults__ == (2,) and made.__kwdefaults__ == {"more": 0}
    assert made(paddle.to_tensor(4.0), more=1).item() == 3.0
    assert (
        made.__code__.co_filename == __file__
        and made.__code__.co_firstlineno == halved.__code__.co_firstlineno
    )


def test_errors_show_the_users_line(paddle):
    def function(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x
        return y + undefined_name  # noqa: F821  this line

    call = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(NameError) as error:
        call(paddle.ones([2]))
    last = error.traceback[-1]
    assert str(last.path) == __file__ and "this line" in str(last.statement)


def test_marked_and_ignored_functions_stay_as_they_are(paddle):
    @paddle.jit.not_to_static
    def marked(x):
        return x if x.sum() > 0 else -x

    def caller(x):
        if x.sum() > 0:
            x = x + 1
        return marked(x)

    with pytest.raises(RuntimeError, match="depends on the value"):
        paddle.jit.to_static(caller, full_graph=True)(paddle.ones([2]))
    # a module that no other test ignores
    library = f"library_{uuid.uuid4().hex}"
    other = {"__name__": f"{library}.part"}
    exec("def plain(x):\n    return x if x.sum() > 0 else -x", other)  # noqa: S102
    with pytest.raises(RuntimeError, match="plain .* cannot be converted"):
        paddle.jit.to_static(other["plain"], full_graph=True)(paddle.ones([1]))
    dy2static.ignore([library])
    assert convert(other["plain"])(paddle.ones([1])).item() == 1.0


def test_a_plain_install_converts():
    project = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    assert "diastatic-malt" in tomllib.loads(project.read_text())["project"]["dependencies"]


def test_converted_code_is_shown(paddle, capsys):
    def function(x):
        return x if x > 0 else -x

    paddle.jit.set_code_level(100, also_to_stdout=True)
    try:
        convert(function)
    finally:
        paddle.jit.set_code_level(0)
    assert "ag__.if_exp" in capsys.readouterr().out
    convert(lambda x: x if x > 1 else -x)
    assert capsys.readouterr().out == ""


def test_statements_that_cannot_be_converted_are_named(paddle):
    def matching(x):
        if x.sum() > 0:
            x = x * 2
        match x.ndim:
            case 1:
                return x
        return -x

    def asking(x):
        while (y := x.sum()) > 0:
            x = x - 1
        return y

    for function, text in ((matching, "match"), (asking, "assigns a variable")):
        with pytest.raises(RuntimeError, match=text):
            paddle.jit.to_static(function, full_graph=True)(paddle.ones([2]))
