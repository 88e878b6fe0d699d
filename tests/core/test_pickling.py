"""What can be pickled and deep-copied: all that Paddle's users put into checkpoints, queues and copies; as
`paddle_jax` and as `paddle`."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.base import errors
from paddle_jax._core.lazy import symbol
from paddle_jax._core.runner import compiled_segment
from paddle_jax._core.runner.after_fork import ForkedError
from paddle_jax._core.tensors.place import make
from paddle_jax.framework.pickle_names import CorruptFileError, ForbiddenError

# Expressions whose copies must be equal to them, or have the same text where objects have no equality.
# places of devices that this machine lacks; their constructors refuse these
ELSEWHERE = "__import__('paddle_jax._core.tensors.place', fromlist=['make']).make"
EQUAL = (
    "x.shape",
    "x.shape[0:1]",
    "x.size",
    "x.size()",
    "x.strides",
    "x.dtype",
    "paddle.bfloat16",
    "x.place",
    "paddle.CPUPlace()",
    f"{ELSEWHERE}('gpu', 1)",
    "paddle.CUDAPinnedPlace()",
    f"{ELSEWHERE}('tpu', 2)",
    "[x.shape, {'d': x.dtype, 'p': (x.place,)}]",
    "type(x.shape)([])",
)
TEXT = (
    "x",
    "layer.weight",
    "layer.bias",
    "x * 2",
    "paddle.ones([2], 'bfloat16')",
    "paddle.zeros([0, 3], 'int32')",
    "layer",
    "layer.state_dict()",
    "optimizer.state_dict()",
    "schedule.state_dict()",
    "paddle.ParamAttr(name='a').name",
    "paddle.static.InputSpec([None, 2], 'float32', 'x')",
)
STATES = (
    "schedule",
    "paddle.optimizer.lr.ReduceOnPlateau(0.1)",
    "paddle.nn.ClipGradByGlobalNorm(1.0)",
    "paddle.regularizer.L2Decay(0.1)",
    "paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.CosineAnnealingDecay(0.1, 5), 2, 0.0, 0.1)",
)
TESTS = {
    "again == thing": EQUAL,
    "str(again) == str(thing)": TEXT,
    "repr(vars(again)).split(' at ')[0] == repr(vars(thing)).split(' at ')[0]": STATES,
}
WAYS = ("copy.deepcopy(thing)", *(f"pickle.loads(pickle.dumps(thing, {protocol}))" for protocol in (2, 4, 5)))

SETUP = """
import copy, pickle
paddle.seed(1)
layer = paddle.nn.Linear(2, 3)
schedule = paddle.optimizer.lr.StepDecay(0.5, 2)
clip = paddle.nn.ClipGradByGlobalNorm(0.5)
optimizer = paddle.optimizer.Adam(schedule, parameters=layer.parameters(), grad_clip=clip)
x = paddle.to_tensor([[1.0, 2.0]])
def train(layer, optimizer, steps):
    for _ in range(steps):
        (layer(x) ** 2).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        optimizer._learning_rate.step()
train(layer, optimizer, 3)
"""


def checks():
    """One program that asserts everything, to be run under either name of the package."""
    lines = [SETUP]
    for way in WAYS:
        for test, expressions in TESTS.items():
            lines += [
                f"thing = {each}\nagain = {way}\nassert type(again) is type(thing) and {test}, "
                f"({each!r}, again)"
                for each in expressions
            ]
    return "\n".join(lines)


def test_as_paddle_jax():
    exec(checks(), {"paddle": paddle})


@pytest.mark.slow
def test_as_paddle(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import paddle\n{checks()}\nprint('fine')")
    done = subprocess.run(
        [sys.executable, "-m", "paddle_jax", str(script)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stdout == "fine\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("aliased", [False, True])
def test_read_under_the_other_name(tmp_path, aliased):
    """Values, sizes, dtypes and places that one process writes as `paddle`, another reads without the alias,
    and the reverse."""
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    head = (
        "import sys, pickle\nimport paddle\nx = paddle.to_tensor([[1.0, 2.0]])\nthing = [x, x.shape, "
        "x.dtype, x.place, x.size]\n"
    )
    one.write_text(head + "pickle.dump(thing, open(sys.argv[1], 'wb'))")
    other.write_text(
        head + "again = pickle.load(open(sys.argv[1], 'rb'))\nassert again[1:] == thing[1:] and "
        "str(again[0]) == str(x)\nprint('fine')"
    )

    def run(aliased, script):
        if not aliased:
            script.write_text(script.read_text().replace("import paddle\n", "import paddle_jax as paddle\n"))
        command = [
            sys.executable,
            *(["-m", "paddle_jax"] if aliased else []),
            str(script),
            str(tmp_path / "file"),
        ]
        return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)

    assert run(aliased, one).stderr == ""
    assert run(not aliased, other).stdout == "fine\n"


@pytest.mark.parametrize("way", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_a_copied_optimizer_goes_on_where_the_first_stands(way):
    scope = {"paddle": paddle}
    exec(SETUP, scope)
    layer, optimizer, train = scope["layer"], scope["optimizer"], scope["train"]
    other_layer, other = way((layer, optimizer))
    assert len(other.state_dict()) == len(optimizer.state_dict())
    train(layer, optimizer, 3)
    before = [p.numpy() for p in other_layer.parameters()]
    train(other_layer, other, 3)
    for a, b, old in zip(layer.parameters(), other_layer.parameters(), before, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert (b.numpy() != old).any()


def test_in_saved_objects(tmp_path, oracle):
    """What `paddle.save` writes: sizes and numbers of elements read back here and in the real Paddle as lists
    and ints, places here."""
    x = paddle.ones([2, 3])
    name = str(tmp_path / "a.pd")
    paddle.save({"shape": x.shape, "size": x.size, "dtype": x.dtype, "nested": [x.shape], "x": x}, name)
    for module in (paddle, oracle):
        found = module.load(name)
        assert (
            found["shape"] == [2, 3]
            and found["nested"] == [[2, 3]]
            and found["size"] == 6
            and found["dtype"] == module.float32
        )
    saved = [x.place, make("gpu", 1)]
    paddle.save(saved, name)
    assert paddle.load(name) == saved


@pytest.mark.parametrize(
    "error",
    [
        errors.TracedValueError("numpy"),
        errors.TracedValueError("numpy", "do that"),
        symbol.SymbolError("x.numpy()"),
        symbol.SymbolError("a b; c"),
        errors.ArgumentError("a"),
        errors.CheckError("b"),
        ForkedError("c"),
        CorruptFileError("d"),
        ForbiddenError("e"),
    ],
)
def test_errors_reach_another_process_as_they_were(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)


@pytest.mark.parametrize(
    ("text", "said"), [("", "RuntimeError"), ("\n \n", "RuntimeError"), ("first\nsecond", "first")]
)
def test_a_failed_program_is_dropped_whatever_its_error_says(text, said):
    class Failed:
        key, where = ((1, 2), (), ()), "somewhere"

    compiled_segment.drop_failed(Failed, RuntimeError(text))
    assert (
        paddle.explain().events[-1]
        == f"failed as a compiled program, now op by op: 2 ops at somewhere: {said}"
    )
