"""Runs case texts through static Programs: tensors are inputs, results and gradients are fetched."""

import jax.numpy as jnp
import numpy as np

import paddle_jax
from paddle_jax.static.backward import differentiated
from tests.ops import harness as h

S = paddle_jax.static


class Feeding(h.Maker):
    """A Maker of inputs of the program that is being recorded; what is to be fed is kept in `feed`. is_open:
    the first input's first length is declared unknown."""

    def __init__(self, prefix, feed, is_open):
        super().__init__(paddle_jax)
        self.prefix, self.feed, self.is_open = prefix, feed, is_open

    def tensor(self, array, dtype=None, leaf=None):
        array = np.asarray(array)
        if dtype is not None:
            array = array.astype(np_dtype(dtype))
        shape = list(array.shape)
        if self.is_open and shape and not self.made:
            shape[0] = None
        name = f"{self.prefix}_{len(self.made)}"
        self.feed[name] = array
        made = S.data(name, shape, str(array.dtype))
        self.made.append(made)
        if (array.dtype.kind in "fc" or array.dtype.name == "bfloat16") if leaf is None else leaf:
            made.stop_gradient = False
            self.leaves.append(made)
        return made


def np_dtype(name):
    """The NumPy dtype of a name."""
    return jnp.dtype(name)


def eager(function, case):
    """(results, first gradients) as lists of (dtype, array), with None for missing gradients, when operations
    run at once; None for a refusal."""
    result = h.evaluate(paddle_jax, function, case)
    if result.error is not None:
        return None
    grads = h.first_gradient(paddle_jax, result)
    tensors = [t for t in result.tensors if isinstance(t, paddle_jax.Tensor)]
    values = [(h.name_of(t), h.to_numpy(t)) for t in tensors]
    return (
        values,
        None if grads is None else [None if g is None else (h.name_of(g), h.to_numpy(g)) for g in grads],
    )


class Recorded:
    """A case in the default main program: Variables of its results and gradients."""

    def __init__(self, prefix, function, case, feed, is_open, wanted):
        maker = Feeding(prefix, feed, is_open)
        # case texts are part of the source
        out = eval(f"__call__({case})", {**maker.env(), "__call__": function})  # noqa: S307
        self.results = [t for t in h.flat(out, paddle_jax.Tensor) if isinstance(t, paddle_jax.Tensor)]
        self.grads, values, grads = None, *wanted
        if grads is not None:
            outs = [
                (t, w)
                for t, w in zip(self.results, values, strict=True)
                if h.name_of(t) in h.FLOATS and not t.stop_gradient
            ]
            r, starts = np.random.RandomState(7), []
            for number, (_, (dtype, array)) in enumerate(outs):
                ct = r.randn(*array.shape)
                ct = ct + 1j * r.randn(*array.shape) if "complex" in dtype else ct
                name = f"{prefix}_ct{number}"
                feed[name] = np.asarray(ct).astype(np_dtype(dtype))
                starts.append(S.data(name, list(array.shape), dtype)._raw)
            program = S.default_main_program()
            self.grads = differentiated(
                program, [t._raw for t, _ in outs], starts, [leaf._raw for leaf in maker.leaves], None
            )

    def fetches(self):
        """What is to be fetched."""
        return [*self.results, *[g for g in self.grads or () if g is not None]]

    def problem(self, fetched, wanted):
        """None, or how fetched arrays differ from what is wanted."""
        fetched, (values, grads) = iter(fetched), wanted
        if len(values) != len(self.results):
            return f"{len(self.results)} results, {len(values)} are wanted"
        for result, (dtype, array) in zip(self.results, values, strict=True):
            got = next(fetched)
            if h.name_of(result) != dtype or any(
                n not in (-1, m) for n, m in zip(result.shape, array.shape, strict=True)
            ):
                return f"{h.name_of(result)}{list(result.shape)}, wanted {dtype}{list(array.shape)}"
            if text := h.difference(plain(got), array, dtype):
                return text
        for number, (grad, want) in enumerate(zip(self.grads or (), grads or (), strict=True)):
            got = None if grad is None else next(fetched)
            if got is None or want is None:
                rest = want[1] if got is None and want is not None else got
                if rest is not None and np.any(rest):
                    return f"gradient {number}: none on one side"
            elif text := h.difference(plain(got), want[1], want[0], 10.0):
                return f"gradient {number}: {text}"
        return None


def plain(array):
    """float16 and bfloat16 as float32."""
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float16") else array
