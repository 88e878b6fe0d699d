"""paddle.signal: short-time Fourier transforms and frames. The functions are declared in
paddle_jax.tensor."""

from paddle_jax.tensor.frames import frame as frame
from paddle_jax.tensor.frames import istft, stft
from paddle_jax.tensor.frames import overlap_add as overlap_add

__all__ = ["stft", "istft"]
