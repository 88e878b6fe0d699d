# %% import
import paddle
x = paddle.to_tensor([0.5, 1.0, 2.0], stop_gradient=False)
# %% twice
y = (x**4).sum()
(d1,) = paddle.grad(y, x, create_graph=True)
(d2,) = paddle.grad(d1.sum(), x, create_graph=True)
(d3,) = paddle.grad(d2.sum(), x)
d1, d2, d3
d1.stop_gradient, d3.stop_gradient
# %% of functions
t = paddle.tanh(x)
(g,) = paddle.grad(t.sum(), x, create_graph=True)
g, 1 - t**2
paddle.grad(g.sum(), x)[0]
# %% gradient penalty
w = paddle.to_tensor([[1.0, -1.0], [0.5, 2.0]], stop_gradient=False)
z = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
out = paddle.tanh(z @ w).sum()
(gz,) = paddle.grad(out, z, create_graph=True)
penalty = ((gz.norm() - 1) ** 2)
penalty
penalty.backward()
w.grad
# %% a differential equation
def residual(t, a):
    t.stop_gradient = False
    u = paddle.exp(-a * t)
    (ut,) = paddle.grad(u.sum(), t, create_graph=True)
    return ut + u
a = paddle.to_tensor(0.2, stop_gradient=False)
opt_lr = 0.5
for step in range(5):
    t = paddle.linspace(0, 1, 5)
    loss = (residual(t, a) ** 2).mean()
    loss.backward()
    with paddle.no_grad():
        a.set_value(a - opt_lr * a.grad)
    a.clear_gradient()
    print(step, f"{loss.item():.4f} {a.item():.3f}")
# %% Jacobians
def f(v):
    return paddle.stack([v[0] * v[1], v[1] ** 2])
v = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
J = paddle.autograd.jacobian(f(v), v)
J[:]
J.shape
H = paddle.autograd.hessian((v**3).sum(), v)
H[:]
# %% products
paddle.incubate.autograd.vjp(f, v.detach(), paddle.ones([2]))
# %% with starting gradients
paddle.grad([f(v)], [v], grad_outputs=[paddle.to_tensor([1.0, 10.0])])
# %% several
p, q = paddle.to_tensor(1.0, stop_gradient=False), paddle.to_tensor(2.0, stop_gradient=False)
paddle.grad([p * q, p + q], [p, q])
paddle.grad([p * q], [p])
# %% set to stop
r = (p * q).detach() * p
paddle.grad(r, p)
# %% flags
with paddle.set_grad_enabled(False):
    s = p * 2
s.stop_gradient, paddle.is_grad_enabled()
with paddle.enable_grad():
    s = p * 2
s.stop_gradient
