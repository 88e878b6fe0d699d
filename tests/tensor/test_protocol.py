"""What Python, NumPy and other libraries ask of a tensor, the same as of the real Paddle's; printing
of random tensors."""

import copy
import pickle

import numpy as np
import pytest

import paddle_jax

DEFAULTS = {"precision": 8, "threshold": 1000, "edgeitems": 3, "sci_mode": False, "linewidth": 80}
QUESTIONS = [
    "len(T([[1, 2]]))",
    "1.0 in T([1.0, 2.0])",
    "'a' in T([1.0])",
    "None in T([1.0])",
    "1.0 in T([[1.0, 2.0]])",
    "int(T(1.7))",
    "int(T(1j))",
    "float(T(1j))",
    "complex(T(1.5))",
    "bool(T([1, 2]))",
    "[1, 2, 3][T(1)]",
    "hex(T(10))",
    "f'{T(2.5)}'",
    "f'{T(3.14159):.2f}'",
    "f'{T([1.5]):.2f}'",
    "format(T([1, 2]))",
    "'%d' % T([3])",
    "T([[1, 2], [3, 4]]).item(1, 0)",
    "T([1, 2]).item(-1)",
    "T([1, 2]).item(1.0)",
    "T([1, 2]).item((1,))",
    "T([1, 2]).item()",
    "T([1, 2]).item(2)",
    "T([[1, 2]]).size",
    "T([[1, 2]]).size()",
    "T([[1, 2]]).size(-1)",
    "T([1.0]).stride(2)",
    "T([[1, 2, 3]]).strides",
    "T([1, 2]).to('int32', non_blocking=True).dtype.name",
    "T([1, 2]).to('cpu', copy=True).tolist()",
    "T([1, 2]).to(copy=True)",
    "T([1]).to('foo')",
    "np.asarray(T([1.0])).flags.writeable",
    "np.asarray(T([1.5]), 'int32').dtype.name",
    "T(2.5)[()].item()",
    "T([1.5, 2.5])[()].tolist()",
    "np.from_dlpack(T([1, 2])).tolist()",
    "np.from_dlpack(T([1.0], stop_gradient=False))",
    "paddle.from_dlpack(paddle.to_dlpack(T([1, 2]))).tolist()",
    "paddle.from_dlpack(1)",
    "paddle.Tensor(2, 3).shape == [2, 3]",
    "paddle.Tensor(value=np.ones(2), name='q').name",
    "T([np.float64(1)]).dtype.name",
    "T([np.int32(1)]).dtype.name",
    "T([1.5, T(2)]).dtype.name",
    "T(np.array([16256], 'uint16')).astype('float32').tolist()",
    "T(['a'])",
    "T(2**70)",
    "paddle.finfo(type='float64').bits",
    "paddle.seed(-1)",
    "paddle.seed(2**64)",
    "paddle.Generator('nowhere')",
    "paddle.Generator(device='cpu').random() >= 0",
    *[
        f"[bool(t), not t, t.__nonzero__()][0 if t else slice(None)] if (t := T({value})) is not None else 0"
        for value in (
            "-1",
            "-0.5",
            "float('nan')",
            "0.0",
            "0.5",
            "1j",
            "-1j",
            "1 - 2j",
            "True",
            "[[-3]]",
            "[2]",
            "-1, 'float16'",
        )
    ],
]


def answer(module, question):
    try:
        # the questions stand above
        return eval(question, {"T": module.to_tensor, "paddle": module, "np": np})  # noqa: S307
    except Exception as error:
        return error


@pytest.mark.parametrize("question", QUESTIONS)
def test_as_the_oracle(oracle, question):
    got, want = answer(paddle_jax, question), answer(oracle, question)
    if isinstance(want, Exception):
        kinds = (ValueError, TypeError, IndexError, AssertionError, BufferError)
        assert any(isinstance(got, k) for k in kinds if isinstance(want, k)), f"{got!r}, expected {want!r}"
    else:
        assert (got, str(type(got).__name__)) == (want, str(type(want).__name__))


def test_copies(oracle):
    for module in (paddle_jax, oracle):
        x = module.to_tensor([1.0, 2.0], stop_gradient=False)
        x.name = "x"
        (x * x).sum().backward()
        deep, shallow = copy.deepcopy(x), copy.copy(x)
        assert deep.name.startswith("x_deepcopy") and deep.grad is None and not deep.stop_gradient
        assert shallow is not x and shallow.grad is None and not shallow.stop_gradient and shallow.name != "x"
        result = copy.deepcopy(x * 2)
        assert result.tolist() == [2.0, 4.0] and result.is_leaf
        assert pickle.loads(pickle.dumps(x)).tolist() == [1.0, 2.0]
        assert pickle.loads(pickle.dumps(x.size)) == 2


