"""The first lines that anybody types."""
# %% import
import paddle

# %% a sequence
x = paddle.arange(12)
print(x)
x
# %% what it is
x.shape, x.dtype, x.ndim, x.size
x.place
x.numel()
# %% another shape
y = x.reshape([3, 4])
y
y.shape
# %% the whole and its parts
y[0]
y[-1, 1:3]
y[:, 0]
y.sum(), y.sum(axis=0)
# %% arithmetic
a = paddle.to_tensor([1.0, 2, 4, 8])
b = paddle.to_tensor([2.0, 2, 2, 2])
a + b, a - b, a * b, a / b, a**b
paddle.exp(a)
# %% joining
z = paddle.arange(12, dtype="float32").reshape((3, 4))
w = paddle.to_tensor([[2.0, 1, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1]])
paddle.concat((z, w), axis=0)
paddle.concat((z, w), axis=1)
z == w
# %% broadcasting
paddle.arange(3).reshape((3, 1)) + paddle.arange(2).reshape((1, 2))
# %% change in place
z[1, 2] = 9
z
z[0:2, :] = 12
z
# %% to and from NumPy
n = z.numpy()
type(n), n.dtype
paddle.to_tensor(n)
float(paddle.to_tensor([3.5])), int(paddle.to_tensor([3.5])), paddle.to_tensor([3.5]).item()
