"""Slips of the hand, line by line in the real Paddle and here: a wrong kind of argument, a batch of mixed
things, a gradient of another dtype."""

import pytest

from tests.nn.scripts import same

SCRIPTS = {
    "samples of mixed kinds": [
        "collated = paddle.io.dataloader.collate.default_collate_fn",
        "t = paddle.ones([2])",
        "g = paddle.ones([2]); g.stop_gradient = False",
        *(
            f"collated([{first}, {second}])"
            for first in ("t", "g", "np.ones(2, 'float32')", "3")
            for second in (
                "t",
                "np.ones(2, 'float32')",
                "paddle.ones([2], 'float64')",
                "paddle.ones([2], 'int64')",
                "g",
            )
            if first[0] in "tg" or second[0] == "n" and first[0] == "n"
        ),
        "collated([t, 3])",
        "collated([(t, 1), (t, 2)])",
        "(collated([g, g]) ** 2).sum().backward()",
        "g.grad",
    ],
    "gradients of another dtype": [
        "p = paddle.ones([3]); p.stop_gradient = False",
        "p.grad = paddle.ones([3], 'float64')",
        "p.grad",
        *(
            f"p.grad = paddle.full([{shape}], 2, '{dtype}')"
            for shape in ("3", "2")
            for dtype in ("float32", "int64", "float16")
        ),
        "p.grad",
        "p.grad = paddle.full([2], 2, 'float64')",
        "p.grad",
        "p.grad = None",
        "p.grad = paddle.full([3], 2, 'float16')",
        "p.grad",
    ],
    "numbers on the left": [
        "x = paddle.to_tensor([1.0, 2.0])",
        *(
            f"paddle.{name}(2, x)"
            for name in (
                "pow",
                "remainder",
                "divide",
                "true_divide",
                "copysign",
                "equal",
                "scale",
                "trapezoid",
            )
        ),
    ],
    "short names of dtypes": [
        *(
            f"paddle.to_tensor(1, dtype={dtype})"
            for dtype in (
                "'float'",
                "'int'",
                "'double'",
                "'half'",
                "float",
                "int",
                "bool",
                "complex",
                "np.float64",
                "np.dtype('int32')",
                "'bool'",
                "paddle.int8",
            )
        ),
        *(f"paddle.set_default_dtype({dtype})" for dtype in ("'float'", "float", "'int32'", "np.float32")),
        "paddle.get_default_dtype()",
        "paddle.zeros([1], float)",
        "paddle.ones([1]).astype('double')",
    ],
    "lengths in two places": [
        *(f"paddle.{name}([2], 5)" for name in ("zeros", "ones", "empty")),
        "paddle.zeros(2, 3).shape",
        "paddle.ones([4]).reshape([2, 2], 3)",
        "paddle.ones([4]).reshape(2, 2)",
    ],
    "texts for numbers": [
        *(f"F.{name}(paddle.ones([3]), 'a')" for name in ("leaky_relu", "elu", "softplus", "softmax")),
        "F.softmax(paddle.ones([3]), 1.5)",
        "F.log_softmax(paddle.ones([3]), 1.5)",
        "F.interpolate(paddle.ones([1, 1, 2, 2]), 'a')",
    ],
    "coordinates that are no integers": [
        *(
            f"paddle.sparse.sparse_coo_tensor({given}, [1.0, 2.0], [2, 2]).indices()"
            for given in (
                "[[0.0, 1.0], [1, 0]]",
                "np.eye(2)",
                "paddle.eye(2)",
                "np.eye(2, dtype='uint8')",
                "paddle.eye(2) > 0",
                "paddle.eye(2, dtype='int32')",
                "[[0, 1], [1, 0]]",
            )
        ),
        *(
            f"paddle.sparse.sparse_csr_tensor({given}, [1, 0], [1.0, 2.0], [2, 2]).crows()"
            for given in ("[0.0, 1.0, 2.0]", "[0, 1, 2]")
        ),
    ],
    "lengths of sequences": [
        "l = nn.GRU(2, 3)",
        "for p in l.parameters(): p.set_value(paddle.full(p.shape, 0.1))",
        "x = paddle.ones([2, 4, 2])",
        *(
            f"l(x, sequence_length=paddle.to_tensor({given}))[0].sum(-1)"
            for given in ("[3]", "[3, 4, 4]", "[3, 4]", "[[3], [4]]")
        ),
    ],
    "a list of layers in Sequential": [
        *(
            f"nn.Sequential({given})"
            for given in (
                "[nn.ReLU()]",
                "[nn.ReLU()] * 2",
                "[nn.ReLU()] * 3",
                "*[nn.ReLU()] * 2",
                "('a', nn.ReLU())",
                "3",
            )
        ),
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_refuses_alike(script, oracle, paddle):
    same(script, oracle, paddle)


@pytest.mark.own_process
def test_feeds_that_are_no_dicts(oracle, paddle):
    import numpy as np

    values = {"x": np.ones((1, 2), "float32")}
    for engine in (oracle, paddle):
        engine.enable_static()
        try:
            main = engine.static.Program()
            with engine.static.program_guard(main):
                y = engine.static.data("x", [None, 2], "float32").sum()
                with pytest.raises(TypeError):
                    engine.static.data("z", ["a"])
            exe = engine.static.Executor()
            for feed in (3, "abc", {"x"}):
                with pytest.raises(TypeError):
                    exe.run(main, feed=feed, fetch_list=[y])
            for feed in (values, [values], (values,)):
                assert exe.run(main, feed=feed, fetch_list=[y])[0] == 2
        finally:
            engine.disable_static()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("paddle.full([2], 'a')", "fill_value: got 'a'"),
        ("F.leaky_relu(paddle.ones([3]), 'a')", "negative_slope: got 'a'; it must be a number"),
        ("paddle.cumsum(paddle.ones([3]), 'a')", "axis: got 'a'; it must be an int"),
        ("nn.Sequential([nn.ReLU()])", r"Sequential\(\*layers\)"),
    ],
)
def test_says_which_argument(call, words, paddle):
    with pytest.raises((ValueError, TypeError), match=words):
        eval(call, {"paddle": paddle, "F": paddle.nn.functional, "nn": paddle.nn})
