"""Layers in PIR: convolutions, pooling, norms, activations, resizing, attention, recurrent networks, losses."""

import math

import numpy as np

from paddle_jax.framework.pir.builder import Length, NotWritable
from paddle_jax.framework.pir.lower import (
    average,
    binary,
    cast,
    define,
    pair,
    positive,
    reduced,
    reshape,
    scale,
    squeeze,
    transpose,
    unsqueeze,
)
from paddle_jax.nn.functional.windows import paddings


def _softmax(name):
    def rule(w, a, out, x):
        return w.op(name, [cast(w, x, out[0][0])], out[0], axis=a.axis)

    return rule


def _gelu(w, a, out, x):
    return w.op("gelu", [x], out[0], approximate=a.approximate in (True, "tanh"))


def _linear(w, a, out, x, weight, bias):
    done = w.op("matmul", [x, weight], out[0])
    return done if bias is None else w.op("add", [done, bias], out[0])


def _bias(w, out, done, bias, channel):
    """done + bias along the channel axis."""
    if bias is None:
        return done
    shape = [1] * len(out[1])
    shape[channel] = bias.shape[0]
    return w.op("add", [done, w.op("reshape", [bias, w.ints(shape)], (bias.dtype, shape))], out)


def _padding(a, n, last):
    """(paddings, padding_algorithm)"""
    value = paddings("", a.padding, n, last)
    if isinstance(value, str):
        return [0] * n, value
    flat = [p for both in value for p in both]
    return ([both[0] for both in value] if all(p == q for p, q in value) else flat), "EXPLICIT"


def _settings(a, n):
    """Attributes that convolutions share, and whether channels are last."""
    last = a.data_format[-1] == "C"
    pads, how = _padding(a, n, last)
    found = {"strides": pair(a.stride, n), "paddings": pads, "padding_algorithm": how, "dilations": pair(a.dilation, n), "groups": a.groups}
    return found | {"data_format": a.data_format}, last


def _conv(n):
    def rule(w, a, out, x, weight, bias):
        attrs, last = _settings(a, n)
        name = "depthwise_conv2d" if n == 2 and a.groups > 1 and a.groups == x.shape[-1 if last else 1] and weight.shape[1] == 1 else f"conv{n}d"
        return _bias(w, out[0], w.op(name, [x, weight], out[0], **attrs), bias, len(out[0][1]) - 1 if last else 1)

    return rule


def _conv_transpose(n):
    def rule(w, a, out, x, weight, bias):
        attrs, last = _settings(a, n)
        extra = pair(a.output_padding, n) if a.output_padding else []
        if a.output_size is not None:
            raise NotWritable("a transposed convolution with output_size has no form in PIR; use output_padding")
        if n == 3:
            attrs["data_format"] = "NHWC" if last else "NCHW"
        name = "depthwise_conv2d_transpose" if n == 2 and a.groups > 1 and a.groups == x.shape[-1 if last else 1] else f"conv{n}d_transpose"
        operands = [x, weight, w.ints([])] if n == 2 else [x, weight]
        done = w.op(name, operands, out[0], output_padding=extra, **attrs)
        return _bias(w, out[0], done, bias, len(out[0][1]) - 1 if last else 1)

    return rule


def _flat(rule, weighted=True):
    """A rule for one spatial axis, made of that for two: the new axis has length 1 and comes first."""

    def one(w, a, out, x, *operands):
        last = getattr(a, "data_format", "NCL")[-1] == "C"
        axis = 1 if last else 2
        for name, fill in (("stride", 1), ("dilation", 1), ("output_padding", 0), ("kernel_size", 1), ("output_size", 1)):
            value = getattr(a, name, None)
            if value is not None:
                setattr(a, name, [fill, *(value if isinstance(value, tuple | list) else [value])])
        if not isinstance(getattr(a, "padding", ""), str):
            a.padding = [0, 0, *paddings("", a.padding, 1, last)[0]]
        a.data_format = "NHWC" if last else "NCHW"
        if weighted:
            operands = [unsqueeze(w, operands[0], 2), *operands[1:]]
        outs = [(dtype, [*shape[:axis], 1, *shape[axis:]]) for dtype, shape in out]
        found = rule(w, a, outs, unsqueeze(w, x, axis), *operands)
        return [squeeze(w, one, [axis]) for one in found] if isinstance(found, list) else squeeze(w, found, [axis])

    return one


