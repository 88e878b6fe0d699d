# %% import
import numpy as np
import paddle
# %% filled
paddle.zeros([2, 3])
paddle.ones([2, 3], dtype="int64")
paddle.full([2, 2], 3.5)
paddle.full([2, 2], 7)
paddle.eye(3)
paddle.empty([0])
# %% like another
base = paddle.to_tensor([[1, 2], [3, 4]])
paddle.zeros_like(base), paddle.ones_like(base, dtype="float64"), paddle.full_like(base, 9)
# %% sequences
paddle.linspace(0, 1, 5)
paddle.arange(1, 2, 0.25)
paddle.logspace(0, 3, 4)
paddle.arange(10, 0, -3)
# %% from lists
paddle.to_tensor(3)
paddle.to_tensor(3.0)
paddle.to_tensor([True, False])
paddle.to_tensor([[1, 2], [3, 4.0]])
paddle.to_tensor([1 + 2j, 3 - 1j])
paddle.to_tensor((1, 2, 3), dtype="float32")
# %% from arrays
paddle.to_tensor(np.arange(4))
paddle.to_tensor(np.arange(4) / 2)
paddle.to_tensor(np.float32(1.5))
paddle.to_tensor(np.array([[1, 2]], dtype="int8"))
# %% from a tensor
t = paddle.to_tensor([1.5, 2.5])
u = paddle.to_tensor(t)
u is t, paddle.allclose(t, u)
paddle.to_tensor(t, dtype="int32")
# %% refused
paddle.to_tensor("text")
# %% refused rows of different lengths
paddle.to_tensor([[1, 2], [3]])
# %% casts
v = paddle.to_tensor([0.0, 1.7, -2.3])
v.astype("int32"), v.astype("bool"), v.cast(paddle.float64)
v.astype(paddle.complex64)
# %% grids
xs, ys = paddle.meshgrid(paddle.arange(3), paddle.arange(2))
xs
ys
# %% diagonals
paddle.diag(paddle.to_tensor([1, 2, 3]))
paddle.tril(paddle.ones([3, 3])), paddle.triu(paddle.ones([3, 3]), 1)
# %% copies
c = t.clone()
c[0] = 10
t, c
paddle.assign(t)
