"""Kinds of state of Layers, optimizers, schedulers and scalers."""

from tests.jit.mixed.feature import feature

feature(
    """
class Block$(nn.Layer):
    gain = 1.0
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1D(2)
        self.rate = 1.5
        self.register_buffer('seen', paddle.zeros([1]))
        self.extra = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.parts = nn.LayerList([nn.Linear(2, 2) for _ in range(2)])
        self.byname = nn.LayerDict({'a': nn.Linear(2, 2)}) if hasattr(nn, 'LayerDict') else None
    def forward(self, v):
        v = self.lin(v.reshape([1, 2]))
        for part in self.parts:
            v = part(v) * self.rate
        return v.reshape([2]) * self.gain
    def with_all(self, v):
        v = self.drop(self.lin(v.reshape([1, 2])))
        for part in self.extra:
            v = v + part(v)
        self.seen.add_(paddle.ones([1]))
        return v.reshape([2]) + self.seen
    def normed(self, v):
        return self.norm(paddle.stack([v, v * 2, v * 0.5])).sum(0)
paddle.seed(3)
net$, spare$ = Block$(), Block$()
for p$ in [*net$.parameters(), *spare$.parameters()]:
    p$.set_value(paddle.rand(p$.shape) * 0.5 + 0.25)
state$ = {k: v.clone() for k, v in spare$.state_dict().items()}
handles$ = []
""",
    [
        "x = net$(x)",
        "x = net$.with_all(x)",
        "x = net$.normed(x)",
        "x = net$.lin(x)",
        "x = x + net$.seen",
        "x = x * (1.5 if net$.training else 0.5)",
        "for p in net$.lin.parameters():\n    x = x + p.sum() * 0.1",
        "x = x + sum(p.mean() for p in net$.parameters()) * 0.1",
        "x = x * len(net$.parts)",
        "for name, sub in net$.named_sublayers():\n    x = x + len(name) * 0.01",
        "net$.seen.add_(paddle.ones([1]))\nx = x + net$.seen",
        "net$.count = getattr(net$, 'count', 0) + 1\nx = x * net$.count",
        "net$.seen = net$.seen + 1\nx = x + net$.seen",
        "x = x + net$.extra[0](x)",
        "x = net$.parts[-1](x)",
        "x = x + net$.state_dict()['lin.weight'].sum()",
        "net$.eval()\nx = net$(x)\nnet$.train()",
        "h = net$.lin.register_forward_post_hook(lambda layer, a, out: out * 1.5)\nx = net$(x)\nh.remove()",
        "x = net$.byname['a'](x)",
        "net$.last = net$(x)\nx = net$.last + 1",
        "x = nn.functional.linear(x, net$.lin.weight)",
        "x = x * net$.drop.p",
        "x = nn.Sequential(net$.lin, nn.Tanh())(x.reshape([1, 2])).reshape([2])",
    ],
    [
        "net$.eval()",
        "net$.train()",
        "net$.drop.eval()",
        "net$.norm.eval()",
        "net$.norm.train()",
        "net$.drop.p = 0.25",
        "net$.rate = RND",
        "Block$.gain = RND",
        "net$.gain = RND",
        "net$.lin.weight.set_value(paddle.rand([2, 2]))",
        "net$.lin.weight.stop_gradient = True",
        "net$.lin.weight.stop_gradient = False",
        "net$.lin = nn.Linear(2, 2)",
        "net$.lin.weight = spare$.lin.weight",
        "net$.parts[0] = spare$.parts[1]",
        "net$.parts.append(nn.Linear(2, 2))",
        "net$.extra[0] = spare$.lin",
        "net$.extra.pop() if len(net$.extra) > 1 else None",
        "net$.set_state_dict(state$)",
        "net$.seen = paddle.full([1], RND)",
        "net$.register_buffer('seen', paddle.full([1], RND))",
        "setattr(net$.lin, 'bias', None)",
        "handles$.append(net$.lin.register_forward_post_hook(lambda layer, a, out: out * RND))",
        "handles$.append(net$.register_forward_pre_hook(lambda layer, a: (a[0] * RND,)))",
        "[h.remove() for h in handles$]",
        "net$.forward = lambda v: v * RND",
        "net$.__dict__.pop('forward', None)",
        "Block$.forward = lambda self, v: v * self.rate",
        "nn.Linear.mixed = 1\nnet$.lin.forward = lambda v: v * RND",
        "net$.norm._momentum = 0.5",
        "net$.lin.bias = net$.parts[0].bias",
        "net$, spare$ = spare$, net$",
        "net$.lin.add_sublayer('more', nn.Linear(2, 2))",
        "net$.drop = nn.Identity()",
        "net$.lin.weight.name = 'renamed$'",
        "net$.parts.insert(0, nn.Linear(2, 2))",
        "del net$.parts[0]",
    ],
    [
        "net$.seen",
        "net$.lin.weight",
        "net$.norm._mean",
        "net$.norm._variance",
        "net$.lin.weight.grad",
        "net$.training",
        "getattr(net$, 'count', 0)",
    ],
)