def _pool(n, kind):
    def rule(w, a, out, x):
        form = getattr(a, "data_format", "NCHW" if n == 2 else "NCDHW")
        if getattr(a, "divisor_override", None) is not None:
            raise NotWritable("avg_pool with divisor_override has no form in PIR")
        pads, how = _padding(a, n, form[-1] == "C")
        size = pair(a.kernel_size, n)
        stride = size if a.stride in (None, 0) else pair(a.stride, n)
        if getattr(a, "return_mask", False):
            return w.op(f"max_pool{n}d_with_index", [x], out, kernel_size=size, strides=stride, paddings=pads[:n], ceil_mode=a.ceil_mode)
        attrs = {"strides": stride, "paddings": pads, "padding_algorithm": how, "ceil_mode": a.ceil_mode, "data_format": form, "pooling_type": kind}
        return _pooled(w, n, x, size, out[0], exclusive=getattr(a, "exclusive", True), **attrs)

    return rule


def _pooled(w, n, x, size, out, **attrs):
    if n == 2:
        return w.op("pool2d", [x, w.ints(size)], out, **attrs)
    return w.op("pool3d", [x], out, kernel_size=size, **attrs)


def _adaptive(n, kind):
    def rule(w, a, out, x):
        form = getattr(a, "data_format", "NCHW" if n == 2 else "NCDHW")
        if form not in ("NCHW", "NHWC", "NCDHW", "NDHWC"):
            form = "NCHW" if n == 2 else "NCDHW"
        sizes = [out[0][1][i] for i, c in enumerate(form) if c not in "NC"]
        if kind == "max":
            both = [out[0], ("int32", out[0][1])]
            found = w.op(f"max_pool{n}d_with_index", [x], both, kernel_size=sizes, strides=[1] * n, paddings=[0] * n, adaptive=True)
            return found if a.return_mask else found[0]
        return _pooled(w, n, x, sizes, out[0], strides=[1] * n, paddings=[0] * n, data_format=form, pooling_type=kind, adaptive=True)

    return rule


def _lp_pool(w, a, out, x):
    pads, how = _padding(a, 2, a.data_format[-1] == "C")
    size = pair(a.kernel_size, 2)
    stride = size if a.stride is None else pair(a.stride, 2)
    return w.op("lp_pool2d", [x], out[0], kernel_size=size, strides=stride, paddings=pads, padding_algorithm=how,
                ceil_mode=a.ceil_mode, data_format=a.data_format, pooling_type="lp", norm_type=float(a.norm_type))


def _resize(w, a, out, x):
    if a.recompute or a.antialias:
        raise NotWritable("interpolate with antialias or recompute_scale_factor has no form in PIR")
    n = x.ndim - 2
    name = {"nearest": "nearest", "linear": "linear", "bilinear": "bilinear", "bicubic": "bicubic", "trilinear": "trilinear"}[a.mode]
    spatial = out[0][1][1:-1] if a.last else out[0][1][2:]
    form = "NHWC" if a.last else "NCHW"
    size, factors, operand = [-1] * 3, [], None
    if a.scale_factor is not None:
        factors = [float(f) for f in pair(a.scale_factor, n)]
        factors = factors * n if len(factors) == 1 else factors
    elif any(isinstance(v, Length) for v in spatial):
        operand = w.op("concat", [w.combine([reshape(w, w.length(v) if isinstance(v, Length) else w.full(v, "int64", ()), [1]) for v in spatial]),
                                  w.full(0, "int32")], ("int64", [n]))
        operand = cast(w, operand, "int32")
    else:
        size[3 - n :] = spatial
    return w.op(name + "_interp", [x, operand, None, None], out[0], data_format=form, out_d=size[0], out_h=size[1], out_w=size[2], scale=factors,
                interp_method=name, align_corners=a.align_corners, align_mode=a.align_mode)


