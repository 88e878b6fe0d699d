# %% import
import paddle
# %% a slope
x = paddle.arange(4, dtype="float32")
x.stop_gradient = False
y = 2 * paddle.dot(x, x)
y
y.backward()
x.grad
x.grad == 4 * x
# %% clear and again
x.clear_grad()
x.grad
x.sum().backward()
x.grad
# %% sums of gradients
x.sum().backward()
x.grad
# %% from a vector
x.clear_grad()
y = x * x
y.backward(paddle.ones([4]))
x.grad
# %% cut off
x.clear_grad()
y = x * x
u = y.detach()
(u * x).sum().backward()
x.grad == u
u.stop_gradient, y.stop_gradient
# %% through Python control flow
def f(a):
    b = a * 2
    while b.norm() < 1000:
        b = b * 2
    return b if b.sum() > 0 else 100 * b
a = paddle.to_tensor([0.37], stop_gradient=False)
d = f(a)
d.backward()
a.grad, a.grad == d / a
# %% leaves
a.is_leaf, d.is_leaf, d.stop_gradient
# %% no gradients
with paddle.no_grad():
    e = a * 3
e.stop_gradient
@paddle.no_grad()
def g(t):
    return t * 2
g(a).stop_gradient
# %% refused twice
p = paddle.to_tensor([2.0], stop_gradient=False)
q = (p * p).sum()
q.backward()
q.backward()
# %% kept
q = (p * p).sum()
q.backward(retain_graph=True)
q.backward()
p.grad
# %% grad function
s = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(ds,) = paddle.grad((s**3).sum(), s, create_graph=True)
ds
paddle.grad(ds.sum(), s)
# %% refused without a gradient
paddle.grad(paddle.ones([1]), paddle.ones([1]))
# %% unused
other = paddle.to_tensor([1.0], stop_gradient=False)
paddle.grad([(s * 2).sum()], [s, other], allow_unused=True)
# %% not leaf
r = s * 2
r.retain_grads()
(r * r).sum().backward()
r.grad, s.grad
