"""Rules for layers: convolutions, pooling, norms, activations, resizing, losses, recurrent networks."""

from paddle_jax.framework.pir.rules import P, define
from paddle_jax.nn.functional.common import unfold
from paddle_jax.nn.functional.quantization import dequantize_linear, fake_quantize_dequantize, quantize_linear
from paddle_jax.nn.functional.rnn import gru, lstm, simple_rnn


def _padding(a):
    """The padding argument of convolutions and pooling."""
    return a.paddings if a.padding_algorithm == "EXPLICIT" else a.padding_algorithm


def _conv(name):
    return lambda a, x, w: getattr(P, name)(x, w, None, a.strides, _padding(a), a.dilations, a.groups, data_format=_format(a, name))


def _format(a, name):
    """3D operations of Paddle may say NCHW for NCDHW."""
    return a.data_format if "3d" not in name else {"NCHW": "NCDHW", "NHWC": "NDHWC"}.get(a.data_format, a.data_format)


def _conv_transpose(name):
    def rule(a, x, w, n_size=None):
        size = n_size or getattr(a, "output_size", None) or None
        extra = {"output_size": size} if size else {"output_padding": a.output_padding or 0}
        return getattr(P, name)(x, w, None, a.strides, _padding(a), dilation=a.dilations, groups=a.groups, data_format=_format(a, name), **extra)

    return rule


def _pool(dims):
    def rule(a, x, n_size=None):
        size = list(a.kernel_size if n_size is None else n_size)
        form, kind = _format(a, f"{dims}d"), a.pooling_type
        if a.adaptive:
            if kind == "max":
                return getattr(P, f"adaptive_max_pool{dims}d")(x, size)
            return getattr(P, f"adaptive_avg_pool{dims}d")(x, size, data_format=form)
        padding = _padding(a)
        if a.global_pooling:
            size, padding = [n for n, c in zip(x.shape, form, strict=True) if c not in "NC"], 0
        if kind == "max":
            return getattr(P, f"max_pool{dims}d")(x, size, a.strides, padding, ceil_mode=a.ceil_mode, data_format=form)
        return getattr(P, f"avg_pool{dims}d")(x, size, a.strides, padding, a.ceil_mode, a.exclusive, data_format=form)

    return rule


def _max_pool_with_index(dims):
    def rule(a, x):
        if a.adaptive:
            return getattr(P, f"adaptive_max_pool{dims}d")(x, a.kernel_size, True)
        size = list(x.shape[2:]) if a.global_pooling else a.kernel_size
        return getattr(P, f"max_pool{dims}d")(x, size, a.strides, 0 if a.global_pooling else a.paddings, True, a.ceil_mode)

    return rule


def _lp_pool(a, x):
    return P.lp_pool2d(x, a.norm_type, a.kernel_size, a.strides, _padding(a), a.ceil_mode, a.data_format)


def _interp(dims):
    def rule(a, x, n_size=None, sizes=None, s_scale=None):
        form = a.data_format if dims == 2 else {1: {"NCHW": "NCW"}, 3: {"NCHW": "NCDHW"}}[dims].get(a.data_format, a.data_format)
        size = [n for n in (a.out_d, a.out_h, a.out_w)[3 - dims :]]
        if sizes is not None:
            size = [one.reshape([]) for one in sizes]
        elif n_size is not None:
            size = n_size
        scale = a.scale if s_scale is None else s_scale if isinstance(s_scale, float) else s_scale.tolist()
        chosen = {"size": size} if sizes is not None or n_size is not None or (all(n > 0 for n in size) and not scale) else {"scale_factor": scale}
        return P.interpolate(x, mode=a.interp_method, align_corners=a.align_corners, align_mode=a.align_mode, data_format=form, **chosen)

    return rule


def _nearest(a, x, n_size=None, sizes=None, s_scale=None):
    return _interp(x.ndim - 2)(a, x, n_size, sizes, s_scale)


def _batch_norm(a, x, mean, var, w, b):
    training = not (a.is_test or a.use_global_stats)
    if training:
        mean, var = P.assign(mean), P.assign(var)
    done = P.batch_norm(x, mean, var, w, b, training, a.momentum, a.epsilon, a.data_format, not training)
    return done, mean, var, None, None, None


def _layer_norm(a, x, w, b):
    shape = list(x.shape[a.begin_norm_axis :])
    return P.layer_norm(x, shape, *(None if one is None else one.reshape(shape) for one in (w, b)), a.epsilon)


def _dropout(a, x, seed, s_p):
    return P.dropout(x, s_p, training=not a.is_test, mode="downscale_in_infer" if a.mode == "downgrade_in_infer" else a.mode)


def _pad3d(a, x, n_pads):
    return P.pad(x, n_pads, a.mode, a.pad_value, a.data_format)


def _cross_entropy(a, x, label):
    if not a.use_softmax:
        loss = P.cross_entropy(x, label, None, a.ignore_index, "none", a.soft_label, a.axis, False)
        return x, loss if loss.ndim == x.ndim else loss.unsqueeze(a.axis)
    loss, softmax = P.softmax_with_cross_entropy(x, label, a.soft_label, a.ignore_index, return_softmax=True, axis=a.axis)
    return softmax, loss


def _logits_loss(a, x, label, pos_weight=None):
    loss = P.binary_cross_entropy_with_logits(x, label, None, "none", pos_weight)
    kept = P.cast(P.not_equal(label, P.full_like(label, a.ignore_index)), x.dtype)
    loss = P.multiply(loss, kept)
    return P.divide(loss, P.clip(P.sum(kept), 1e-5)) if a.normalize else loss


