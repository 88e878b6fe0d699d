"""Runs generated programs on several engines and compares what they saw; shrinks programs that differ."""

import contextlib
import dataclasses
import itertools
import re
import time
import warnings

import numpy as np

from tests.deferred.programs import FLOATS, Program

# Two tiers of one engine compute the same formulas; fusion contracts multiply-adds and reorders sums, so a
# result is off by some units in the last place of the largest intermediate. The real Paddle uses other
# formulas as well. What a program magnifies beyond that is measured: see `unstable`.
OWN, ORACLE = 64, 2000
EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "python": 2.0**-23}
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")


@dataclasses.dataclass
class Event:
    """One value that a program looked at. kind: dtype of a tensor or array, "python" for numbers,
    "text", "error"."""

    tag: str
    kind: str
    shape: tuple
    grad: bool | None
    value: object

    def meta(self):
        """What has to be the same. stop_gradient of a gradient is left out: in the real Paddle it depends on
        who computed it."""
        return self.kind, self.shape, self.grad if not self.tag.startswith("g") else None


def event(tag, v, tensor_type):
    if isinstance(v, tensor_type):
        array = np.array(v.numpy())
        return Event(tag, str(array.dtype), tuple(v.shape), v.stop_gradient, array)
    if isinstance(v, Exception):
        return Event(tag, "error", (), None, v)
    if isinstance(v, str):
        numbers = NUMBER.findall(v)
        text = NUMBER.sub("#", v)
        return Event(tag, "text", (" ".join(text.split()),), None, np.array([float(x) for x in numbers]))
    if isinstance(v, np.ndarray):
        return Event(tag, str(v.dtype), v.shape, None, v.copy())
    if v is None or isinstance(v, type):
        return Event(tag, "text", (repr(v),), None, np.zeros(0))
    array = np.asarray(v)
    return Event(tag, "python" if array.dtype.kind == "f" else array.dtype.name, array.shape, None, array)


