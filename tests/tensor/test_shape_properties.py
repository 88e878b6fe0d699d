"""Broadcasting, reshape, padding and einsum for random shapes and arguments: values and gradients as the real
Paddle's, and NumPy's."""

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import paddle_jax

FEW = settings(max_examples=25, deadline=None, derandomize=True, database=None)
REFUSALS = (ValueError, TypeError, IndexError, AssertionError)


def noise(seed, shape):
    return np.asarray(np.random.RandomState(seed).standard_normal(tuple(shape)))


def outcome(module, call, arrays):
    """Result and gradients of a call on float64 arrays, or the class of the exception."""
    tensors = [module.to_tensor(a, stop_gradient=False) for a in arrays]
    try:
        out = call(module, *tensors)
    except REFUSALS as error:
        return type(error).__mro__
    weights = module.to_tensor(noise(7, out.shape))
    grads = module.grad([(out * weights).sum()], tensors, allow_unused=True)
    return [
        out.numpy(),
        *[np.zeros(a.shape) if g is None else g.numpy() for a, g in zip(arrays, grads, strict=True)],
    ]


def agree(oracle, call, *arrays, gradients=True):
    got, want = outcome(paddle_jax, call, arrays), outcome(oracle, call, arrays)
    if isinstance(want, tuple) or isinstance(got, tuple):
        assert isinstance(got, tuple), f"works here; the oracle raises {want}"
        assert isinstance(want, tuple), f"raises {got[0]} here only"
        assert set(want) & set(REFUSALS) & set(got), f"{got[0]}, expected {want[0]}"
        return None
    for a, b in list(zip(got, want, strict=True))[: None if gradients else 1]:
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    return got


# broadcasting -----------------------------------------------------------------------------------------------


@FEW
@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=3),
    st.sampled_from(["add", "multiply", "maximum", "atan2"]),
)
def test_binary_operations_broadcast(oracle, shapes, name):
    x, y = (noise(k, s) for k, s in enumerate(shapes.input_shapes))
    agree(oracle, lambda m, a, b: getattr(m, name)(a, b), x, y)


@FEW
@given(st.data())
def test_growing_axes(oracle, data):
    target = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    shape = [data.draw(st.sampled_from([1, n])) for n in target][data.draw(st.integers(0, len(target))) :]
    extra = len(target) - len(shape)
    asked = [
        data.draw(st.sampled_from([n, -1])) if k >= extra and shape[k - extra] == n else n
        for k, n in enumerate(target)
    ]
    x = noise(0, shape)
    as_tensors = data.draw(st.booleans())
    got = agree(oracle, lambda m, a: m.expand(a, [m.to_tensor(n) for n in asked] if as_tensors else asked), x)
    np.testing.assert_array_equal(got[0], np.broadcast_to(x, target))
    for call in (lambda m, a: m.broadcast_to(a, asked), lambda m, a: m.expand_as(a, m.zeros(list(target)))):
        np.testing.assert_array_equal(outcome(paddle_jax, call, [x])[0], got[0])


# reshape ----------------------------------------------------------------------------------------------------


@FEW
@given(st.data())
def test_reshape(oracle, data):
    shape = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 0]), max_size=3))
    size = int(np.prod(shape))
    lengths, left = [], size
    while left > 1 and len(lengths) < 3:
        lengths.append(data.draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0])))
        left //= lengths[-1]
    lengths += [left] * (left > 1 or not lengths)
    for k, n in enumerate(lengths):
        copies = [0] * (k < len(shape) and shape[k] == n)
        lengths[k] = data.draw(st.sampled_from([n, *copies, *([-1] if -1 not in lengths else [])]))
    if data.draw(st.integers(0, 9)) == 0:  # something that does not fit
        lengths.append(data.draw(st.sampled_from([-1, 0, 5, -2])))
    kind = data.draw(st.sampled_from(["list", "tuple", "Tensor", "Tensors"]))
    spell = {
        "list": lambda m: list(lengths),
        "tuple": lambda m: tuple(lengths),
        "Tensor": lambda m: m.to_tensor(lengths, "int32"),
        "Tensors": lambda m: [m.to_tensor(n) if n > 0 else n for n in lengths],
    }[kind]
    agree(oracle, lambda m, a: m.reshape(a, spell(m)), noise(0, shape))


# padding ----------------------------------------------------------------------------------------------------