def _pad(w, a, out, x):
    pads, n = list(a.pad), x.ndim
    spatial = n - 2
    if len(pads) == 2 * n and a.mode == "constant" and (not 3 <= n <= 5 or len(pads) != 2 * spatial):
        ordered = pads if a.pad_from_left_axis else [p for i in range(n)[::-1] for p in pads[2 * i : 2 * i + 2]]
        return w.op("pad", [x, w.full(a.value, x.dtype)], out[0], paddings=ordered)
    if not 3 <= n <= 5 or len(pads) != 2 * spatial or any(p < 0 for p in pads):
        raise NotWritable("this form of pad has no form in PIR")
    last = (a.data_format or "NCW")[-1] == "C"
    axis = 1 if last else 2
    done = x
    for _ in range(3 - spatial):
        done, pads = unsqueeze(w, done, axis), [*pads, 0, 0]
    kind = out[0][0], [*out[0][1][:axis], *[1] * (3 - spatial), *out[0][1][axis:]]
    done = w.op("pad3d", [done, w.ints(pads)], kind, mode=a.mode, pad_value=float(a.value), data_format="NDHWC" if last else "NCDHW")
    return squeeze(w, done, list(range(axis, axis + 3 - spatial))) if spatial < 3 else done


def _zero_pad(w, a, out, x):
    a.pad, a.mode, a.value, a.pad_from_left_axis = pair(a.padding, 4), "constant", 0.0, True
    return _pad(w, a, out, x)


def _unfold(w, a, out, x):
    pads = pair(a.paddings, 2) if not isinstance(a.paddings, int) else [a.paddings] * 2
    pads = pads if len(pads) == 4 else [*pads, *pads]
    sizes, strides, dilations = (pair(v, 2) for v in (a.kernel_sizes, a.strides, a.dilations))
    return w.op("unfold", [x], out[0], kernel_sizes=sizes, strides=strides, paddings=pads, dilations=dilations)


# norms ------------------------------------------------------------------------------------------------------------


def _weights(w, weight, bias, count, dtype):
    """Scale and shift, filled in where they are missing."""
    return weight or w.full(1.0, dtype, (count,)), bias or w.full(0.0, dtype, (count,))


def _batch_norm(w, a, out, x, mean, variance, weight, bias):
    last = a.data_format[-1] == "C" and a.data_format != "NC"
    weight, bias = _weights(w, weight, bias, mean.shape[0], mean.dtype)
    kinds = [out[0], mean.type, mean.type, mean.type, mean.type, None]
    return w.op("batch_norm_", [x, mean, variance, weight, bias], kinds, momentum=0.9, epsilon=a.epsilon,
                data_format="NHWC" if last else "NCHW")[0]


def _layer_norm(w, a, out, x, weight, bias):
    count = 1 if isinstance(a.normalized_shape, int) else len(a.normalized_shape)
    begin = x.ndim - count
    weight, bias = (None if one is None else one if one.ndim == 1 else reshape(w, one, [math.prod(one.shape)]) for one in (weight, bias))
    return w.op("layer_norm", [x, weight, bias], [out[0], ("float32", x.shape[:begin]), ("float32", x.shape[:begin])], epsilon=a.epsilon,
                begin_norm_axis=begin)[0]


def _group_norm(w, a, out, x, weight, bias):
    last = a.data_format[-1] == "C" and a.data_format != "NC"
    groups = ("float32", [x.shape[0], a.num_groups])
    return w.op("group_norm", [x, weight, bias], [out[0], groups, groups], epsilon=a.epsilon, groups=a.num_groups,
                data_format="NHWC" if last else "NCHW")[0]


