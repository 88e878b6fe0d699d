"""Random statements whose sizes are Tensors: elements of `paddle.shape(x)`, and a given Tensor `n`."""


def leaf(m):
    """A whole number as a Tensor without axes."""
    kinds = ["P.shape(x)[0]", "P.shape(x)[1]", "P.shape(x)[2]", *m.sizes]
    return m.rng.choice(kinds)


def whole(m, depth=1):
    """An expression of such Tensors."""
    if depth <= 0:
        return leaf(m)
    small = m.n.small()
    one, other = whole(m, depth - 1), whole(m, depth - 1)
    return m.n.pick(
        one,
        f"({one} + {small})",
        f"({one} // {small})",
        f"({one} * 2)",
        f"({one} % {small})",
        f"({one} + {other})",
        f"P.minimum({one}, {other})",
        f"P.maximum({one}, {other})",
        f"(({one} + 1) // 2)",
        f"P.abs({one} - {other})",
    )


def size(m, least=1):
    """A size above zero and not too large."""
    return m.n.pick(f"({whole(m)} % 7 + {least})", f"({leaf(m)} + {least})", f"({leaf(m)} // 2 + {least})")


def named(m):
    """A name for a size."""
    name = f"t{m.fresh()}"
    line = f"{name} = {size(m)}"
    m.sizes.append(name)
    return [line]


def cut(m):
    """Slices."""
    axis = m.rng.choice((0, 1, 2))
    length = f"P.shape(x)[{axis}]"
    form = m.n.pick(
        f":{size(m)}",
        f"{whole(m)} % {length}:",
        f"{length} // 2:",
        f":{length} // 2 + 1",
        f"-{size(m)}:",
        f"{whole(m)} % {length}:{size(m)} + {length}",
    )
    return [
        m.n.pick(
            f"x = x[{', '.join([':'] * axis + [form])}]",
            f"x = P.slice(x, [{axis}], [{whole(m)} % {length}], [{length}])",
            f"x = P.strided_slice(x, [{axis}], [0], [{length}], [2])",
            f"x = x + x[{', '.join([':'] * axis + [f'{whole(m)} % {length}'])}].unsqueeze({axis})",
        )
    ]


def reshaped(m):
    """Shapes with Tensors among the sizes."""
    b, h, w = (f"P.shape(x)[{axis}]" for axis in range(3))
    return [
        m.n.pick(
            f"x = x.reshape([{b}, {h} * {w}, 1])",
            f"x = x.reshape([{b}, -1, 1])",
            f"x = x.reshape([-1, {h}, {w}])",
            f"x = P.reshape(x, [{b} * {h}, {w}]).unsqueeze(0)",
            f"x = P.tile(x, [1, {size(m)}, 1])",
            f"x = x.mean(1, keepdim=True).expand([{b}, {size(m)}, {w}])",
            f"x = P.expand(x.sum(2, keepdim=True), [-1, -1, {size(m)}])",
            f"x = P.broadcast_to(x.mean(0, keepdim=True), [{size(m)}, {h}, {w}])",
            "x = x.reshape(P.shape(x))",
            "x = P.transpose(x, [0, 2, 1])",
        )
    ]


def made(m):
    """New tensors."""
    one, other = size(m), size(m)
    return [
        "outs.append("
        + m.n.pick(
            f"P.zeros([{one}, 2])",
            f"P.full([{one}, {other}], 1.5)",
            f"P.ones([3, {one}])",
            f"P.arange({one})",
            f"P.arange(1, {one} + 4, 2)",
            f"P.arange({one}, dtype='float32')",
            f"P.linspace(0.0, 1.0, {one})",
            f"P.linspace(P.to_tensor(1.0), P.to_tensor(3.0), {one})",
            f"P.empty([{one}, 3]) * 0 + 1",
            f"P.randint(2, 3, [{one}, 2])",
            f"P.full([2], {one}.astype('float32'))",
            f"P.full([{one}], 2, 'int64')",
            f"P.full_like(x, {one}.astype('float32'))",
            f"P.topk(x, P.minimum({one}, P.shape(x)[2]))[0]",
            f"F.one_hot(P.arange(2), {one} + 2)",
            f"F.sequence_mask(P.to_tensor([1, 3]), maxlen={one})",
            f"P.uniform([{one}, 2]) * 0",
            f"{one}",
            f"{one} * 2 + 1",
            f"{one} > {other}",
            f"P.gather(x, P.arange({one}) % P.shape(x)[1], axis=1)",
            f"P.zeros(shape=P.shape(x))",  # noqa: F541
            f"P.split(x, [{whole(m)} % P.shape(x)[1], -1], axis=1)[1]",
            f"P.eye(3) * {one}.astype('float32')",
            f"P.meshgrid(P.arange({one}), P.arange({other}))[0]",
            f"P.stack([{one}, {other}])",
            f"P.ones([{one}]).sum()",
            f"P.randn([{one}, 2]) * 0",
            f"x.size + {one}",
            "P.numel(x)",
        )
        + ")"
    ]


def changed(m):
    """Numbers with the tensor, padding and resizing."""
    one, other = size(m, 0), size(m)
    return [
        m.n.pick(
            f"x = x + {whole(m)}",
            f"x = x * {one}.astype('float32')",
            f"x = x / {other}",
            f"x = x - {one} % 3",
            f"x = F.pad(x, [{one}, 1], data_format='NCL')",
            f"x = F.pad(x.unsqueeze(1), [0, {one}, {other}, 0]).squeeze(1)",
            f"x = F.interpolate(x.unsqueeze(1), size=[{other}, {size(m)}]).squeeze(1)",
            f"x = P.concat([x, P.zeros([P.shape(x)[0], {one}, P.shape(x)[2]])], axis=1)",
            f"x = x.scale({other}.astype('float32'))",
            "x = x.matmul(x.transpose([0, 2, 1]))",
            f"x = P.where(P.arange(P.shape(x)[2]) < {one}, x, -x)",
        )
    ]


def controlled(m):
    """Control flow on Tensors."""
    name = f"k{m.fresh()}"
    start = size(m)
    lines = m.rng.choice(
        [
            [f"if {whole(m)} > {m.n.small()}:", f"    x = x + {leaf(m)}", "else:", "    x = x * 2"],
            [
                f"{name} = {start}",
                f"while {name} > 1:",
                f"    {name} = {name} // 2",
                f"    x = x * 0.5 + {name}",
            ],
            [f"for {name} in range({size(m, 0)} % 6):", f"    x = x + {name}"],
            [f"if {leaf(m)} % 2 == 1:", "    x = x[:, :1]"],
        ]
    )
    return lines


KINDS = ((named, 2), (cut, 3), (reshaped, 3), (made, 4), (changed, 3))
