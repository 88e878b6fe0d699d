"""The text of a tensor equals the real Paddle's, to the letter."""

import numpy as np
import pytest

R = np.random.RandomState(0)
ARRAYS = {
    "mixed signs": np.array([-1.0, 2.5, 100.0]),
    "ints": np.array([1, -2, 300]),
    "wrapped": np.arange(30) / 7.0,
    "wrapped ints": np.arange(1, 60),
    "matrix": R.randn(3, 20).astype("float32"),
    "cut rows": np.arange(2000).reshape(40, 50),
    "cut line": np.arange(1200.0) / 3,
    "special": np.array([np.nan, np.inf, -np.inf, 1.0]),
    "range": np.array([1e-10, 1e10], "float32"),
    "huge": np.array([1e20], "float32"),
    "4-D": R.randn(2, 2, 3, 2),
    "bool": np.array([True, False, True]),
    "complex": np.array([1 + 2j, -1.5 - 2j], "complex64"),
    "empty": np.zeros((0,)),
    "zero axis": np.zeros((2, 0, 3)),
    "0-d": np.array(-1.5, "float32"),
    "minus zero": np.array([-0.0, 0.0]),
    "column": np.ones((3, 4, 1)),
    "half": np.array([0.1, 0.2], "float16"),
    "uint8": np.array([1, 2], "uint8"),
    "cut 3-D": np.arange(5000.0).reshape(5, 10, 100),
    "5-D": np.arange(48.0).reshape(2, 3, 2, 2, 2) / 8,
    "5-D of ones": np.ones((1, 1, 1, 1, 1)),
    "6-D": np.arange(64).reshape([2] * 6),
    "7-D": R.randn(1, 2, 1, 2, 1, 2, 1),
    "cut 5-D": np.arange(7**5).reshape([7] * 5),
    "cut 6-D": np.ones((2, 9, 1, 8, 8, 1), bool),
    "5-D, zero axis": np.zeros((2, 2, 0, 2, 2)),
    "5-D complex": R.randn(1, 2, 1, 2, 2) * (1 + 2j),
    "big steps": np.arange(26, dtype="float32") * 1000,
}
OPTIONS = [
    {},
    {"precision": 3, "edgeitems": 2, "threshold": 10, "linewidth": 40},
    {"sci_mode": True, "precision": 2},
]
DEFAULTS = {"precision": 8, "threshold": 1000, "edgeitems": 3, "sci_mode": False, "linewidth": 80}


@pytest.mark.parametrize("options", OPTIONS, ids=["default", "short", "scientific"])
def test_as_the_oracle(paddle, oracle, options):
    try:
        for module in (paddle, oracle):
            module.set_printoptions(**{**DEFAULTS, **options})
        for name, array in ARRAYS.items():
            assert str(paddle.to_tensor(array)) == str(oracle.to_tensor(array)), name
    finally:
        for module in (paddle, oracle):
            module.set_printoptions(**DEFAULTS)


def test_parameter_and_bfloat16(paddle, oracle):
    ours, theirs = (
        [str(m.ones([2, 3], "bfloat16") * 1.5), repr([m.to_tensor([1.0, 2.0])])] for m in (paddle, oracle)
    )
    assert ours == theirs


def test_bad_options(paddle):
    with pytest.raises(TypeError):
        paddle.set_printoptions(precision="a")
