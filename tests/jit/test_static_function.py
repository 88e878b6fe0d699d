"""What a compiled function tells about itself, as programs for Paddle ask it."""

import copy
import gc
import types
import weakref

import pytest

import paddle_jax as paddle
from paddle_jax.jit.concrete import ConcreteProgram
from paddle_jax.jit.function import StaticFunction
from paddle_jax.static import InputSpec


def add(a, b, c=1, d=2):
    return a + b


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 3)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 4], "float32")])
    def forward(self, x, scale=1):
        return self.fc(x)

    @paddle.jit.to_static(input_spec=[[InputSpec([None]), {"y": InputSpec([None, 4]), "x": InputSpec([4])}]])
    def nested(self, parts):
        return parts[0] + (parts[1]["x"] + parts[1]["y"]).sum()

    def plain(self, x):
        return x + 1


def test_inputs_are_called_by_their_arguments():
    net = Net()
    assert [i.name for i in net.forward.inputs] == ["x"] and list(net.forward.inputs[0].shape) == [-1, 4]
    assert [i.name for i in net.nested.inputs] == ["parts_0", "x", "y"]  # of dicts in the order of their keys
    assert [list(o.shape) for o in net.forward.outputs] == [[-1, 3]]


def test_programs_are_of_one_object():
    one, two = Net(), Net()
    assert isinstance(one.forward.concrete_program, ConcreteProgram)
    assert one.forward is not two.forward
    assert (len(one.forward.program_cache), len(two.forward.program_cache)) == (1, 0)
    one(paddle.ones([2, 4]))
    assert len(one.forward.program_cache) == 1


def test_one_static_program_for_equal_arguments():
    compiled = paddle.jit.to_static(add)
    wide, narrow = InputSpec([None, 10], "float32"), InputSpec([10], "float32")
    first, run = compiled.get_concrete_program(wide, narrow)
    assert run(paddle.ones([1]), paddle.ones([1])).item() == 2
    assert compiled.get_concrete_program(wide, narrow, 1, 2)[0] is first
    assert compiled.get_concrete_program(wide, b=narrow, d=2)[0] is first
    assert len(compiled.program_cache) == 1
    assert compiled.get_concrete_program(wide, narrow, c=2)[0] is not first
    assert compiled.get_concrete_program(narrow, narrow)[0] is not first
    assert len(compiled.program_cache) == 3
    with pytest.raises(ValueError):
        compiled.get_concrete_program(narrow)
    with pytest.raises(TypeError):
        compiled.get_concrete_program(narrow, narrow, e=4)


def test_the_last_program_is_that_of_the_last_call():
    compiled = paddle.jit.to_static(add)
    x = paddle.ones([2])
    compiled(x, x)
    first = compiled.program_cache.last()
    assert compiled.program_cache.concrete_programs() == [first[1][0]]
    compiled(x, x, 3)
    assert compiled.program_cache.last() != first
    compiled(x, x)
    assert compiled.program_cache.last() == first and compiled.concrete_program is first[1][0]


def test_a_static_program_is_made_in_dynamic_mode_only():
    net = Net()
    paddle.enable_static()
    try:
        for name in ("concrete_program", "inputs", "outputs", "main_program"):
            with pytest.raises(RuntimeError, match="only available in dynamic mode"):
                getattr(net.forward, name)
    finally:
        paddle.disable_static()
    with pytest.raises(ValueError):
        paddle.jit.to_static(add).concrete_program  # noqa: B018


def test_other_input_specs_replace_the_first():
    compiled = paddle.jit.to_static(add, input_spec=[InputSpec([3], name="p"), InputSpec([3], name="q")])
    other = paddle.jit.to_static(compiled, input_spec=[InputSpec([None]), InputSpec([None])])
    assert [i.name for i in compiled.inputs] == ["p", "q"] and [i.name for i in other.inputs] == ["a", "b"]
    layer = paddle.jit.to_static(paddle.nn.Linear(4, 2), input_spec=[InputSpec([8, 4])])
    layer = paddle.jit.to_static(layer, input_spec=[InputSpec([None, 4])])
    assert list(layer.forward.inputs[0].shape) == [-1, 4] and layer.forward.class_instance is layer
    assert paddle.jit.to_static(layer).forward is layer.forward


def test_copies_and_rollback():
    compiled = paddle.jit.to_static(add)
    assert copy.deepcopy(compiled) is add and compiled.rollback() is add
    net = Net()
    net.plain = paddle.jit.to_static(net.plain)
    twin = copy.deepcopy(net)
    assert isinstance(twin.plain, StaticFunction) and twin.plain.class_instance is twin
    assert isinstance(twin.plain.rollback(), types.MethodType)
    for name in ("plain", "forward", "nested"):
        method = getattr(net, name).rollback()
        assert isinstance(method, types.MethodType) and isinstance(getattr(net, name), types.MethodType)
    assert isinstance(Net.forward, StaticFunction) and isinstance(Net().forward, StaticFunction)
    assert net(paddle.ones([1, 4])).tolist() == net.fc(paddle.ones([1, 4])).tolist()


def test_training_is_a_matter_of_the_layer():
    compiled = paddle.jit.to_static(add)
    compiled.eval()
    assert compiled._training is False
    compiled.train()
    assert compiled._training is True
    net = Net()
    with pytest.raises(RuntimeError):
        net.forward.eval()
    net.eval()
    assert not net.training


def test_marks():
    marker = paddle.jit.marker

    @marker.force_dynamic
    def asks(x):
        return x * x.item()

    compiled = paddle.jit.to_static(lambda x: asks(x) + 1)
    with pytest.warns(UserWarning, match="force_dynamic"):
        assert compiled(paddle.to_tensor(2.0)).item() == 5
    assert marker.unified(add) is add and marker.capture_control_flow(asks) is asks
    with pytest.raises(TypeError):
        marker.force_dynamic(3)


@pytest.mark.parametrize("name", ["set_verbosity", "set_code_level"])
def test_settings_of_logging_are_checked(name):
    setting = getattr(paddle.jit, name)
    with pytest.raises(TypeError):
        setting(3.3)
    with pytest.raises(AssertionError):
        setting(also_to_stdout=1)
    setting(None)


inner = outer = observed = 3.0


def test_globals_may_be_called_anything():
    def function(x):
        y = x * inner + outer
        return y * observed if y.sum() > 0 else y

    for full_graph in (False, True):
        compiled = paddle.jit.to_static(function, full_graph=full_graph)
        for k in (1.0, -5.0):
            assert compiled(paddle.to_tensor([k])).tolist() == function(paddle.to_tensor([k])).tolist()


class Adds:
    def __init__(self, k):
        self.k = k

    @paddle.jit.to_static
    def add(self, x):
        return x + self.k


def test_a_method_keeps_its_object_alive():
    assert [Adds(k).add(paddle.ones([1])).item() for k in (1.0, 2.0, 3.0)] == [2, 3, 4]
    adds = Adds(1.0)
    assert adds.add is adds.add and adds.add.class_instance is adds
    adds.add(paddle.ones([1]))
    assert len(adds.add.program_cache) == 1
    other = Adds(2.0)
    alive = weakref.ref(other)
    assert other.add is not adds.add
    del other
    gc.collect()
    assert alive() is None
