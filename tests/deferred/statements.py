"""Statement families of the program generator: arithmetic, shapes, indexing, in-place operations. Each writes
one unit, or nothing when the pool has no fitting variable."""

import numpy as np

from tests.deferred.programs import FLOATS

COMPARE = ("<", "<=", ">", ">=", "==", "!=")


def broadcast(x, y):
    try:
        return np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return None


def promoted(x, y):
    """The dtype of arithmetic on two tensors, or None where it is refused: only floats mix, but a 0-d tensor
    counts as a number."""
    if x.is_float == y.is_float and (not x.shape) == (not y.shape):
        return max(x.dtype, y.dtype, key=["int64", "float32", "float64"].index)
    if bool(x.shape) == bool(y.shape):
        return None
    full, single = (x, y) if x.shape else (y, x)
    return single.dtype if single.is_float and not full.is_float else full.dtype


def binary(b):
    x = b.pick(lambda v: v.dtype != "bool")
    y = b.pick(lambda v: v.dtype != "bool" and broadcast(x, v) is not None and promoted(x, v))
    shape, dtype, operands = broadcast(x, y), promoted(x, y), [x, y]
    kind = b.r.choice(["+", "-", "*", "maximum", "/", "%", "method"])
    if kind in "+-*":
        return b.emit(
            f"{x.name} {kind} {y.name}",
            shape,
            dtype,
            operands,
            x.mag * y.mag if kind == "*" else x.mag + y.mag,
        )
    if kind == "method":
        return b.emit(
            f"{x.name}.{b.r.choice(['add', 'subtract'])}({y.name})", shape, dtype, operands, x.mag + y.mag
        )
    if x.dtype != y.dtype or x is y:
        return None
    if kind == "maximum":
        return b.emit(
            f"paddle.{b.r.choice(['maximum', 'minimum'])}({x.name}, {y.name})",
            shape,
            dtype,
            operands,
            max(x.mag, y.mag),
        )
    if x.is_float:
        return (
            b.emit(f"{x.name} / (1 + {y.name} * {y.name})", shape, dtype, operands, x.mag)
            if kind == "/"
            else None
        )
    return b.emit(f"{x.name} {b.r.choice(['//', '%'])} ({y.name} % 5 + 1)", shape, dtype, operands, x.mag + 5)


def scalar(b):
    x = b.pick(lambda v: v.dtype != "bool")
    whole = b.r.choice(["2", "3", "k", "n", "-1", "(n % 3)"])
    number = b.r.choice(
        ["0.5", "1.5", "-0.25", "1e-3", "(k * 0.1)", "(0.9 ** k)", "np.float32(0.75)", whole, whole]
    )
    s = number if x.is_float else whole
    bound = 20.0 if s in ("k", "n") else 3.0
    form = b.r.choice(
        [
            "{x} + {s}",
            "{s} + {x}",
            "{x} - {s}",
            "{s} - {x}",
            "{x} * {s}",
            "{s} * {x}",
            "{x} / 3",
            "{x} ** 2",
            "power",
        ]
    )
    if form == "power":
        if x.mag > 5 or not x.is_float:
            return None
        return b.emit(
            b.r.choice(["{x} ** 3", "2.0 ** {x}", "paddle.pow({x}, 2.0)"]).format(x=x.name),
            x.shape,
            x.dtype,
            [x],
            max(x.mag**3, 2**x.mag),
        )
    if "/" in form:
        return (
            b.emit(form.format(x=x.name), x.shape, x.dtype if x.is_float else "float32", [x], x.mag)
            if x.is_float or b.chance(0.3)
            else None
        )
    if not x.is_float and x.shape and b.chance(0.2):  # the real Paddle makes a 0-d integer 1-d here
        return b.emit(
            b.r.choice([f"{x.name} // 3", f"{x.name} % 4", f"{x.name} % -3"]),
            x.shape,
            x.dtype,
            [x],
            x.mag + 4,
        )
    if not x.is_float and b.chance(0.1):
        return b.emit(f"{x.name} + 1.5", x.shape, "float32", [x], x.mag + 2)
    mag = x.mag**2 if "**" in form else x.mag * bound if "*" in form else x.mag + bound
    return b.emit(form.format(x=x.name, s=s), x.shape, x.dtype, [x], mag)


