"""Evaluates the case texts of op declarations on the real Paddle and on paddle_jax, and compares what they
return or raise."""

import dataclasses
import re

import numpy as np

# looser where float32 algorithms legitimately differ (iterative decompositions, long sums of powers)
TOLERANCE = {
    "float64": (1e-6, 1e-7),
    "complex128": (1e-6, 1e-7),
    "float32": (2e-5, 2e-6),
    "complex64": (5e-5, 5e-6),
    "float16": (2e-3, 2e-3),
    "bfloat16": (2e-2, 2e-2),
}
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class Maker:
    """The helpers that case texts call. Each call makes the next seeded Tensor of the module under test."""

    def __init__(self, module, upcast=False):
        self.m, self.count, self.made, self.upcast = module, 0, [], upcast
        self.leaves = []

    def tensor(self, array, dtype=None, leaf=None):
        array = np.asarray(array)
        if self.upcast and array.dtype == np.float32:
            array = array.astype(np.float64)
        t = self.m.to_tensor(array)
        if dtype is not None:
            t = t.astype("float64" if self.upcast and dtype in ("float16", "bfloat16", "float32") else dtype)
        if (array.dtype.kind in "fc") if leaf is None else leaf:
            t.stop_gradient = False
            self.leaves.append(t)
        return t

    @property
    def r(self):
        self.count += 1
        return np.random.RandomState(1000 + self.count)

    def env(self):
        r, t = (lambda: self.r), self.tensor
        names = {
            "f": lambda *s: t(np.asarray(r().randn(*s), "float32")),
            "d": lambda *s: t(np.asarray(r().randn(*s))),
            "h": lambda *s: t(np.asarray(r().randn(*s), "float16")),
            "bf": lambda *s: t(np.asarray(r().randn(*s), "float32"), "bfloat16"),
            "i": lambda *s: t(np.asarray(r().randint(-5, 6, s), "int64")),
            "i_": lambda *s: t(np.asarray(r().randint(0, 3, s), "int64")),
            "i32": lambda *s: t(np.asarray(r().randint(-5, 6, s), "int32")),
            "u8": lambda *s: t(np.asarray(r().randint(0, 9, s), "uint8")),
            "i8": lambda *s: t(np.asarray(r().randint(-5, 6, s), "int8")),
            "i16": lambda *s: t(np.asarray(r().randint(-5, 6, s), "int16")),
            "b": lambda *s: t(np.asarray(r().randint(0, 2, s), "bool")),
            "c": lambda *s: t((lambda q: np.asarray(q.randn(*s) + 1j * q.randn(*s), "complex64"))(r())),
            "c128": lambda *s: t((lambda q: np.asarray(q.randn(*s) + 1j * q.randn(*s), "complex128"))(r())),
            "pos": lambda *s: t(np.asarray(r().uniform(0.5, 2, s), "float32")),
            "pos_d": lambda *s: t(np.asarray(r().uniform(0.5, 2, s))),
            "pos_i": lambda *s: t(np.asarray(r().randint(1, 6, s), "int64")),
            "pos_i32": lambda *s: t(np.asarray(r().randint(1, 6, s), "int32")),
            "u": lambda lo, hi, *s: t(np.asarray(r().uniform(lo, hi, s), "float32")),
            "ud": lambda lo, hi, *s: t(np.asarray(r().uniform(lo, hi, s))),
            "idx": lambda n, *s: t(np.asarray(r().randint(0, n, s), "int64")),
            "idx32": lambda n, *s: t(np.asarray(r().randint(0, n, s), "int32")),
            "perm": lambda n: t(r().permutation(n).astype("int64")),
            "const": lambda v, dtype=None: t(np.asarray(v, dtype)),
            "spd": lambda n: t((lambda a: (a @ a.T + n * np.eye(n)).astype("float32"))(r().randn(n, n))),
            "np": np,
            "paddle": self.m,
        }
        return names


@dataclasses.dataclass
class Result:
    """What a case gave: arrays with dtypes, gradients, or the exception."""

    error: Exception | None = None
    outs: list = dataclasses.field(default_factory=list)
    grads: list | None = None
    tensors: list = dataclasses.field(default_factory=list)
    leaves: list = dataclasses.field(default_factory=list)


def name_of(t):
    return str(t.dtype).rsplit(".", 1)[-1]


def to_numpy(t):
    return (
        t.astype("float32").numpy()
        if name_of(t) in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
        else np.asarray(t.numpy())
    )


def flat(value, tensor_type):
    if isinstance(value, tensor_type):
        return [value]
    if isinstance(value, list | tuple):
        return [t for v in value for t in flat(v, tensor_type)]
    return [value] if value is not None else []


