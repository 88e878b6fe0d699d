"""`x[index]` and `x[index] = value` for random shapes and indices: values and both gradients against NumPy,
and against the real Paddle.

NumPy's rule for integers beside index arrays differs from Paddle's, so the reference applies integers, slices
and None first and index arrays to what is left. Where the real Paddle 3.3.1 reads foreign memory or picks
wrong axes (docs/differences.md), only NumPy is asked.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_jax

ARRAYS = ("tensor", "list", "array", "mask", "mask tensor")
FEW = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def picks(shape, items):
    """The flat positions that an index of NumPy items picks."""
    first, second = [], []
    for item in items:
        if isinstance(item, bool):
            first.append(None)
            second.append(np.zeros(int(item), np.int64))
        elif isinstance(item, np.ndarray):
            first += [slice(None)] * (item.ndim if item.dtype == bool else 1)
            second.append(item)
        else:
            first.append(item)
            second += [] if isinstance(item, int) else [item if item is Ellipsis else slice(None)]
    positions = np.arange(int(np.prod(shape))).reshape(shape)
    return np.asarray(positions[tuple(first)][tuple(second)])


@st.composite
def one_item(draw, shape, broadcast):
    """(kind, NumPy item, axes it uses) for the axes of the given lengths."""
    n = shape[0]
    kind = draw(st.sampled_from(["int", "0-d", "slice", "slice", "all", "none", "bool", *ARRAYS]))
    if kind in ("none", "bool"):
        return kind, None if kind == "none" else draw(st.booleans()), 0
    if kind == "slice":
        bound = st.none() | st.integers(-n - 1, n + 1)
        return kind, slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2]))), 1
    if kind.startswith("mask"):
        count = draw(st.integers(1, min(2, len(shape))))
        bits = draw(
            st.lists(
                st.booleans(), min_size=int(np.prod(shape[:count])), max_size=int(np.prod(shape[:count]))
            )
        )
        return kind, np.array(bits, bool).reshape(shape[:count]), count
    if kind == "all" or n == 0:
        return "all", slice(None), 1
    if kind in ("int", "0-d"):
        return kind, draw(st.integers(-n, n - 1)), 1
    lengths = draw(st.sampled_from([broadcast, broadcast[-1:], (1,)]))
    size = int(np.prod(lengths))
    return (
        kind,
        np.array(draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size)), np.int64).reshape(
            lengths
        ),
        1,
    )


@st.composite
def indexed(draw):
    """A shape and an index as a list of (kind, NumPy item); the index fits the shape."""
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 3, 0]), min_size=1, max_size=3)))
    broadcast = draw(st.sampled_from([(2,), (3,), (2, 2), (1, 3)]))
    items, axis, count = [], 0, draw(st.integers(1, len(shape) + 1))
    while axis < len(shape) and len(items) < count:
        kind, item, used = draw(one_item(shape[axis:], broadcast))
        items.append((kind, item))
        axis += used
    if draw(st.booleans()):
        at = len(items) if axis < len(shape) else draw(st.integers(0, len(items)))
        items.insert(at, ("...", Ellipsis))
    try:
        picks(shape, [i for _, i in items])
    except (IndexError, ValueError):  # index arrays that do not broadcast
        items = [(k, i) for k, i in items if k not in ARRAYS] or [("all", slice(None))]
    return shape, items


def spelled(module, items):
    """The index as a user of the module writes it."""
    convert = {
        "tensor": module.to_tensor,
        "mask tensor": module.to_tensor,
        "0-d": module.to_tensor,
        "list": lambda a: a.tolist(),
    }
    return tuple(convert.get(kind, lambda a: a)(item) for kind, item in items)


def trusted(items):
    """Whether the real Paddle is known to do this right."""
    kinds = [k for k, _ in items]
    arrays = [i for k, i in items if k in ARRAYS]
    if not arrays and "bool" not in kinds:
        return True
    backwards = any(isinstance(i, slice) and (i.step or 1) < 0 for _, i in items)
    return not (
        backwards
        or {"none", "bool", "..."} & set(kinds)
        or any(a.dtype == bool or a.size == 0 for a in arrays)
    )


def noise(seed, shape):
    return np.asarray(np.random.RandomState(seed).standard_normal(tuple(shape)))


def leaf(module, array):
    return module.to_tensor(array, stop_gradient=False)


def read(module, array, items, weights):
    x = leaf(module, array)
    y = x[spelled(module, items)]
    (g,) = module.grad([(y * module.to_tensor(weights)).sum()], [x])
    return y.numpy(), g.numpy()


def write(module, array, items, value, weights):
    x, v = leaf(module, array), leaf(module, value)
    y = x * 1
    y[spelled(module, items)] = v
    gx, gv = module.grad([(y * module.to_tensor(weights)).sum()], [x, v], allow_unused=True)
    return y.numpy(), gx.numpy(), np.zeros(value.shape) if gv is None else gv.numpy()


def agree(got, want):
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-12)


@FEW
@given(indexed())
def test_reading(oracle, case):
    shape, items = case
    positions = picks(shape, [i for _, i in items])
    array, weights = noise(0, shape), noise(1, positions.shape)
    gradient = np.bincount(positions.ravel(), weights.ravel(), array.size)[: array.size].reshape(shape)
    got = read(paddle_jax, array, items, weights)
    agree(got, (array.ravel()[positions], gradient))
    if trusted(items):
        agree(got, read(oracle, array, items, weights))


@FEW
@given(indexed(), st.data())
def test_writing(oracle, case, data):
    shape, items = case
    positions = picks(shape, [i for _, i in items])
    lengths = [data.draw(st.sampled_from([1, n])) for n in positions.shape]
    lengths = lengths[data.draw(st.integers(0, len(lengths))) :]
    array, value, weights = (noise(k, s) for k, s in enumerate([shape, lengths, shape]))
    written, owner = array.ravel().copy(), np.full(array.size, -1)
    written[positions.ravel()] = np.broadcast_to(value, positions.shape).ravel()
    # repeated: the last one counts
    owner[positions.ravel()] = np.broadcast_to(
        np.arange(value.size).reshape(value.shape), positions.shape
    ).ravel()
    to_value = np.bincount(owner[owner >= 0], weights.ravel()[owner >= 0], value.size)[: value.size].reshape(
        value.shape
    )
    got = write(paddle_jax, array, items, value, weights)
    agree(got, (written.reshape(shape), np.where(owner < 0, weights.ravel(), 0).reshape(shape), to_value))
    # the real Paddle refuses the gradient of a value [1, 1] that is written to [1, 2]
    refused = value.ndim > 1 and value.size == 1 and 1 in positions.shape
    if trusted(items) and not refused:
        agree(got[:2], write(oracle, array, items, value, weights)[:2])


@pytest.mark.parametrize("dtype", ["float16", "int32", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("value", ["float32", "int64", "complex64", "bool"])
def test_values_are_cast(oracle, dtype, value):
    results = []
    for module in (paddle_jax, oracle):
        x, v = module.zeros([2, 3], dtype), module.to_tensor([1.5, -2.5, 0.0]).astype(value)
        x[1], x[:, ::2] = v, v[:2]
        x[module.to_tensor([0])] = v
        results.append(x.numpy())
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    "index",
    [
        2,
        -3,
        (0, 0, 0),
        slice(None, None, 0),
        slice(1.0, None),
        slice(True, None),
        1.5,
        "a",
        {},
        1j,
        [1.5],
        (Ellipsis, Ellipsis),
        [True],
        [[True, False]],
        (slice(None),) * 3,
        slice("a", None),
        (0, [True, False]),
    ],
    ids=str,
)
def test_refused_as_by_the_oracle(oracle, index):
    with pytest.raises(Exception) as expected:  # noqa: PT011  whatever the oracle raises is the expectation
        oracle.ones([2, 3])[index]
    with pytest.raises(expected.type):
        paddle_jax.ones([2, 3])[index]


def test_tensors_in_slices(oracle):
    for module in (paddle_jax, oracle):
        x, one = module.arange(6), module.to_tensor([1])
        assert x[one:-one].tolist() == [1, 2, 3, 4]
        assert x[module.to_tensor(0) :: one + one].tolist() == [0, 2, 4]
        for bad in (module.to_tensor([1, 2]), module.to_tensor(1.0)):
            with pytest.raises(ValueError):
                x[bad:]


def test_equal_keys_that_mean_different_things(oracle):
    """What is kept for an index is not taken for another one that Python calls equal to it."""
    told = []
    for module in (paddle_jax, oracle):
        x, seen = module.arange(24).reshape([2, 3, 4]), []
        for index in [
            (1, slice(1, 2)),
            (1, [1, 2]),
            (1, (1, 2, None)),
            (1, 1),
            (True, 1),
            (1, True),
            (1.0, 1),
            slice(0, 1),
            slice(False, True),
            slice(0, 1, 1),
            (slice(0, 1), 1),
            ((0, 1), 1),
        ] * 2:
            try:
                seen.append(x[index].tolist())
            except (IndexError, TypeError, ValueError) as error:
                seen.append(type(error))
        told.append(seen)
    assert told[0] == told[1]
