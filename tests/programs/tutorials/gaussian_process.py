# %% import
import paddle
x = paddle.to_tensor([[-1.5], [-0.5], [0.5], [1.5]])
y = paddle.sin(2 * x).flatten()
log_l, log_s = paddle.to_tensor(0.0, stop_gradient=False), paddle.to_tensor(0.0, stop_gradient=False)
# %% kernel
def rbf(a, b):
    d = ((a.unsqueeze(1) - b.unsqueeze(0)) ** 2).sum(-1)
    return paddle.exp(2 * log_s) * paddle.exp(-0.5 * d / paddle.exp(2 * log_l))
K = rbf(x, x) + 0.01 * paddle.eye(4)
K
# %% likelihood
def nll():
    K = rbf(x, x) + 0.01 * paddle.eye(4)
    return 0.5 * (y @ (paddle.linalg.inv(K) @ y)) + 0.5 * paddle.linalg.slogdet(K)[1]
nll()
nll().backward()
log_l.grad, log_s.grad
# %% fitting
opt = paddle.optimizer.Adam(0.1, parameters=[log_l, log_s])
opt.clear_grad()
for step in range(5):
    loss = nll()
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(step, f"{loss.item():.3f}")
log_l, log_s
# %% prediction
with paddle.no_grad():
    q = paddle.to_tensor([[0.0], [1.0], [3.0]])
    K = rbf(x, x) + 0.01 * paddle.eye(4)
    mean = rbf(q, x) @ paddle.linalg.solve(K, y)
    cov = rbf(q, q) - rbf(q, x) @ paddle.linalg.solve(K, rbf(x, q))
mean
cov.diagonal()
# %% refused negative definite
paddle.linalg.cholesky(-paddle.eye(2))
