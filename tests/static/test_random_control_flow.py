"""Random programs of nested branches and loops, which also change Tensors in place: as static Programs,
against the same code run step by step."""

import contextlib
import random

import numpy as np
import pytest

import paddle_jax as paddle

VALUES = np.array([[0.3, -0.4, 0.9], [-0.3, -0.4, -0.9]], "float32")
EXPRESSIONS = (
    "{a} * 0.5 + {b}",
    "paddle.tanh({a}) - {b}",
    "{a} * paddle.cos({b})",
    "paddle.maximum({a}, {b})",
    "{a}[paddle.to_tensor([2, 0, 1])] * 0.9",
    "paddle.concat([{a}[:1], {b}[1:]])",
)


class Text:
    """The text of a function `fn(x)` on vectors of three numbers."""

    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0
        self.lines = ["def fn(x):", "    y = x * 1.5", "    t = paddle.zeros([3])"]
        names = self.block(2, self.block(2, ["x", "y", "t"], 1), 1)
        self.lines.append(f"    return {' + '.join(names[-3:])} + y + t")

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def expression(self, names):
        a, b = self.random.choice(names), self.random.choice(names)
        return self.random.choice(EXPRESSIONS).format(a=a, b=b)

    def block(self, depth, names, indent):
        """Adds some statements; gives the names that there are after them."""
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice(["new", "assign", "cond", "while_loop"] if depth else ["new", "assign"])
            names = names + getattr(self, kind)(depth - 1, names, indent)
        return names

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def new(self, depth, names, indent):
        name = self.name()
        self.line(indent, f"{name} = {self.expression(names)}")
        return [name]

    def assign(self, depth, names, indent):
        self.line(indent, f"paddle.assign({self.expression(names)}, output={self.random.choice(names[1:])})")
        return []

    def cond(self, depth, names, indent):
        yes, no, one, two = (self.name() for _ in range(4))
        test = f"{self.random.choice(names)}.sum() > {self.random.choice([0, 0.5, -1])}"
        for branch in (yes, no):
            self.line(indent, f"def {branch}():")
            inner = self.block(depth, names, indent + 1)
            self.line(indent + 1, f"return {self.random.choice(inner)}, {self.random.choice(inner)}")
        self.line(indent, f"{one}, {two} = nn.cond({test}, {yes}, {no})")
        return [one, two]

    def while_loop(self, depth, names, indent):
        body, state, last = (self.name() for _ in range(3))
        self.line(indent, f"def {body}(i, {state}):")
        inner = self.block(depth, [*names, state], indent + 1)
        self.line(indent + 1, f"return paddle.increment(i), {self.random.choice(inner)} * 0.7 + 0.1")
        self.line(indent, f"_, {last} = nn.while_loop(lambda i, v: i < {self.random.randint(0, 3)}, {body},")
        self.line(indent, f"                      (paddle.zeros([1], 'int64'), {self.random.choice(names)}))")
        return [last]


class Steps:
    """cond and while_loop as Python runs them. What comes in and goes out are values of their own, as in a
    program."""

    def cond(pred, yes, no):
        return [t.clone() for t in (yes if pred else no)()]

    def while_loop(test, body, state):
        state = [t.clone() for t in state]
        while test(*state):
            state = [t.clone() for t in body(*state)]
        return state


@contextlib.contextmanager
def static(engine):
    """Static mode."""
    engine.enable_static()
    try:
        yield
    finally:
        engine.disable_static()


@pytest.mark.own_process
@pytest.mark.parametrize("seed", range(8))
def test_as_step_by_step(seed):
    space = {"paddle": paddle, "nn": Steps}
    exec("\n".join(Text(seed).lines), space)
    want = []
    for value in VALUES:
        x = paddle.to_tensor(value, stop_gradient=False)
        out = space["fn"](x)
        want.append([out.numpy(), paddle.grad(out.sum(), [x])[0].numpy()])
    space["nn"] = paddle.static.nn
    with static(paddle):
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [3])
            x.stop_gradient = False
            out = space["fn"](x)
            fetches = [out, *paddle.static.gradients([out.sum()], [x])]
        for value, expected in zip(VALUES, want, strict=True):
            got = paddle.static.Executor().run(main, {"x": value}, fetches)
            for array, other in zip(got, expected, strict=True):
                np.testing.assert_allclose(array, other, rtol=2e-4, atol=1e-5)


@pytest.mark.own_process
@pytest.mark.parametrize("seed", range(20, 24))
def test_in_files(seed, oracle, tmp_path):
    """Both engines read from a file what the program does."""
    prefix = str(tmp_path / "m")
    space = {"paddle": paddle, "nn": paddle.static.nn}
    exec("\n".join(Text(seed).lines), space)
    with static(paddle), paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x, exe = paddle.static.data("x", [3]), paddle.static.Executor()
        out = space["fn"](x)
        want = [exe.run(feed={"x": value}, fetch_list=[out])[0] for value in VALUES]
        paddle.static.save_inference_model(prefix, [x], [out], exe)
    for engine in (paddle, oracle):
        with static(engine):
            exe = engine.static.Executor()
            program, _, fetches = engine.static.load_inference_model(prefix, exe)
            for value, array in zip(VALUES, want, strict=True):
                (got,) = exe.run(program, feed={"x": value}, fetch_list=fetches)
                np.testing.assert_allclose(got, array, rtol=2e-4, atol=1e-5)
