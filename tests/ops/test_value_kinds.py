"""What a Tensor can be asked for, whatever it holds: an array, host numbers, what NumPy computed, one number
that fills a shape, or a result that is not computed yet. Every op of the table is run on operands of each
kind, and what it gives is printed, asked for its place, and so on."""

import copy
import functools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray, constant, host_numbers
from paddle_jax._core.runner import compiled_segment, tiering
from paddle_jax._core.tensors.tensor import Tensor, wrap
from tests.ops import harness as h
from tests.ops.table import NAMES, OPS, find, public_path

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def pending(array):
    return wrap(jax.device_put(array)) * wrap(jax.device_put(np.ones_like(array)))


HOLDS = {
    "array": lambda array: wrap(jax.device_put(array)),
    "computed": lambda array: _known(pending(array)),
    "numpy": wrap,
    "host": lambda array: wrap(host_numbers(array.ravel().tolist(), aval_of(array.shape, array.dtype))),
    "pending": pending,
}


def _known(tensor):
    tensor._value
    return tensor


class Maker(h.Maker):
    """Operands that hold a given kind of value."""

    def __init__(self, kind):
        super().__init__(paddle_jax)
        self.kind = kind

    def tensor(self, array, dtype=None, leaf=None):
        made = h.Maker.tensor(self, array, dtype, leaf)
        made._raw = HOLDS[self.kind](made.numpy())._raw
        return made


def results(name, case, kind):
    """The Tensors a case gives; None where it refuses."""
    paddle_jax.seed(5)
    env = Maker(kind).env()
    try:
        # case texts are part of the source
        out = eval(f"__call__({case})", {**env, "__call__": find(paddle_jax, public_path(name))})  # noqa: S307
    except Exception:
        return None
    return [t for t in h.flat(out, Tensor) if isinstance(t, Tensor)]


def bits(tensor):
    array = tensor.numpy()
    return array.dtype.name, array.shape, array.tobytes()


def item(tensor):
    if tensor.size == 1:
        return repr(tensor.item())
    return repr(tensor.item(0)) if tensor.size else ""


ASKED = {
    "print": str,
    "repr": repr,
    "place": lambda t: str(t.place),
    "numpy": bits,
    "item": item,
    "tolist": lambda t: repr(t.tolist()),
    "array": lambda t: (np.asarray(t).dtype.name, np.asarray(t).tobytes()),
    "to_tensor": lambda t: bits(paddle_jax.to_tensor(t)),
    "pickle": lambda t: bits(pickle.loads(pickle.dumps(t))),  # noqa: S301  its own bytes
    "deepcopy": lambda t: bits(copy.deepcopy(t)),
    "copy": lambda t: bits(copy.copy(t)),
    "clone": lambda t: bits(t.clone()),
    "detach": lambda t: bits(t.detach()),
    "cpu": lambda t: bits(t.cpu()),
    "list": lambda t: [bits(each) for each in t] if t.ndim else [],
    "device": lambda t: (
        t.get_device(),
        t.is_contiguous(),
        t.element_size(),
        list(t.shape),
        t.size,
        t.ndim,
        str(t.dtype),
    ),
}


@pytest.fixture(params=["sync", "off"])
def tier(request, monkeypatch):
    """Interpreted, or compiled op by op. Nothing goes from one to the other meanwhile, which would
    change last digits."""
    monkeypatch.setattr(tiering, "_KERNEL", float("inf"))
    compiled_segment.clear()  # what other tests have made hot
    paddle_jax.set_flags({"FLAGS_deferred": request.param})
    yield request.param
    paddle_jax.set_flags({"FLAGS_deferred": "sync"})


@functools.cache
def first_case(name):
    """The first case that the op accepts, which does not depend on the tier."""
    for case in OPS[name].cases:
        case = case.lstrip("~ ")
        if results(name, case, "array") is not None:
            return case
    pytest.skip("gives no Tensor")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_of_the_table_can_be_asked(name, tier):
    case = first_case(name)
    arrays = [(jax.device_put(t.numpy()), t.stop_gradient) for t in results(name, case, "array")]
    for question, ask in ASKED.items():
        answers = [ask(t) for t in results(name, case, "array")]
        assert answers == [ask(wrap(*array)) for array in arrays], question


@pytest.mark.parametrize("name", [n for n in NAMES if not OPS[n].random])
def test_every_op_takes_operands_of_every_kind(name, tier):
    case = first_case(name)
    want = [(str(t), t.dtype, t.shape, t.stop_gradient) for t in results(name, case, "array")]
    for kind in HOLDS:
        got = results(name, case, kind)
        assert got is not None, kind
        assert [(str(t), t.dtype, t.shape, t.stop_gradient) for t in got] == want, kind


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (2, 0), (40, 50)], ids=str)
@pytest.mark.parametrize("kind", [*HOLDS, "fill"])
def test_every_kind_and_dtype_answers_as_an_array(kind, shape, dtype, tier):
    of = jnp.dtype(dtype)
    array = (
        np.full(shape, 3).astype(of)
        if kind == "fill"
        else (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7).astype(of)
    )

    def made():
        return (
            HOLDS[kind](array)
            if kind in HOLDS
            else wrap(constant(np.asarray(3).astype(of).item(), aval_of(array.shape, array.dtype)))
        )

    if kind in ("pending", "fill", "host") and tier == "sync" and array.size:
        assert type(made()._raw) is LazyArray
    for question, ask in ASKED.items():
        assert ask(made()) == ask(wrap(jax.device_put(array))), question
