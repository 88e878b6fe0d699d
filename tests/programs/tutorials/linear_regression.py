# %% data
import numpy as np
import paddle
X = paddle.to_tensor(np.linspace(-1, 1, 40, dtype="float32").reshape(20, 2))
true_w = paddle.to_tensor([[2.0], [-3.4]])
true_b = 4.2
y = paddle.matmul(X, true_w) + true_b
X.shape, y.shape
X[:3], y[:3]
# %% parameters
w = paddle.zeros([2, 1])
b = paddle.zeros([1])
w.stop_gradient = False
b.stop_gradient = False
w, b
# %% model
def net(X):
    return X @ w + b
def loss_of(y_hat, y):
    return (y_hat - y) ** 2 / 2
loss_of(net(X), y).mean()
# %% training
lr = 0.3
for epoch in range(5):
    loss = loss_of(net(X), y).mean()
    loss.backward()
    with paddle.no_grad():
        w.set_value(w - lr * w.grad)
        b.set_value(b - lr * b.grad)
    w.clear_gradient()
    b.clear_gradient()
    print(f"epoch {epoch + 1}, loss {float(loss):f}")
# %% result
w, b
# %% again training
# %% after more
loss
# %% with a layer
model = paddle.nn.Linear(2, 1)
model.weight.set_value(paddle.zeros([2, 1]))
sgd = paddle.optimizer.SGD(learning_rate=0.3, parameters=model.parameters())
mse = paddle.nn.MSELoss()
for epoch in range(3):
    l = mse(model(X), y)
    l.backward()
    sgd.step()
    sgd.clear_grad()
    print(epoch, l.item())
model.weight
model.bias
print(model)
