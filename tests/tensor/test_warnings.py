"""What warns and what does not: numbers beyond the range of a dtype become infinite without a word, as in
Paddle; a hook that is taken away twice is told of."""

import warnings

import numpy as np
import pytest

HUGE = [
    "x = paddle.ones([3]); x[0] = 1e40",
    "x = paddle.ones([3]); x[1:] = -1e300",
    "x = paddle.ones([3]) + np.float64(1e300)",
    "x = np.float64(1e300) * paddle.ones([3])",
    "x = paddle.ones([3], 'float16'); x[0] = np.float64(1e9)",
    "x = paddle.ones([3]); x *= 1e60",
    "x = paddle.ones([3]); x[paddle.to_tensor([True, False, True])] = np.float64(1e40)",
    "x = paddle.full([2], 1e40)",
]


@pytest.mark.parametrize("line", HUGE)
def test_numbers_beyond_the_range(line, oracle, paddle):
    found = []
    for engine in (oracle, paddle):
        space = {"paddle": engine, "np": np}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(line, space)
            found.append(space["x"].numpy())
    np.testing.assert_array_equal(*found)
    assert np.isinf(found[0]).any()


def test_printing_complex_nan(oracle, paddle):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len({str(engine.to_tensor([complex("nan"), 1j])) for engine in (oracle, paddle)}) == 1


def test_a_hook_that_is_taken_away_twice(oracle, paddle):
    for engine in (oracle, paddle):
        x = engine.ones([2])
        x.stop_gradient = False
        handle = x.register_hook(lambda g: g)
        assert handle.remove() is True
        with pytest.warns(RuntimeWarning, match="hook"):
            assert handle.remove() is False


def test_a_transform_that_fails_is_printed(oracle, paddle, capsys):
    for engine in (oracle, paddle):
        with pytest.raises(TypeError):
            engine.vision.transforms.Compose([3])(1)
        assert capsys.readouterr().out.startswith("fail to perform transform [3] with error: ")


def test_loading_from_no_name(oracle, paddle):
    for engine in (oracle, paddle):
        with pytest.raises(ValueError, match="exist"):
            engine.load("")
