# %% import
import math
import numpy as np
import paddle
t = paddle.arange(8, dtype="float32") / 8
x = paddle.sin(2 * math.pi * t) + 0.5 * paddle.cos(2 * math.pi * 2 * t)
# %% transforms
paddle.fft.fft(x).abs()
X = paddle.fft.rfft(x)
X.shape, X.dtype
X.abs()
paddle.fft.irfft(X)
paddle.fft.fftfreq(8, d=1 / 8), paddle.fft.rfftfreq(8)
paddle.fft.fftshift(paddle.arange(5)), paddle.fft.ifftshift(paddle.arange(5))
# %% two dimensions
img = paddle.arange(16, dtype="float32").reshape([4, 4])
paddle.fft.fft2(img).abs()
paddle.fft.ifft2(paddle.fft.fft2(img)).real()
# %% complex numbers
z = paddle.complex(paddle.to_tensor([1.0, 0.0]), paddle.to_tensor([1.0, -2.0]))
z, z.real(), z.imag(), z.abs(), paddle.angle(z), z.conj(), z * z, paddle.as_real(z)
paddle.is_complex(z), z.dtype
paddle.exp(paddle.to_tensor(1j * math.pi)).real()
paddle.polar(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.0, math.pi / 2]))
# %% filtering
F = paddle.fft.rfft(x)
mask = paddle.to_tensor([0.0, 1, 0, 0, 0])
low = paddle.fft.irfft(F * mask)
low
# %% derivative by frequencies
k = paddle.fft.fftfreq(8, 1 / 8)
d = paddle.fft.ifft(1j * 2 * math.pi * k * paddle.fft.fft(x)).real()
d[:2]
# %% convolution theorem
a, b = paddle.to_tensor([1.0, 2, 3, 0]), paddle.to_tensor([0.0, 1, 0.5, 0])
paddle.fft.ifft(paddle.fft.fft(a) * paddle.fft.fft(b)).real()
# %% gradient
x.stop_gradient = False
paddle.fft.rfft(x).abs().sum().backward()
x.grad.shape
(paddle.fft.rfft(x).abs() ** 2).sum().backward()
x.grad.dtype
# %% windows and frames
sig = paddle.arange(16, dtype="float32")
paddle.signal.frame(sig, 4, 4)
paddle.signal.stft(sig, n_fft=4).shape
# %% refused
paddle.fft.fft(x, norm="some")
