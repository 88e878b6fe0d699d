"""What a compiled function sees of the world outside may change between calls: it gives what eager execution
gives, and compiles anew only then."""

import functools
import gc
import random
import types
import warnings

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.corpus.script import data

SEEN, UNSEEN = {}, {}  # name -> function() that gives (function of x, change); whether the change matters
weight = 1.0
table = {"w": 1.0, "count": 0}
numbers = [1.0, 2.0]
mean = 3  # also the name of a Tensor method


def helper(x):
    return x + 1


def seen(make):
    SEEN[make.__name__] = make
    return make


def unseen(make):
    UNSEEN[make.__name__] = make
    return make


@seen
def a_global_number():
    def change():
        global weight
        weight += 1

    return lambda x: x * weight, change


@seen
def a_global_function():
    def change():
        global helper
        before = helper
        helper = lambda x: before(x) * 2  # noqa: E731

    return lambda x: helper(x), change


@seen
def an_item_of_a_global_dict():
    return lambda x: x * table["w"], lambda: table.update(w=table["w"] + 1)


@seen
def all_items_of_a_dict():
    found = {"a": 1.0}
    return lambda x: sum([x * value for value in found.values()]), lambda: found.update(b=2.0)


@seen
def an_item_of_a_list():
    return lambda x: x * numbers[0], lambda: numbers.__setitem__(0, numbers[0] + 1)


@seen
def a_longer_list():
    found = [1.0]
    return lambda x: x * len(found), lambda: found.append(1.0)


@seen
def a_tensor_in_a_list():
    found = [paddle.ones([1])]
    return lambda x: x * found[0], lambda: found.__setitem__(0, paddle.full([1], 3.0))


@seen
def a_tensor_in_a_dict():
    found = {"t": paddle.ones([1])}
    return lambda x: x * found["t"], lambda: found.update(t=paddle.full([1], 3.0))


@seen
def a_function_in_a_dict():
    found = {"act": paddle.tanh}
    return lambda x: found["act"](x), lambda: found.update(act=paddle.exp)


@seen
def a_layer_in_a_list():
    found = [nn.Tanh()]
    return lambda x: functools.reduce(lambda y, layer: layer(y), found, x), lambda: found.append(nn.ReLU())


@seen
def a_nested_container():
    found = {"model": {"scale": [1.0, 2.0]}}
    return lambda x: x * found["model"]["scale"][1], lambda: found["model"]["scale"].__setitem__(1, 5.0)


@seen
def a_small_array():
    found = np.array([1.0, 2.0], "float32")
    return lambda x: x * paddle.to_tensor(found), lambda: found.__setitem__(0, 7.0)


@seen
def another_array():
    found = np.ones([10, 10, 2], "float32")

    def change():
        nonlocal found
        found = found * 2

    return lambda x: x * paddle.to_tensor(found).sum(), change


@seen
def a_class_attribute():
    class Config:
        scale = 1.0

    def change():
        Config.scale = 4.0

    return lambda x: x * Config.scale, change


@seen
def a_class_attribute_of_an_object():
    class Model:
        scale = 1.0

        def run(self, x):
            return x * self.scale

    def change():
        Model.scale = 4.0

    return Model().run, change


@seen
def an_object_attribute():
    found = types.SimpleNamespace()

    class Options:
        pass

    found = Options()
    found.act = paddle.tanh
    return lambda x: found.act(x), lambda: setattr(found, "act", paddle.exp)


@seen
def a_value_in_a_module():
    module = types.ModuleType("settings_of_the_user")
    module.scale = 1.0
    return lambda x: x * module.scale, lambda: setattr(module, "scale", 2.0)


@seen
def a_function_in_a_module():
    module = types.ModuleType("functions_of_the_user")
    module.act = lambda x: x + 1
    return lambda x: module.act(x), lambda: setattr(module, "act", lambda x: x + 2)


@seen
def another_network():
    net = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0))

    def change():
        nonlocal net
        net = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(2.0))

    return lambda x: net(x), change


@seen
def a_part_of_a_network():
    net = nn.Sequential(nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0)), nn.Tanh())
    return lambda x: net(x), lambda: setattr(net, "1", nn.ReLU())


@seen
def one_more_part():
    net = nn.Sequential(nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0)))
    return lambda x: net(x), lambda: net.append(nn.Tanh())


@seen
def a_part_put_into_the_dict():
    net = nn.Sequential(nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0)), nn.Tanh())
    return lambda x: net(x), lambda: net._sub_layers.update({"1": nn.ReLU()})


@seen
def one_part_fewer():
    net = nn.LayerList([nn.Tanh(), nn.ReLU()])
    return lambda x: functools.reduce(lambda y, layer: layer(y), net, x), lambda: net.pop(1)


@seen
def a_hook():
    net = nn.Tanh()
    return lambda x: net(x), lambda: net.register_forward_post_hook(lambda layer, args, out: out * 2)


@seen
def a_hook_removed():
    net = nn.Tanh()
    helper = net.register_forward_pre_hook(lambda layer, args: (args[0] * 2,))
    return lambda x: net(x), helper.remove


@seen
def a_number_of_a_layer():
    net = nn.LeakyReLU(0.1)
    return lambda x: net(x), lambda: setattr(net, "_negative_slope", 0.5)


@seen
def an_attribute_of_a_layer():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.scale = 2.0

        def forward(self, x):
            return x * self.scale

    net = Net()
    return lambda x: net(x), lambda: setattr(net, "scale", 3.0)


@seen
def a_layer_of_ours_made_more_special():
    class Net(nn.LeakyReLU):
        pass

    net = Net(0.1)
    return lambda x: net(x), lambda: setattr(net, "_negative_slope", 0.5)


