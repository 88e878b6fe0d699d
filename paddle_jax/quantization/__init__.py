"""Quantization: networks whose weights and activations are numbers of few bits, trained so (QAT) or converted
after training (PTQ)."""

from paddle_jax.quantization import observers as observers, quanters as quanters
from paddle_jax.quantization.base_observer import BaseObserver
from paddle_jax.quantization.base_quanter import BaseQuanter
from paddle_jax.quantization.config import QuantConfig
from paddle_jax.quantization.factory import quanter
from paddle_jax.quantization.imperative import ImperativeQuantAware as ImperativeQuantAware
from paddle_jax.quantization.imperative.ptq import ImperativePTQ as ImperativePTQ
from paddle_jax.quantization.imperative.ptq import PTQConfig as PTQConfig
from paddle_jax.quantization.imperative.ptq import default_ptq_config as default_ptq_config
from paddle_jax.quantization.imperative.ptq_quantizer import (
    SUPPORT_ACT_QUANTIZERS as SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS as SUPPORT_WT_QUANTIZERS,
    AbsmaxQuantizer as AbsmaxQuantizer,
    BaseQuantizer as BaseQuantizer,
    HistQuantizer as HistQuantizer,
    KLQuantizer as KLQuantizer,
    PerChannelAbsmaxQuantizer as PerChannelAbsmaxQuantizer,
)
from paddle_jax.quantization.ptq import PTQ
from paddle_jax.quantization.qat import QAT

__all__ = ["QuantConfig", "BaseQuanter", "BaseObserver", "quanter", "QAT", "PTQ"]
