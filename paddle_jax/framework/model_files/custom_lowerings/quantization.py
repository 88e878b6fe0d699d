"""Quantization."""

from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.nn.functional import quantization as functions


def _linear(name):
    function = getattr(functions, name)

    def read(a, x, scale, zero, *_):
        return (
            function(x, scale, scale if zero is None else zero, a.quant_axis, a.bit_length, a.qmin, a.qmax),
            None,
            None,
            None,
        )

    return Lowering(read=read)


def _read_fake_quantizer(a, x, scale, *_):
    return functions.fake_quantize_dequantize(x, scale.detach(), a.bit_length), None, None, None


quantize_linear = _linear("quantize_linear")
dequantize_linear = _linear("dequantize_linear")
fake_quantize_dequantize = Lowering(read=_read_fake_quantizer)
