"""How PIR operations are written in ONNX: `rule(g, op, *operands) -> name` (or a list of names); operands are names, lists of names, or None."""

import math

import numpy as np

from paddle_jax._core.record import READS

RULES = {}


class Unsupported(Exception):
    """A case of an operation that has no form in ONNX here."""


def _define(rules):
    for names, rule in rules.items():
        for name in names.split():
            RULES[name] = rule


def rule_of(name):
    """The rule that writes an operation: code, or what the record of an op says; None where there is neither."""
    op = READS.get(name)
    said = op.record.onnx if op is not None else ""
    return RULES.get(name) or (said if callable(said) else _node(said) if said else None)


def _node(text):
    """A rule that adds one node: its kind, and attributes `[node's=]name`."""
    kind, *attrs = text.split()
    pairs = [(ours or name, name) for ours, _, name in (one.rpartition("=") for one in attrs)]

    def rule(g, op, *operands):
        values = {ours: getattr(op, name) for ours, name in pairs}
        return g.node(kind, operands, **{ours: int(value) if isinstance(value, bool) else value for ours, value in values.items()})

    return rule


def _ints(g, value):
    """A list operand as one int64 vector."""
    if not isinstance(value, list):
        return value
    return g.node("Concat", [g.node("Reshape", [g.node("Cast", [v], to=7), g.ints([1])]) for v in value], axis=0)


def _known(g, value):
    """The numbers of an operand that has to be constant."""
    if isinstance(value, list):
        return [n for v in value for n in _known(g, v)]
    if value not in g.known:
        raise Unsupported("an axis, size or number that is computed")
    return g.known[value].ravel().tolist()


def _to(g, dtype):
    return g.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def _cast(g, x, dtype):
    return g.node("Cast", [x], to=_to(g, dtype))


def _scalar(g, op, x, dtype=None):
    """A [1] operand as a number of the dtype of the first one."""
    return g.number(_known(g, x)[0], dtype or op.kind())


def _scale(g, op, x, factor):
    dtype = op.kind()
    factor, bias = _scalar(g, op, factor), g.number(op.bias, dtype)
    if op.bias_after_scale:
        y = x if g.known[factor] == 1 else g.node("Mul", [x, factor])
        return y if op.bias == 0 else g.node("Add", [y, bias])
    return g.node("Mul", [g.node("Add", [x, bias]), factor])


def _axes(g, op, axes):
    return [int(a) for a in _known(g, axes)] or list(range(op.ndim()))


def _reduced(kind):
    def rule(g, op, x, axes):
        axes = _axes(g, op, axes)
        if not axes:
            return g.node("Identity", [x])
        if kind == "ReduceSum":
            x = _cast(g, x, op.out[0]) if op.kind() != op.out[0] else x
            return g.node(kind, [x, g.ints(axes)], keepdims=int(op.keepdim))
        return g.node(kind, [x], axes=axes, keepdims=int(op.keepdim))

    return rule


def _listed(kind):
    def rule(g, op, x):
        return g.node(kind, [x], axes=[int(a) for a in op.axis] or list(range(op.ndim())), keepdims=int(op.keepdim))

    return rule


def _pads(op, n):
    pads = list(op.paddings)
    if op.padding_algorithm == "SAME":
        return {"auto_pad": "SAME_UPPER"}
    if op.padding_algorithm == "VALID":
        pads = [0] * n
    begin, end = (pads, pads) if len(pads) == n else (pads[::2], pads[1::2])
    return {"pads": [*begin, *end]}


def _channels_first(op):
    if op.data_format[-1] == "C":
        raise Unsupported("channels on the last axis")


def _conv(g, op, x, w):
    _channels_first(op)
    n = op.ndim() - 2
    return g.node("Conv", [x, w], strides=op.strides, dilations=op.dilations, group=op.groups, **_pads(op, n))


