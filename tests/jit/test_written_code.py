"""What code does with lengths that are not given is found by `jit.save`: the real Paddle computes the same
from the file, for other lengths."""

import warnings

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.code_patterns import IMAGES, SEQUENCES

pytestmark = pytest.mark.own_process
Spec = ours.static.InputSpec
CASES = [(function, [None, None, 4], ([2, 5, 4], [3, 8, 4])) for function in SEQUENCES]
CASES += [(function, [None, 4, None, None], ([2, 4, 8, 8], [3, 4, 12, 16])) for function in IMAGES]


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize(
    ("function", "shape", "sizes"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_paddle_computes_the_same(oracle, tmp_path, function, shape, sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # every operation has a form in PIR
        ours.jit.save(
            lambda x: function(ours, x), str(tmp_path / "m"), input_spec=[Spec(shape, "float32", "x")]
        )
    model = oracle.jit.load(str(tmp_path / "m"))
    for size in sizes:
        x = oracle.to_tensor(np.random.RandomState(0).randn(*size).astype("float32"))
        got, want = ([one.numpy() for one in flat(value)] for value in (model(x), function(oracle, x)))
        assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-4)


def test_what_forward_leaves_in_a_layer_is_taken_back(tmp_path):
    class Counting(ours.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", ours.zeros([1]))
            self.last = None

        def forward(self, x):
            self.count = self.count + 1
            self.last = x * self.count
            return self.last

    layer = Counting()
    ours.jit.save(layer, str(tmp_path / "m"), input_spec=[Spec([None, 3])])
    assert layer.last is None and layer.count.item() == 0.0 and layer.training
    assert ours.jit.load(str(tmp_path / "m"))(ours.ones([2, 3])).sum().item() == 6.0
