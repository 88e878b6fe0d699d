"""New tensors."""

from paddle_jax.framework.pir.parts import cast
from paddle_jax.framework.pir.reading import P
from paddle_jax.framework.pir.records import Form


def _uniform(w, a, out, low, high):
    shape = out[0][1]
    return w.op("uniform", [w.ints(shape), cast(w, low, out[0][0]), cast(w, high, out[0][0])], out[0],
                shape=[], dtype=out[0][0])


def _read_uniform(a, n_shape, s_low, s_high):
    return P.uniform(n_shape, a.dtype, s_low, s_high, a.seed)


uniform = Form(_uniform, _read_uniform)