def run(program, module, noise=None):
    """The events of a program on a module, with the exception that ended it, if any, as the last one. noise:
    seed of a rounding study."""
    events, made = [], np.random.RandomState(noise)

    def see(tag, *values):
        events.extend(event(tag, v, module.Tensor) for v in values)

    def jitter(t):
        array = np.asarray(t.detach().numpy())
        eps = 4 * EPS[str(array.dtype)]
        finite = np.where(np.isfinite(array), array, 0)
        scale = np.abs(finite).max(initial=0) * made.uniform(-1, 1, array.shape) * eps
        out = t * module.to_tensor(
            np.asarray(1 + eps * made.uniform(-1, 1, array.shape), array.dtype)
        ) + module.to_tensor(np.asarray(scale, array.dtype))
        return out

    env = {
        "np": np,
        "paddle": module,
        "F": module.nn.functional,
        "see": see,
        "jitter": jitter,
        "__name__": "program",
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # the text is generated here
            exec(compile(program.text(noise is not None), f"<program {program.seed}>", "exec"), env)  # noqa: S102
    except Exception as error:
        events.append(Event("ended", "error", (), None, error))
    return events


def settled(events):
    """Events with neighbouring looks at gradients in a fixed order: engines may walk branches of the tape in
    different orders."""
    return [
        e
        for grads, run_ in itertools.groupby(events, lambda e: e.tag.startswith("g"))
        for e in (sorted(run_, key=lambda e: e.tag) if grads else run_)
    ]


# comparison -------------------------------------------------------------------------------------------------


def apart(got, want):
    """Largest distance in multiples of (rounding error of the largest value); inf where they
    cannot be compared."""
    if got.shape != want.shape:
        return np.inf
    if want.dtype.kind not in "fc":
        return 0.0 if np.array_equal(got, want) else np.inf
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if same.all():
        return 0.0
    if not (np.isfinite(got) | same).all() or not (np.isfinite(want) | same).all():
        return np.inf
    scale = max(1.0, np.abs(want[np.isfinite(want)]).max())
    return float(np.abs(np.where(same, 0, got - want)).max() / scale)


def units_of(e, mixed):
    if e.kind == "text":
        return EPS["python"] * 64
    return EPS["float32"] if mixed and e.kind == "float64" else EPS.get(e.kind, 1.0)


def disagreement(got, want, ulps, tainted=False, mixed=False, names=False):
    """Index in `want` and description of the first difference, or None.

    tainted: values are random numbers of different generators, so a program may take different ways. names:
    exception classes must be the same, not only related.
    """
    for n, (g, w) in enumerate(zip(got, want, strict=False)):
        if g.tag != w.tag and tainted and "ended" not in (g.tag, w.tag):
            return None
        if g.tag != w.tag:
            return (
                n,
                (
                    f"saw {g.tag} where {w.tag} was expected"
                    + (f": {g.value!r}" if g.kind == "error" else "")
                    + (f": {w.value!r}" if w.kind == "error" else "")
                ),
            )
        if w.kind == "error" or g.kind == "error":
            if not related(g.value, w.value, names):
                return n, f"{g.tag}: {g.value!r}, expected {w.value!r}"
            continue
        if g.meta() != w.meta():
            return n, f"{g.tag}: {g.meta()}, expected {w.meta()}"
        if not tainted and (distance := apart(np.asarray(g.value), np.asarray(w.value))) > ulps * units_of(
            w, mixed
        ):
            return (
                n,
                (
                    f"{g.tag}: {distance / units_of(w, mixed):.3g} units apart: {g.value!r}, "
                    f"expected {w.value!r}"
                ),
            )
    return (
        None
        if tainted or len(got) == len(want)
        else (min(len(got), len(want)), f"{len(got)} events, expected {len(want)}")
    )


def related(got, want, names):
    if not isinstance(got, Exception) or not isinstance(want, Exception):
        return False
    if names:
        return type(got) is type(want)
    kinds = (IndexError, KeyError, AttributeError, NameError, ValueError, TypeError)
    kind = next((k for k in kinds if isinstance(want, k)), Exception)
    return isinstance(got, kind)


def unstable(program, module, n, order, studies=3):
    """How far event n moves (in the units of `apart`) when every result gets noise of its rounding error; inf
    when the program then runs otherwise, e.g. because a comparison tips over."""
    base = order(run(program, module))
    worst = 0.0
    for seed in range(1, studies + 1):
        noisy = order(run(program, module, noise=seed))
        if len(noisy) <= n or len(base) <= n:
            return np.inf if len(noisy) != len(base) else 0.0
        for g, w in zip(noisy[: n + 1], base[: n + 1], strict=True):
            if g.tag != w.tag or g.meta() != w.meta():
                return np.inf
            if w.kind not in (*FLOATS, "python", "text", "error") and not np.array_equal(g.value, w.value):
                return np.inf
        if base[n].kind != "error":
            worst = max(worst, apart(np.asarray(noisy[n].value), np.asarray(base[n].value)))
    return worst


@contextlib.contextmanager
def flags(module, **values):
    """Sets FLAGS_ for a block."""
    values = {f"FLAGS_{k}": v for k, v in values.items()}
    before = module.get_flags(list(values))
    module.set_flags(values)
    try:
        yield
    finally:
        module.set_flags(before)


@contextlib.contextmanager
def tier(module, donate=False, **settings):
    """Runs a block under settings of the deferred tier; with `donate` it reuses the memory of the
    smallest operands too."""
    from paddle_jax._core.runner import compiled_segment as program

    before = program._MIN_DONATED_BYTES
    program._MIN_DONATED_BYTES = 1 if donate else before
    try:
        with flags(module, **settings):
            yield
    finally:
        program._MIN_DONATED_BYTES = before


def between_tiers(program, paddle, **settings):
    """The difference between immediate and deferred execution, as text, or None."""
    with flags(paddle, deferred="off"):
        want = run(program, paddle)
    return deferred_differs(program, paddle, want, settings)


def deferred_differs(program, paddle, want, settings):
    with tier(paddle, **settings):
        got = run(program, paddle)
    found = disagreement(got, want, OWN, mixed=program.mixed, names=True)
    return found and explained(program, paddle, got, want, found, 8)


def explained(program, paddle, got, want, found, factor, order=list):
    """None when rounding explains a difference, else its text."""
    n, text = found
    with flags(paddle, deferred="off"):
        allowed = unstable(program, paddle, n, order)
    at = min(n, len(want) - 1)
    return None if np.isinf(allowed) or within(got, want, at, factor * allowed) else text


def within(got, want, n, allowed):
    if not 0 <= n < min(len(got), len(want)) or got[n].meta() != want[n].meta() or want[n].kind == "error":
        return False
    return apart(np.asarray(got[n].value), np.asarray(want[n].value)) <= allowed


NOT_IN_PADDLE = (
    "second order",
    "higher order",
    "double grad",
    "not implemented",
    "does not have",
    "grad_grad",
    "not found",
    "No kernel",
    "not registered",
    "ouble_grad",
)


def against_oracle(program, paddle, oracle):
    """The difference between immediate execution and the real Paddle, as text, or None."""
    with flags(paddle, deferred="off"):
        got = run(program, paddle)
    return oracle_differs(program, paddle, got, oracle)


def oracle_differs(program, paddle, got, oracle):
    want, got = settled(run(program, oracle)), settled(got)
    if want and want[-1].tag == "ended" and any(t in str(want[-1].value) for t in NOT_IN_PADDLE):
        got, want = got[: len(want) - 1], want[:-1]
    found = disagreement(got, want, ORACLE, program.tainted, program.mixed)
    return found and explained(program, paddle, got, want, found, 100, settled)


def all_ways(program, paddle, oracle, settings):
    """The first difference between immediate execution, deferred execution and (for safe programs, where it
    is installed) the real Paddle."""
    with flags(paddle, deferred="off"):
        here = run(program, paddle)
    found = deferred_differs(program, paddle, here, settings)
    if found is not None:
        return f"deferred: {found}"
    found = oracle_differs(program, paddle, here, oracle) if oracle is not None and program.safe else None
    return found and f"oracle: {found}"


# shrinking --------------------------------------------------------------------------------------------------


def shrink(program: Program, differs, seconds=60):
    """A smaller program that still differs: units are left out in ever smaller runs, then repetitions."""
    end = time.monotonic() + seconds
    text = differs(program)
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for part in (1, 2, 0):
            size = max(1, len(program.parts()[part]) // 2)
            while size and time.monotonic() < end:
                at = 0
                while at < len(program.parts()[part]) and time.monotonic() < end:
                    units = program.parts()[part]
                    smaller = program.replaced(part, units[:at] + units[at + size :])
                    if (found := differs(smaller)) is not None:
                        program, text, changed = smaller, found, True
                    else:
                        at += size
                size //= 2
        for smaller in without_a_line(program):
            if time.monotonic() < end and (found := differs(smaller)) is not None:
                program, text, changed = smaller, found, True
                break
        for repeats in range(1, program.repeats):
            smaller = dataclasses.replace(program, repeats=repeats)
            if (found := differs(smaller)) is not None:
                program, text, changed = smaller, found, True
                break
    return program, text


def without_a_line(program):
    """Programs in which a unit of several lines lost one of them and still is a statement."""
    for part, units in enumerate(program.parts()):
        for at, unit in enumerate(units):
            lines = unit.text.split("\n")
            for i in range(len(lines) if len(lines) > 1 else 0):
                text = "\n".join(lines[:i] + lines[i + 1 :])
                with contextlib.suppress(SyntaxError):
                    compile(text, "unit", "exec")
                    yield program.replaced(
                        part, [*units[:at], dataclasses.replace(unit, text=text), *units[at + 1 :]]
                    )
