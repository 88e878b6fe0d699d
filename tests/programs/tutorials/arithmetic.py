# %% import
import paddle
x = paddle.to_tensor([[1.0, -2.0], [3.0, 4.5]])
# %% elementwise
x + 1, 1 - x, x * 2, 2 / x, x**2, 2**x, -x, abs(x)
x // 2, x % 3
x.exp(), x.abs().sqrt(), paddle.log(x.abs()), x.sin(), x.tanh()
paddle.clip(x, -1, 3), x.sign(), x.floor(), x.ceil(), x.round(), paddle.reciprocal(x)
# %% integers
i = paddle.to_tensor([7, -7, 3])
i // 2, i % 2, i / 2, i * 1.5, i + True
three = paddle.full_like(i, 3)
i & three, i | three, i ^ three, ~i, i << 1, i >> 1
# %% mixed dtypes
(i + x[0, 0]).dtype, (paddle.ones([1], "float16") * 2).dtype, (x > 0).dtype
paddle.to_tensor([1.0], dtype="float32") + paddle.to_tensor([1.5], dtype="float64")
# %% comparison
x > 0, x == 3.0, x != x, x.isnan(), paddle.isclose(x, x + 1e-9)
(x > 0).all(), (x > 4).any(), bool((x > 100).any())
paddle.logical_and(x > 0, x < 4), ~(x > 0)
# %% reductions
x.sum(), x.mean(), x.max(), x.min(), x.prod(), x.std(), x.var()
x.sum(0), x.mean(-1, keepdim=True), x.max(axis=1), x.argmax(), x.argmax(axis=0), x.cumsum(), x.cumsum(0)
x.norm(), paddle.logsumexp(x), x.median()
# %% order
v = paddle.to_tensor([3, 1, 2])
v.sort(), v.argsort(), v.sort(descending=True), paddle.topk(v, 2)
paddle.unique(paddle.to_tensor([2, 1, 2, 3])), paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([2, 5]))
paddle.bincount(paddle.to_tensor([0, 1, 1, 3])), paddle.histogram(paddle.to_tensor([0.0, 1, 2, 3]), bins=2)
# %% refused shapes
x + paddle.ones([3])
# %% in place
y = x.clone()
y.add_(paddle.ones([2, 2]))
y
y.scale_(2.0)
y.zero_()
y.fill_(3)
y += 1
y
