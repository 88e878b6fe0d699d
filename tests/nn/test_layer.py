"""Layer: attributes, naming, hooks, state dicts, conversion, against the real Paddle line by line."""

import copy
import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest

from tests.nn.scripts import same

NET = [
    "net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 2)))",
    "net.add_sublayer('shared', net[0]) is net[0]",
    "net.register_buffer('bb', paddle.ones([1]))",
    "net.q = net[0].weight",
]

SCRIPTS = {
    "attributes": [
        "l = nn.Layer()",
        "l",
        "l.full_name()",
        "nn.Layer('My Scope').full_name()",
        "l._dtype",
        "nn.Layer(dtype='float64')._dtype",
        "l.foo",
        "l.foo = paddle.to_tensor([1.0])",
        "l._buffers.keys()",
        "l.state_dict()",
        "'foo' in l.__dict__",
        "l.y = 5",
        "l.y = paddle.ones([2])",
        "'y' in l.__dict__, 'y' in l._buffers",
        "l.y2 = [paddle.ones([1])]",
        "l._buffers.keys()",
        "l.w = l.create_parameter([2, 3], is_bias=True)",
        "l.w.name",
        "l.w",
        "l.w = paddle.ones([1])",
        "l.w = None",
        "l.w",
        "l._parameters.keys()",
        "l.w = l.create_parameter([1], is_bias=True)",
        "del l.w",
        "l.w",
        "del l.w",
        "del l.nonexist",
        "l.sub = nn.Linear(2, 2)",
        "l.sub = None",
        "l.sub",
        "l.sub = 5",
        "l.sub = paddle.ones([2])",
        "l.sub = nn.ReLU()",
        "list(l._sub_layers)",
        "l.sub = l.create_parameter([1], is_bias=True)",
        "list(l._sub_layers), list(l._parameters)",
        "l.p = l.create_parameter([2], is_bias=True)",
        "l.p = nn.ReLU()",
        "l.register_buffer('p2', paddle.ones([1]))",
        "l.p2 = l.create_parameter([2], is_bias=True)",
        "'p2' in l._buffers, 'p2' in l._parameters",
        "l.s2 = 5",
        "l.s2 = nn.ReLU()",
        "'s2' in l.__dict__, list(l._sub_layers)",
        "'w' in dir(nn.Linear(1, 1)), 'weight' in dir(nn.Linear(1, 1))",
    ],
    "helpers": [
        "l = nn.Linear(2, 3)",
        "l._helper.get_default_dtype()",
        "l._helper.name",
        "l._helper.layer_type",
        "paddle.set_default_dtype('float64')",
        "l._helper.get_default_dtype()",
        "paddle.set_default_dtype('float32')",
        "l._helper = 5",
        "l._helper",
    ],
    "buffers": [
        "l = nn.Layer()",
        "l.register_buffer('b1', paddle.ones([2]))",
        "l.register_buffer('b2', paddle.ones([2]), persistable=False)",
        "l.state_dict()",
        "l.to_static_state_dict()",
        "l.b1 = paddle.zeros([3])",
        "l.b1",
        "l.b1 = None",
        "l.b1",
        "l.b1 = 5",
        "l.b1 = paddle.ones([1])",
        "l._buffers.keys()",
        "l.register_buffer('a.b', paddle.ones([2]))",
        "l.register_buffer('', paddle.ones([2]))",
        "l.register_buffer('training', paddle.ones([2]))",
        "l.register_buffer('b3', 5)",
        "l.register_buffer(5, paddle.ones([2]))",
        "l.register_buffer('b4', None)",
        "l.b4",
        "list(l.named_buffers())",
        "l.register_buffer('b2', paddle.ones([1]), True)",
        "l.state_dict()",
        "del l.b2",
        "l._non_persistable_buffer_names_set, l._buffers.keys()",
        "l.register_buffer('b5', paddle.ones([1]), persistent=False)",
        "l.state_dict().keys()",
    ],
    "adding": [
        "l = nn.Layer()",
        "l.add_parameter('p', 5)",
        "l.add_parameter('p', None)",
        "l.p",
        "l.add_parameter('a.b', None)",
        "l.add_parameter('', None)",
        "l.add_parameter('p', l.create_parameter([1], is_bias=True))",
        "l.add_parameter('training', l.create_parameter([1]))",
        "l.add_parameter(3, l.create_parameter([1]))",
        "l.add_sublayer('s', 5)",
        "l.add_sublayer('s', None)",
        "l.add_sublayer('s', nn.ReLU())",
        "l.add_sublayer('s', nn.Tanh())",
        "l.add_module('m', nn.Tanh())",
        "l.register_module('m2', nn.Tanh())",
        "l.register_parameter('zz', None)",
        "l",
        "l(1)",
        "l.backward(1)",
        "l.forward()",
        "l.train(1)",
        "l.train('a')",
        "l.eval().training",
        "l.train().training",
        "t = type('Frozen', (nn.Linear,), {'train': lambda self: nn.Linear.train(self)})(1, 1)",
        "t.eval() is t, t.training",
        "t.train() is t, t.training",
        "nn.Sequential(t).eval() is not t, t.training",
        "l.get_extra_state()",
    ],
    "create_parameter": [
        "l = nn.Layer()",
        "l.create_parameter([2], attr=False)",
        "l.create_parameter([2], attr='nm').name",
        "l.create_parameter([2], attr='nm')",
        "l.create_parameter([2], attr=5)",
        "l.create_parameter([2], attr=nn.initializer.Constant(3.0))",
        "l.create_parameter(2)",
        "l.create_parameter('a')",
        "l.create_parameter([2.0])",
        "l.create_parameter([], is_bias=True)",
        "l.create_parameter([0, 2])",
        "l.create_parameter([-1, 2])",
        "l.create_parameter([2], dtype='int32')",
        "l.create_parameter([2], dtype='int32', default_initializer=nn.initializer.Constant(3))",
        "l.create_parameter([2], attr=[paddle.ParamAttr()])",
        "l.create_parameter([2], device='cpu').shape",
        "l.create_parameter([np.int64(3)]).shape",
        "l.create_parameter(paddle.to_tensor([3])).shape",
        "l.create_parameter((2, paddle.to_tensor(3))).shape",
        "nn.Layer().create_parameter([2]).name",
        "nn.Layer().create_parameter([2], is_bias=True).name",
        "l.create_parameter([1], dtype='float64').dtype",
        "nn.Layer(dtype='float64').create_parameter([1]).dtype",
        (
            "p = l.create_parameter([2], attr=paddle.ParamAttr(name='ff', learning_rate=0.1, "
            "trainable=False, "
            "need_clip=False, do_model_average=False))"
        ),
        (
            "p.stop_gradient, p.trainable, p.optimize_attr, p.need_clip, p.do_model_average, p.persistable, "
            "p.regularizer, p.name, p.is_distributed"
        ),
        "paddle.create_parameter([2], 'float32').name",
        "paddle.create_parameter([2], 'float32', name='qqq').name",
        "paddle.create_parameter([2], 'float32', name='q3', attr=paddle.ParamAttr(name='qq4')).name",
        "paddle.create_parameter([2], 'float32', is_bias=True)",
        "paddle.create_parameter([2], 'int32')",
        "paddle.create_parameter(2, 'float32')",
        "paddle.create_parameter([2], 'float32', attr=False)",
        "l.create_tensor().name",
        "l.create_variable(name='zz').name",
    ],
    "names by class": [
        f"type('{name}', (nn.Layer,), {{}})().full_name()"
        for name in (
            "My_Net A1B netX ABCd2Ef Net MLP ResNet50 _Foo FNO1d UNet3DBlock X BiRNN MyLSTMCell"
        ).split()
    ],
    "walking": [
        *NET,
        "[n for n, _ in net.named_parameters()]",
        "[n for n, _ in net.named_parameters(prefix='pp')]",
        "[n for n, _ in net.named_parameters(include_sublayers=False)]",
        "[n for n, _ in net.named_parameters(remove_duplicate=False)]",
        "[n for n, _ in net.named_parameters(recurse=False)]",
        "[n for n, _ in net.named_sublayers()]",
        "[n for n, _ in net.named_sublayers(include_self=True)]",
        "[n for n, _ in net.named_sublayers(prefix='pp', include_self=True)]",
        "[n for n, _ in net.named_sublayers(remove_duplicate=False)]",
        "[n for n, _ in net.named_sublayers(layers_set={net[0]})]",
        "[n for n, _ in net.named_children()]",
        "list(net.children())",
        "[n for n, _ in net.named_modules()]",
        "[n for n, _ in net.named_modules(prefix='pp', remove_duplicate=False)]",
        "list(net.modules())",
        "net.sublayers()",
        "len(net.sublayers(include_self=True))",
        "[n for n, _ in net.named_buffers()]",
        "len(net.parameters()), len(net.buffers())",
        "len(net.parameters(include_sublayers=False)), len(net.buffers(include_sublayers=False))",
        "list(net.state_dict())",
        "net",
        "net.add_sublayer('none', None)",
        "net",
        "net.sublayers()",
        "net.state_dict().keys()",
        "net.extra_repr = lambda: 'ab\\ncd'",
        "net",
        "l = nn.Layer()",
        "l.extra_repr = lambda: 'x=1\\ny=2'",
        "l",
        "l.a = nn.ReLU()",
        "l.extra_repr = lambda: 'x=1'",
        "l",
        "nn.Sequential(l)",
        "seen = []",
        "net.apply(lambda m: seen.append(type(m).__name__)) is net",
        "seen",
    ],
    "in one dict": [
        *NET,
        "net.twice = net[1]",
        "list(net._modules)",
        "list(net._obtain_parameters_buffers())",
        "net._modules['0'] is net[0], net[0]._modules",
    ],
    "by dotted name": [
        *NET,
        "net.get_parameter('0.weight').name",
        "net.get_parameter('0.weightx')",
        "net.get_parameter('0')",
        "net.get_parameter('9.weight')",
        "net.get_parameter('')",
        "net.get_buffer('bb')",
        "net.get_buffer('0.weight')",
        "net.get_sublayer('1.1')",
        "net.get_sublayer('') is net",
        "net.get_sublayer('1.7')",
        "net.get_sublayer('1.1.weight')",
        "net.get_submodule('1.0')",
        "net.set_sublayer('1.1', nn.Tanh())",
        "net[1]",
        "net.set_sublayer('1.z', nn.Tanh())",
        "net.set_sublayer('1.zz', nn.Tanh(), strict=True)",
        "net.set_sublayer('', nn.Tanh())",
        "net.set_sublayer('1.z', 5)",
        "net.set_sublayer('9.z', nn.Tanh())",
        "net.set_submodule('1.0', module=nn.ELU())",
        "net[1]",
    ],
    "state dict": [
        "l = nn.Linear(2, 3, weight_attr=nn.initializer.Constant(9.0))",
        "type(l.state_dict())",
        "l.state_dict()['weight'] is l.weight",
        "l.state_dict(keep_vars=False)['weight'] is l.weight",
        "l.state_dict(keep_vars=False)['weight']",
        "l.state_dict(structured_name_prefix='m.').keys()",
        "l.state_dict(prefix='q.').keys()",
        "d = {}",
        "l.state_dict(d) is d",
        "d.keys()",
        "l.state_dict({}, 'm.', True).keys()",
        "l.state_dict({}, True, 'm.').keys()",
        "l.state_dict(foo=1)",
        "l.state_dict(destination={}, prefix='q.', keep_vars=False)",
        "l.state_dict(include_sublayers=False).keys()",
        "nn.Sequential(l).state_dict(include_sublayers=False)",
        "l.to_static_state_dict().keys()",
        "m = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))",
        "log = []",
        "h = m.register_state_dict_hook(lambda d: log.append(list(d)))",
        "m.state_dict().keys()",
        "log",
        "h.remove()",
        "h.remove()",
        "h2 = m[1].register_state_dict_hook(lambda d: log.append(list(d)))",
        "m.state_dict().keys()",
        "log",
        "m.state_dict(use_hook=False).keys()",
        "log",
        "h3 = m.register_state_dict_hook(lambda d: {'z': 1})",
        "m.state_dict()",
    ],
    "loading": [
        "l = nn.Linear(2, 3)",
        "l.set_state_dict({})",
        "l.set_state_dict({'weight': np.ones([3, 3], 'float32')})",
        "l.set_state_dict({'linear_0.w_0': np.zeros([2, 3], 'float32')}, use_structured_name=False)",
        "l.weight",
        "l.set_state_dict(5)",
        "l.set_state_dict({'weight': paddle.ones([2, 3], 'float64')})",
        "l.weight.dtype",
        "l.set_state_dict({'weight': 'abc'})",
        "l.set_state_dict({'bias': (1, 2)})",
        "l.set_state_dict({'weight': [[1, 2, 3], [4, 5, 6]]})",
        "w = l.weight",
        "l.set_state_dict({'weight': paddle.full([2, 3], 7.0), 'extra': 1})",
        "w is l.weight, l.weight",
        "l.set_state_dict({'bias': paddle.ones([1, 3])})",
        "l.load_state_dict({})",
        "l.load_state_dict({}, strict=False)",
        "l.load_state_dict({'weight': paddle.ones([2, 3]), 'bias': paddle.ones([3])})",
        "repr(l.load_state_dict({'weight': paddle.ones([2, 3]), 'bias': paddle.ones([3])}))",
        "repr(l.load_state_dict({}, strict=False))",
        "l.load_state_dict({'weight': paddle.ones([3, 3]), 'bias': paddle.ones([3])})",
        "l.load_state_dict({'weight': paddle.ones([3, 3]), 'bias': paddle.ones([3])}, strict=False)",
        "l.load_state_dict({'weight': paddle.ones([2, 3]), 'bias': paddle.ones([3]), 'q': paddle.ones([3])})",
        "l.load_state_dict({'weight': paddle.full([2, 3], 9.0), 'bias': paddle.ones([3])}, assign=True)",
        "l.load_state_dict(5)",
        "l.weight",
        "l.set_dict({'weight': paddle.ones([2, 3]), 'bias': paddle.ones([3])})",
        "l.load_dict({'weight': paddle.ones([2, 3]), 'bias': paddle.ones([3])})",
        "q = nn.Linear(2, 2).bfloat16()",
        "q.set_state_dict({'weight': np.full([2, 2], 16256, 'uint16')})",
        "q.weight.astype('float32')",
        "q.set_state_dict({'bias': np.ones([2], 'float32')})",
    ],
    "hooks": [
        "l = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0))",
        "x, log = paddle.ones([1, 2]), []",
        "h1 = l.register_forward_pre_hook(lambda s, i: (i[0] * 2,))",
        "h2 = l.register_forward_pre_hook(lambda s, i: log.append(('B', i)), prepend=True)",
        "h3 = l.register_forward_pre_hook(lambda s, i: log.append(('C', i)))",
        "h4 = l.register_forward_pre_hook(lambda s, i, k: log.append(('D', i, k)), with_kwargs=True)",
        "l(x)",
        "log",
        "l(input=x)",
        "h1.remove()",
        "h1.remove()",
        "l(input=x)",
        "log",
        "h2.remove(), h3.remove(), h4.remove()",
        "len(l._forward_pre_hooks)",
        "h = l.register_forward_pre_hook(lambda s, i, k: (i, {'input': x * 3}), with_kwargs=True)",
        "l()",
        "h.remove()",
        "h = l.register_forward_pre_hook(lambda s, i, k: i, with_kwargs=True)",
        "l(x)",
        "h.remove()",
        "h = l.register_forward_pre_hook(lambda s, i: i[0] * 2)",
        "l(x)",
        "h.remove()",
        "log.clear()",
        "h = l.register_forward_post_hook(lambda s, i, o: 5)",
        "h2 = l.register_forward_post_hook(lambda s, i, o: log.append(o))",
        "h3 = l.register_forward_hook(lambda s, i, k, o: log.append((i, k, o)), with_kwargs=True)",
        "h4 = l.register_forward_hook(lambda s, i, o: log.append('first'), prepend=True)",
        "l(x)",
        "l(input=x)",
        "log",
        "h.remove(), h2.remove(), h3.remove(), h4.remove()",
        "len(l._forward_post_hooks)",
        "b, log = nn.Layer(), []",
        "h = b.register_forward_hook(lambda s, i, o: log.append(o), always_call=True)",
        "b(x)",
        "log",
        "h.remove()",
        "h = b.register_forward_hook(lambda s, i, o: log.append(o))",
        "b(x)",
        "log",
        "h = l.register_forward_pre_hook(5)",
        "l(x)",
    ],
    "conversion": [
        "bn = nn.Sequential(nn.BatchNorm2D(2), nn.Linear(2, 2), nn.LayerNorm(2))",
        *[
            f"[str(v.dtype) for v in bn.{call}.state_dict().values()], bn[1]._dtype"
            for call in (
                "bfloat16()",
                "float()",
                "half()",
                "double()",
                "type('float32')",
                "to(dtype='float64')",
                "to(dtype='float16')",
                "to(dtype=paddle.float32)",
                "to('cpu', 'float64')",
            )
        ],
        "bn",
        "bn.to('cpu') is bn, bn.to(paddle.CPUPlace()) is bn, bn.cpu() is bn, bn.to(blocking=True) is bn",
        "bn.to(device='abc')",
        "bn.to(5)",
        "bn.to('float32')",
        "bn.to(blocking=3)",
        "bn.to(dtype='abc')",
        "bn.cuda()",
        "bn.xpu()",
        "bn.float(excluded_layers=5)",
        "bn.to('gpu')",
        "bn.astype(5)",
        "bn.astype()",
        "l = nn.Layer()",
        "l.register_buffer('i', paddle.ones([2], 'int32'))",
        "l.register_buffer('f', paddle.ones([2]))",
        "[str(v.dtype) for v in l.bfloat16().state_dict().values()]",
        "[str(v.dtype) for v in l.to(dtype='float64').state_dict().values()]",
        "l = nn.Linear(2, 2)",
        "w = l.weight",
        "l.to(dtype='float64').weight is w, l.weight.name",
        "b = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))",
        "[str(p.dtype) for p in b.bfloat16(excluded_layers=[nn.Linear]).parameters()]",
        "[str(p.dtype) for p in b.bfloat16(excluded_layers=[]).parameters()]",
        "[str(p.dtype) for p in b.float(excluded_layers=nn.LayerNorm).parameters()]",
        "q = nn.Linear(2, 2)",
        "q(paddle.ones([1, 2])).sum().backward()",
        "q.to(dtype='float64').weight.grad.dtype",
    ],
    "gradients": [
        "l = nn.Linear(2, 2)",
        "l(paddle.ones([1, 2])).sum().backward()",
        "l.weight.grad.numpy()",
        "l.clear_gradients()",
        "l.weight.grad.numpy()",
        "l.clear_gradients(set_to_zero=False)",
        "l.weight.grad",
        "l(paddle.ones([1, 2])).sum().backward()",
        "l.zero_grad()",
        "l.weight.grad",
        "l(paddle.ones([1, 2])).sum().backward()",
        "l.zero_grad(set_to_none=False)",
        "l.weight.grad.numpy()",
        "l.requires_grad_(False) is l",
        "l.weight.stop_gradient, l(paddle.ones([1, 2])).stop_gradient",
        "l.requires_grad_().weight.stop_gradient",
    ],
    "default dtype": [
        "paddle.set_default_dtype('float64')",
        *[
            f"[(k, str(v.dtype)) for k, v in nn.{made}.state_dict().items()]"
            for made in (
                "Linear(2, 2)",
                "Conv2D(2, 2, 2)",
                "Conv1DTranspose(2, 2, 2)",
                "Conv2DTranspose(2, 2, 2)",
                "Conv3DTranspose(2, 2, 2)",
                "LSTMCell(2, 2)",
                "GRU(2, 2)",
                "BatchNorm2D(2)",
                "BatchNorm(2)",
                "LayerNorm(2)",
                "GroupNorm(2, 2)",
                "InstanceNorm2D(2)",
                "Embedding(2, 2)",
                "PReLU()",
                "Bilinear(2, 2, 2)",
                "SpectralNorm([2, 2])",
                "HSigmoidLoss(2, 3)",
                "AdaptiveLogSoftmaxWithLoss(8, 20, [5])",
                "MultiHeadAttention(4, 2)",
            )
        ],
        "nn.Linear(2, 2)",
        "nn.PReLU()",
        "nn.Layer().create_parameter([1]).dtype",
        "paddle.create_parameter([1], 'float32').dtype",
        "paddle.set_default_dtype('float32')",
        "nn.Conv2D(2, 2, 2, dtype='float64').weight.dtype",
        "nn.Embedding(3, 4, dtype='float64').weight.dtype",
        "nn.LayerNorm(3, device='cpu', dtype='float64').weight.dtype",
        "nn.GroupNorm(2, 4, dtype='float64').bias.dtype",
    ],
    "before super().__init__": [
        "A = type('A', (nn.Layer,), {'__init__': lambda self: setattr(self, 'x', nn.Linear(2, 2))})",
        "A()",
        "B = type('B', (nn.Layer,), {'__init__': lambda self: setattr(self, 'x', paddle.ones([2]))})",
        "B()",
        (
            "D = type('D', (nn.Layer,), {'__init__': lambda self: setattr(self, 'x', "
            "paddle.create_parameter([2], 'float32'))})"
        ),
        "D()",
        "E = type('E', (nn.Layer,), {'__init__': lambda self: setattr(self, 'x', 5)})",
        "E().x",
        "E().state_dict()",
    ],
    "unique names": [
        "un = paddle.utils.unique_name",
        "un.generate('fc'), un.generate('fc'), un.generate('fc_'), un.generate('')",
        "un.generate(5)",
        "g = un.guard('A_')",
        "g.__enter__()",
        "un.generate('fc'), un.generate('fc'), nn.Linear(2, 2).weight.name",
        "bool(g.__exit__(None, None, None))",
        "un.generate('fc')",
        "old = un.switch()",
        "len(old), un.generate('fc')",
        "len(un.switch(*old))",
        "un.generate('fc')",
        "nn.Linear(1, 1, weight_attr='mine').weight.name",
        "nn.Linear(1, 1, weight_attr='mine')",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    try:
        same(script, oracle, paddle)
    finally:
        oracle.set_default_dtype("float32")
        paddle.set_default_dtype("float32")


def test_deepcopy_and_pickle(paddle):
    net = paddle.nn.LSTM(4, 3)
    twin = copy.deepcopy(net)
    assert twin.weight_ih_l0 is not net.weight_ih_l0
    assert twin.weight_ih_l0 is twin[0].cell.weight_ih, "one parameter under two names stays one"
    assert twin.weight_ih_l0.name != net.weight_ih_l0.name
    assert pickle.loads(pickle.dumps(net)).state_dict().keys() == net.state_dict().keys()
    x = paddle.ones([1, 2, 4])
    np.testing.assert_array_equal(net(x)[0].numpy(), twin(x)[0].numpy())


def test_hook_helper_does_not_keep_the_layer_alive(paddle):
    layer = paddle.nn.ReLU()
    helper, gone = layer.register_forward_pre_hook(lambda layer, args: None), weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None
    helper.remove()


def test_loading_is_all_or_nothing(paddle):
    layer = paddle.nn.Linear(2, 2)
    before = layer.weight.numpy()
    with pytest.raises(AssertionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer.set_state_dict({"weight": np.full([2, 2], 5, "float32"), "bias": np.ones([2], "float64")})
    np.testing.assert_array_equal(layer.weight.numpy(), before)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_astype_casts(paddle, dtype):
    layer = paddle.nn.Linear(2, 2)
    layer.register_buffer("count", paddle.ones([1], dtype="int64"))
    layer.astype(dtype)
    assert [str(t.dtype) for t in layer.state_dict().values()] == [f"paddle.{dtype}"] * 2 + ["paddle.int64"]


def test_missing_names_warn(paddle):
    with pytest.warns(UserWarning, match="weight is not found"):
        paddle.nn.Linear(2, 2).set_state_dict({"bias": paddle.zeros([2])})


def test_an_embedding_trains_a_table_that_is_given(paddle):
    table = paddle.arange(6, dtype="float32").reshape([3, 2])
    layer = paddle.nn.Embedding(3, 2, _weight=table)
    assert layer(paddle.to_tensor([2, 0])).tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert [p is layer.weight for p in layer.parameters()] == [True]