def _nll(a, x, label, w):
    loss = P.nll_loss(x, label, w, a.ignore_index, a.reduction)
    return loss, None


def _rnn(a, x, states, weights, length=None, *_):
    kind, lines = {"LSTM": lstm, "GRU": gru}.get(a.mode, simple_rnn), 2 if a.is_bidirec else 1
    extra = {"activation": "relu" if a.mode == "RNN_RELU" else "tanh"} if kind is simple_rnn else {}
    biases, last = weights[len(weights) // 2 :], [[] for _ in states]
    for layer in range(a.num_layers):
        outs = []
        for line in range(lines):
            at = layer * lines + line
            start = [s[at] for s in states]
            own = [*weights[2 * at : 2 * at + 2], *biases[2 * at : 2 * at + 2]]
            out, *end = kind(x, *start, *own, length=length, reverse=bool(line), time_major=True, **extra)
            outs.append(out)
            for rows, one in zip(last, end, strict=True):
                rows.append(one)
        x = outs[0] if lines == 1 else P.concat(outs, -1)
        if a.dropout_prob and not a.is_test and layer + 1 < a.num_layers:
            x = P.dropout(x, a.dropout_prob)
    return x, None, [P.stack(rows, 0) for rows in last], None


define({
    "conv2d depthwise_conv2d": _conv("conv2d"),
    "conv3d": _conv("conv3d"),
    "conv2d_transpose depthwise_conv2d_transpose conv2d_transpose_bias": _conv_transpose("conv2d_transpose"),
    "conv3d_transpose": _conv_transpose("conv3d_transpose"),
    "pool2d": _pool(2), "pool3d": _pool(3),
    "max_pool2d_with_index": _max_pool_with_index(2), "max_pool3d_with_index": _max_pool_with_index(3),
    "lp_pool2d": _lp_pool,
    "unpool": lambda a, x, indices, n_size: P.max_unpool2d(x, indices, a.ksize, a.strides, a.padding, a.data_format, n_size),
    "unpool3d": lambda a, x, indices: P.max_unpool3d(x, indices, a.ksize, a.strides, a.paddings, a.data_format, a.output_size),
    "linear_interp": _interp(1), "bilinear_interp bicubic_interp": _interp(2), "trilinear_interp": _interp(3), "nearest_interp": _nearest,
    "pad3d": _pad3d,
    "unfold": lambda a, x: unfold(x, a.kernel_sizes, a.strides, a.paddings, a.dilations),
    "fold": lambda a, x: P.fold(x, a.output_sizes, a.kernel_sizes, a.strides, a.paddings, a.dilations),
    "affine_grid": lambda a, theta, n_shape: P.affine_grid(theta, n_shape, a.align_corners),
    "embedding": lambda a, x, w: P.embedding(x, w, None if a.padding_idx == -1 else a.padding_idx),
    "dropout": _dropout,
    # norms
    "batch_norm_ batch_norm sync_batch_norm_": _batch_norm,
    "layer_norm": _layer_norm,
    "group_norm": lambda a, x, w, b: P.group_norm(x, a.groups, a.epsilon, w, b, a.data_format),
    "instance_norm": lambda a, x, w, b: P.instance_norm(x, weight=w, bias=b, eps=a.epsilon),
    "rms_norm": lambda a, x, w: (P.rms_norm(x, a.normalized_shape, w, a.epsilon), None),
    # quantization
    "quantize_linear": lambda a, x, scale, zero, *_: (_linear(quantize_linear, a, x, scale, zero), None, None, None),
    "dequantize_linear": lambda a, x, scale, zero, *_: (_linear(dequantize_linear, a, x, scale, zero), None, None, None),
    "fake_quantize_dequantize_moving_average_abs_max": lambda a, x, scale, *_: (
        fake_quantize_dequantize(x, scale.detach(), a.bit_length), None, None, None),
    # activations
    "tanhshrink": lambda a, x: P.tanhshrink(x),
    "rrelu": lambda a, x: P.leaky_relu(x, (a.lower + a.upper) / 2),
    # losses
    "cross_entropy_with_softmax": _cross_entropy,
    "sigmoid_cross_entropy_with_logits": _logits_loss,
    "bce_loss": lambda a, x, label: P.binary_cross_entropy(x, label, reduction="none"),
    "nll_loss": _nll,
    "huber_loss": lambda a, x, label: (P.smooth_l1_loss(x, label, "none", a.delta), P.subtract(label, x)),
    "kldiv_loss": lambda a, x, label: P.kl_div(x, label, a.reduction, a.log_target),
    "accuracy": lambda a, x, indices, label: _accuracy(indices, label),
    "warpctc": lambda a, x, labels, lengths, sizes: (_ctc(a, x, labels, lengths, sizes), None),
    "bilinear": lambda a, x, y, w, b: P.bilinear(x, y, w, b),
    "hsigmoid_loss": lambda a, x, label, w, b, table, code: (P.hsigmoid_loss(x, label, a.num_classes, w, b, table, code), None, None),
    "rnn": _rnn,
})


def _linear(function, a, x, scale, zero):
    return function(x, scale, scale if zero is None else zero, a.quant_axis, a.bit_length, a.qmin, a.qmax)


def _ctc(a, x, labels, lengths, sizes):
    return P.ctc_loss(x, labels, lengths, sizes, a.blank, "none").reshape([-1, 1])


def _accuracy(indices, label):
    hit = P.cast(P.any(P.equal(indices, P.cast(label, indices.dtype)), 1), "int32")
    right, count = P.sum(hit, dtype="int32"), indices.shape[0]
    return P.divide(P.cast(right, "float32"), P.full([], count, "float32")), right, P.full([], count, "int32")
