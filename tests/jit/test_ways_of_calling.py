"""A compiled function called by position, by name and with defaults, in turn: what a plain function gives,
and words for what differs."""

import itertools
import subprocess
import sys

import pytest

import paddle_jax as paddle


def scaled(x, n=2, *rest, flag=False, **more):
    y = x * n
    for value in (*rest, *more.values()):
        y = y + value
    return -y if flag else y


CALLS = [
    "x",
    "x, 3",
    "x, n=3",
    "n=3, x=x",
    "x=x",
    "x, 3, 4",
    "x, 3, x",
    "x, 3, x, flag=True",
    "x, flag=True",
    "x, a=1",
    "x, b=1, a=x",
    "x, a=x, b=1",
    "x, n=2.5",
]


def called(function, arguments):
    return eval(f"f({arguments})", {"f": function, "x": paddle.to_tensor([1.0, -2.0])}).tolist()


# A function with more than 9 signatures compiles a new one at its second call only: two groups have 9.
GROUPS = [CALLS[k::3] for k in range(3)]
MIXED = [first + second for first, second in itertools.combinations(GROUPS, 2)]


@pytest.mark.parametrize("calls", [*MIXED, *[calls[::-1] for calls in MIXED]], ids=" ".join)
@pytest.mark.filterwarnings("ignore:scaled has been compiled for 9 signatures")
def test_every_way_after_every_other(calls):
    """Each way is new while those before it are known, in both orders; then any two follow each other."""
    compiled = paddle.jit.to_static(scaled)
    expected = {arguments: called(scaled, arguments) for arguments in calls}
    for arguments in (*calls, *itertools.chain(*itertools.product(calls, repeat=2))):
        assert called(compiled, arguments) == expected[arguments], arguments
    assert len(compiled.program_cache) == len(calls)


def reasons(*calls):
    """The reasons for which a function is compiled in some calls, but for the first."""
    paddle.set_flags({"FLAGS_deferred_min_repeats": 1})  # another number is compiled at once
    paddle.explain(reset=True)
    compiled = paddle.jit.to_static(scaled)
    for arguments in calls:
        assert called(compiled, arguments) == called(scaled, arguments)
    return [event for event in paddle.explain().events if "to_static: compiled" in event][1:]


@pytest.mark.parametrize("name", ["n", "t", "s"])
def test_the_reason_names_an_argument_of_any_name(name):
    (reason,) = reasons(f"x, {name}=2", f"x, {name}=3")
    assert f"{name} is 3, before 2" in reason
    (reason,) = reasons(f"x, {name}=2", f"x, {name}=x")
    assert f"{name} is of another kind" in reason


def test_the_reason_is_another_order_of_arguments():
    calls = "x=x, a=x + 1", "a=x + 1, x=x", "a=x, x=x"
    for first, second in itertools.permutations(calls, 2):
        (reason,) = reasons(first, second)
        assert "order of the arguments" in reason


def test_compiles_in_a_program_started_with_the_alias(tmp_path):
    (tmp_path / "program.py").write_text("""
import paddle

@paddle.jit.to_static
def positive(x, n=2):
    if x.sum() > 3:
        x = x * n
    return x

print(positive(paddle.ones([4])).tolist(), positive(paddle.ones([4]), n=3).tolist(), positive(paddle.ones([2]), 3).tolist())
""")  # noqa: E501
    command = [sys.executable, "-W", "error::UserWarning:__main__", "-m", "paddle_jax", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout == "[2.0, 2.0, 2.0, 2.0] [3.0, 3.0, 3.0, 3.0] [1.0, 1.0]\n", done.stderr
    assert "op by op" not in done.stderr


class Scaled(paddle.nn.Layer):
    """A Layer with a number and a counter."""

    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(3, 2, weight_attr=paddle.nn.initializer.Constant(0.5))
        self.scale = 2.0
        self.register_buffer("calls", paddle.zeros([1]))

    def forward(self, x):
        self.calls += 1
        if x.sum() > 100:
            x = x / 100
        return self.linear(x) * self.scale


def losses(layer, compiled):
    optimizer = paddle.optimizer.SGD(0.01, parameters=layer.parameters())

    def step(x):
        loss = (layer(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    step = paddle.jit.to_static(step) if compiled else step
    found = []
    for scale, length in ((2.0, 4), (2.0, 4), (3.0, 4), (3.0, 2), (3.0, 200)):
        layer.scale = scale
        found.append(step(paddle.ones([length, 3])).item())
    if compiled:
        assert len(step.program_cache) == 2  # for another scale; other lengths have come once only
    return [*found, layer.calls.item()]


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_compiled_layer_is_a_part_of_a_compiled_step():
    eager, compiled = losses(Scaled(), False), losses(paddle.jit.to_static(Scaled()), True)
    assert compiled == pytest.approx(eager, rel=1e-5)
