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


def _arange(w, a, out):
    """Bounds as operands: whole numbers where all are, else float64."""
    bounds = [a.start, a.end, a.step]
    kind = "int64" if all(isinstance(b, int) for b in bounds) else "float64"
    return w.op("arange", [w.number(b, kind, (1,)) for b in bounds], out[0], dtype=out[0][0])


def _linspace(w, a, out):
    ends = [w.number(b, "float32" if out[0][0] == "float32" else "float64", (1,)) for b in (a.start, a.stop)]
    return w.op("linspace", [*ends, w.number(a.num, "int32", (1,))], out[0], dtype=out[0][0])


arange, linspace = Form(_arange), Form(_linspace)
uniform = Form(_uniform, _read_uniform)
