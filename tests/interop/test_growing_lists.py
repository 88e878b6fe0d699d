"""Lists that grow in loops over open lengths, in StableHLO, against the same code of known lengths."""

import numpy as np
import pytest

import paddle_jax as paddle

pytestmark = pytest.mark.own_process


def appended(x):
    h = paddle.zeros([2])
    rows = []
    for row in x:
        h = paddle.tanh(h + row)
        rows.append(h)
    return paddle.stack(rows), rows[-1]


def comprehension(x):
    return paddle.concat([x[i : i + 1] * i for i in range(x.shape[0])])


def two_lists(x):
    some, others = [], []
    for i in range(0, x.shape[0], 2):
        some.append(x[i])
        others.append(x[i] * 2)
        others.append(x[i] * 3)
    return paddle.stack(some), paddle.stack(others)


def backwards(x):
    h = paddle.zeros([2])
    rows = [h]
    for i in range(x.shape[0] - 1, -1, -1):
        h = h * 0.5 + x[i]
        rows.append(h)
    rows.reverse()
    return paddle.stack(rows)


def counted_down(x):
    rows = []
    n = x.shape[0]
    while n > 0:
        n -= 2
        rows.append(x[n])
    return paddle.stack(rows)


def sums(x):
    rows = []
    for i in range(x.shape[0]):
        total = paddle.zeros([])
        for j in range(x.shape[0]):
            total = total + x[j, 0] * i
        rows.append(total)
    return paddle.stack(rows), paddle.to_tensor(len(rows))


def states(x):
    """An empty list, whose rows have an open length."""
    h = paddle.zeros([x.shape[0]])
    rows = []
    for i in range(x.shape[1]):
        h = h * 0.5 + x[:, i]
        rows.append(h)
    return paddle.stack(rows, 1), paddle.searchsorted(paddle.sort(x), x)


@pytest.mark.parametrize(
    "function", [states, appended, comprehension, two_lists, backwards, counted_down, sums]
)
def test_functions(tmp_path, function):
    spec = paddle.static.InputSpec([None, None if function is states else 2])
    paddle.interop.save_stablehlo(function, str(tmp_path / "m"), [spec], ["cpu"])
    loaded = paddle.interop.load_stablehlo(str(tmp_path / "m"))
    for rows in (1, 2, 5, 8):
        x = paddle.to_tensor(np.arange(2 * rows, dtype="float32").reshape(rows, 2))
        wanted = function(x)  # known lengths: plain Python lists
        got = loaded(x)
        if not isinstance(wanted, tuple):
            wanted, got = (wanted,), (got,)
        for one, want in zip(got, wanted, strict=True):
            assert one.shape == want.shape
            np.testing.assert_allclose(one.numpy(), want.numpy(), rtol=1e-5)


def chosen(x):
    rows = [x[0]]
    for row in x:
        if row.sum() > 0:
            rows.append(row)
    return paddle.stack(rows)


def doubled(x):
    rows = [x[0]]
    i = 1
    while i < x.shape[0]:
        rows.append(x[i])
        i = i * 2
    return paddle.stack(rows)


def read_on_the_way(x):
    rows = [x[0]]
    for i in range(x.shape[0]):
        rows.append(rows[-1] + x[i])
    return paddle.stack(rows)


def compared_on_the_way(x):
    rows = []
    total = x[0] * 0
    for row in x:
        total = total + row
        rows.append(total)
        if len(rows) > 3:
            total = total * 2
    return paddle.stack(rows)


def halved_on_the_way(x):
    rows = [x[0]]
    for row in x:
        rows.append(row * (len(rows) / 2))
    return paddle.stack(rows)


@pytest.mark.parametrize(
    "function", [chosen, doubled, read_on_the_way, compared_on_the_way, halved_on_the_way]
)
def test_lists_whose_length_lengths_do_not_say_are_refused(tmp_path, function):
    spec = paddle.static.InputSpec([None, 2])
    with pytest.raises(ValueError, match=r"test_growing_lists\.py:\d+"):
        paddle.interop.save_stablehlo(function, str(tmp_path / "m"), [spec], ["cpu"])
    assert not list(tmp_path.iterdir())
