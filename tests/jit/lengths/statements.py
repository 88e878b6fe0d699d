"""Random statements: each takes the tensor `x` of three axes and leaves one of three axes.

A statement is a list of lines. `m` is the maker of programs, see `programs.py`; `m.n` makes numbers.
"""


def cut(m):
    """A slice of one axis, in all its forms."""
    n, axis, length = m.n, *m.axis()
    start, stop = n.bound(length), n.bound(length)
    step = n.pick("2", "3", "-1", "-2", f"({n.whole(1)} % 3 + 1)", f"-({n.leaf()} % 2 + 1)")
    form = n.pick(
        f"{start}:",
        f":{stop}",
        f"{start}:{stop}",
        f"::{step}",
        f"{start}::{step}",
        f":{stop}:{step}",
        f"{start}:{stop}:{step}",
        "::-1",
        f":max({stop or 1}, 1)" if stop != "None" else ":",
        f"{length} // 2:",
    )
    return [f"x = x[{', '.join([':'] * axis + [form])}]"]


def added(m):
    """A number with a tensor."""
    n = m.n
    number = n.number()
    return [
        n.pick(
            f"x = x + {number}",
            f"x = x * {number}",
            f"x = x - {number}",
            f"x = {number} - x",
            f"x = x / ({n.above_zero(2)})",
            f"x = x.scale({number}, bias={n.number(1)})",
            f"x = P.clip(x, -1.0, float({n.above_zero(1)}))",
            f"x = x * P.to_tensor({number})",
            f"x = P.full_like(x, {number}) + x",
            f"x = x ** ({n.leaf()} % 3)",
            f"x = P.maximum(x, P.full([], {number}, 'float32'))",
            f"x += {number}",
        )
    ]


def named(m):
    """A name for a number."""
    n = m.n
    name = f"n{len(n.wholes) + len(n.fractions) + len(n.answers)}"
    kind = m.rng.random()
    if kind < 0.5:
        lines = [f"{name} = {n.whole(3)}"]
        n.wholes.append(name)
    elif kind < 0.8:
        lines = [f"{name} = {n.fraction(3)}"]
        n.fractions.append(name)
    else:
        lines = [f"{name} = {n.answer(3)}"]
        n.answers.append(name)
    return lines


def element(m):
    """An element of an axis."""
    n, axis, length = m.n, *m.axis()
    index = n.index(length)
    at = ", ".join([":"] * axis + [index])
    return [
        n.pick(
            f"x = x + x[{at}].unsqueeze({axis})",
            f"x = x * x[{at}].mean()",
            f"x[{at}] = {n.number(1)}",
            f"x[{at}] += 1.0",
        )
    ]


def written(m):
    """Writing into a slice."""
    n, axis, length = m.n, *m.axis()
    start, stop = n.bound(length), n.bound(length)
    form = n.pick(f"{start}:", f":{stop}", f"{start}:{stop}", "::2", f"{length} // 2:", "::-1")
    at = ", ".join([":"] * axis + [form])
    return ["x = x * 1.0", f"x[{at}] = {n.number(1)}"]


def padded(m):
    """Padding."""
    n = m.n
    below, above = n.size(), n.size()
    less = "min(x.shape[2] - 1, 2)"
    return [
        n.pick(
            f"x = F.pad(x, [{below}, {above}], data_format='NCL')",
            f"x = F.pad(x, [0, 0, {below}, 0, 0, {above}], value={n.pick('0.0', '1.5')})",
            f"x = F.pad(x.unsqueeze(1), [{below}, 0, {above}, 1]).squeeze(1)",
            (
                "x = F.pad(x.unsqueeze(1), [0, (8 - x.shape[2] % 8) % 8, 0, (4 - x.shape[1] % 4) % "
                "4]).squeeze(1)"
            ),
            f"x = F.pad(x, [{less}, 0], mode='reflect', data_format='NCL')",
            f"x = F.pad(x, [{below}, 1], mode='replicate', data_format='NCL')",
            f"x = P.concat([x, P.zeros([x.shape[0], {below}, x.shape[2]])], axis=1)",
            f"x = P.nn.ZeroPad2D([{below}, {above}, 0, 1])(x.unsqueeze(1)).squeeze(1)",
        )
    ]