def with_numpy(b):
    """Arithmetic with a NumPy array."""
    x = b.floating(lambda v: v.shape)
    array = b.r.choice(
        [
            f"np.full({list(x.shape)}, 0.5, '{x.dtype}')",
            f"np.arange({x.shape[-1]}).astype('{x.dtype}')",
            f"np.asarray(k * 0.5, '{x.dtype}')",
        ]
    )
    form = b.r.choice(["{0} + {1}", "{1} * {0}", "{0} - {1}", "{0} < {1}", "{0} * {1}"])
    return b.emit(form.format(x.name, array), x.shape, "bool" if "<" in form else x.dtype, [x], x.mag * 4 + 4)


UNARY = [
    ("paddle.tanh({0})", 1),
    ("paddle.sin({0})", 1),
    ("{0}.cos()", 1),
    ("paddle.exp(paddle.tanh({0}))", 3),
    ("paddle.sqrt({0} * {0} + 0.5)", None),
    ("F.sigmoid({0})", 1),
    ("F.relu({0})", None),
    ("{0}.abs()", None),
    ("-{0}", None),
    ("paddle.log1p({0} * {0})", 5),
    ("F.gelu({0})", None),
    ("paddle.atan({0})", 2),
    ("{0}.clip(-1.5, 1.5)", 1.5),
    ("paddle.scale({0}, 0.5, 0.1)", None),
    ("F.softplus({0})", None),
    ("abs({0})", None),
    ("paddle.erf({0})", 1),
    ("F.silu({0})", None),
    ("{0}.square()", 9),
    ("paddle.rsqrt({0} * {0} + 1)", 1),
    ("F.leaky_relu({0})", None),
    ("paddle.where({0} > 0, {0}, {0} * 0.1)", None),
    ("{0}.clone()", None),
    ("paddle.lerp({0}, {0} * 2, 0.25)", None),
]


def unary(b):
    x = b.floating()
    form, mag = b.r.choice(UNARY)
    return b.emit(
        form.format(x.name),
        x.shape,
        x.dtype,
        [x],
        x.mag * 2 + 1 if mag is None else x.mag**2 if mag == 9 else mag,
    )


def rounding(b):
    x = b.floating()
    form = b.r.choice(["paddle.floor({0})", "paddle.sign({0})", "paddle.round({0})", "paddle.trunc({0})"])
    return b.emit(form.format(x.name), x.shape, x.dtype, [x], x.mag + 1)


def along(b):
    """Operations along an axis that keep the shape."""
    x = b.floating(lambda v: v.size and v.shape)
    axis = b.r.choice([-1, 0])
    form, mag = b.r.choice(
        [
            ("F.softmax({0}, axis={1})", 1),
            ("paddle.cumsum({0}, axis={1})", None),
            ("F.log_softmax({0}, axis={1})", None),
            ("paddle.sort({0}, axis={1})", None),
            ("F.layer_norm({0}, {0}.shape[-1:])", 2),
            ("F.normalize({0}, axis={1})", 1),
        ]
    )
    return b.emit(form.format(x.name, axis), x.shape, x.dtype, [x], x.mag * 4 if mag is None else mag)


def reduction(b):
    x = b.pick(lambda v: v.dtype != "bool")
    axis = b.r.choice([None, *range(-len(x.shape), len(x.shape))])
    keep = b.chance(0.3)
    if axis is None:
        shape, count = (1,) * len(x.shape) if keep else (), x.size
    else:
        a = axis % len(x.shape)
        shape, count = x.shape[:a] + ((1,) if keep else ()) + x.shape[a + 1 :], x.shape[a]
    names = ["sum"]
    if count:
        names += ["max", "min", "amax"] + (["mean", "mean", "logsumexp", "prod", "std"] if x.is_float else [])
    name = b.r.choice(names)
    if (name == "std" and count < 2) or (name == "prod" and x.mag > 3):
        return None
    mag = {
        "sum": x.mag * max(count, 1),
        "prod": min(x.mag ** max(count, 1), 1e3),
        "logsumexp": x.mag + 3,
    }.get(name, x.mag)
    text = f"{x.name}.{name}(" if b.chance(0.5) else f"paddle.{name}({x.name}, "
    return b.emit(f"{text}axis={axis}, keepdim={keep})", shape, x.dtype, [x], mag)