def evaluate(module, function, case, upcast=False):
    """Runs one case; gradients are left to `first_gradient`."""
    maker = Maker(module, upcast)
    env = maker.env()
    try:
        # case texts are part of the source
        out = eval(f"__call__({case})", {**env, "__call__": function})  # noqa: S307
        tensors = flat(out, module.Tensor)
        outs = [
            (name_of(t), list(t.shape), to_numpy(t))
            if isinstance(t, module.Tensor)
            else ("python", type(t).__name__, t)
            for t in tensors
        ]
    except Exception as error:
        return Result(error=error)
    return Result(outs=outs, tensors=tensors, leaves=maker.leaves)


def cotangents(module, tensors):
    r = np.random.RandomState(7)
    cts = []
    for t in tensors:
        a = r.randn(*t.shape)
        if "complex" in name_of(t):
            a = a + 1j * r.randn(*t.shape)
        cts.append(module.to_tensor(np.asarray(a)).astype(name_of(t)))
    return cts


def differentiable(module, result):
    return [
        t
        for t in result.tensors
        if isinstance(t, module.Tensor) and name_of(t) in FLOATS and not t.stop_gradient
    ]


def first_gradient(module, result, create_graph=False):
    """Gradients of all float outputs with fixed cotangents with respect to all float inputs, or None
    where there are none."""
    outs = differentiable(module, result)
    if not outs or not result.leaves:
        return None
    return module.grad(
        outs,
        result.leaves,
        grad_outputs=cotangents(module, outs),
        allow_unused=True,
        create_graph=create_graph,
    )


def second_gradient(module, grads, leaves):
    """Gradient of <grads, fixed directions>."""
    outs = [g for g in grads if g is not None and not g.stop_gradient]
    return (
        module.grad(outs, leaves, grad_outputs=cotangents(module, outs), allow_unused=True) if outs else None
    )


def difference(got, want, dtype, slack=1.0):
    """None when two arrays agree within the dtype's tolerance, else a short text."""
    rtol, atol = TOLERANCE.get(dtype, (0, 0))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, expected {list(want.shape)}"
    if want.dtype.kind in "fc":
        scale = float(np.nanmax(np.abs(np.where(np.isfinite(want), want, 0)))) if want.size else 0.0
        ok = np.allclose(got, want, rtol=rtol * slack, atol=atol * slack * max(1.0, scale), equal_nan=True)
    else:
        ok = np.array_equal(got, want)
    return None if ok else f"values {got.ravel()[:6]}, expected {want.ravel()[:6]}"


def compare_outputs(ours, theirs, values=True):
    if len(ours.outs) != len(theirs.outs):
        return f"{len(ours.outs)} outputs, expected {len(theirs.outs)}"
    for i, ((dtype, shape, array), (want_dtype, want_shape, want)) in enumerate(
        zip(ours.outs, theirs.outs, strict=True)
    ):
        if (dtype, shape) != (want_dtype, want_shape):
            return f"output {i}: {dtype}{shape}, expected {want_dtype}{want_shape}"
        if values and dtype == "python":
            if array != want and not np.allclose(array, want):
                return f"output {i}: {array!r}, expected {want!r}"
        elif values and (text := difference(array, want, dtype)):
            return f"output {i}: {text}"
    return None


def compare_gradients(ours, theirs, slack=10.0):
    """Compares lists of gradients; None and all zeros count as equal."""
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a is None or b is None:
            rest = a if b is None else b
            if rest is not None and np.any(to_numpy(rest)):
                return f"gradient {i}: None on one side"
            continue
        if name_of(a) != name_of(b):
            return f"gradient {i}: {name_of(a)}, expected {name_of(b)}"
        if text := difference(to_numpy(a), to_numpy(b), name_of(b), slack):
            return f"gradient {i}: {text}"
    return None


def same_refusal(ours, theirs):
    """Whether our exception fits the real one. A missing CPU kernel there (RuntimeError and the like)
    is no rule for us."""
    if isinstance(theirs, ValueError | TypeError | IndexError | KeyError | AssertionError | AttributeError):
        return ours is not None and isinstance(ours, _family(theirs))
    return True


def kind(error):
    """The kind of mistake in front of a message, `(InvalidArgument)` say; None where there is none."""
    found = re.match(r"\((\w+)\) ", str(error))
    return found and found[0].strip()


def same_kind(ours, theirs):
    """Whether both messages begin with the same kind of mistake. That Paddle has no CPU kernel for something
    is no rule for us."""
    return kind(theirs) in ("(NotFound)", "(Unavailable)", kind(ours))


def _family(error):
    for kind in (IndexError, KeyError, AssertionError, AttributeError, ValueError, TypeError):
        if isinstance(error, kind):
            return kind
    return Exception