def divided(m):
    """Splitting and joining."""
    n, axis, length = m.n, *m.axis()
    part = n.pick(
        f"{length} // 2", f"min({n.whole(1)} % 4, {length})", f"{length} - 1", f"({length} + 1) // 2"
    )
    return [
        n.pick(
            f"x = P.concat(P.split(x, [{part}, {length} - {part}], axis={axis})[::-1], axis={axis})",
            f"x = P.split(x, [{part}, -1], axis={axis})[1]",
            f"x = P.concat([x, x[{', '.join([':'] * axis + [':' + n.bound(length)])}]], axis={axis})",
            f"x = P.concat(P.tensor_split(x, [{part}], axis={axis})[::-1], axis={axis})",
            f"x = P.slice(x, [{axis}], [{n.size()}], [{length}])",
            f"x = P.strided_slice(x, [{axis}], [0], [{length}], [{n.pick('2', n.size(1))}])",
            f"x = P.crop(x, shape=[-1, -1, {n.size(1)} % x.shape[2] + 1], offsets=[0, 0, 0])",
            f"x = P.roll(x, {n.whole(1)}, axis={axis})",
            f"x = P.flip(x, [{axis}])",
            f"x = x.index_select(P.arange({length} - 1, -1, -1), axis={axis})",
            f"x = P.gather(x, P.arange({n.size(1)}) % {length}, axis={axis})",
            f"x = x.repeat_interleave({n.pick('2', n.size(1, 0))}, axis={axis})",
            f"x = P.unfold(x, {axis}, {length}, 1).sum(-1) + x",
        )
    ]


def reshaped(m):
    """Shapes."""
    n = m.n
    return [
        *n.pick(
            ("b, h, w = x.shape", "x = x.reshape([b, h * w]).reshape([b, w, h])"),
            ("x = x.transpose([0, 2, 1])",),
            ("x = x.flatten(1).unsqueeze(1)",),
            ("x = x.reshape([x.shape[0], -1, 1])",),
            ("x = x.reshape([-1, x.shape[1], x.shape[2]])",),
            ("x = x.reshape([x.shape[0], 1, x.size // x.shape[0]])",),
            ("x = x.reshape([0, 0, -1])",),
            (f"x = x.tile([1, {n.size(1, 0)}, 1])",),
            (f"x = x.unsqueeze(2).expand([-1, -1, {n.size(1)}, -1]).sum(2)",),
            (f"x = x.mean(1, keepdim=True).expand([x.shape[0], {n.size(1)}, x.shape[2]])",),
            (f"x = P.broadcast_to(x.sum(2, keepdim=True), [x.shape[0], x.shape[1], {n.size(1)}])",),
            ("x = x.unflatten(1, [1, x.shape[1]]).squeeze(1)",),
            (f"x = x.reshape([x.shape[0] * x.shape[1], x.shape[2]])[:{n.size(1)}].unsqueeze(0)",),
            ("x = P.stack([x, x], axis=1).reshape([x.shape[0], x.shape[1] * 2, x.shape[2]])",),
            ("b, *rest = x.shape", "x = x.reshape([b] + rest[::-1])"),
            ("x = x.reshape(x.shape[:1] + [math.prod(x.shape[1:]), 1])",),
            ("x = P.moveaxis(x, 0, 1)",),
        )
    ]