FORMATS = {3: ["NCL", "NLC"], 4: ["NCHW", "NHWC"], 5: ["NCDHW", "NDHWC"]}
NUMPY_MODES = {"constant": {"constant_values": 0.5}, "reflect": {}, "replicate": {}, "circular": {}}


@FEW
@given(st.data())
def test_padding_of_images(oracle, data):
    rank, mode = data.draw(st.integers(3, 5)), data.draw(st.sampled_from(list(NUMPY_MODES)))
    layout, spatial = data.draw(st.sampled_from(FORMATS[rank])), rank - 2
    last = layout.endswith("C")
    lengths = data.draw(st.lists(st.integers(2, 3), min_size=spatial, max_size=spatial))
    pads = data.draw(
        st.lists(st.integers(0, 1 if mode == "reflect" else 2), min_size=2 * spatial, max_size=2 * spatial)
    )
    spell = (lambda m: m.to_tensor(pads, "int32")) if data.draw(st.booleans()) else lambda m: pads
    x = noise(0, [2, *lengths, 2] if last else [2, 2, *lengths])
    got = agree(oracle, lambda m, a: m.nn.functional.pad(a, spell(m), mode, 0.5, data_format=layout), x)
    around = [(pads[2 * k], pads[2 * k + 1]) for k in reversed(range(spatial))]
    around = [(0, 0), *around, (0, 0)] if last else [(0, 0), (0, 0), *around]
    kind = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    np.testing.assert_array_equal(
        got[0], np.pad(x, around, kind, **({"constant_values": 0.5} if mode == "constant" else {}))
    )


@FEW
@given(st.data())
def test_padding_of_every_axis(oracle, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=3))
    pads = data.draw(st.lists(st.integers(0, 2), min_size=2 * len(shape), max_size=2 * len(shape)))
    first = data.draw(st.booleans())
    got = agree(
        oracle,
        lambda m, a: m.nn.functional.pad(a, pads, value=-1.0, pad_from_left_axis=first),
        noise(0, shape),
    )
    around = list(zip(pads[::2], pads[1::2], strict=True))
    np.testing.assert_array_equal(
        got[0], np.pad(noise(0, shape), around if first else around[::-1], constant_values=-1.0)
    )


# einsum -----------------------------------------------------------------------------------------------------


@st.composite
def equation(draw):
    """An equation and the shapes of its operands."""
    length = {letter: draw(st.integers(1, 3)) for letter in string.ascii_lowercase[:4]}
    dots = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
    terms, shapes = [], []
    for _ in range(draw(st.integers(1, 3))):
        letters = draw(st.lists(st.sampled_from("abcd"), max_size=3, unique=draw(st.integers(0, 4)) > 0))
        shape, at = [length[a] for a in letters], draw(st.none() | st.integers(0, len(letters)))
        if at is not None:
            shape[at:at] = [draw(st.sampled_from([1, n])) for n in dots]
            letters.insert(at, "...")
        if letters:
            terms.append("".join(letters))
            shapes.append(shape)
    if not terms:
        terms, shapes = ["a"], [[length["a"]]]
    text = ",".join(terms)
    if draw(st.booleans()):
        used = sorted({a for a in text if a.isalpha()})
        out = draw(st.permutations(used))[: draw(st.integers(0, len(used)))]
        text += "->" + ("..." if "..." in text else "") + "".join(out)
    return text, shapes


@FEW
@given(equation())
def test_einsum(oracle, case):
    text, shapes = case
    arrays = [noise(k, s) for k, s in enumerate(shapes)]
    got = outcome(paddle_jax, lambda m, *xs: m.einsum(text, *xs), arrays)
    np.testing.assert_allclose(got[0], np.einsum(text, *arrays), rtol=1e-9, atol=1e-12)
    repeated = any(len(set(t)) < len(t) for t in text.split("->")[0].replace("...", "").split(","))
    if not repeated:  # the real Paddle refuses some sums over diagonals
        agree(oracle, lambda m, *xs: m.einsum(text, *xs), *arrays)


@pytest.mark.parametrize(
    "text", ["ij,jk->il", "...ij,jk->ik", "ij", "ij,jk,kl", "i.j,jk", "ij->ik,jk", "i1,jk", "ijk,jk"]
)
def test_einsum_refuses(oracle, text):
    assert agree(oracle, lambda m, a, b: m.einsum(text, a, b), np.ones((2, 3)), np.ones((3, 4))) is None
