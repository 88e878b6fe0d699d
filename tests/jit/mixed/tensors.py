"""Kinds of state of Tensors: views, writes, gradients, flags, control flow on values."""

from tests.jit.mixed.feature import feature

feature(
    """
buf$ = paddle.to_tensor([[0.5, 1.5], [1.0, 0.75]])
keep$ = buf$[0]
flat$ = buf$.reshape([-1])
olds$ = [buf$]
""",
    [
        "x = x * buf$.sum()",
        "v = buf$[1]\nv.add_(paddle.ones([2]))\nx = x + buf$.sum()",
        "buf$[0] = x.detach()\nx = x + buf$[0]",
        "buf$.scale_(0.5)\nx = x * buf$[1]",
        "w = x.clone()\nw[0] = 2.0\nx = w * 1",
        "w = x * 1\nv = w[0:1]\nv.add_(paddle.to_tensor([0.5]))\nx = w",
        "x = x + keep$",
        "flat$[0] = 0.25\nx = x * buf$[0]",
        "t = buf$.T\nt[0] = 1.25\nx = x + buf$[0]",
        "buf$.set_value(buf$ * 0.5)\nx = x + buf$[1]",
        "rows = [r for r in buf$]\nx = x * rows[0]",
        "for row in buf$:\n    row.add_(paddle.to_tensor([0.25, 0.25]))\nx = x + buf$[0]",
        "keep$.zero_()\nx = x + buf$[1]",
        "d = buf$.detach()\nd[0] = 0.5\nx = x * buf$[0]",
        "u = buf$.unsqueeze(0).squeeze(0)\nu.fill_(0.5)\nx = x * buf$.mean()",
        "buf$.add_(paddle.full([2, 2], 0.25))\nx = x * buf$[0]",
        "buf$[buf$ > 1] = 0.5\nx = x * buf$[0]",
        "a, b = paddle.split(buf$, 2)\nx = x * a[0] + b[0]",
        "x = x * buf$.shape[0] * buf$.ndim",
        "buf$[0, 0] = x.sum().detach()",
    ],
    [
        "buf$[0] = RND",
        "buf$ = paddle.to_tensor([[RND, RND], [RND, RND]])\nolds$.append(buf$)",
        "keep$[0] = RND",
        "flat$.fill_(RND)",
        "keep$ = buf$[1]",
        "buf$.stop_gradient = False",
        "buf$.stop_gradient = True",
        "keep$ = buf$.detach()[0]",
        "flat$ = buf$.clone().reshape([-1])",
    ],
    ["buf$", "keep$", "flat$", "buf$.stop_gradient"],
)

feature(
    """
own$ = paddle.to_tensor([[0.5, 1.5], [1.0, 0.75]])
seen$ = []
""",
    [
        "v = own$[1]\nv.add_(paddle.ones([2]))\nx = x + own$.sum()",
        "own$.scale_(0.5)\nx = x * own$[1]",
        "t = own$.T\nt[0] = 1.25\nx = x + own$[0]",
        "for row in own$:\n    row.add_(paddle.to_tensor([0.25, 0.25]))\nx = x + own$[0]",
        "d = own$.detach()\nd[0] = 0.5\nx = x * own$[0]",
        "own$.reshape([-1])[1:3].fill_(0.5)\nx = x * own$.mean()",
        "own$.set_value(own$ * 0.5)\nx = x + own$[1]",
        "own$[0] = x.detach()\nx = x + own$[0]",
        "a, b = own$[0], own$[:, 0]\na[0] = 2.0\nx = x + b",
        "w = own$.clone()\nv = w.T\nw.zero_()\nx = x + v[0]",
        "u = own$.unsqueeze(0)\nown$[1] = 0.25\nx = x + u[0, 1]",
        "own$[0].multiply_(x.detach())\nx = x + own$[0]",
    ],
    [
        "own$[0] = RND",
        "own$ = paddle.to_tensor([[RND, RND], [RND, RND]])",
        "seen$.append(own$[0])",
        "seen$.append(own$.detach())",
        "seen$.clear()",
        "seen$[0].fill_(RND) if seen$ else None",
        "own$.stop_gradient = False",
        "own$.stop_gradient = True",
        "seen$.append(own$.reshape([-1]))",
        "seen$ = [own$.T]",
        "own$.fill_(RND)",
    ],
    ["own$", "seen$", "own$.stop_gradient"],
)

