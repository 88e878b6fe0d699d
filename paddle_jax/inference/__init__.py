"""Running saved models: Config, Predictor and what belongs to them."""

from paddle_jax.inference.config import Config
from paddle_jax.inference.predictor import (
    Predictor,
    PredictorPool,
    Tensor,
    create_predictor,
    get_trt_compile_version,
    get_trt_runtime_version,
    get_version,
)
from paddle_jax.inference.types import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]
