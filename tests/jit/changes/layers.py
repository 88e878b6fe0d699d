"""Layers, optimizers, schedulers, flags."""

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.changes.cases import Box, case


@case
def a_layer_in_a_deep_container():
    held = {"a": [({"b": [nn.Linear(2, 2)]},)]}
    return (
        (lambda x: held["a"][0][0]["b"][0](x)),
        lambda: held["a"][0][0]["b"].__setitem__(0, nn.Linear(2, 2)),
    )


@case
def a_parameter_in_a_deep_container():
    held = {"a": [({"b": [paddle.ones([2])]},)]}
    return (
        (lambda x: x * held["a"][0][0]["b"][0]),
        lambda: held["a"][0][0]["b"].__setitem__(0, paddle.full([2], 3.0)),
    )


@case
def a_tensor_in_two_places():
    first, value = Box(w=None), paddle.ones([2])
    second = Box(w=value)
    first.w = value
    return (lambda x: x * first.w + second.w), lambda: setattr(second, "w", paddle.full([2], 3.0))


@case
def a_tensor_replaced_by_a_number():
    held = Box(w=paddle.ones([2]))
    return (lambda x: x * held.w), lambda: setattr(held, "w", 3.0)


@case
def forward_of_a_class_of_the_library():
    class Own(nn.Linear):
        pass

    layer, before = Own(2, 2), nn.Linear.forward
    return (lambda x: layer(x)), lambda: setattr(Own, "forward", lambda self, x: before(self, x) * 3)


@case
def forward_of_one_layer():
    layer = nn.Linear(2, 2)
    return (lambda x: layer(x)), lambda: setattr(layer, "forward", lambda x: x * 3)


@case
def a_helper_of_a_layer():
    layer = nn.Linear(2, 2)
    layer.helper = lambda x: x * 2
    return (lambda x: layer.helper(layer(x))), lambda: setattr(layer, "helper", lambda x: x * 3)


@case
def a_layer_replaced_in_a_list():
    layers = nn.LayerList([nn.Linear(2, 2), nn.Linear(2, 2)])

    def run(x):
        for layer in layers:
            x = layer(x)
        return x

    return run, lambda: layers.__setitem__(1, nn.Linear(2, 2))


@case
def a_layer_appended_to_a_list():
    layers = nn.LayerList([nn.Linear(2, 2)])

    def run(x):
        for layer in layers:
            x = layer(x)
        return x

    return run, lambda: layers.append(nn.Linear(2, 2))


@case
def the_rate_of_a_scheduler():
    scheduler = paddle.optimizer.lr.StepDecay(2.0, 1, gamma=0.5)
    return (lambda x: x * scheduler.get_lr()), scheduler.step


@case
def the_last_rate_of_a_scheduler():
    scheduler = paddle.optimizer.lr.StepDecay(2.0, 1, gamma=0.5)
    return (lambda x: x * scheduler.last_lr), scheduler.step


@case
def the_rate_of_an_optimizer():
    layer = nn.Linear(2, 2)
    opt = paddle.optimizer.SGD(2.0, parameters=layer.parameters())
    return (lambda x: layer(x) * opt.get_lr()), lambda: opt.set_lr(3.0)


@case
def the_norm_of_a_clip():
    clip = nn.ClipGradByGlobalNorm(2.0)
    return (lambda x: x * clip.clip_norm), lambda: setattr(clip, "clip_norm", 3.0)


@case
def training_mode():
    layer = nn.Linear(2, 2)
    return (lambda x: layer(x) * (2.0 if layer.training else 3.0)), layer.eval


@case
def a_setting_of_a_dropout():
    layer = nn.Dropout(0.0)
    return (
        (lambda x: layer(x) * (1 + layer.p)),
        lambda: setattr(layer, "p", 0.0 if layer.p else 1e-30) or setattr(layer, "p", 0.9999999),
    )


@case
def a_hook_that_reads():
    layer, held = nn.Linear(2, 2), Box(scale=2.0)
    layer.register_forward_post_hook(lambda layer, x, y: y * held.scale)
    return (lambda x: layer(x)), lambda: setattr(held, "scale", 3.0)


@case
def a_flag():
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    return (
        (lambda x: x * (2.0 if paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"] else 3.0)),
        lambda: paddle.set_flags({"FLAGS_check_nan_inf": True}),
    )


@case
def what_a_user_layer_reads():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc, self.config = nn.Linear(2, 2), {"a": {"b": [Box(scale=2.0)]}}

        def forward(self, x):
            return self.fc(x) * self.config["a"]["b"][0].scale

    net = Net()
    return (lambda x: net(x)), lambda: setattr(net.config["a"]["b"][0], "scale", 3.0)


@case
def a_layer_of_a_layer_of_a_layer():
    class Block(nn.Layer):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.scale = inner, 2.0

        def forward(self, x):
            return self.inner(x) * self.scale

    inner = Block(nn.Linear(2, 2))
    net = Block(Block(Block(inner)))
    return (lambda x: net(x)), lambda: setattr(inner, "scale", 3.0)