def truth(b):
    """Comparisons, logic, any and all."""
    x = b.pick()
    kind = b.r.choice(["scalar", "tensor", "logic", "reduce", "isfinite"])
    if kind == "logic":
        x = b.pick(lambda v: v.dtype == "bool")
        y = b.pick(lambda v: v.dtype == "bool" and x is not None and broadcast(x, v) is not None)
        if x is None:
            return None
        form = b.r.choice(
            ["paddle.logical_and({0}, {1})", "{0} | {1}", "~{0}", "paddle.logical_xor({0}, {1})"]
        )
        return b.emit(
            form.format(x.name, y.name), broadcast(x, y) if "1" in form else x.shape, "bool", [x, y]
        )
    if kind == "reduce":
        x = b.pick(lambda v: v.dtype == "bool")
        return None if x is None else b.emit(f"{x.name}.{b.r.choice(['any', 'all'])}()", (), "bool", [x])
    if x.dtype == "bool":
        return None
    if kind == "isfinite":
        return b.emit(f"paddle.isfinite({x.name})", x.shape, "bool", [x])
    if kind == "scalar":
        return b.emit(f"{x.name} {b.r.choice(COMPARE)} {b.r.choice(['0', 'k', '1'])}", x.shape, "bool", [x])
    y = b.pick(lambda v: v.dtype == x.dtype and broadcast(x, v) is not None)
    return b.emit(f"{x.name} {b.r.choice(COMPARE)} {y.name}", broadcast(x, y), "bool", [x, y])


def where(b):
    m = b.pick(lambda v: v.dtype == "bool")
    x = b.pick(lambda v: m is not None and v.dtype != "bool" and v.shape == m.shape)
    if x is None:
        return None
    y = b.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
    return b.emit(f"paddle.where({m.name}, {x.name}, {y.name})", x.shape, x.dtype, [x, y], max(x.mag, y.mag))


def cast(b):
    x = b.pick()
    to = b.r.choice(["float32", "float64", "int64", "bool"])
    if x.is_float and to == "int64" and x.mag > 1e6:
        return None
    form = b.r.choice(["{0}.astype('{1}')", "paddle.cast({0}, '{1}')", "{0}.cast(paddle.{1})"])
    if x.grad and to not in FLOATS:  # stop_gradient of such a cast stays False in the real Paddle
        form = form.replace("{0}", "{0}.detach()")
    return b.emit(
        form.format(x.name, to),
        x.shape,
        to,
        [x],
        x.mag if x.dtype != "bool" else 1,
        view=x if to == x.dtype else None,
    )


def matmul(b):
    x = b.floating(lambda v: 1 <= len(v.shape) <= 2)
    y = b.floating(
        lambda v: (
            x is not None and v.dtype == x.dtype and 1 <= len(v.shape) <= 2 and v.shape[0] == x.shape[-1]
        )
    )
    if x is None or y is None or len(y.shape) == 0:
        return None
    shape = x.shape[:-1] + y.shape[1:]
    form = b.r.choice(["{0} @ {1}", "paddle.matmul({0}, {1})"])
    return b.emit(form.format(x.name, y.name), shape, x.dtype, [x, y], x.mag * y.mag * max(y.shape[0], 1))