for rule in (
    "SGD(LR, parameters=PS)",
    "Momentum(LR, parameters=PS, weight_decay=0.01)",
    "Adam(LR, parameters=PS)",
    "AdamW(LR, parameters=PS, grad_clip=nn.ClipGradByGlobalNorm(0.5))",
):
    feature(
        """
paddle.seed(5)
layer$ = nn.Linear(2, 2)
layer$.weight.set_value(paddle.to_tensor([[0.5, 0.25], [0.75, 1.0]]))
layer$.bias.set_value(paddle.to_tensor([0.5, 0.25]))
sched$ = paddle.optimizer.lr.StepDecay(0.1, 2, 0.5)
optim$ = paddle.optimizer."""
        + rule.replace("LR", "sched$").replace("PS", "layer$.parameters()")
        + """
scaler$ = paddle.amp.GradScaler(init_loss_scaling=4.0)
every$ = 2
turn$ = 0
""",
        [
            "loss = (layer$(x.detach()) ** 2).mean()\nloss.backward()\noptim$.step()\noptim$.clear_grad()\n"
            "x = x.detach() + loss.detach()",
            "loss = (layer$(x.detach()) ** 2).mean()\nloss.backward()\nx = x.detach() + loss.detach()",
            "loss = layer$(x.detach()).mean()\nscaled = scaler$.scale(loss)\nscaled.backward()\n"
            "scaler$.step(optim$)\nscaler$.update()\noptim$.clear_grad()\nx = x.detach() + loss.detach()",
            "loss = layer$(x.detach()).sum()\nloss.backward()\noptim$.step()\noptim$.clear_grad(False)\n"
            "sched$.step()\nx = x.detach() * 1.5",
            "x = x * optim$.get_lr()",
            "x = x * sched$.get_lr()",
            "x = x * sched$.last_epoch",
            "with paddle.amp.auto_cast(level='O1'):\n"
            "    x = layer$(x.reshape([1, 2])).reshape([2]).astype('float32')",
            "loss = layer$(x.detach()).sum()\nif loss > 0:\n    loss.backward()\n    optim$.step()\n"
            "    optim$.clear_grad()\nx = x.detach() * 1.5",
            "x = layer$(x)",
            "optim$.step()\nx = x + layer$.bias",
        ],
        [
            "optim$.set_lr(RND) if not isinstance(optim$._learning_rate, type(sched$)) else sched$.step()",
            "sched$.step()",
            "sched$.gamma = RND",
            "layer$.weight.stop_gradient = True",
            "layer$.weight.stop_gradient = False",
            "optim$.clear_grad()",
            "layer$.bias.set_value(paddle.to_tensor([RND, RND]))",
            "optim$._grad_clip = nn.ClipGradByNorm(0.1)",
            "optim$._grad_clip = None",
            "optim$.set_state_dict(optim$.state_dict())",
            "layer$.eval()",
            "(layer$.weight * RND).sum().backward() if not layer$.weight.stop_gradient else None",
            "layer$.weight.optimize_attr['learning_rate'] = 0.5",
            "scaler$._scale.set_value(scaler$._scale * 2)",
            "sched$.set_state_dict({'last_epoch': 3, 'last_lr': 0.02})",
            "layer$.weight.regularizer = paddle.regularizer.L2Decay(0.1)",
            "optim$._learning_rate = 0.05",
        ],
        ["layer$.weight", "layer$.bias", "layer$.weight.grad", "sched$.last_epoch", "optim$.get_lr()"],
    )