def _instance_norm(w, a, out, x, mean, variance, weight, bias):
    return w.op("instance_norm", [x, weight, bias], [out[0], None, None], epsilon=a.eps)[0]


def _rms_norm(w, a, out, x, weight):
    count = 1 if isinstance(a.normalized_shape, int) else len(a.normalized_shape)
    axes = list(range(x.ndim - count, x.ndim))
    kept = x.dtype, [1 if i in axes else n for i, n in enumerate(x.shape)]
    mean = reduced(w, "mean", w.op("square", [x], x.type), axes, True, kept)
    done = binary(w, "multiply", x, w.op("rsqrt", [scale(w, mean, 1.0, a.eps)], kept), x.type)
    return done if weight is None else binary(w, "multiply", done, weight, out[0])


def _local_response_norm(w, a, out, x):
    channel = x.ndim - 1 if a.data_format[-1] == "C" else 1
    if channel != 1 or x.ndim != 4:
        raise NotWritable("local_response_norm of this shape has no form in PIR")
    squares = unsqueeze(w, w.op("square", [x], x.type), 1)
    pads = [0, 0, 0, 0, a.size // 2, (a.size - 1) // 2]
    wide = [*squares.shape[:2], squares.shape[2] + a.size - 1, *squares.shape[3:]]
    padded = w.op("pad3d", [squares, w.ints(pads)], (x.dtype, wide), mode="constant", pad_value=0.0)
    mean = w.op("pool3d", [padded], squares.type, kernel_size=[a.size, 1, 1], strides=[1, 1, 1], paddings=[0, 0, 0], pooling_type="avg")
    power = w.op("pow", [scale(w, squeeze(w, mean, [1]), a.alpha, a.k)], x.type, y=a.beta)
    return binary(w, "divide", x, power, out[0])


# attention, embedding, recurrent networks -------------------------------------------------------------------------------


def _attend(w, a, out, q, k, v, mask):
    if a.extra is not None or q.shape[2] != k.shape[2]:
        raise NotWritable("attention that returns its weights, or with groups of heads, has no form in PIR")
    q, k, v = (transpose(w, one, [0, 2, 1, 3]) for one in (q, k, v))
    shape = [*q.shape[:3], k.shape[2]]
    factor = 1 / math.sqrt(q.shape[3]) if a.scale is None else a.scale
    scores = w.op("matmul", [scale(w, q, factor), k], (q.dtype, shape), transpose_y=True)
    if mask is not None:
        scores = _masked(w, scores, mask)
    if a.causal:
        if isinstance(shape[2], Length) or isinstance(shape[3], Length):
            ones = w.op("full_like", [scores, w.full(1.0)], scores.type, dtype=scores.dtype)
            later = w.op("triu", [ones], scores.type, diagonal=1)
            scores = _masked(w, scores, w.op("equal", [later, w.full(0.0, scores.dtype, ())], ("bool", shape)))
        else:
            scores = _masked(w, scores, w.constant(np.tril(np.ones(shape[2:], bool))))
    weights = w.op("softmax", [scores], scores.type, axis=-1)
    return transpose(w, w.op("matmul", [weights, v], (q.dtype, [*shape[:3], v.shape[3]])), [0, 2, 1, 3])


def _masked(w, scores, mask):
    if mask.dtype != "bool":
        return w.op("add", [scores, cast(w, mask, scores.dtype)], scores.type)
    if [str(n) for n in mask.shape] != [str(n) for n in scores.shape]:
        mask = w.op("expand", [mask, w.ints(scores.shape)], ("bool", scores.shape))
    return w.op("where", [mask, scores, w.op("full_like", [scores, w.full(-math.inf)], scores.type, dtype=scores.dtype)], scores.type)


def _lookup(w, a, out, x, weight):
    if a.padding_idx < 0:
        return w.op("embedding", [x, weight], out[0], padding_idx=-1)
    return w.op("embedding", [x, weight], out[0], padding_idx=a.padding_idx)


def _recurrent(mode, count):
    """One layer in one direction: the rnn operation runs over [time, batch, ...]; backwards on the reversed sequence."""

    def rule(w, a, out, x, *operands):
        states, (w_ih, w_hh, b_ih, b_hh), rest = operands[:count], operands[count : count + 4], operands[count + 4 :]
        if any(one is not None for one in rest) or (getattr(a, "activation", "tanh") not in ("tanh", "relu")):
            raise NotWritable("a recurrent network with projections or sequence lengths has no form in PIR")
        gates, hidden = w_hh.shape
        b_ih, b_hh = (one or w.full(0.0, x.dtype, (gates,)) for one in (b_ih, b_hh))
        x = x if a.time_major else transpose(w, x, [1, 0, 2])
        x = w.op("flip", [x], x.type, axis=[0]) if a.reverse else x
        start = w.combine([unsqueeze(w, one, 0) for one in states])
        name = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}[a.activation] if mode == "RNN" else mode
        done, end = _rnn(w, x, start, [w_ih, w_hh, b_ih, b_hh], hidden, name)
        done = w.op("flip", [done], done.type, axis=[0]) if a.reverse else done
        return [done if a.time_major else transpose(w, done, [1, 0, 2]), *[squeeze(w, one, [0]) for one in end]]

    return rule


