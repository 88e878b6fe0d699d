"""Runs case texts through a static Program: tensors are inputs whose first length is not known, results and gradients are fetched."""

import numpy as np

import paddle_jax
from tests.ops import harness as h

S = paddle_jax.static


class Feeding(h.Maker):
    """A Maker of inputs of the program that is being recorded; what is to be fed is kept in `feed`."""

    def __init__(self, prefix, feed, open_axis):
        super().__init__(paddle_jax)
        self.prefix, self.feed, self.open_axis = prefix, feed, open_axis

    def tensor(self, array, dtype=None, leaf=None):
        array = np.asarray(array)
        if dtype is not None:
            array = array.astype(paddle_jax.to_tensor(np.zeros(1)).astype(dtype)._raw.dtype if isinstance(dtype, str) else dtype)
        shape = list(array.shape)
        if self.open_axis and shape:
            shape[0] = None
        name = f"{self.prefix}_{len(self.made)}"
        self.feed[name] = array
        made = S.data(name, shape, str(array.dtype))
        self.made.append(made)
        if (array.dtype.kind in "fc" or array.dtype.name == "bfloat16") if leaf is None else leaf:
            made.stop_gradient = False
            self.leaves.append(made)
        return made


def eager(function, case):
    """[arrays] of results and first gradients when operations run at once, and the Result; None where the case is refused."""
    paddle_jax.seed(3)
    result = h.evaluate(paddle_jax, function, case)
    if result.error is not None:
        return None
    grads = h.first_gradient(paddle_jax, result)
    tensors = [t for t in result.tensors if isinstance(t, paddle_jax.Tensor)]
    return [(h.name_of(t), h.to_numpy(t)) for t in tensors], None if grads is None else [g if g is None else (h.name_of(g), h.to_numpy(g)) for g in grads]


def recorded(prefix, function, case, feed, open_axis):
    """(results, gradients) as Variables of the default main program."""
    maker = Feeding(prefix, feed, open_axis)
    out = eval(f"__call__({case})", {**maker.env(), "__call__": function})  # noqa: S307  case texts are part of the source
    results = [t for t in h.flat(out, paddle_jax.Tensor) if isinstance(t, paddle_jax.Tensor)]
    outs = [t for t in results if h.name_of(t) in h.FLOATS and not t.stop_gradient]
    if not outs or not maker.leaves:
        return results, None
    return results, outs, maker.leaves