def reshape(b):
    x = b.pick()
    n = len(x.shape)
    forms = [
        ("{0}.reshape([-1])", (x.size,)),
        ("paddle.unsqueeze({0}, 0)", (1, *x.shape)),
        ("{0}.flatten()", (x.size,)),
        ("paddle.squeeze({0})", tuple(d for d in x.shape if d != 1)),
    ]
    if n == 2:
        forms += [("{0}.T", x.shape[::-1]), ("paddle.transpose({0}, [1, 0])", x.shape[::-1])] * 2
    if x.shape == (2, 3):
        forms += [("{0}.reshape([3, 2])", (3, 2)), ("paddle.reshape({0}, [-1, 1, 3])", (2, 1, 3))]
    if x.shape == (3, 2):
        forms += [("{0}.reshape([2, -1])", (2, 3))] * 3
    if n >= 3 or x.size == 0:
        forms = [f for f in forms if "unsqueeze" not in f[0] and (x.size or "-1" not in f[0])]
    form, shape = b.r.choice(forms)
    return b.emit(form.format(x.name), shape, x.dtype, [x], x.mag, view=x)


def spread(b):
    """expand, tile, flip, roll, tril: copies in another arrangement."""
    x = b.pick(lambda v: v.dtype != "bool" and v.size)
    forms = []
    if x.shape in ((3,), (1, 3)):
        forms += [
            ("{0}.expand([2, 3])", (2, 3)),
            ("paddle.broadcast_to({0}, [2, 3])", (2, 3)),
            ("paddle.tile({0}, [2, 1])", (2, 3)),
        ]
    if x.shape == ():
        forms += [("{0}.expand([3])", (3,))]
    if x.shape:
        forms += [
            ("paddle.flip({0}, axis=[0])", x.shape),
            ("paddle.roll({0}, 1)", x.shape),
            ("paddle.roll({0}, [-1], axis=[-1])", x.shape),
        ]
    if len(x.shape) == 2:
        forms += [("paddle.tril({0})", x.shape), ("paddle.concat([{0}, {0}], axis=0)[::2]", x.shape)]
    if not forms:
        return None
    form, shape = b.r.choice(forms)
    return b.emit(
        form.format(x.name),
        shape,
        x.dtype,
        [x],
        x.mag,
        view=x if "expand" in form or "broadcast" in form else None,
    )


def index(b):
    x = b.pick(lambda v: v.shape and v.shape[0] > 0)
    if x is None:
        return None
    n, rest = x.shape[0], x.shape[1:]
    forms = [
        ("0", rest),
        ("-1", rest),
        (f"k % {n}", rest),
        (f"n % {n}", rest),
        ("0:1", (1, *rest)),
        ("::-1", x.shape),
        (f"k % {n}:", None),
        ("None", (1, *x.shape)),
        ("..., 0", x.shape[:-1]),
        ("..., ::-1", x.shape),
        ("..., 1:2", (*x.shape[:-1], min(max(x.shape[-1] - 1, 0), 1))),
        (f"[0, {n - 1}, 0]", (3, *rest)),
        (f"paddle.to_tensor([{n - 1}, 0])", (2, *rest)),
        ("paddle.to_tensor(k % 2)" if n > 1 else "0", rest),
        ("..., None", (*x.shape, 1)),
        ("1:0", (0, *rest)),
    ]
    form, shape = b.r.choice([f for f in forms if x.shape[-1] > 0 or not f[0].startswith("...")])
    if shape is None:  # the length depends on k: used at once, so that no shape is unknown
        return b.emit(
            f"{x.name}[{form}].sum(0)", rest, x.dtype if x.dtype != "bool" else "int64", [x], x.mag * n
        )
    if len(shape) > 4:
        return None
    view = x if "[" not in form else None
    return b.emit(f"{x.name}[{form}]", shape, x.dtype, [x], x.mag, view=view)


def masked(b):
    """Selection by a mask: a shape that depends on values, used at once."""
    x = b.pick(lambda v: v.dtype != "bool" and v.shape)
    m = b.pick(lambda v: v.dtype == "bool" and v.shape == x.shape)
    mask = m.name if m is not None and b.chance(0.5) else f"{x.name} > 0"
    form = b.r.choice(
        ["{0}[{1}].sum()", "paddle.masked_select({0}, {1}).sum()", "paddle.masked_fill({0}, {1}, 0.5).sum()"]
    )
    if not x.is_float and "fill" in form:
        return None
    return b.emit(form.format(x.name, mask), (), x.dtype, [x], x.mag * max(x.size, 1))


