"""Mixed precision in static programs (`paddle.static.amp`)."""

from paddle_jax.static.amp.decorator import OptimizerWithMixedPrecision, decorate
from paddle_jax.static.amp.fp16_lists import AutoMixedPrecisionLists, CustomOpLists as CustomOpLists
from paddle_jax.static.amp.fp16_utils import cast_model_to_fp16, cast_parameters_to_fp16, fp16_guard