def _conv_transpose(g, op, x, w, size=None):
    _channels_first(op)
    n = op.ndim() - 2
    extra = {"output_padding": op.output_padding} if op.output_padding else {}
    return g.node("ConvTranspose", [x, w], strides=op.strides, dilations=op.dilations, group=op.groups, **extra, **_pads(op, n))


def _pool(g, op, x, size=None):
    _channels_first(op)
    size, n = list(op.kernel_size) if size is None else [int(s) for s in _known(g, size)], op.ndim() - 2
    kind = "Average" if op.pooling_type == "avg" else "Max"
    if op.global_pooling or (op.adaptive and all(s == 1 for s in size)):
        return g.node(f"Global{kind}Pool", [x])
    strides = op.strides
    if op.adaptive:
        lengths = op.lengths()[2:]
        if any(m < 0 or m % s for m, s in zip(lengths, size, strict=True)):
            raise Unsupported("adaptive pooling to lengths that do not divide those of the input")
        size = strides = [m // s for m, s in zip(lengths, size, strict=True)]
        return g.node(f"{kind}Pool", [x], kernel_shape=size, strides=strides)
    extra = {"count_include_pad": int(not op.exclusive)} if kind == "Average" else {}
    return g.node(f"{kind}Pool", [x], kernel_shape=size, strides=strides, ceil_mode=int(op.ceil_mode), **extra, **_pads(op, n))


def _max_pool_with_index(g, op, x):
    op.pooling_type, op.padding_algorithm, op.data_format, op.exclusive = "max", "EXPLICIT", "NCHW", True
    return [_pool(g, op, x), None]


def _batch_norm(g, op, x, mean, var, w, b):
    _channels_first(op)
    return [g.node("BatchNormalization", [x, w, b, mean, var], epsilon=op.epsilon), None, None, None, None, None]


def _layer_norm(g, op, x, w, b):
    axis = op.begin_norm_axis
    shape = [int(n) for n in op.lengths()[axis:]]
    w = g.constant(np.ones(shape, op.kind())) if w is None else g.node("Reshape", [w, g.ints(shape)])
    b = None if b is None else g.node("Reshape", [b, g.ints(shape)])
    return [g.node("LayerNormalization", [x, w, b], axis=axis, epsilon=op.epsilon), None, None]


def _instance_norm(g, op, x, w, b):
    channels = op.lengths()[1]
    w = g.constant(np.ones(channels, op.kind())) if w is None else w
    b = g.constant(np.zeros(channels, op.kind())) if b is None else b
    return [g.node("InstanceNormalization", [x, w, b], epsilon=op.epsilon), None, None]


def _group_norm(g, op, x, w, b):
    _channels_first(op)
    ones, n = np.ones(op.groups, op.kind()), op.ndim()
    folded = g.node("Reshape", [x, g.ints([0, op.groups, -1])])
    y = g.node("InstanceNormalization", [folded, g.constant(ones), g.constant(0 * ones)], epsilon=op.epsilon)
    y = g.node("Reshape", [y, g.node("Shape", [x])])
    for kind, one in (("Mul", w), ("Add", b)):
        if one is not None:
            y = g.node(kind, [y, g.node("Reshape", [one, g.ints([-1] + [1] * (n - 2))])])
    return [y, None, None]


def _gelu(g, op, x):
    dtype = op.kind()
    if op.approximate:
        cube = g.node("Mul", [x, g.node("Mul", [x, x])])
        inner = g.node("Mul", [g.node("Add", [x, g.node("Mul", [cube, g.number(0.044715, dtype)])]), g.number(math.sqrt(2 / math.pi), dtype)])
        gate = g.node("Add", [g.node("Tanh", [inner]), g.number(1, dtype)])
    else:
        gate = g.node("Add", [g.node("Erf", [g.node("Mul", [x, g.number(math.sqrt(0.5), dtype)])]), g.number(1, dtype)])
    return g.node("Mul", [g.node("Mul", [x, gate]), g.number(0.5, dtype)])


def _matmul(g, op, x, y):
    for at, flip in enumerate((op.transpose_x, op.transpose_y)):
        if flip and op.ndim(at) > 1:
            perm = [*range(op.ndim(at) - 2), op.ndim(at) - 1, op.ndim(at) - 2]
            x, y = (g.node("Transpose", [x], perm=perm), y) if at == 0 else (x, g.node("Transpose", [y], perm=perm))
    return g.node("MatMul", [x, y])


def _slice(g, op, x, starts, ends, steps=None):
    inputs = [x, _ints(g, starts), _ints(g, ends), g.ints(op.axes)] + ([] if steps is None else [_ints(g, steps)])
    y = g.node("Slice", inputs)
    dropped = list(getattr(op, "decrease_axis", ()))
    return g.node("Squeeze", [y, g.ints(dropped)]) if dropped else y


def _embedding(g, op, x, w):
    y = g.node("Gather", [w, x], axis=0)
    if op.padding_idx < 0:
        return y
    kept = _cast(g, g.node("Not", [g.node("Equal", [x, g.number(op.padding_idx, op.kind())])]), op.kind(1))
    return g.node("Mul", [y, g.node("Unsqueeze", [kept, g.ints([-1])])])


def _interp(g, op, x, size=None, sizes=None, scale=None):
    _channels_first(op)
    n = op.ndim() - 2
    given = [op.out_d, op.out_h, op.out_w][3 - n :]
    mode = {"nearest": "nearest", "bicubic": "cubic"}.get(op.interp_method, "linear")
    how = "align_corners" if op.align_corners else "asymmetric" if op.align_mode == 1 or mode == "nearest" else "half_pixel"
    attrs = {"mode": mode, "coordinate_transformation_mode": how, "cubic_coeff_a": -0.75, "nearest_mode": "floor"}
    if size is not None or (all(m > 0 for m in given) and not op.scale):
        head = g.node("Slice", [g.node("Shape", [x]), g.ints([0]), g.ints([2])])
        tail = g.ints(given) if size is None else _cast(g, size, "int64")
        return g.node("Resize", [x, None, None, g.node("Concat", [head, tail], axis=0)], **attrs)
    if not op.scale:
        raise Unsupported("sizes as tensors")
    return g.node("Resize", [x, None, g.constant(np.array([1, 1, *op.scale], np.float32))], **attrs)


def _pad3d(g, op, x, pads):
    pads = [int(p) for p in _known(g, pads)]
    if op.data_format[-1] == "C":
        raise Unsupported("channels on the last axis")
    if op.mode == "circular":
        raise Unsupported("circular padding")
    begin, end = ([0, 0, *[pads[i] for i in order]] for order in ((4, 2, 0), (5, 3, 1)))
    mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}[op.mode]
    return g.node("Pad", [x, g.ints([*begin, *end]), g.number(op.pad_value, op.kind())], mode=mode)


