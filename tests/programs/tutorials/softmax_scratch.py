# %% data
import numpy as np
import paddle
rng = np.random.RandomState(0)
centers = np.array([[2, 0], [-2, 1], [0, -2]], "float32")
labels = np.arange(60) % 3
points = (centers[labels] + rng.randn(60, 2) * 0.5).astype("float32")
X, y = paddle.to_tensor(points), paddle.to_tensor(labels)
X.shape, y.dtype
# %% parameters
W = paddle.zeros([2, 3]) + 0.01
b = paddle.zeros([3])
W.stop_gradient = b.stop_gradient = False
# %% softmax
def softmax(Z):
    e = paddle.exp(Z)
    return e / e.sum(1, keepdim=True)
softmax(paddle.to_tensor([[1.0, 2, 3], [0, 0, 0]]))
softmax(paddle.to_tensor([[1.0, 2, 3]])).sum(1)
# %% picking
y_hat = paddle.to_tensor([[0.1, 0.3, 0.6], [0.3, 0.2, 0.5]])
t = paddle.to_tensor([0, 2])
y_hat[[0, 1], t]
# %% loss
def cross_entropy(y_hat, y):
    return -paddle.log(y_hat[paddle.arange(len(y_hat)), y])
cross_entropy(y_hat, t)
# %% accuracy
def accuracy(y_hat, y):
    return float((y_hat.argmax(axis=1) == y).astype("float32").sum()) / len(y)
accuracy(y_hat, t)
accuracy(softmax(X @ W + b), y)
# %% training
for epoch in range(5):
    for i in range(0, 60, 20):
        xb, yb = X[i : i + 20], y[i : i + 20]
        l = cross_entropy(softmax(xb @ W + b), yb).mean()
        l.backward()
        with paddle.no_grad():
            for p in (W, b):
                p -= 0.5 * p.grad
                p.clear_grad()
    print(epoch, "%.4f" % l.item(), accuracy(softmax(X @ W + b), y))
# %% learned
W
b
# %% predict
softmax(X @ W + b)[:6].argmax(1), y[:6]
