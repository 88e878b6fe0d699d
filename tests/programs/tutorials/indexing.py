# %% import
import paddle
x = paddle.arange(24).reshape([2, 3, 4])
# %% reading
x[1]
x[1, 2, 3]
x[..., 0]
x[:, ::2, 1:]
x[:, -1]
x[None, 0, 0]
x[0, :, None, 1]
# %% backwards
x[:, :, ::-1]
# %% by lists
x[[0, 1, 1], 0]
x[:, [2, 0]]
x[[0, 1], [1, 2]]
# %% by tensors
i = paddle.to_tensor([1, 0])
x[i]
x[i, i]
# %% by bools
m = x > 10
m
x[m]
x[paddle.to_tensor([True, False])]
# %% refused out of range
x[5]
# %% refused too many
x[0, 0, 0, 0]
# %% writing
y = x.astype("float32")
y[0, 0] = -1.0
y[1, :, 1] = paddle.to_tensor([7.0, 8.0, 9.0])
y
y[y < 0] = 100
y[0]
y[[0, 1], [0, 1]] = 0.5
y
# %% functions
paddle.gather(x, paddle.to_tensor([2, 0]), axis=1)
paddle.index_select(x, paddle.to_tensor([0, 3]), axis=2)
paddle.take_along_axis(x[0], paddle.to_tensor([[0], [1], [2]]), axis=1)
paddle.where(x[0] % 2 == 0, x[0], -x[0])
paddle.nonzero(x[0] > 8)
paddle.masked_select(x, x > 20)
# %% scatter
paddle.scatter(paddle.zeros([4, 2]), paddle.to_tensor([3, 1]), paddle.ones([2, 2]))
paddle.scatter_nd_add(paddle.zeros([4]), paddle.to_tensor([[1], [1], [3]]), paddle.to_tensor([1.0, 2.0, 5.0]))
# %% loops
for row in x[0]:
    print(row)
len(x), [int(v) for v in x[0, 0]]