def _expand(g, op, x, shape):
    shape = _ints(g, shape)
    return g.node("Expand", [x, g.node("Where", [g.node("Less", [shape, g.number(0, "int64")]), g.number(1, "int64"), shape])])


def _pow(g, op, x):
    return g.node("Pow", [x, g.number(op.y, op.kind())])


def _argument(kind):
    def rule(g, op, x, axis):
        if op.flatten:
            x = g.node("Reshape", [x, g.ints([-1])])
        y = g.node(kind, [x], axis=0 if op.flatten else int(_known(g, axis)[0]), keepdims=int(op.keepdims and not op.flatten))
        return y if op.dtype == "int64" else _cast(g, y, op.dtype)

    return rule


def _topk(g, op, x, k):
    return g.node("TopK", [x, g.ints([int(_known(g, k)[0])])], 2, axis=op.axis, largest=int(op.largest), sorted=1)


def _argsort(g, op, x):
    length = g.node("Slice", [g.node("Shape", [x]), g.ints([op.axis]), g.ints([op.axis + 1])])
    return g.node("TopK", [x, length], 2, axis=op.axis, largest=int(op.descending), sorted=1)


def _cumsum(g, op, x, axis):
    if op.flatten:
        x, axis = g.node("Reshape", [x, g.ints([-1])]), g.number(0, "int32")
    else:
        axis = g.number(int(_known(g, axis)[0]), "int32")
    return g.node("CumSum", [x, axis], exclusive=int(op.exclusive), reverse=int(op.reverse))


