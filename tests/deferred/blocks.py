"""Block families of the program generator: gradients, hooks, control flow, observation, exceptions, random
numbers, training."""

from tests.deferred import statements

SMOOTH = [
    "paddle.tanh({0})",
    "{0} * {0}",
    "paddle.sin({0})",
    "paddle.cos({0}) * {0}",
    "paddle.exp(-{0} * {0})",
    "{0} + 0.5",
    "{0} * 0.5",
    "paddle.tanh({0} * {0})",
]
SIMPLE = ["scalar", "unary", "binary", "reduction", "index", "reshape", "matmul"]


def grad_tag(b):
    return b.tag().replace("t", "g")


def simple(b):
    return getattr(statements, b.r.choice(SIMPLE))(b)


# looking at values ------------------------------------------------------------------------------------------


def observe(b):
    x = b.pick()
    forms = [
        "{0}",
        "{0}.numpy()",
        "{0}.tolist()",
        "repr({0})",
        "{0}.shape, {0}.ndim, {0}.size, str({0}.dtype).split('.')[-1]",
        "{0}.stop_gradient",
        "np.asarray({0})",
        "{0}.sum().item()" if x.dtype != "bool" else "{0}.any().item()",
    ]
    if x.shape == ():
        forms += ["float({0})", "bool({0} > 0)", "int({0} > 0)", "{0}.item()", "f'{{{0}:.3f}}'[:2]"]
    if x.shape and x.shape[0]:
        forms += ["len({0})", "*{0}", "[v.tolist() for v in {0}]", "{0}[0].tolist()", "*list({0})[:2]"]
    return b.unit(f"see({b.tag()}, {b.r.choice(forms).format(x.name)})")


def branch(b):
    """Control flow that depends on a value."""
    x, y = b.floating(), b.floating()
    test = b.r.choice(
        [
            "float({0}.sum()) > 0",
            "bool(({0} > 0.1).any())",
            "{0}.sum() > 0",
            "({0} * {0}).sum().item() < 3",
            "n % 2 == 0",
            "k == 1",
        ]
    ).format(x.name)
    forms = [f for f, mag in statements.UNARY if mag is not None and mag != 9]
    first, second = (f.format(y.name) for f in b.r.choices(forms, k=2))
    var = b.add(y.shape, y.dtype, [y], 5)
    b.unit(f"if {test}:\n    {var.name} = {first}\nelse:\n    {var.name} = {second}", var.name)
    return True


def loop(b):
    x = b.floating()
    shape, dtype = x.shape, x.dtype
    start = b.r.choice(["{0} * 0", "paddle.zeros_like({0})", "{0}", "{0}.clone()"]).format(x.name)
    var = b.add(shape, dtype, [x], 5)
    y = b.floating(lambda v: v.dtype == dtype and v is not var and statements.broadcast(var, v) == shape)
    other = y.name if y is not None else "0.25"
    if y is not None:
        b.use(y, recorded=y.grad)
        var.grad = var.grad or (y.grad and b.grad_on)
    body = b.r.choice(
        [
            "{0} = paddle.tanh({0} * 0.9 + {1})",
            "{0} = {0} * 0.5 + {1} * t",
            "{0} = {0} + 0.1 * ({1} - {0})",
            "{0} = paddle.sin({0}) + {1} * (0.5 ** t)",
        ]
    )
    return b.unit(
        f"{var.name} = {start}\nfor t in range({b.r.choice([2, 3, 5])}):\n    {body.format(var.name, other)}",
        var.name,
    )


RECURRENCES = [
    "{0} = paddle.tanh({0} * 0.9 + {1})",
    "{0}, p = {0} * 0.5 + p * 0.3 + {1} * (t * 0.01), {0}",
    "{0}, p = p, paddle.sin({0} + {1})",
    "p = paddle.tanh({0})\n    {0} = {0} * 0.5 + p * p - {1}",
    "{0} = {0} * 0.5 + ({1} if t % 2 else p)",
    "{0} = {0} * 0.9 + 0.1 * t\n    {0}.scale_(0.5)",
    "{0} = {0} * 0.9 + 0.01 * {1}\n    if t % 4 == 3:\n        p = p + {0}",
    "{0} = paddle.where({0} > 1, {0} * 0.5, {0} + 0.3 * p)",
    "{0} = {0} * 0.5 + {1}\n    kept.append({0})\n    kept = kept[-2:]",
    "{0} = {0} * 0.5 + {1}\n    if t % 3 == 0:\n        kept.append({0} * 0.1)",
    "q_ = {0} - p * 0.1\n    p = p * 0.9 + q_ * 0.1\n    {0} = q_ * 0.8 + t * 1e-3",
    "{0} = {0} * np.float32(0.9) + {1}.sum() * 0.01",
]


