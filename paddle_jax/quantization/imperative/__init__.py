"""The predecessors of `QAT` and `PTQ`."""

from paddle_jax.quantization.imperative import ptq as ptq, ptq_quantizer as ptq_quantizer, qat as qat
from paddle_jax.quantization.imperative.ptq import ImperativePTQ as ImperativePTQ
from paddle_jax.quantization.imperative.qat import ImperativeQuantAware as ImperativeQuantAware
