# %% import
import numpy as np
import paddle
t, n = paddle.to_tensor([1.0, 2.0]), np.array([3.0, 4.0], "float32")
# %% both ways
t + paddle.to_tensor(n), t.numpy() + n
np.asarray(t), np.array(t).dtype, np.sum(t.numpy())
t * n
# %% NumPy functions on tensors
np.exp(t.numpy()), np.stack([a.numpy() for a in (t, t)]).shape
np.concatenate([t, n])
# %% copies
m = t.numpy()
m[0] = 100
t
back = paddle.to_tensor(n)
n[0] = -1
back
# %% numbers
np.float32(2) * t
float(t[0]), int(t[1]), t[0].item(), t.tolist(), t.numpy().tolist()
2 * t, t * np.float64(2)
(t * np.float64(2)).dtype, (paddle.to_tensor([1]) * np.int32(3)).dtype
# %% indexing
a = np.arange(6).reshape(2, 3)
p = paddle.to_tensor(a)
p[np.array([1, 0])]
p[a > 2]
a[[1]] == p[1].numpy()
# %% dtypes
for d in ["float64", "float32", "int32", "uint8", "bool", "complex64"]:
    print(d, paddle.to_tensor(np.ones(2, d)).dtype)
paddle.to_tensor([1.5]).dtype, paddle.to_tensor(np.array([1.5])).dtype, paddle.to_tensor(1).dtype
# %% default dtype
paddle.get_default_dtype()
paddle.set_default_dtype("float64")
paddle.to_tensor([1.5]), paddle.ones([1]), paddle.nn.Linear(1, 1).weight.dtype
paddle.set_default_dtype("float32")
# %% iterating and unpacking
a, b = t
a, b
list(t), sum(t), max(t), sorted(paddle.to_tensor([3, 1, 2]))
[i for i in paddle.to_tensor([[1], [2]])]
1.0 in t, 7.0 in t
# %% formats
f"{t[0].item():.2f}", "{}".format(t.shape), "%d" % t.shape[0], f"{float(t[0]):5.1f}|"
# %% pandas-like tables
table = np.array([[1.0, np.nan], [3.0, 4.0]])
x = paddle.to_tensor(table)
paddle.isnan(x), paddle.where(paddle.isnan(x), paddle.zeros_like(x), x)
paddle.nan_to_num(x)
# %% types
type(t).__name__, isinstance(t, paddle.Tensor), paddle.is_tensor(t), paddle.is_tensor(n), isinstance(t.shape, list)
paddle.is_floating_point(t), paddle.is_integer(paddle.to_tensor([1])), t.is_floating_point()
