"""Gradients of and inside compiled functions, of every order; hooks, own gradients, transforms."""

import paddle_jax as paddle
from tests.jit.corpus.script import data, script, see, small


@script
def forward_compiled_backward_outside(compile):
    net = small()
    f = compile(lambda x: net(x))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    seen = []
    for i in range(3):
        x = data(2, 3, seed=i)
        x.stop_gradient = False
        y = f(x)
        (y * y).sum().backward()
        seen += [x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]]
        opt.step()
        opt.clear_grad()
    return seen


@script
def layer_compiled(compile):
    net = compile(small())
    x = data(2, 3)
    y = net(x)
    y.sum().backward()
    net.eval()
    with paddle.no_grad():
        z = net(x)
    return (
        y.numpy(),
        y.stop_gradient,
        z.stop_gradient,
        z.numpy(),
        [p.grad.numpy() for p in net.parameters()],
        list(net.state_dict()),
    )


@script
def second_and_third_derivatives(compile):
    net = small()
    f = compile(lambda x: paddle.sin(net(x)).sum())
    x = data(2, 3)
    x.stop_gradient = False
    first = paddle.grad(f(x), x, create_graph=True)[0]
    second = paddle.grad((first**2).sum(), x, create_graph=True)[0]
    third = paddle.grad(second.sum(), x)[0]
    return first.numpy(), second.numpy(), third.numpy()


@script
def derivatives_inside(compile):
    net = small()
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())

    @compile
    def step(x):
        x.stop_gradient = False
        u = net(x)
        du = paddle.grad(u.sum(), x, create_graph=True)[0]
        ddu = paddle.grad(du[:, 0].sum(), x, create_graph=True)[0]
        loss = ((ddu[:, 1] + u[:, 0]) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return [step(data(4, 3, seed=i)).item() for i in range(3)], see(net)


@script
def gradient_through_a_change_in_place(compile):
    @compile
    def f(x, w):
        x.multiply_(w)
        return x.sum()

    w = data(3, seed=1)
    w.stop_gradient = False
    x = data(3)
    loss = f(x, w) + (x * x).sum()
    loss.backward()
    return x.numpy(), w.grad.numpy(), x.stop_gradient


@script
def grad_modes(compile):
    net = small()

    @compile
    def f(x):
        with paddle.no_grad():
            a = net(x)
        return a, net(x), paddle.is_grad_enabled()

    x, seen = data(1, 3), []
    for mode in (True, False, True):
        with paddle.set_grad_enabled(mode):
            a, b, on = f(x)
            seen.append((a.stop_gradient, b.stop_gradient, on))
    return seen


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * 3 * x**2 + 1


@script
def own_gradient(compile):
    f = compile(lambda x: Cube.apply(x).sum())

    @compile
    def g(x):
        Cube.apply(x).sum().backward()
        return x.grad

    x, y = data(3), data(3)
    x.stop_gradient = y.stop_gradient = False
    f(x).backward()
    return x.grad.numpy(), g(y).numpy(), y.grad.numpy()


@script
def transforms_inside(compile):
    net = small()

    @compile
    def f(x):
        per_sample = paddle.func.vmap(lambda s: net(s).sum())(x)
        return (
            per_sample,
            paddle.func.jacrev(lambda s: net(s))(x[0]),
            paddle.autograd.jacobian(net(x[0]), net[2].bias)[:],
        )

    return [[t.numpy() for t in f(data(2, 3, seed=i))] for i in range(2)]


@script
def hooks_on_parameters(compile):
    net = small()
    net[0].weight.register_hook(lambda g: g * 10)

    @compile
    def step(x):
        net(x).sum().backward()

    step(data(2, 3))
    f = compile(lambda x: net(x))
    f(data(2, 3)).sum().backward()
    return [p.grad.numpy() for p in net.parameters()]


@script
def hooks_inside(compile):
    net = small()

    @compile
    def step(x):
        h = net[0](x)
        h.register_hook(lambda g: g * 3)
        net[2](h).sum().backward()

    step(data(2, 3))
    return [p.grad.numpy() for p in net.parameters()]


@script
def layer_hooks(compile):
    net = small()
    net[0].register_forward_post_hook(lambda layer, args, out: out * 2)
    f = compile(net)
    f.register_forward_pre_hook(lambda layer, args: (args[0] + 1,))
    return [f(data(2, 3, seed=i)).numpy() for i in range(2)]


@script
def a_leaf_made_inside(compile):
    @compile
    def f(x):
        w = paddle.ones([2])
        w.stop_gradient = False
        (w * x).sum().backward()
        return w.grad

    return [f(data(2, seed=i)).numpy() for i in range(2)]