def gather(b):
    x = b.pick(lambda v: v.shape == (2, 3))
    i = b.pick(lambda v: v.dtype == "int64" and v.shape == (3,))
    if i is None:
        return None
    form, shape = b.r.choice(
        [
            ("{0}[:, {1} % 3]", (2, 3)),
            ("paddle.gather({0}, {1} % 2, axis=0)", (3, 3)),
            ("paddle.index_select({0}, {1} % 3, axis=1)", (2, 3)),
            ("{0}[{1} % 2]", (3, 3)),
            ("{0}[{1} % 2, {1} % 3]", (3,)),
        ]
    )
    return b.emit(form.format(x.name, i.name), shape, x.dtype, [x], x.mag)


def join(b):
    x = b.pick(lambda v: len(v.shape) in (1, 2))
    y = b.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
    form, shape = b.r.choice(
        [
            ("paddle.stack([{0}, {1}])", (2, *x.shape)),
            ("paddle.concat([{0}, {1}])", (2 * x.shape[0], *x.shape[1:])),
            ("paddle.concat([{0}, {1}], axis=-1)", (*x.shape[:-1], 2 * x.shape[-1])),
        ]
    )
    if max(shape, default=0) > 6:
        return None
    return b.emit(form.format(x.name, y.name), shape, x.dtype, [x, y], max(x.mag, y.mag))


def split(b):
    x = b.pick(lambda v: v.shape and v.shape[0] in (2, 3))
    n, rest = x.shape[0] if x is not None else 0, x.shape[1:] if x is not None else ()
    if x is None:
        return None
    form, shape = b.r.choice(
        [
            (f"paddle.split({x.name}, {n})", (1, *rest)),
            (f"paddle.unbind({x.name})", rest),
            (f"{x.name}.chunk({n})", (1, *rest)),
            (f"[*{x.name}]", rest),
        ]
    )
    parts = [b.add(shape, x.dtype, [x], x.mag, view=x) for _ in range(n)]
    return b.unit(
        f"{', '.join(p.name for p in parts)} = {form}", *([p.name for p in parts] if x.is_float else [])
    )


def detach(b):
    x = b.pick()
    form = b.r.choice(["{0}.detach()", "{0}.clone()", "paddle.assign({0})", "{0}.detach().clone()"])
    return b.emit(
        form.format(x.name),
        x.shape,
        x.dtype,
        [x],
        x.mag,
        view=x if form == "{0}.detach()" else None,
        differentiable="detach" not in form,
    )


def creation(b):
    x = b.floating()
    form, shape, dtype, mag = b.r.choice(
        [
            ("paddle.zeros([2, 3])", (2, 3), "float32", 0),
            ("paddle.full([3], k + 0.5)", (3,), "float32", 6),
            ("paddle.arange(3)", (3,), "int64", 3),
            ("paddle.ones_like({0})", x.shape, x.dtype, 1),
            ("paddle.to_tensor(k * 0.5)", (), "float32", 3),
            ("paddle.full_like({0}, 0.25)", x.shape, x.dtype, 1),
            ("paddle.to_tensor([n, 1, k])", (3,), "int64", 20),
            ("paddle.eye(3)", (3, 3), "float32", 1),
            ("paddle.linspace(0, 1, 3)", (3,), "float32", 1),
        ]
    )
    return b.emit(form.format(x.name), shape, dtype, [], mag)


# in place ---------------------------------------------------------------------------------------------------