def long_loop(b):
    """A recurrence of many steps, which the deferred tier may compile as a loop; with two states, changing
    numbers, values kept on the way."""
    x = b.floating()
    y = b.floating(lambda v: v.dtype == x.dtype and statements.broadcast(x, v) == x.shape)
    var = b.add(x.shape, x.dtype, [x, y], 60)
    body = b.r.choice(RECURRENCES).format(var.name, y.name)
    text = (
        f"{var.name}, p, kept = {x.name} * 1, {x.name} * 0.5, []\nfor t in "
        f"range({b.r.choice([4, 5, 9, 17, 40])}):\n    {body}"
    )
    end = f"\n{var.name} = sum(kept, {var.name} * 0.1 + p)" if b.chance(0.7) else ""
    return b.unit(text + end, var.name)


def rows(b):
    """A loop over an index."""
    x = b.floating(lambda v: len(v.shape) == 2 and v.shape[0] > 0)
    if x is None:
        return None
    var = b.add(x.shape[1:], x.dtype, [x], x.mag * 3)
    form = b.r.choice(
        [
            "{0} = {0} + {1}[t] * t",
            "{0} = {0} + {1}[-1 - t]",
            "{0} = paddle.maximum({0}, {1}[t:t + 1].sum(0))",
        ]
    )
    return b.unit(
        f"{var.name} = {x.name}[0] * 0.5\nfor t in range({x.shape[0]}):\n    {form.format(var.name, x.name)}",
        var.name,
    )


def no_grad(b):
    before, b.grad_on = b.grad_on, False
    b.block(
        "with paddle.no_grad():",
        lambda: simple(b) if b.chance(0.7) else statements.inplace(b),
        b.r.randint(1, 3),
    )
    b.grad_on = before
    return True


def function(b):
    """A block that runs twice: names are rebound, old values are dropped."""
    before, b.in_loop = b.in_loop, True
    b.block("for t in range(2):", lambda: simple(b), b.r.randint(1, 4))
    b.in_loop = before
    return True


def mistake(b):
    """An exception in the middle; the program goes on."""
    x = b.pick(lambda v: v.dtype != "bool")
    texts = [
        f"{x.name} + paddle.zeros([7, 5])",
        f"{x.name}.reshape([11])",
        f"paddle.concat([{x.name}, paddle.zeros([2, 2, 2, 2])])",
        "paddle.zeros([2, 3]) @ paddle.zeros([2, 3])",
        f"paddle.sum({x.name}, axis=9)",
        "int('x')",
        f"paddle.stack([{x.name}, paddle.zeros([5])])",
    ]
    if x.shape:
        texts += [f"{x.name}[{x.shape[0] + 3}]", f"{x.name}.unknown"]
    # the real Paddle raises after it has changed the value
    if x.leaf and x.grad and b.grad_on and not b.safe:
        texts += [f"{x.name}.add_({x.name})", f"{x.name}[0] = 1.0" if x.shape else f"{x.name}.zero_()"]
    y = b.floating()
    extra = f"    {b.fresh()} = {y.name} * 2\n" if b.chance(0.5) else ""
    tag = b.tag()
    return b.unit(f"try:\n{extra}    {b.r.choice(texts)}\nexcept Exception as error:\n    see({tag}, error)")


# gradients --------------------------------------------------------------------------------------------------


def release(b, retained):
    """After a backward that freed the tape, its results are no longer differentiable in a safe program."""
    if not retained:
        b.pool = [v for v in b.pool if not v.grad or v.leaf]


def backward(b):
    y = b.pick(lambda v: v.grad and not v.leaf and v.size)
    if y is None:
        return None
    retained = b.chance(0.4)
    leaf = b.r.choice([v for v in b.pool if v.leaf])
    keep = f"{y.name}.retain_grads()\n" if b.chance(0.3) else ""
    loss = b.r.choice(["{0}.sum()", "({0} * {0}).mean()", "({0} * 0.5).sum()"]).format(y.name)
    text = (
        f"{keep}loss = "
        f"{loss}\nloss.backward({'retain_graph=True' if retained else ''})\nsee({grad_tag(b)}, "
        f"{leaf.name}.grad)"
    )
    if keep:
        text += f"\nsee({grad_tag(b)}, {y.name}.grad)"
    text += b.r.choice(
        [
            "",
            f"\n{leaf.name}.clear_grad()",
            f"\n{leaf.name}.clear_gradient(False)",
            f"\n{leaf.name}.grad = None",
            "",
        ]
    )
    b.unit(text)
    if b.safe or b.chance(0.7):
        release(b, retained)
    return True