def _p_norm(g, op, x):
    if op.porder not in (1, 2):
        raise Unsupported(f"norm of order {op.porder}")
    axes = list(range(op.ndim())) if op.asvector else [op.axis]
    return g.node(f"ReduceL{int(op.porder)}", [x], axes=axes, keepdims=int(op.keepdim))


def _rnn(g, op, x, states, weights, length, mask):
    """One layer in one direction, which is what paddle_jax writes; gates are put into the order of ONNX."""
    if op.num_layers != 1 or op.is_bidirec or length is not None:
        raise Unsupported("several layers or directions in one operation")
    order = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2)}.get(op.mode, (0,))
    w_ih, w_hh, b_ih, b_hh = (_reordered(g, one, order, op.hidden_size) for one in weights)
    both = g.node("Unsqueeze", [g.node("Concat", [b_ih, b_hh], axis=0), g.ints([0])])
    w_ih, w_hh = (g.node("Unsqueeze", [one, g.ints([0])]) for one in (w_ih, w_hh))
    kind = op.mode if op.mode in ("LSTM", "GRU") else "RNN"
    extra = {"linear_before_reset": 1} if kind == "GRU" else {"activations": ["Relu"]} if op.mode == "RNN_RELU" else {}
    out, *last = g.node(kind, [x, w_ih, w_hh, both, None, *states], 1 + len(states), hidden_size=op.hidden_size, **extra)
    return [g.node("Squeeze", [out, g.ints([1])]), None, last, None]


def _reordered(g, weight, order, hidden):
    if len(order) == 1:
        return weight
    parts = [g.node("Slice", [weight, g.ints([i * hidden]), g.ints([(i + 1) * hidden]), g.ints([0])]) for i in order]
    return g.node("Concat", parts, axis=0)


def _full(g, op):
    return g.constant(np.full(op.shape, op.value, op.dtype))


def _assigned(g, op, x):
    return g.constant(np.array(op.values, op.dtype).reshape(op.shape))


def _arange(g, op, start, end, step):
    dtype = op.dtype
    return g.node("Range", [g.node("Reshape", [_cast(g, v, dtype), g.ints([])]) for v in (start, end, step)])


def _split(g, op, x, sizes, axis):
    sizes = [int(n) for n in _known(g, sizes)]
    found = g.node("Split", [x, g.ints(sizes)], len(sizes), axis=int(_known(g, axis)[0]))
    return found if isinstance(found, list) else [found]