def change(b, v, text, operands=(), mag=None):
    """Writes an in-place unit on v."""
    v.grad = v.grad or (b.grad_on and v.is_float and any(o.grad for o in operands))
    b.use(v, *operands, recorded=v.grad)
    v.mag = mag if mag is not None else v.mag
    if v.mag > 50:
        text, v.mag = (
            text + (f"\n{v.name}.scale_({5 / v.mag:.3g})" if v.is_float else f"\n{v.name} %= 7"),
            7.0,
        )
    return b.unit(text, *([v.name] if v.is_float and not v.leaf else []))


def inplace(b):
    v = b.target(lambda v: v.is_float and not (v.state and v.grad))
    if v is None:
        return None
    forms = [
        ("{0}.scale_(0.5)", v.mag),
        ("{0}.zero_()", v.mag),
        ("{0}.add_(paddle.to_tensor(0.5, dtype='{1}'))", v.mag + 1),
        ("{0}.fill_(0.5)", v.mag),
        ("{0} += 1", v.mag + 1),
        ("{0} *= 0.5", v.mag),
        ("{0}.subtract_(paddle.to_tensor(k * 0.1, dtype='{1}'))", v.mag + 1),
        ("{0}.tanh_()", 1),
    ]
    if not (b.safe and v.grad):  # these need the value that they overwrite
        forms += [("{0}.clip_(-1, 1)", 1), ("{0}.exp_().tanh_()", 1), ("{0}.multiply_({0})", v.mag**2)]
    text, mag = b.r.choice(forms)
    return change(b, v, text.format(v.name, v.dtype), mag=mag)


def inplace_with(b):
    v = b.target(lambda v: v.is_float and not (v.state and v.grad))
    x = b.pick(
        lambda x: (
            v is not None
            and x is not v
            and x.dtype == v.dtype
            and broadcast(v, x) == v.shape
            and (not v.state or not x.grad or not b.safe)
        )
    )
    if x is None:
        return None
    text = b.r.choice(["{0}.add_({1})", "{0}.subtract_({1})", "{0} -= {1}", "{0}.add_({1} * 0.5)"])
    return change(b, v, text.format(v.name, x.name), [x], v.mag + x.mag)


def set_item(b):
    v = b.target(lambda v: v.dtype != "bool" and v.shape and v.size and not (v.state and v.grad))
    if v is None:
        return None
    n = v.shape[0]
    where_ = b.r.choice(
        [
            "0",
            "-1",
            f"k % {n}",
            "...",
            ":1",
            "::-1",
            "[0]",
            f"{v.name} > 0",
            "..., 0",
            "..., -1:",
            f"paddle.to_tensor([0, {n - 1}])",
            "::2",
        ]
    )
    value = b.r.choice(["0", "1", "k", "0.5" if v.is_float else "2"])
    x = (
        None
        if v.state and b.safe
        else b.pick(lambda x: x.dtype == v.dtype and x.shape == v.shape[1:] and x is not v)
    )
    if x is not None and where_ in ("0", "-1", f"k % {n}") and b.chance(0.7):
        value = x.name
    else:
        x = None
    mag = max(v.mag, 6.0, x.mag if x is not None else 0)
    return change(b, v, f"{v.name}[{where_}] = {value}", [x] if x is not None else [], mag)


def rearrange_in_place(b):
    v = b.target(lambda v: v.is_float and v.shape == (2, 3) and not v.state)
    if v is None or v.state:
        return None
    text, shape = b.r.choice(
        [("{0}.reshape_([3, 2])", (3, 2)), ("{0}.unsqueeze_(0)", (1, 2, 3)), ("{0}.flatten_()", (6,))]
    )
    b.unit(text.format(v.name))
    v.shape = shape
    v.group.members += 1
    return True


FAMILIES = {
    binary: 14,
    with_numpy: 2,
    scalar: 10,
    unary: 14,
    rounding: 2,
    along: 4,
    reduction: 8,
    truth: 5,
    where: 4,
    cast: 4,
    matmul: 7,
    reshape: 6,
    spread: 4,
    index: 9,
    masked: 3,
    gather: 3,
    join: 4,
    split: 3,
    detach: 3,
    creation: 3,
    inplace: 6,
    inplace_with: 5,
    set_item: 7,
    rearrange_in_place: 1,
}