def hook(b):
    y = b.pick(lambda v: v.grad and not v.leaf and (v.hookable or not b.safe))
    if y is None or (b.in_loop or not b.grad_on):
        return None
    kind = b.r.choice(["scale", "see", "both", "removed", "tanh"])
    tag = grad_tag(b)
    text = {
        "scale": f"{y.name}.register_hook(lambda g: g * 2)",
        "see": f"{y.name}.register_hook(lambda g: see({tag}, g))",
        "tanh": f"{y.name}.register_hook(paddle.tanh)",
        "both": f"{y.name}.register_hook(lambda g: g * 0.5)\n{y.name}.register_hook(lambda g: see({tag}, g))",
        "removed": f"handle = {y.name}.register_hook(lambda g: g * 3)\nhandle.remove()",
    }[kind]
    return b.unit(text)


def higher(b):
    """paddle.grad of a fresh expression, up to third order; only functions whose higher derivatives the
    real Paddle has."""
    x = b.pick(lambda v: v.leaf and v.size)
    order = b.r.choice([1, 2, 2, 3])
    lines, y = [], b.fresh()
    # a constant derivative has no tape in the real Paddle, so the highest orders start from a function that
    # has all of them
    start = ["paddle.tanh({0})", "paddle.sin({0})"] if order == 3 else ["{0} * {0} * {0}", "paddle.tanh({0})"]
    lines.append(f"{y} = {b.r.choice(start).format(x.name)}")
    for _ in range(b.r.randint(0, 2)):
        lines.append(f"{y} = {b.r.choice(SMOOTH).format(y)}")
    for i in range(order):
        create = i < order - 1 or b.chance(0.3)
        source = f"{y}.sum()" if b.chance(0.5) else y
        lines.append(f"{y} = paddle.grad({source}, {x.name}{', create_graph=True' if create else ''})[0]")
        last = create
    b.unit("\n".join(lines))
    b.use(x, recorded=True)
    if last:
        b.unit(f"see({b.tag()}, {y})")
        b.unit(f"{y}.sum().backward()\nsee({grad_tag(b)}, {x.name}.grad)") if b.chance(0.4) else None
    else:
        var = b.add(x.shape, x.dtype, [], 20, name=y)
        var.group.saved = True
    return True


def grad_call(b):
    y = b.pick(lambda v: v.grad and not v.leaf and v.size)
    x = b.pick(lambda v: v.leaf)
    if y is None:
        return None
    ones = f", grad_outputs=[paddle.full_like({y.name}, 0.5)]" if b.chance(0.3) else ""
    b.unit(
        f"see({b.tag()}, *paddle.grad([{y.name}], [{x.name}], retain_graph=True, allow_unused=True{ones}))"
    )
    return True


LAYERS = {
    "Cube": """class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.save_for_backward(x)
        return paddle.tanh(x) * factor
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * ctx.factor * (1 - paddle.tanh(x) ** 2)""",
    "Swap": """class Swap(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        return y * 2, x + y
    @staticmethod
    def backward(ctx, g, h):
        return h, g * 2 + h""",
}


def py_layer(b):
    x = b.floating()
    if b.chance(0.5):
        b.once("Cube", LAYERS["Cube"])
        made = b.emit(f"Cube.apply({x.name}, {b.r.choice(['2', '0.5', 'k'])})", x.shape, x.dtype, [x], 6)
        made.hookable = False
        return made
    y = b.floating(lambda v: v.shape == x.shape and v.dtype == x.dtype)
    if x is y:
        return None
    b.once("Swap", LAYERS["Swap"])
    first = b.add(x.shape, x.dtype, [x, y], y.mag * 2)
    second = b.add(x.shape, x.dtype, [x, y], x.mag + y.mag)
    first.hookable = second.hookable = False
    return b.unit(f"{first.name}, {second.name} = Swap.apply({x.name}, {y.name})", first.name, second.name)


# random numbers ---------------------------------------------------------------------------------------------


def draw(b):
    if not b.randomness:
        return None
    b.tainted = True
    x = b.floating()
    form, shape, dtype, mag = b.r.choice(
        [
            ("paddle.rand([2, 3])", (2, 3), "float32", 1),
            ("paddle.randn([3])", (3,), "float32", 5),
            ("paddle.randint(0, 5, [3])", (3,), "int64", 5),
            ("paddle.randperm(3)", (3,), "int64", 3),
            ("paddle.uniform([2, 3], min=-1, max=1)", (2, 3), "float32", 1),
            ("F.dropout({0}, 0.5)", x.shape, x.dtype, x.mag * 2),
            ("paddle.bernoulli(paddle.full([2, 3], 0.5))", (2, 3), "float32", 1),
            ("paddle.normal(0.0, 1.0, [2, 3])", (2, 3), "float32", 5),
            ("F.dropout({0}, 0.3, training=False)", x.shape, x.dtype, x.mag),
        ]
    )
    var = b.emit(form.format(x.name), shape, dtype, [x] if "{0}" in form else [], mag)
    if b.chance(0.4):
        b.unit(f"see({b.tag()}, {var.name})")
    if b.chance(0.1):
        b.unit(b.r.choice(["paddle.seed(k)", "paddle.set_rng_state(paddle.get_rng_state())"]))
    return True