def made(m):
    """Tensors whose sizes are lengths."""
    n = m.n
    size, other = n.size(1), n.size(1)
    number = n.number(1)
    return [
        n.pick(
            f"outs.append(P.zeros([{size}, 2]))",
            f"outs.append(P.ones([{size}, {other}]) * {number})",
            f"outs.append(P.full([{size}, 2], {number}))",
            f"outs.append(P.arange({size}))",
            f"outs.append(P.arange(1, {size} + 1) * 2)",
            f"outs.append(P.arange({n.size()}, 20, {n.small()}))",
            f"outs.append(P.arange(0, {size}, dtype='float32') / {n.above_zero()})",
            f"outs.append(P.arange({size}, 0, -1))",
            f"outs.append(P.arange(0.0, float({size}), 0.5))",
            f"outs.append(P.linspace(-1, 1, {size}))",
            f"outs.append(P.linspace(0, {number}, {size}))",
            f"outs.append(P.eye({size}))",
            f"outs.append(P.eye({size}, {other}))",
            f"outs.append(P.tril(P.ones([{size}, {size}]), {n.pick('-1', '0', n.size())}))",
            f"outs.append(P.topk(x, min({size}, x.shape[2]))[0])",
            "outs.append(F.one_hot(x.argmax(-1), x.shape[2]))",
            f"outs.append(F.one_hot(P.arange(3), {size} + 3))",
            f"outs.append(F.sequence_mask(P.to_tensor([1, 3]), maxlen={size}))",
            f"outs.append(P.to_tensor([{n.leaf()}, {n.whole(1)}]))",
            f"outs.append(P.to_tensor({n.fraction(1)}))",
            f"outs.append(P.meshgrid(P.arange({size}), P.arange({other}))[0])",
            f"outs.append(P.logspace(0, 1, {size}))",
            f"outs.append(P.diag(P.arange({size}).astype('float32')))",
            f"outs.append(P.tril_indices({size}, {other}))",
            f"outs.append(P.zeros({size}) if {n.answer(1)} else P.ones({size}))",
            f"outs.append(P.full_like(x, {number}))",
            f"outs.append(P.empty([{size}, 3]) * 0 + 1)",
            f"outs.append(P.to_tensor(np.arange(4), dtype='float32') * {number})",
            f"outs.append(P.ones([{size}] + x.shape[1:]))",
            f"outs.append(P.zeros(shape=(x.shape[0], {size})))",
            f"outs.append(P.shape(x)[1] * {n.leaf()})",
            f"outs.append(x.shape[1])",  # noqa: F541
            f"outs.append(P.randint(0, 1, [{size}, 2]))",
            f"outs.append(P.uniform([{size}, 2]) * 0)",
        )
    ]


def resized(m):
    """Images."""
    n = m.n
    size, other = n.size(1), n.size(1)
    return [
        n.pick(
            f"x = F.interpolate(x.unsqueeze(1), size=[{size}, {other}], mode='nearest').squeeze(1)",
            f"x = F.interpolate(x.unsqueeze(1), size=[{size}, {other}], mode='bilinear').squeeze(1)",
            f"x = F.interpolate(x.unsqueeze(1), size=[{size}, {other}], mode='bilinear', "
            "align_corners=True).squeeze(1)",
            "x = F.interpolate(x.unsqueeze(1), scale_factor=2).squeeze(1)",
            f"x = F.interpolate(x, size=[{size}], mode='linear', data_format='NCW')",
            f"x = F.adaptive_avg_pool1d(x, {n.small()})",
            f"x = F.adaptive_avg_pool2d(x.unsqueeze(1), [{size}, 3]).squeeze(1)",
            "x = F.avg_pool1d(F.pad(x, [1, 1], data_format='NCL'), 2)",
            "x = F.max_pool2d(F.pad(x.unsqueeze(1), [1, 1, 1, 1]), 2, stride=1).squeeze(1)",
            "x = x.matmul(P.eye(x.shape[2]))",
            "x = x.matmul(x.transpose([0, 2, 1])) / x.shape[2]",
            "x = F.softmax(x / math.sqrt(x.shape[2] + 1), axis=-1)",
            "x = x + P.arange(x.shape[2], dtype='float32') / max(x.shape[2], 1)",
            "x = x + P.arange(x.shape[1], dtype='float32').unsqueeze(1) * 0.1",
            "x = P.where(P.arange(x.shape[2]) < x.shape[2] // 2, x, -x)",
            "x = x.masked_fill(P.tril(P.ones([x.shape[1], x.shape[2]])) == 0, 0.5)",
            "x = F.normalize(x, axis=-1)",
            "x = F.layer_norm(x, [x.shape[-1]])",
            "x = x - x.mean([1, 2], keepdim=True)",
            "x = x.cumsum(1)",
            "x = F.glu(P.concat([x, x], axis=2))",
        )
    ]