feature(
    """
w$ = paddle.to_tensor([0.5, 1.5], stop_gradient=False)
c$ = paddle.to_tensor([0.25, 1.25])
log$ = []
""",
    [
        "x = x * w$",
        "(x.detach() * w$).sum().backward()",
        "x = x + (w$ * c$).sum()",
        "g, = paddle.grad((w$ * w$).sum(), [w$])\nx = x + g",
        "w$.clear_grad()\nx = x * 2",
        "if w$.grad is not None:\n    x = x + w$.grad",
        "w$.stop_gradient = True\nx = x * w$\nw$.stop_gradient = False",
        "x.stop_gradient = False\ny2 = (x * x).sum()\ny2.backward()\nx = x * 1",
        "x = x.detach() * w$",
        "with paddle.no_grad():\n    w$.add_(c$)\nx = x * 2",
        "(w$ * 2).sum().backward()\nw$.grad.scale_(0.5)\nx = x + w$.grad",
        "w$.grad = c$ * 2\nx = x + w$",
        "(w$ ** 2).sum().backward(retain_graph=True)\nx = x + w$.grad.detach()",
        "c$.stop_gradient = not c$.stop_gradient\nx = x * c$",
        "x = x * (2.0 if w$.stop_gradient else 1.0)",
        "x = x * (1.5 if c$.is_leaf else 0.5)",
        "h = w$ * 2\nh.register_hook(lambda g: g * 2)\nh.sum().backward()\nx = x + w$.grad",
        "x = x + paddle.nn.functional.relu(w$ - 1).detach()",
    ],
    [
        "w$.clear_grad()",
        "w$.grad = None",
        "w$.clear_grad(set_to_zero=False)",
        "w$.stop_gradient = True",
        "w$.stop_gradient = False",
        "c$.stop_gradient = False",
        "w$ = paddle.to_tensor([RND, RND], stop_gradient=False)",
        "c$ = w$",
        "(w$ * RND).sum().backward() if not w$.stop_gradient else None",
        "w$.set_value(np.array([RND, RND], 'float32'))",
        "hook$ = w$.register_hook(lambda g: g * RND) if not w$.stop_gradient else None",
        "c$ = c$ * 2",
        "w$.name = 'other$'",
        "w$ = w$.detach()\nw$.stop_gradient = False",
    ],
    ["w$", "c$", "w$.grad", "w$.stop_gradient", "c$.stop_gradient"],
)

feature(
    """
top$, steps$ = 2.0, 3
acc$ = paddle.to_tensor(0.0)
ints$ = paddle.to_tensor([0, 1])
""",
    [
        "if x.sum() > top$:\n    x = x * 0.5\nelse:\n    x = x + 0.5",
        "while x.sum() < top$:\n    x = x * 1.5",
        "for i in range(steps$):\n    x = x + i * 0.1",
        "n = 0\nwhile n < steps$ and x.max() < 5:\n    x = x * 1.1\n    n += 1",
        "acc$.add_(x.sum().detach())\nx = x * acc$",
        "x = x[ints$]",
        "x = paddle.where(x > top$ / 2, x, x * 0.5)",
        "x = x * int(ints$[1])",
        "x = x * (ints$.tolist()[1] + 1)",
        "if (x > 0).all() and top$ > 1:\n    x = x * 1.25",
        "for v in [0.5, top$]:\n    if x.mean() > v:\n        x = x * 0.9",
        "x = x if x.sum() < top$ else x * 0.25",
        "if x.mean() > 100:\n    return x\nx = x + 1",
        "for i in paddle.arange(2):\n    x = x + i.astype(x.dtype)",
        "x = x + paddle.rand([2])",
        "x = x + paddle.nn.functional.dropout(x, 0.5)",
        "x = x + paddle.randn([2]) * top$",
        "x = x * float(x.shape[0])",
        "m = x.sum()\nif m > top$:\n    acc$.add_(paddle.to_tensor(1.0))\nx = x + acc$",
        "x = x + paddle.full([], top$) + paddle.ones([2])",
        "x = x * paddle.to_tensor(1.5).astype(x.dtype)",
        "assert (x < 1e6).all()\nx = x + 0.25",
        "x = x.astype('float64').astype('float32')",
        "x = x.reshape([2, 1]).squeeze(-1) * steps$",
        "x = paddle.concat([x, y])[:2]",
        "if not x.sum() < top$:\n    for i in range(steps$):\n        x = x * 0.9",
    ],
    [
        "top$ = RND",
        "top$ = 10.0",
        "steps$ = 1",
        "steps$ = 0",
        "acc$.zero_()",
        "acc$ = paddle.to_tensor(RND)",
        "ints$ = paddle.to_tensor([1, 0])",
        "ints$[0] = 1",
        "paddle.seed(7)",
        "paddle.set_default_dtype('float64')",
        "paddle.set_default_dtype('float32')",
        "steps$ = np.int64(2)",
        "steps$ = True",
    ],
    ["acc$", "ints$"],
)

feature(
    """
scale$ = 2.0
""",
    [
        "x.add_(paddle.ones([2]) * scale$)",
        "y.scale_(scale$)\nx = x + y",
        "x[0] = scale$\nx = x * 1",
        "y[0] = x[1].detach()",
        "z = x.detach()\nz.add_(y.detach())\nx = x * 1 + z",
        "x = x + y\ny = y * scale$\nx = x + y",
        "x = x.add_(y)",
        "y.set_value(x.detach() * 2)",
        "try:\n    y.add_(paddle.ones([2]))\n    raise KeyError\nexcept KeyError:\n    x = x * scale$",
        "y.stop_gradient = True\nx = x * y",
        "x = x * (2.0 if x is y else 1.0)",
        "x = x * (2.0 if y.stop_gradient else 1.0)",
    ],
    [
        "scale$ = RND",
        "arguments('alias')",
        "arguments('view')",
        "arguments('shared')",
        "arguments('grad')",
        "arguments('fresh')",
        "arguments('keep')",
        "arguments('double')",
        "arguments('three')",
        "around('amp1')",
        "around('amp2')",
        "around('nograd')",
        "around('plain')",
    ],
)