def _cell(mode, count):
    """One step of a recurrent network, as a sequence of one."""
    whole = _recurrent(mode, count)

    def rule(w, a, out, x, *operands):
        a.time_major, a.reverse = True, False
        kinds = [(dtype, [1, *shape]) for dtype, shape in out]
        found = whole(w, a, [kinds[0], *out], unsqueeze(w, x, 0), *operands)
        return found[1:]

    return rule


def _rnn(w, x, start, weights, hidden, mode):
    size = x.dtype, [*x.shape[:2], hidden]
    state = x.dtype, [1, x.shape[1], hidden]
    mask = w.dropout_state()
    operands = [x, start, w.combine(weights), None, mask]
    return w.rnn(operands, size, [state] * len(start.items), input_size=x.shape[2], hidden_size=hidden, num_layers=1, mode=mode)


# losses ---------------------------------------------------------------------------------------------------------------


def _loss(difference):
    def rule(w, a, out, x, label):
        return average(w, difference(w, a, x, label), a.reduction, out)

    return rule


def _gap(w, x, label):
    return binary(w, "subtract", x, label)


def _huber(w, a, x, label):
    if not a.is_huber or (a.delta != 1.0):
        raise NotWritable("this smooth_l1_loss has no form in PIR")
    return w.op("huber_loss", [x, label], [x.type, x.type], delta=a.delta)[0]


def _hard(w, a, out, x, label, weight):
    if weight is not None or a.ignore_index >= 0 or x.ndim - 1 != positive(a.axis, x.ndim):
        raise NotWritable("cross entropy with weights, an ignored class or another axis has no form in PIR")
    if not a.use_softmax:
        raise NotWritable("cross entropy of probabilities has no form in PIR")
    one = x.dtype, [*x.shape[:-1], 1]
    loss = w.op("cross_entropy_with_softmax", [x, label], [x.type, one], ignore_index=a.ignore_index, axis=a.axis)[1]
    return average(w, loss, a.reduction, out)


def _logits(w, a, out, x, label, weight, pos_weight):
    if weight is not None or pos_weight is not None:
        raise NotWritable("binary cross entropy with weights has no form in PIR")
    return average(w, w.op("sigmoid_cross_entropy_with_logits", [x, label, None], x.type), a.reduction, out)


def _bce(w, a, out, x, label, weight):
    if weight is not None:
        raise NotWritable("binary cross entropy with weights has no form in PIR")
    return average(w, w.op("bce_loss", [x, label], x.type), a.reduction, out)


def _linear_quantizer(name):
    def rule(w, a, out, x, scale, zero_point):
        unused = w.full(0.0, "float32", ())  # averages that only training would change
        return w.op(name, [x, scale, zero_point, unused, unused], [out[0], None, None, None], quant_axis=a.quant_axis, bit_length=a.bit_length,
                    qmin=a.qmin, qmax=a.qmax)[:1]

    return rule


