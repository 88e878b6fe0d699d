"""The corners of the autograd API: short programs (scenarios/*.txt) give the same in the real Paddle and
here, deferred and not.

A program sees `p`, the package, and puts what is compared into `r`: values, dtypes, shapes and stop_gradient
of Tensors, exception classes. Programs in own.txt, where the real Paddle is wrong, crashes or refuses, say
what is right in `want`.
"""

import contextlib
import pathlib
import warnings

import numpy as np
import pytest


def programs(group):
    """{name: text} of a file; a line that starts with `# ` begins a program."""
    text = (pathlib.Path(__file__).parent / "scenarios" / f"{group}.txt").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.removeprefix("# ").split("\n# ")]
    return {name: body for name, _, body in parts}


GROUPS = {
    group: programs(group)
    for group in ("grad", "backward", "hooks", "modes", "pylayer", "jacobians", "saved", "own")
}


def environment(p):
    """What programs see: t and c make leaves with and without gradients, e gives what a call returns or
    raises, L makes a PyLayer."""

    def t(values, dtype="float64", sg=False):
        return p.to_tensor(np.asarray(values, dtype), stop_gradient=sg)

    def e(f, *args, **kwargs):
        try:
            return f(*args, **kwargs)
        except Exception as error:  # noqa: BLE001
            return type(error)

    def L(forward, backward, name="F"):  # noqa: N802
        return type(
            name,
            (p.autograd.PyLayer,),
            {"forward": staticmethod(forward), "backward": staticmethod(backward)},
        )

    def square():
        return L(
            lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], lambda ctx, g: g * 2 * ctx.saved_tensor()[0]
        )

    return {
        "p": p,
        "np": np,
        "t": t,
        "c": lambda v: t(v, sg=True),
        "e": e,
        "L": L,
        "square": square,
        "P": p.autograd.PyLayer,
        "A": p.autograd,
    }


def seen(value, p):
    """A result as plain Python: Tensors as (dtype, shape, values, stop_gradient)."""
    if isinstance(value, p.Tensor):
        return (
            str(value.dtype).rpartition(".")[2],
            list(value.shape),
            value.numpy().tolist(),
            value.stop_gradient,
        )
    if isinstance(value, list | tuple):
        return type(value)([seen(v, p) for v in value])
    if isinstance(value, dict):
        return {k: seen(v, p) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, type | bool | int | float | str | None) else type(value).__name__


def run(text, p, name="r"):
    """What a program leaves in `r`, or the class of what it raises."""
    scope = environment(p)
    try:
        exec(text, scope)  # noqa: S102
        return seen(scope["r"], p), seen(scope["want"], p) if name == "want" else None
    except Exception as error:
        if name == "want":
            raise
        return type(error), None
    finally:
        p.set_grad_enabled(True)


def same(ours, theirs, flags=True):
    """Equality of results; exceptions of ours may be of a class derived from theirs, floats
    differ by rounding."""
    if isinstance(theirs, type):
        return isinstance(ours, type) and issubclass(ours, theirs)
    if (
        isinstance(theirs, tuple)
        and len(theirs) == 4
        and isinstance(theirs[0], str)
        and isinstance(theirs[1], list)
        and not flags
    ):
        ours, theirs = ours and ours[:3], theirs[:3]
    if isinstance(theirs, list | tuple):
        return (
            type(ours) is type(theirs)
            and len(ours) == len(theirs)
            and all(same(a, b, flags) for a, b in zip(ours, theirs, strict=True))
        )
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k], flags) for k in ours)
    if isinstance(theirs, float):
        return isinstance(ours, float) and bool(
            np.isclose(ours, theirs, rtol=1e-6, atol=1e-6, equal_nan=True)
        )
    return type(ours) is type(theirs) and ours == theirs


@contextlib.contextmanager
def tier(paddle, mode):
    """One way of running ops."""
    before = paddle.get_flags("FLAGS_deferred")
    paddle.set_flags({"FLAGS_deferred": mode})
    try:
        yield
    finally:
        paddle.set_flags(before)


@pytest.mark.filterwarnings("ignore:remove. the hook was removed:RuntimeWarning")  # as the oracle warns
@pytest.mark.parametrize(("group", "name"), [(g, n) for g in GROUPS if g != "own" for n in GROUPS[g]])
def test_as_the_oracle(group, name, paddle, oracle):
    text = GROUPS[group][name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, _ = run(text, oracle)
    for mode in ("sync", "off"):
        with tier(paddle, mode):
            ours, _ = run(text, paddle)
        # gradients that a PyLayer made without recording keep stop_gradient=True in the real Paddle
        assert same(ours, theirs, flags=group != "pylayer"), f"{mode}: {ours}; the real Paddle: {theirs}"


@pytest.mark.parametrize("mode", ["sync", "off"])
@pytest.mark.parametrize("name", GROUPS["own"])
def test_where_paddle_is_not_followed(name, mode, paddle):
    with tier(paddle, mode):
        got, want = run(GROUPS["own"][name], paddle, "want")
    assert same(got, want), f"{got}; right is {want}"