# control flow -----------------------------------------------------------------------------------------------


def _indented(lines):
    return ["    " + line for line in lines]


def choice(m):
    """`if`, with or without `elif` and `else`."""
    n = m.n
    test = m.rng.choice([n.answer(), n.answer(), f"{n.leaf()} % 2", n.leaf() + " - 1"])
    lines = [f"if {test}:", *_indented(m.block())]
    if m.rng.random() < 0.3:
        lines += [f"elif {n.answer(1)}:", *_indented(m.block())]
    if m.rng.random() < 0.5:
        lines += ["else:", *_indented(m.block())]
    return lines


def chosen_number(m):
    """`if` that sets a number."""
    n = m.n
    name = f"n{len(n.wholes) + len(n.fractions) + len(n.answers)}"
    is_whole = m.rng.random() < 0.6
    make = n.whole if is_whole else n.fraction
    lines = [f"if {n.answer()}:", f"    {name} = {make(2)}", "else:", f"    {name} = {make(2)}"]
    (n.wholes if is_whole else n.fractions).append(name)
    return lines


def while_loop(m):
    """`while` over a number."""
    n = m.n
    name = f"k{m.fresh()}"
    start, step, test = n.pick(
        (f"{n.size(1)}", "{0} = {0} - 1", "{0} > 0"),
        (f"{n.leaf()}", "{0} = {0} // 2", "{0} > 1"),
        (f"{n.leaf()}", "{0} //= 3", "{0} >= 2"),
        (f"abs({n.whole(1)}) + 1", "{0} = {0} // 4", "{0} > 1 and {0} != 5"),
        ("0", "{0} += 1", "{0} < " + n.size(1)),
        ("1", "{0} *= 2", "{0} < " + n.leaf()),
    )
    n.wholes.append(name)
    inner = n.pick(
        f"x = x * 0.5 + {name}",
        f"x = x + {n.number(1)}",
        f"x = x + 1.0 / ({name} + 1)",
        f"x = x - {name} % 3",
    )
    lines = [f"{name} = {start}", f"while {test.format(name)}:", f"    {step.format(name)}", f"    {inner}"]
    if m.rng.random() < 0.2:
        lines += [f"    if {n.answer(1)}:", "        break"]
    return lines


def for_loop(m):
    """`for` over a range."""
    n = m.n
    name = f"i{m.fresh()}"
    over = n.pick(
        f"range({n.size()})",
        f"range({n.leaf()})",
        f"range(1, {n.size(1)})",
        f"range({n.size()}, 0, -1)",
        f"range(0, {n.size()}, 2)",
        "range(3)",
        f"range({n.small()}, {n.size(1)} + 3)",
        f"reversed(range({n.size()}))",
    )
    inner = m.rng.choice(
        [
            [f"x = x + {name}"],
            [f"x = x * 0.5 + {name} / 4"],
            [f"x = x + {n.number(1)}"],
            [f"x = x + x[:, {name} % x.shape[1]].unsqueeze(1) * 0.1"],
            [f"if {name} % 2 == 0:", f"    x = x - {name}"],
            [f"if {name} > {n.leaf()}:", "    break", "x = x + 1"],
            [f"if {name} == {n.leaf()}:", "    continue", "x = x * 0.5"],
            [f"total = total + {name} * {n.leaf()}", f"x = x + total % 7"],  # noqa: F541
            [f"x = x + ({name} if {n.answer(1)} else -{name})"],
        ]
    )
    return ["total = 0", f"for {name} in {over}:", *_indented(inner)]


