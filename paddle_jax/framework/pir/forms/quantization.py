"""Quantization."""

from paddle_jax.framework.pir.builder import NotWritable
from paddle_jax.framework.pir.records import Form
from paddle_jax.nn.functional import quantization as functions


def _linear(name):
    function = getattr(functions, name)

    def write(w, a, out, x, scale, zero_point):
        unused = w.full(0.0, "float32", ())  # averages that only training would change
        return w.op(name, [x, scale, zero_point, unused, unused], [out[0], None, None, None], quant_axis=a.quant_axis, bit_length=a.bit_length,
                    qmin=a.qmin, qmax=a.qmax)[:1]

    def read(a, x, scale, zero, *_):
        return function(x, scale, scale if zero is None else zero, a.quant_axis, a.bit_length, a.qmin, a.qmax), None, None, None

    return Form(write, read)


def _fake_quantizer(w, a, out, x, scale):
    if a.quant_axis >= 0:
        raise NotWritable("fake_quantize_dequantize: one scale for each channel has no form in a file")
    return w.op("fake_quantize_dequantize_moving_average_abs_max", [x, scale, None, None], [out[0], None, None, None], bit_length=a.bit_length)[:1]


def _read_fake_quantizer(a, x, scale, *_):
    return functions.fake_quantize_dequantize(x, scale.detach(), a.bit_length), None, None, None


quantize_linear, dequantize_linear = _linear("quantize_linear"), _linear("dequantize_linear")
fake_quantize_dequantize = Form(_fake_quantizer, _read_fake_quantizer)
