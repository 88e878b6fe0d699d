# %% import
import numpy as np
import paddle
# %% the same again
paddle.seed(42)
a = paddle.randn([3])
paddle.seed(42)
b = paddle.randn([3])
(a == b).all()
(paddle.randn([3]) == b).all()
# %% shapes and dtypes
paddle.rand([2, 3]).shape, paddle.randint(0, 10, [4]).dtype, paddle.randperm(5).dtype, paddle.normal(shape=[2]).dtype, paddle.uniform([2, 2]).shape
paddle.randint_like(paddle.ones([2, 2]), 0, 5).dtype, paddle.standard_normal([1]).shape, paddle.randn([2], dtype="float64").dtype
# %% ranges
u = paddle.uniform([1000], min=2, max=3)
bool((u >= 2).all()), bool((u < 3).all()), abs(u.mean().item() - 2.5) < 0.1
n = paddle.normal(5.0, 2.0, [4000])
abs(n.mean().item() - 5) < 0.3, abs(n.std().item() - 2) < 0.3
i = paddle.randint(3, 6, [500])
paddle.unique(i)
paddle.sort(paddle.randperm(6))
# %% choices
paddle.bernoulli(paddle.to_tensor([0.0, 1.0]))
paddle.multinomial(paddle.to_tensor([0.0, 1.0, 0.0]), num_samples=3, replacement=True)
paddle.sort(paddle.multinomial(paddle.ones([4]), num_samples=4))
paddle.poisson(paddle.zeros([2]))
# %% in place
w = paddle.zeros([100])
w = w.uniform_(-1, 1)
bool((w.abs() <= 1).all()), w.shape
w = w.normal_(0, 1e-6)
bool((w.abs() < 1e-3).all())
# %% states
state = paddle.get_rng_state()
c = paddle.rand([2])
paddle.set_rng_state(state)
bool((paddle.rand([2]) == c).all())
# %% initialisers
lin = paddle.nn.Linear(100, 50)
limit = (6 / 150) ** 0.5
bool((lin.weight.abs() <= limit).all()), lin.bias.abs().sum()
emb = paddle.nn.Embedding(1000, 16)
abs(emb.weight.mean().item()) < 0.05
conv = paddle.nn.Conv2D(3, 8, 3)
conv.weight.shape, conv.bias
# %% of NumPy
np.random.seed(0)
paddle.to_tensor(np.random.rand(3).astype("float32"))
# %% refused
paddle.randint(5, 2, [3])
# %% refused probabilities
paddle.multinomial(paddle.to_tensor([-1.0, 2.0]), 1)
# %% law of large numbers
paddle.seed(0)
tosses = paddle.multinomial(paddle.to_tensor([0.3, 0.7]), num_samples=2000, replacement=True)
abs(tosses.astype("float32").mean().item() - 0.7) < 0.05
counts = paddle.bincount(tosses)
counts.sum(), counts.shape