_STOPS = ("h", "h - 1", "h // 2", "h + 1", "h // 2 + 1", "min(h, 5)", "max(h - 2, 0)", "2 * h", "h // 3")
_RANGES = (
    "range({0})",
    "range(1, {0})",
    "range(0, {0}, 2)",
    "range({0} - 1, -1, -1)",
    "range({0}, 0, -1)",
    "range(2, {0}, 3)",
    "range({0} - 1, 0, -2)",
)
_CUTS = (
    "{0}:{0} + 1",
    "{0}:{0} + 2",
    "max({0} - 1, 0):{0} + 1",
    "h - 1 - {0}:h - {0}",
    "{0} - 1:{0}",
    "{0} // 2:{0} // 2 + 1",
    ":{0} + 1",
    "{0}:",
    "-{0} - 1:",
    "{0}:h - {0}",
    "2 * {0}:2 * {0} + 2",
    "h // 2 - {0}:h // 2 - {0} + 1",
    "{0}:min({0} + 3, h)",
    "{0} + 1:{0} + 2",
    "-{0}:",
    "{0}:-1",
)


def cuts_in_a_loop(m):
    """Slices at the counters of one loop or two."""
    pick = m.n.pick

    def step(name):
        part = f"x[:, {pick(*_CUTS).format(name)}]"
        return "s = s * 0.5 + " + pick(f"{part}.sum(1)", f"{part}.sum(1) * {name}", f"{part}.shape[1]")

    inner = [step("i")]
    if m.rng.random() < 0.4:
        over = pick("range(i, h)", "range(i)", "range(h - i)", "range(0, i, 2)", "range(i + 1, h)")
        inner += [f"for j in {over}:", f"    {step('j')}"]
    loop = f"for i in {pick(*_RANGES).format(pick(*_STOPS))}:"
    return [
        "h = x.shape[1]",
        "s = P.zeros([x.shape[0], x.shape[2]])",
        loop,
        *_indented(inner),
        "outs.append(s)",
    ]


_WHILES = (
    # (before, test, step, slices whose length is known in the loop)
    ("i = 0", "i < {0}", "i += 1", ("i:i + 1", "h - 1 - i:h - i")),
    ("i = 0", "i + 2 <= {0}", "i += 1", ("i:i + 2", "i + 1:i + 2")),
    ("i = 0", "i + 2 <= {0}", "i += 2", ("i:i + 2", "h - 2 - i:h - i")),
    ("i = {0}", "i > 0", "i -= 1", ("i - 1:i", "h - i:h - i + 1")),
    ("i = {0} - 1", "i >= 0", "i = i - 1", ("i:i + 1",)),
    ("i, j = 0, {0} - 1", "i < j", "i, j = i + 1, j - 1", ("i:i + 1", "j:j + 1", "j - 1:j")),
    ("i = 1", "not i >= {0}", "i += 3", ("i - 1:i", "i:i + 1")),
    ("i, j = 0, 1", "i < {0} and j < 40", "i, j = i + 1, j * 2", ("i:i + 1",)),
    ("i = 0", "i < {0} and s.sum() < 9", "i += 1", ("i:i + 1",)),
    ("i = 0", "i < {0}", "i += 1 if s.sum() > 0 else 2", ("i:i + 1",)),
    ("i = 0", "2 * i + 1 < {0}", "i += 1", ("2 * i:2 * i + 1", "2 * i + 1:2 * i + 2")),
)
_WHILE_STOPS = ("h", "h", "h - 1", "h // 2", "min(h, 5)", "h // 2 + 1")
_ENDS = ("if s.sum() > 5:", "if i > 6:", "if i % 4 == 3:", "if h - i < 2:")


