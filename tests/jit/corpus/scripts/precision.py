"""Mixed precision and loss scaling."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.corpus.script import Script, add, data, script, see, small

# Processors with instructions for float16 round less often in some programs. NumPy rounds it after each
# operation and XLA after several: both sides run by XLA.
FLOAT16 = (2e-3, 2e-3)


def _scaled(compile, level, dtype, parts=False, dynamic=True, master_grad=False, clip=None):
    """Training steps in mixed precision whose third one overflows; the scale grows after two good steps."""
    net = small()
    opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters(), grad_clip=clip)
    if level == "O2":
        net, opt = paddle.amp.decorate(net, opt, level=level, dtype=dtype, master_grad=master_grad)
    scaler = paddle.amp.GradScaler(
        init_loss_scaling=32.0, incr_every_n_steps=2, use_dynamic_loss_scaling=dynamic
    )

    @compile
    def step(x, y, factor):
        with paddle.amp.auto_cast(level=level, dtype=dtype):
            out = net(x)
            loss = ((out - y) ** 2).mean() * factor
        scaler.scale(loss).backward()
        if parts:
            scaler.unscale_(opt)
            grads = [p.grad.astype("float32").sum() for p in net.parameters()]
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
        return loss, out, grads if parts else None

    seen = []
    for i, factor in enumerate([1.0, 1.0, float("inf"), 1.0, 1.0, 1.0]):
        loss, out, grads = step(data(5, 3, seed=i), data(5, 2, seed=9), paddle.to_tensor(factor))
        seen.append(
            (
                loss.item(),
                out.astype("float32").numpy(),
                grads if i == 2 or grads is None else [g.item() for g in grads],
            )
            if i != 2
            else ()
        )
        seen.append([np.asarray(v) for v in scaler.state_dict().values()])
    states = [np.asarray(v.astype("float32")) for k, v in opt.state_dict().items() if k != "master_weights"]
    return seen, [p.astype("float32").numpy() for p in net.parameters()], states


for _name, _more in {
    "float16": ("O1", "float16"),
    "float16, unscale_": ("O1", "float16", True),
    "a fixed scale": ("O1", "float16", True, False),
    "level O2": ("O2", "float16"),
    "level O2, float32 gradients": ("O2", "float16", False, True, True),
    "clipping": ("O1", "float16", False, True, False, nn.ClipGradByGlobalNorm(0.1)),
    "bfloat16": ("O1", "bfloat16"),
}.items():

    def _scaling(compile, more=_more):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the scaler does nothing for bfloat16
            return _scaled(compile, *more)

    add(Script(f"loss scaling, {_name}", _scaling, precision=FLOAT16, interpreter=False))


def loss_scaling_in_parts(compile):
    """The parts of a step are compiled one by one; what the scaler remembers between them goes from
    one to the next."""
    net = small()
    opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=32.0, incr_every_n_steps=2)

    @compile
    def back(x):
        with paddle.amp.auto_cast():
            loss = net(x).sum()
        scaler.scale(loss).backward()

    unscale, step = compile(lambda: scaler.unscale_(opt)), compile(lambda: scaler.step(opt))
    seen = []
    for i in range(4):
        back(data(2, 3, seed=i))
        if i % 2:
            unscale()
        step()
        try:
            scaler.step(opt)
        except RuntimeError as error:
            seen.append(type(error).__name__)
        scaler.update()
        opt.clear_grad()
        seen.append([np.asarray(v) for v in scaler.state_dict().values()])
    return seen, see(net)


add(Script("loss_scaling_in_parts", loss_scaling_in_parts, precision=FLOAT16, interpreter=False))


@script
def guard_around_a_compiled_function(compile):
    net = small()
    f = compile(lambda x: net(x))
    seen = [f(data(2, 3)).dtype.name]
    for more in (
        {"dtype": "bfloat16"},
        {"dtype": "float16"},
        {"dtype": "bfloat16", "custom_black_list": ["linear_v2"]},
        {"enable": False},
    ):
        with paddle.amp.auto_cast(**more):
            seen.append(f(data(2, 3)).dtype.name)
    return seen