def test_data_writes_through(oracle):
    for module in (paddle_jax, oracle):
        x = module.to_tensor([1.0, 2.0], stop_gradient=False)
        x.data.add_(module.ones([2]))
        x.data[0] = 7.0
        assert x.tolist() == [7.0, 3.0] and x.is_leaf and not x.stop_gradient and x.data.stop_gradient


def printed(module, array, dtype, options):
    try:
        module.set_printoptions(**options)
        return str(module.to_tensor(array).astype(dtype))
    finally:
        module.set_printoptions(**DEFAULTS)


@pytest.mark.parametrize("seed", range(60))
def test_random_tensors_print_alike(oracle, seed):
    r = np.random.RandomState(seed)
    shape = [int(r.choice([1, 2, 3, 7, 12, 30])) for _ in range(r.randint(0, 3))] + [3] * r.randint(0, 2)
    dtype = ["float32", "float64", "float16", "bfloat16", "int64", "int8", "bool", "complex64"][seed % 8]
    array = r.standard_normal(shape) * (
        10.0 ** r.randint(-9, 9, shape) if dtype == "float64" else r.choice([1.0, 50.0])
    )
    if dtype.startswith("float") and r.rand() < 0.3:
        array = np.where(r.rand(*shape) < 0.3, r.choice([np.nan, np.inf, -np.inf]), array)
    if dtype == "complex64":
        array = array.round() * 0 + 1j * array if r.rand() < 0.5 else array + 1j * r.standard_normal(shape)
    options = DEFAULTS
    if seed % 3:
        options = {
            "precision": int(r.choice([0, 2, 4, 12])),
            "threshold": int(r.choice([0, 10, 1000])),
            "edgeitems": int(r.choice([1, 2, 3])),
            "sci_mode": bool(r.rand() < 0.5),
            "linewidth": int(r.choice([10, 40, 200])),
        }
    assert printed(paddle_jax, array, dtype, options) == printed(oracle, array, dtype, options)


@pytest.mark.parametrize("size", [4, 100, 100_000])
def test_dlpack_import_keeps_its_values_when_the_producer_goes_on(paddle, size):
    for _ in range(5):
        source = np.ones(size, "float32")
        tensor = paddle.from_dlpack(source)
        double = tensor * 2
        source[:] = 7
        assert (double.numpy() == 2).all() and (tensor.numpy() == 1).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i4", "i8", "c8"])
def test_arrays_in_the_byte_order_of_other_machines(paddle, dtype):
    foreign = np.array([[1, 2], [3, 4]], ">" + dtype)
    for tensor in (
        paddle.to_tensor(foreign),
        paddle.to_tensor(foreign, dtype=foreign.dtype.name),
        paddle.to_tensor([foreign])[0],
    ):
        np.testing.assert_array_equal(tensor.numpy(), foreign)


BASE = np.arange(24.0).reshape(4, 6)
LAYOUTS = {
    "every second row": BASE[::2],
    "backwards": BASE[::-1],
    "both": BASE[::-2, 1:5:2],
    "transposed": BASE.T[1:],
    "Fortran": np.asfortranarray(BASE)[1:3, ::2],
    "repeated": np.broadcast_to(BASE[0], (3, 6)),
    "no axes": np.array(3.5),
    "a bool": np.array(True),
    "nothing": np.zeros((0, 3))[::-1],
    "complex": BASE.astype("complex64").T[::2],
    "one element": BASE[:1, :1],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_dlpack_import_of_any_layout(paddle, name):
    array = LAYOUTS[name]
    capsules = [array.__dlpack__(max_version=(1, 0))]
    if array.flags.writeable:
        capsules.append(array.__dlpack__())
    for tensor in (*map(paddle.from_dlpack, [array, *capsules]), paddle.from_dlpack(array, copy=True)):
        assert tensor.shape == list(array.shape)
        assert str(tensor.dtype).endswith(array.dtype.name)
        np.testing.assert_array_equal(tensor.numpy(), array)
        np.testing.assert_array_equal((tensor.astype("complex64") * 2).numpy(), array * 2)


def test_dlpack_refusals(paddle):
    with pytest.raises(BufferError, match="side by side"):
        paddle.from_dlpack(BASE[::2], copy=False)
    capsule = BASE.__dlpack__()
    paddle.from_dlpack(capsule)
    with pytest.raises(ValueError, match="used before"):
        paddle.from_dlpack(capsule)


def test_dlpack_import_of_a_dtype_that_numpy_lacks(paddle):
    x = paddle.to_tensor([1.0, 2.0]).astype("bfloat16")

    class Foreign:
        def __dlpack__(self, **settings):
            return x.__dlpack__(**settings)

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    tensor = paddle.from_dlpack(Foreign())
    assert tensor.dtype == paddle.bfloat16
    assert tensor.astype("float32").tolist() == [1.0, 2.0]