def _fake_quantizer(w, a, out, x, scale):
    if a.quant_axis >= 0:
        raise NotWritable("fake_quantize_dequantize: one scale for each channel has no form in a file")
    return w.op("fake_quantize_dequantize_moving_average_abs_max", [x, scale, None, None], [out[0], None, None, None], bit_length=a.bit_length)[:1]


define({
    "softmax": _softmax("softmax"), "log_softmax": _softmax("log_softmax"), "gelu": _gelu, "linear": _linear,
    "conv2d": _conv(2), "conv3d": _conv(3), "conv1d": _flat(_conv(2)),
    "conv2d_transpose": _conv_transpose(2), "conv3d_transpose": _conv_transpose(3), "conv1d_transpose": _flat(_conv_transpose(2)),
    "max_pool2d": _pool(2, "max"), "max_pool3d": _pool(3, "max"), "avg_pool2d": _pool(2, "avg"), "avg_pool3d": _pool(3, "avg"),
    "max_pool1d": _flat(_pool(2, "max"), False), "avg_pool1d": _flat(_pool(2, "avg"), False),
    "adaptive_avg_pool2d _adaptive_mean": _adaptive(2, "avg"), "adaptive_avg_pool3d": _adaptive(3, "avg"),
    "adaptive_max_pool2d": _adaptive(2, "max"), "adaptive_max_pool3d": _adaptive(3, "max"),
    "adaptive_avg_pool1d": _flat(_adaptive(2, "avg"), False), "adaptive_max_pool1d": _flat(_adaptive(2, "max"), False),
    "lp_pool2d": _lp_pool, "_resize": _resize, "pad": _pad, "zeropad2d": _zero_pad, "nn_unfold": _unfold,
    "affine_grid": lambda w, a, out, theta: _affine(w, a, out, theta),
    "prelu": lambda w, a, out, x, weight: w.op("prelu", [x, weight], out[0], data_format=a.data_format,
                                               mode="all" if math.prod(weight.shape) == 1 else "channel"),
    "glu": lambda w, a, out, x: _glu(w, a, out, x),
    "batch_norm_infer": _batch_norm, "layer_norm": _layer_norm, "group_norm": _group_norm, "instance_norm": _instance_norm, "rms_norm": _rms_norm,
    "local_response_norm": _local_response_norm,
    "attend": _attend, "_lookup": _lookup,
    "lstm": _recurrent("LSTM", 2), "gru": _recurrent("GRU", 1), "simple_rnn": _recurrent("RNN", 1),
    "lstm_cell": _cell("LSTM", 2), "gru_cell": _cell("GRU", 1), "simple_rnn_cell": _cell("RNN", 1),
    "mse_loss": _loss(lambda w, a, x, y: w.op("square", [_gap(w, x, y)], x.type)),
    "square_error_cost": lambda w, a, out, x, y: w.op("square", [_gap(w, x, y)], x.type),
    "l1_loss": _loss(lambda w, a, x, y: w.op("abs", [_gap(w, x, y)], x.type)),
    "smooth_l1_loss": _loss(_huber),
    "quantize_linear": _linear_quantizer("quantize_linear"), "dequantize_linear": _linear_quantizer("dequantize_linear"),
    "fake_quantize_dequantize": _fake_quantizer,
    "cross_entropy_hard": _hard, "binary_cross_entropy_with_logits": _logits, "binary_cross_entropy": _bce,
})


def _affine(w, a, out, theta):
    return w.op("affine_grid", [theta, w.ints(a.out_shape)], out[0], align_corners=a.align_corners)


def _glu(w, a, out, x):
    first, second = w.list_op("split_with_num", [x, w.full(positive(a.axis, x.ndim), "int32")], [out[0], out[0]], num=2)
    return binary(w, "multiply", first, w.op("sigmoid", [second], out[0]), out[0])