def cuts_in_a_while(m):
    """A `while` with slices, some of which have a known length."""
    pick = m.n.pick
    before, test, step, known = pick(*_WHILES)
    parts = [f"s = s * 0.5 + x[:, {pick(*known)}].squeeze(1)"]
    if ":i + 2" in parts[0] or "h - 2" in parts[0]:
        parts = [parts[0].replace(".squeeze(1)", ".reshape([x.shape[0], -1])[:, :w]")]
    if m.rng.random() < 0.4:
        parts.append(f"s = s * 0.5 + x[:, {pick(*_CUTS).format('i')}].sum(1)")
    inner = [*parts, step]
    ending = m.rng.random()
    if ending < 0.3:
        inner += [pick(*_ENDS), "    break"]
    elif ending < 0.45:
        inner = [step, pick(*_ENDS), "    continue", *parts]
    if ending > 0.85:
        lines = ["while True:", f"    if not ({test}):", "        break", *_indented(inner)]
    else:
        lines = [f"while {test}:", *_indented(inner)]
    start = ["h, w = x.shape[1], x.shape[2]", "s = P.zeros([x.shape[0], w])"]
    text = [*start, before, *lines, "outs.append(s)"]
    return [line.format(pick(*_WHILE_STOPS)) for line in text]


def cut_where_it_is_long(m):
    """A slice of a fixed length where an axis is long enough."""
    count = m.n.pick(2, 3, 4)
    cut = m.n.pick(f"x[:, :{count}]", f"x[:, -{count}:]", f"x[:, h - {count}:h]", f"x[:, 1:{count} + 1]")
    test = m.n.pick(f"h > {count}", f"{count} + 1 <= h", f"h >= {count} + 1 and w > 0")
    body = f"s = s + {cut}.reshape([x.shape[0], {count} * w])[:, :w]"
    start = ["h, w = x.shape[1], x.shape[2]", "s = P.zeros([x.shape[0], w])"]
    return [*start, f"if {test}:", f"    {body}", "else:", "    s = s + x.sum(1)", "outs.append(s)"]


def over_rows(m):
    """`for` over a tensor."""
    form = m.n.pick("for row in x:", "for k, row in enumerate(x):", "for row in x.transpose([1, 0, 2]):")
    inner = "s = s + row.sum() * (k + 1)" if "enumerate" in form else "s = s * 0.5 + row.sum()"
    return ["s = P.zeros([])", form, f"    {inner}", "x = x + s"]


def checked(m):
    """`assert`, which holds for each shape."""
    return [
        m.n.pick(
            "assert x.shape[1] >= 0",
            "assert len(x.shape) == 3, x.shape",
            f"assert x.shape[2] != -1, f'got {{x.shape[2]}}'",  # noqa: F541
            "assert x.shape[0] + 1 > 0",
        )
    ]


def early(m):
    """`return` in the middle."""
    return [f"if {m.n.answer(1)}:", f"    return x + {m.n.number(1)}"]


def helper(m):
    """A function inside."""
    n = m.n
    return [
        f"def helper(t, k={n.whole(1)}):",
        "    if k > t.shape[1]:",
        f"        return t + {n.number(1)}",
        "    return t * 2",
        n.pick("x = helper(x)", f"x = helper(x, {n.whole(1)})", "x = helper(helper(x))"),
    ]


PLAIN = (
    (cut, 4),
    (added, 4),
    (named, 3),
    (element, 2),
    (written, 1),
    (padded, 2),
    (divided, 2),
    (reshaped, 3),
    (made, 3),
    (resized, 2),
)
CONTROL = (
    (choice, 3),
    (chosen_number, 2),
    (while_loop, 2),
    (for_loop, 2),
    (over_rows, 1),
    (checked, 1),
    (early, 1),
    (helper, 1),
)