# training ---------------------------------------------------------------------------------------------------

NETS = {
    "linear": "paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 3))",
    "norm": "paddle.nn.Sequential(paddle.nn.Linear(3, 3, bias_attr=False), paddle.nn.BatchNorm1D(3), "
    "paddle.nn.ReLU(), paddle.nn.LayerNorm(3))",
    "drop": "paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Dropout(0.5), paddle.nn.GELU(), "
    "paddle.nn.Linear(4, 3))",
}
OPTIMIZERS = [
    "SGD({lr}, parameters=net.parameters())",
    "Adam({lr}, parameters=net.parameters())",
    "AdamW({lr}, parameters=net.parameters(), weight_decay=0.1)",
    "Momentum({lr}, 0.9, parameters=net.parameters())",
    "Adam({lr}, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))",
]


def training(b):
    """One training step, in the place where it stands; with momentum, schedulers, running
    statistics, dropout."""
    if not b.grad_on or b.in_loop:
        return None
    if "net" not in b.made:
        kind = b.r.choice(sorted(NETS) if b.randomness else ["linear", "norm"])
        b.tainted |= kind == "drop"
        scheduled = b.chance(0.4)
        rate = "sched" if scheduled else b.r.choice(["0.1", "0.01"])
        weights = (
            "for p in net.parameters():\n    p.set_value(np.random.RandomState(p.size).uniform(0.1, "
            "1, p.shape).astype('float32'))"
        )
        decay = b.r.choice(
            ["ExponentialDecay(0.1, 0.9)", "StepDecay(0.1, 2)", "CosineAnnealingDecay(0.1, 5)"]
        )
        sched = f"paddle.optimizer.lr.{decay}" if scheduled else None
        b.once(
            "net",
            f"net = {NETS[kind]}\n{weights}\nsched = {sched}\nopt = "
            f"paddle.optimizer.{b.r.choice(OPTIMIZERS).format(lr=rate)}",
        )
    x = b.pick(lambda v: v.shape == (2, 3) and v.dtype == "float32")
    y = b.pick(lambda v: v.shape == (2, 3) and v.dtype == "float32")
    noise = b.r.choice(["", "", f"\nsee({b.tag()}, loss.item())", f"\nif loss > 0.5:\n    see({b.tag()}, k)"])
    steps = b.r.choice(
        [
            "opt.step()\nopt.clear_grad()",
            "opt.step()\nopt.clear_grad(set_to_zero=False)",
            "opt.minimize(loss)\nopt.clear_grad()",
        ]
    )
    evaluate = f"\nnet.eval()\nwith paddle.no_grad():\n    see({b.tag()}, net(c))\nnet.train()"
    more = b.r.choice(["", "", "\nif sched is not None:\n    sched.step()", evaluate])
    if b.chance(0.2):
        more += "\nif sched is None:\n    opt.set_lr(0.1 / (1 + k))"
    if b.chance(0.4):
        more += f"\nsee({b.tag()}, *net.parameters())"
    loss = (
        f"rows = paddle.concat([{x.name}, {x.name} * {x.name} - 0.5, c])\nloss = ((net(rows)[:2] - "
        f"{y.name}.detach()) ** 2).mean()"
    )
    b.unit(f"{loss}{noise}\nloss.backward()\n{steps}{more}")
    if b.safe or b.chance(0.7):
        release(b, False)
    return True


# what keeps values alive ------------------------------------------------------------------------------------


def hold(b):
    """Values kept in containers, and snapshots that later changes must not reach."""
    x = b.pick()
    b.once("held", "held = []")
    b.use(x, recorded=True)
    forms = ["held.append({0}.numpy())", "held.append({0}.tolist())"] + (
        [] if b.safe and not x.group.members == 1 else ["held.append({0}.clone())"]
    )
    text = b.r.choice(forms).format(x.name)
    if b.chance(0.3):
        text += f"\nheld = held[-2:]\nsee({b.tag()}, *held)"
    return b.unit(text)


FAMILIES = {
    observe: 7,
    branch: 4,
    loop: 4,
    long_loop: 4,
    rows: 3,
    no_grad: 3,
    function: 3,
    mistake: 3,
    backward: 6,
    hook: 4,
    higher: 4,
    grad_call: 4,
    py_layer: 4,
    draw: 8,
    training: 5,
    hold: 3,
}
