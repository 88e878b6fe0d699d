"""Methods and properties of Tensor that are no function of paddle.*, against the real Paddle."""

import numpy as np
import pytest

import paddle_jax

CALLS = [
    "f(2, 3).dim()",
    "f(2, 3).ndimension()",
    "f(2).element_size()",
    "h(2).itemsize",
    "f(2, 3).stride()",
    "f(2, 3).stride(0)",
    "f(2, 3, 4).strides",
    "f(2, 3).get_strides()",
    "f(2, 3).is_contiguous()",
    "f(2, 3).contiguous()",
    "f(2).is_cuda",
    "f(2).is_dense()",
    "f(2).is_sparse()",
    "f(2).is_sparse_coo()",
    "f(2).is_selected_rows()",
    "f(2).device",
    "f(2).get_device()",
    "f(2, 3).T",
    "f(2, 3, 4).T",
    "f().T",
    "f(2, 3, 4).mT",
    "f(3).mT",
    "f(2).type_as(i(2))",
    "f(2).to('float64')",
    "f(2).to('cpu')",
    "f(2).to('cpu', 'float64')",
    "f(2).to(i(2))",
    "f(2).to(dtype='int32')",
    "f(2).to(device='cpu', dtype='int32', blocking=True)",
    "f(2).to(paddle.CPUPlace())",
    "f(2).to('foo')",
    "f(2).to()",
    "f(2).to(1, 2, 3, 4)",
    "f(2).to(paddle.float64, True)",
    "f(2).cpu()",
    "f(2).cuda()",
    "f(2).is_same_shape(f(2))",
    "f(2).is_same_shape(f(3))",
    "f(2).layout",
    "f(2).offset",
    "f(2).repeat(2)",
    "f(2, 2).repeat(2, 1)",
    "f(2, 2).repeat([1, 3])",
    "f(2).new_zeros([3])",
    "f(2).new_zeros(2, 3)",
    "f(2).new_ones([3], dtype='int32')",
    "i(2).new_full([3], 2.5)",
    "f(2).new_full([3], 7)",
    "f(2).gradient()",
    "f(2).value()",
    "f(3).split_with_sizes([1, 2])",
    "f(2).zero_()",
    "i(2).fill_(2.5)",
    "f(2).fill_('a')",
    "i(2).fill_(3)",
    "i(2).apply(lambda t: t + 1)",
    "i(2).apply_(lambda t: t + 1)",
    "f(2).apply(lambda t: t + 1)",
    "i(4).resize_([2])",
    "i(2).resize_([2, 2], True)",
    "i(2).set_()",
    "i(2).set_(i(4), [2], [2])",
    "i(2).copy_(i(2))",
    "i(2).copy_(f(2))",
    "i(3, 3).fill_diagonal_(9)",
    "i(3, 3).fill_diagonal_(9, 1)",
    "i(3, 3).fill_diagonal_(9, -1)",
    "i(5, 2).fill_diagonal_(9, wrap=True)",
    "i(5, 2).fill_diagonal_(9)",
    "i(2, 2, 2).fill_diagonal_(9)",
    "f(2).requires_grad_(False).stop_gradient",
    "i(2).requires_grad_().stop_gradient",
    "f(2)._numel()",
    "f(2)._is_initialized()",
    "i(3)._slice(0, 2)",
    "i(1).__long__()",
    "i(1).__nonzero__()",
    "f(2).reverse(0)",
    "f(2, 3).swapaxes(0, 1)",
    "f(2, 3).take_along_dim(idx(3, 2, 1), 1)",
    "paddle.tensor([1, 2.0], dtype='float64', requires_grad=True)",
    "paddle.tensor([1, 2.0])",
    "paddle.tolist(i(2))",
    "setattr(f(2), 'name', 3)",
    "setattr(f(2), 'data', 3)",
    "setattr(f(2), 'grad', np.ones(2))",
    "np.argmax(f(5))",
    "np.argmin(f(2, 3))",
    "np.searchsorted(i(3), 0)",
]
CASTS = [
    "float",
    "double",
    "half",
    "bfloat16",
    "int",
    "long",
    "short",
    "char",
    "byte",
    "bool",
    "cfloat",
    "cdouble",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "complex64",
    "complex128",
]


def evaluate(module, text):
    from tests.ops.harness import Maker

    try:
        return eval(text, Maker(module).env())  # noqa: S307
    except Exception as error:
        return error


def same(ours, theirs, module):
    if isinstance(theirs, list) and theirs and isinstance(theirs[0], module.Tensor):
        return len(ours) == len(theirs) and all(same(a, b, module) for a, b in zip(ours, theirs, strict=True))
    if isinstance(theirs, module.Tensor):
        equal = np.array_equal(ours.astype("complex128").numpy(), theirs.astype("complex128").numpy())
        # there integers stay "tracked" after a cast
        tracked = ours.stop_gradient == theirs.stop_gradient or not theirs.is_floating_point()
        return str(ours.dtype) == str(theirs.dtype) and tracked and equal
    return ours == theirs


@pytest.mark.parametrize("text", CALLS)
def test_as_the_oracle(text, oracle):
    ours, theirs = evaluate(paddle_jax, text), evaluate(oracle, text)
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), repr(ours)
    else:
        assert same(ours, theirs, oracle), f"{ours!r}, expected {theirs!r}"


@pytest.mark.parametrize("name", CASTS)
def test_casts(name, oracle):
    ours, theirs = (
        getattr(m.to_tensor(np.array([0.0, 1.5, 3.0], "float32")), name)() for m in (paddle_jax, oracle)
    )
    assert same(ours, theirs, oracle)


@pytest.mark.parametrize(
    "text",
    ["np.ones(2, 'float32')", "f(2)", "np.ones(2)", "np.ones(3, 'float32')", "i(2)", "[1.0, 2.0]", "3.0"],
)
def test_set_value(text, oracle):
    results = []
    for module in (paddle_jax, oracle):
        x = evaluate(module, "f(2)")
        try:
            x.set_value(evaluate(module, text))
        except AssertionError as error:
            x = error
        results.append(x)
    assert (
        isinstance(results[0], AssertionError)
        if isinstance(results[1], AssertionError)
        else same(*results, oracle)
    )


def test_data_and_storage_replace_the_value():
    x = paddle_jax.zeros([2])
    x.data = paddle_jax.ones([3])
    assert x.tolist() == [1.0, 1.0, 1.0]
    x.get_tensor().set(np.array([5.0], "float32"), paddle_jax.CPUPlace())
    assert (
        x.tolist() == [5.0] and np.array(x.get_tensor()).tolist() == [5.0] and x.get_tensor().shape() == [1]
    )
    x._clear_data()
    assert not x._is_initialized()


def test_gradients_pass_through_moves_and_casts():
    x = paddle_jax.ones([2])
    x.stop_gradient = False
    (x.cpu().to("float64").T * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and x.gradient().tolist() == [3.0, 3.0]


def test_indices_inside_a_jax_trace_need_no_host_value():
    import jax

    def f(value, index):
        x, at = paddle_jax.to_tensor(value), paddle_jax.to_tensor(index)
        taken = [paddle_jax.gather(x, at), paddle_jax.index_select(x, at), paddle_jax.take(x, at)]
        put = [paddle_jax.scatter(x, at, x[:2]), paddle_jax.index_fill(x, at, 0, 7.0)]
        return [t._value for t in taken + put]

    value, index = np.arange(6, dtype="float32").reshape(3, 2), np.array([2, 0])
    for traced, plain in zip(jax.jit(f)(value, index), f(value, index), strict=True):
        assert np.array_equal(traced, plain)