@seen
def a_parameter_replaced():
    net = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0))
    return lambda x: net(x), lambda: setattr(net, "weight", nn.Parameter(paddle.full([2, 2], 3.0)))


@seen
def a_partial():
    found = [2.0]
    act = functools.partial(lambda values, x: x * values[0], found)
    return lambda x: act(x), lambda: found.__setitem__(0, 3.0)


@seen
def a_set():
    found = {1, 2}
    return lambda x: x * sum(found), lambda: found.add(7)


@unseen
def a_global_with_the_name_of_a_method():
    def change():
        global mean
        mean += 1

    return lambda x: x.mean(), change


@unseen
def a_counter_in_a_dict():
    return lambda x: x * table["w"], lambda: table.update(count=table["count"] + 1)


@unseen
def an_attribute_nobody_names():
    class Model:
        def __init__(self):
            self.epoch, self.scale = 0, 2.0

        def run(self, x):
            return x * self.scale

    model = Model()
    return model.run, lambda: setattr(model, "epoch", model.epoch + 1)


@unseen
def a_counter_with_the_name_of_a_method_that_is_called():
    class Trainer:
        def __init__(self):
            self.step, self.net = 0, nn.Linear(2, 2)
            self.opt = paddle.optimizer.SGD(0.0, parameters=self.net.parameters())

        def run(self, x):
            y = self.net(x)
            self.opt.step()
            return y

    trainer = Trainer()
    return trainer.run, lambda: setattr(trainer, "step", trainer.step + 1)


@unseen
def a_counter_of_a_method_that_does_not_run():
    class Trainer:
        def __init__(self):
            self.epoch, self.seen, self.net = 0, [], nn.Linear(2, 2)

        def train(self):  # the name of a method of `net`, which is called
            self.epoch += 1
            self.seen.append(self.epoch)

        def run(self, x):
            self.net.train()
            return self.net(x)

    trainer = Trainer()
    return trainer.run, trainer.train


@unseen
def a_counter_of_a_layer():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.epoch, self.scale = 0, 2.0

        def forward(self, x):
            return x * self.scale

        def train(self, mode=True):
            self.epoch += 1

    net = Net()
    return lambda x: net(x) + (0 if net.training else 1), net.train


@unseen
def another_layer_elsewhere():
    net = nn.Tanh()
    return lambda x: net(x), lambda: nn.Linear(2, 2)


REFUSED = {}


def refused(make):
    REFUSED[make.__name__] = make
    return make


@refused
def an_iterator():
    found = iter([paddle.full([1], float(i)) for i in range(9)])
    return lambda x: x * next(found)


@refused
def an_iterator_of_an_object():
    class Trainer:
        def __init__(self):
            self.batches = (paddle.full([1], float(i)) for i in range(9))

        def step(self, x):
            return x * next(self.batches)

    return Trainer().step


@refused
def an_iterator_that_a_method_uses():
    class Trainer:
        def __init__(self):
            self.batches = (paddle.full([1], float(i)) for i in range(99))

        def batch(self):
            return next(self.batches) * 0 + 2

        def step(self, x):
            return x * self.batch()

    return Trainer().step


@refused
def a_data_loader():
    loader = paddle.io.DataLoader([np.full([2], i, "float32") for i in range(4)], batch_size=1)
    return lambda x: sum([x * batch for batch in loader])


@refused
def a_generator_of_numpy():
    rng = np.random.default_rng(0)
    return lambda x: x * float(rng.normal())


@refused
def a_generator_of_python():
    rng = random.Random(0)
    return lambda x: x * rng.random()


@refused
def a_legacy_generator():
    rng = np.random.RandomState(0)
    return lambda x: x * rng.rand()


def same(got, expected):
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", SEEN)
def test_seen(name):
    function, change = SEEN[name]()
    step, x = paddle.jit.to_static(function), data(3, 2)
    for _ in range(2):
        same(step(x), function(x))
    before = function(x).numpy()
    change()
    assert not np.allclose(function(x).numpy(), before)  # or the case shows nothing
    for _ in range(2):
        same(step(x), function(x))
    assert step.get_traced_count() <= 2


@pytest.mark.parametrize("name", UNSEEN)
def test_unseen(name):
    function, change = UNSEEN[name]()
    step, x = paddle.jit.to_static(function), data(3, 2)
    for _ in range(3):
        same(step(x), function(x))
        change()
    assert step.get_traced_count() == 1


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """What is another thing at each call, and would be taken once only, runs op by op as if it had
    never been compiled."""
    function, plain, x = REFUSED[name](), REFUSED[name](), data(3, 2)
    step = paddle.jit.to_static(function)
    with pytest.warns(UserWarning, match="runs op by op"):
        got = [step(x)]
    got += [step(x) for _ in range(3)]
    for one in got:
        same(one, plain(x))
    with pytest.raises(RuntimeError, match="cannot be compiled"):
        paddle.jit.to_static(REFUSED[name](), full_graph=True)(x)


def test_generators_that_nobody_needs_any_more():
    """The garbage collector closes them, which runs code of theirs, whatever function is being
    captured just then."""

    class Old:
        def __init__(self):
            self.own, self.rows = self, (paddle.full([1], float(i)) for i in range(9))
            next(self.rows)

    def step(x):
        junk = [[] for _ in range(5000)]  # enough for a collection
        return x * 2 + len(junk)

    for _ in range(3):
        Old()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paddle.jit.to_static(step)(paddle.ones([2])).tolist() == [5002, 5002]
    assert gc.isenabled()