def _split_evenly(g, op, x, axis):
    axis = int(_known(g, axis)[0])
    length = op.lengths()[axis]
    if length < 0:
        raise Unsupported("split of an axis whose length is not fixed")
    return g.node("Split", [x, g.ints([length // op.num] * op.num)], op.num, axis=axis)


def _unbind(g, op, x):
    pieces = [g.node("Squeeze", [p, g.ints([op.axis])]) for p in _pieces(g, op, x)]
    return pieces


def _pieces(g, op, x):
    length = op.lengths()[op.axis]
    found = g.node("Split", [x, g.ints([1] * length)], length, axis=op.axis)
    return found if isinstance(found, list) else [found]


def _meshgrid(g, op, xs):
    shape = g.node("Concat", [g.node("Shape", [g.node("Reshape", [x, g.ints([-1])])]) for x in xs], axis=0)
    rows = [g.node("Reshape", [x, g.ints([-1 if i == j else 1 for j in range(len(xs))])]) for i, x in enumerate(xs)]
    return [g.node("Expand", [row, shape]) for row in rows]


def _triangle(upper):
    return lambda g, op, x: g.node("Trilu", [x, g.number(op.diagonal, "int64")], upper=upper)


def _full_like(g, op, x, value):
    dtype = op.dtype
    return g.node("ConstantOfShape", [g.node("Shape", [x])], value=g.onnx.numpy_helper.from_array(np.array([_known(g, value)[0]], dtype)))


def _floor_divide(g, op, x, y):
    if np.dtype(op.kind()).kind == "f":
        return g.node("Floor", [g.node("Div", [x, y])])
    return _cast(g, g.node("Floor", [g.node("Div", [_cast(g, x, "float64"), _cast(g, y, "float64")])]), op.kind())


def _compared(kind, invert=False):
    def rule(g, op, x, y):
        y = _cast(g, y, op.kind()) if op.kind() != op.kind(1) else y
        z = g.node(kind, [x, y])
        return g.node("Not", [z]) if invert else z

    return rule


def _prelu(g, op, x, w):
    shape = [1] * max(op.ndim() - 1, 1)
    shape[0] = -1 if op.ndim() > 1 and op.mode != "all" else 1
    return g.node("PRelu", [x, g.node("Reshape", [w, g.ints(shape)])])


def _flatten(g, op, x):
    shape, start, stop = op.lengths(), op.start_axis, op.stop_axis
    head = [0] * start
    if all(n > 0 for n in shape[stop + 1 :]):
        return g.node("Reshape", [x, g.ints([*head, -1, *shape[stop + 1 :]])])
    return g.node("Reshape", [x, g.ints([*head, math.prod(shape[start : stop + 1]), *[-1] * (len(shape) - stop - 1)])])


_define({
    "matmul": _matmul, "scale": _scale, "pow": _pow, "gelu": _gelu, "floor_divide": _floor_divide,
    "rsqrt": lambda g, op, x: g.node("Reciprocal", [g.node("Sqrt", [x])]),
    "square": lambda g, op, x: g.node("Mul", [x, x]),
    "log1p": lambda g, op, x: g.node("Log", [g.node("Add", [x, g.number(1, op.kind())])]),
    "expm1": lambda g, op, x: g.node("Sub", [g.node("Exp", [x]), g.number(1, op.kind())]),
    "remainder": lambda g, op, x, y: g.node("Sub", [x, g.node("Mul", [_floor_divide(g, op, x, y), y])]),
    "cast": lambda g, op, x: _cast(g, x, op.out[0]),
    "clip": lambda g, op, x, low, high: g.node("Clip", [x, _scalar(g, op, low), _scalar(g, op, high)]),
    "equal": _compared("Equal"), "not_equal": _compared("Equal", True), "less_than": _compared("Less"), "greater_than": _compared("Greater"),
    "less_equal": _compared("LessOrEqual"), "greater_equal": _compared("GreaterOrEqual"),
    "mean": _reduced("ReduceMean"), "sum": _reduced("ReduceSum"), "max": _reduced("ReduceMax"), "min": _reduced("ReduceMin"),
    "prod": _reduced("ReduceProd"), "amax": _listed("ReduceMax"), "amin": _listed("ReduceMin"), "logsumexp": _listed("ReduceLogSumExp"),
    "mean_all": lambda g, op, x: g.node("ReduceMean", [x], keepdims=0), "p_norm": _p_norm,
    "argmax": _argument("ArgMax"), "argmin": _argument("ArgMin"), "topk": _topk, "argsort": _argsort, "cumsum": _cumsum,
    # activations
    "silu swish": lambda g, op, x: g.node("Mul", [x, g.node("Sigmoid", [x])]),
    "relu6": lambda g, op, x: g.node("Clip", [x, g.number(0, op.kind()), g.number(6, op.kind())]),
    "hardtanh": lambda g, op, x: g.node("Clip", [x, g.number(op.t_min, op.kind()), g.number(op.t_max, op.kind())]),
    "mish": lambda g, op, x: g.node("Mul", [x, g.node("Tanh", [g.node("Softplus", [x])])]),
    "softplus": lambda g, op, x: _softplus(g, op, x),
    "logsigmoid": lambda g, op, x: g.node("Neg", [g.node("Softplus", [g.node("Neg", [x])])]),
    "tanh_shrink": lambda g, op, x: g.node("Sub", [x, g.node("Tanh", [x])]),
    "hardshrink": lambda g, op, x: g.node("Shrink", [x], lambd=op.threshold, bias=0.0),
    "softshrink": lambda g, op, x: g.node("Shrink", [x], lambd=op.threshold, bias=op.threshold),
    "prelu": _prelu,
    # layers
    "conv2d depthwise_conv2d conv3d": _conv, "conv2d_transpose depthwise_conv2d_transpose conv3d_transpose": _conv_transpose,
    "pool2d pool3d": _pool, "max_pool2d_with_index max_pool3d_with_index": _max_pool_with_index,
    "batch_norm_": _batch_norm, "layer_norm": _layer_norm, "instance_norm": _instance_norm, "group_norm": _group_norm, "embedding": _embedding,
    "nearest_interp bilinear_interp linear_interp trilinear_interp bicubic_interp": _interp, "pad3d": _pad3d, "rnn": _rnn,
    "pixel_shuffle": lambda g, op, x: g.node("DepthToSpace", [x], blocksize=op.upscale_factor, mode="CRD"),
    # shapes
    "reshape": lambda g, op, x, shape: g.node("Reshape", [x, _ints(g, shape)]), "flatten": _flatten,
    "transpose": lambda g, op, x: g.node("Transpose", [x], perm=op.perm),
    "squeeze": lambda g, op, x, axes: g.node("Squeeze", [x, _ints(g, axes)]),
    "unsqueeze": lambda g, op, x, axes: g.node("Unsqueeze", [x, _ints(g, axes)]),
    "expand": _expand, "tile": lambda g, op, x, times: g.node("Tile", [x, _ints(g, times)]),
    "slice strided_slice": _slice, "tril": _triangle(0), "triu": _triangle(1),
    "meshgrid": _meshgrid, "nonzero": lambda g, op, x: g.node("NonZero", [x]),
    "flip": lambda g, op, x: g.node("Slice", [x, g.ints([-1] * len(op.axis)), g.ints([-(2**63)] * len(op.axis)), g.ints(op.axis),
                                              g.ints([-1] * len(op.axis))]),
    "concat": lambda g, op, xs, axis: g.node("Concat", xs, axis=int(_known(g, axis)[0])),
    "stack": lambda g, op, xs: g.node("Concat", [g.node("Unsqueeze", [x, g.ints([op.axis])]) for x in xs], axis=op.axis),
    "split": _split, "split_with_num": _split_evenly, "unbind unstack": _unbind,
    "gather": lambda g, op, x, index, axis: g.node("Gather", [x, index], axis=int(_known(g, axis)[0])),
    "builtin.combine": lambda g, op, *xs: list(xs), "builtin.split": lambda g, op, xs: xs if op.count > 1 else xs[0],
    "add_n": lambda g, op, xs: g.node("Sum", xs), "einsum": lambda g, op, xs: [g.node("Einsum", xs, equation=op.equation), None, None],
    "one_hot": lambda g, op, x, n: g.node("OneHot", [x, g.ints([int(_known(g, n)[0])]), g.constant(np.array([0, 1], np.float32))]),
    # constants
    "full": _full, "full_int_array": lambda g, op: g.ints(op.value), "assign_value_": _assigned, "arange": _arange, "full_like": _full_like,
    "full_with_tensor": lambda g, op, value, shape: g.node("Expand", [g.node("Reshape", [value, g.ints([1])]), _ints(g, shape)]),
    "dropout": lambda g, op, x, *rest: [g.node("Identity", [x]), None],
})


def _softplus(g, op, x):
    if op.beta == 1:
        return g.node("Softplus", [x])
    return g.node("Div", [g.node("Softplus", [g.node("Mul", [x, g.number(op.beta, op.kind())])]), g.number(op.beta, op.kind())])
