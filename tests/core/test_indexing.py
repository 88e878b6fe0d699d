"""Indexing: gradients of writing, refusals, and one kernel for a loop. Random indices are in
tests/tensor/test_indexing_properties.py."""

import numpy as np
import pytest

import paddle_jax as paddle


def source(shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


def test_gradients_of_writing():
    x = paddle.to_tensor(np.ones((3, 2)), stop_gradient=False)
    v = paddle.to_tensor(np.ones(2), stop_gradient=False)
    y = x * 2
    y[1] = v * 3
    (y * y).sum().backward()
    assert x.grad.tolist() == [[8.0, 8.0], [0.0, 0.0], [8.0, 8.0]]
    assert v.grad.tolist() == [18.0, 18.0]


@pytest.mark.parametrize("index", [3, -4, (0, 2), (0, 0, 0), [0, 3], (1 << 70, 0)])
def test_out_of_range(index):
    with pytest.raises(IndexError):
        paddle.ones([3, 2])[index]
    t = paddle.ones([3, 2])
    with pytest.raises(IndexError):
        t[index] = 0.0
    assert t.tolist() == [[1.0, 1.0]] * 3


def test_one_kernel_for_a_loop():
    from paddle_jax.tensor.indexing import take_index

    x = paddle.to_tensor(source((50, 2)))
    x[0], x[0:2]
    before = len(take_index.op.kernels)
    assert [x[i].tolist()[0] for i in range(50)] == [2.0 * i for i in range(50)]
    assert [x[i : i + 2].tolist()[0][0] for i in range(48)] == [2.0 * i for i in range(48)]
    assert len(take_index.op.kernels) == before


def spy(monkeypatch):
    """What is recorded from now on, by name."""
    from paddle_jax.tensor import indexing

    recorded = []
    for name in ("run2", "run_pattern"):
        before = getattr(indexing, name)
        monkeypatch.setattr(
            indexing, name, lambda *args, before=before: (recorded.append(args[0]), before(*args))[1]
        )
    return recorded


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool", "complex64"],
)
def test_one_element_is_read_without_an_operation(dtype, monkeypatch):
    """Of a value that is there; the same number, dtype and shape as by way of the operation."""
    table = np.array([[0, 1, 0], [3, 0.1, 100]]).astype("float32")
    for x in (
        paddle.to_tensor(table).astype(dtype),
        paddle.to_tensor(table).astype(dtype) * paddle.ones([2, 3]).astype(dtype),
    ):
        x.numpy()
        places = [(0, 0), (1, 1), (-1, -1), (1, -3)]
        kept = [paddle.gather_nd(x, paddle.to_tensor([i % 2, j % 3])) for i, j in places]
        with monkeypatch.context() as patch:
            recorded = spy(patch)
            found = [x[place] for place in places]
            assert not recorded
        for one, other in zip(found, kept, strict=True):
            assert (one.shape, one.dtype, one.stop_gradient) == ([], x.dtype, True)
            assert one.item() == other.item()
            assert type(one.item()) is type(other.item())
            assert (one + one).dtype == x.dtype
    row = paddle.to_tensor(table[1]).astype(dtype)
    row.numpy()
    with monkeypatch.context() as patch:
        recorded = spy(patch)
        assert row[1].item() == paddle.gather_nd(row, paddle.to_tensor([1])).item()
        assert not recorded


def test_one_element_of_what_is_not_there_or_wants_a_gradient(monkeypatch):
    x = paddle.to_tensor(source((2, 3)), stop_gradient=False)
    x.numpy()
    recorded = spy(monkeypatch)
    y = x[1, 2] * 2
    y.backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    assert len(recorded) == 1
    pending = x.detach() * 3
    assert pending[0, 1].item() == 3.0
    assert len(recorded) == 2
    with paddle.no_grad():
        assert x[0, 2].item() == 2.0
    assert len(recorded) == 2


def test_one_element_is_a_copy():
    x = paddle.to_tensor(source((2, 3)))
    x.numpy()
    before = x[0, 1]
    x[0, 1] = 50.0
    before += 1
    assert (before.item(), x[0, 1].item()) == (2.0, 50.0)


def test_one_element_in_a_compiled_function():
    x = paddle.to_tensor(source((2, 3)))
    x.numpy()
    f = paddle.jit.to_static(lambda t: t[1, 1] * 2)
    assert [f(x).item(), f(x + 1).item()] == [8.0, 10.0]
    outside = paddle.jit.to_static(lambda t: t[0, 0] + x[1, 1])
    assert outside(x).item() == 4.0
    x[1, 1] = 7.0
    assert outside(x).item() == 7.0


def test_what_a_mask_selects_stays_on_the_host():
    x = paddle.to_tensor(source((10, 10)))
    found = x[x > 49]
    assert found.tolist() == list(range(50, 100))
    assert (found * 2).sum().item() == 2 * sum(range(50, 100))
    few = x[x > 97]
    few += 1
    assert few.tolist() == [99.0, 100.0]
    assert x[9, 9].item() == 99.0
