"""Functions whose surroundings change between two calls: each gives (function of x, change). What changes is state of Python, of any kind.

After the change a compiled function gives what the function itself gives. `case` notes them in CASES by name.
"""

import argparse
import array
import collections
import contextvars
import dataclasses
import enum
import functools
import operator
import os
import sys
import threading
import types

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.nn import functional as F

CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


class Box:
    """A plain object."""

    def __init__(self, **values):
        self.__dict__.update(values)


# containers, at every depth -----------------------------------------------------------------------------------------------


KINDS = {
    "list": lambda v: [v], "dict": lambda v: {"k": v}, "object": lambda v: Box(k=v), "namespace": lambda v: types.SimpleNamespace(k=v),
    "tuple of list": lambda v: (v,), "ordered": lambda v: collections.OrderedDict(k=v), "default": lambda v: collections.defaultdict(int, k=v),
    "deque": lambda v: collections.deque([v]),
}


def nest(kind, depth, leaf):
    """leaf in `depth` containers of a kind; (outermost, innermost)."""
    inner = outer = [leaf] if kind == "tuple of list" else KINDS[kind](leaf)
    for _ in range(depth - 1):
        outer = KINDS[kind](outer)
    return outer, inner


def walk(thing, depth):
    for _ in range(depth):
        thing = thing.k if isinstance(thing, Box | types.SimpleNamespace) else thing["k"] if isinstance(thing, dict) else thing[0]
    return thing


def put(inner, value):
    if isinstance(inner, Box | types.SimpleNamespace):
        inner.k = value
    else:
        inner["k" if isinstance(inner, dict) else 0] = value


def _nested(kind, depth, where):
    def make():
        outer, inner = nest(kind, depth, 2.0)
        if where == "closure":
            return (lambda x: x * walk(outer, depth)), lambda: put(inner, 3.0)
        if where == "attribute":
            owner = Box(held=outer)
            return (lambda x: x * walk(owner.held, depth)), lambda: put(inner, 3.0)
        if where == "default":
            return (lambda x, held=outer: x * walk(held, depth)), lambda: put(inner, 3.0)
        layer = nn.Linear(2, 2)
        layer.held = outer
        return (lambda x: layer(x) * walk(layer.held, depth)), lambda: put(inner, 3.0)

    return make


for _kind in ("list", "dict", "object", "namespace", "tuple of list", "ordered", "default", "deque"):
    for _depth in (1, 3, 7):
        for _where in ("closure", "attribute", "default", "layer"):
            CASES[f"{_kind} {_depth} deep in a {_where}"] = _nested(_kind, _depth, _where)


# each kind of value, in each kind of place ----------------------------------------------------------------------------------


class Mode(enum.Enum):
    LOW, HIGH = 1, 2


@dataclasses.dataclass
class Config:
    scale: float = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


@dataclasses.dataclass(slots=True)
class Slots:
    scale: float = 2.0


Point = collections.namedtuple("Point", "a b")

VALUES = {  # how it is used, before, after
    "float": (lambda v: v, 2.0, 3.0),
    "int": (lambda v: v, 2, 3),
    "bool": (lambda v: 2.0 if v else 3.0, True, False),
    "complex": (lambda v: v.imag, 2j, 3j),
    "text": (lambda v: 2.0 if v == "relu" else 3.0, "relu", "tanh"),
    "bytes": (lambda v: float(v[0]), b"\2", b"\3"),
    "none": (lambda v: 2.0 if v is None else 3.0, None, 1),
    "enum": (lambda v: v.value + 1.0, Mode.LOW, Mode.HIGH),
    "tuple": (lambda v: v[1], (1.0, 2.0), (1.0, 3.0)),
    "namedtuple": (lambda v: v.b, Point(1.0, 2.0), Point(1.0, 3.0)),
    "frozen dataclass": (lambda v: v.scale, Frozen(), Frozen(3.0)),
    "range": (lambda v: float(len(v)), range(2), range(3)),
    "minus zero": (lambda v: 2.0 if str(v) == "0.0" else 3.0, 0.0, -0.0),
    "numpy number": (lambda v: float(v), np.float32(2), np.float32(3)),
    "numpy array": (lambda v: float(v[1]), np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    "frozenset": (lambda v: float(len(v)), frozenset("ab"), frozenset("abc")),
    "function": (lambda v: v(1.0), lambda a: a + 1, lambda a: a + 2),
    "partial": (lambda v: v(), functools.partial(float, 2), functools.partial(float, 3)),
    "class": (lambda v: v.scale, Config, type("Other", (), {"scale": 3.0})),
    "dtype": (lambda v: 2.0 if v == paddle.float32 else 3.0, paddle.float32, paddle.int32),
    "slice": (lambda v: float(sum([1, 2, 3][v])), slice(0, 2), slice(0, 3)),
}
setting = None


def as_member(value):
    return staticmethod(value) if isinstance(value, types.FunctionType) else value


def _placed(use, before, after, place):
    def make():
        if place == "global":
            globals()["setting"] = before
            return (lambda x: x * use(setting)), lambda: globals().__setitem__("setting", after)
        if place == "closure":
            value = before

            def change():
                nonlocal value
                value = after

            return (lambda x: x * use(value)), change
        if place == "class":
            cls = type("Holder", (), {"value": before})
            cls.value = as_member(before)
            holder = cls()
            return (lambda x: x * use(holder.value)), lambda: setattr(cls, "value", as_member(after))
        if place == "module":
            module = types.ModuleType("settings")
            module.value = before
            return (lambda x: x * use(module.value)), lambda: setattr(module, "value", after)
        layer = nn.Linear(2, 2)
        layer.value = before
        return (lambda x: layer(x) * use(layer.value)), lambda: setattr(layer, "value", after)

    return make


for _name, (_use, _before, _after) in VALUES.items():
    for _place in ("global", "closure", "class", "module", "layer"):
        CASES[f"{_name} in a {_place}"] = _placed(_use, _before, _after, _place)


# depth of calls -----------------------------------------------------------------------------------------------------------

knob = 2.0


def level1():
    return knob


def level2():
    return level1()


_level1 = level1


def level3():
    return level2()


def level4():
    return level3()


def level5():
    return level4()


def level6():
    return level5()


def _set(name, value):
    globals()[name] = value


@case
def a_global_six_calls_deep():
    _set("level1", _level1)  # another case puts another function there
    _set("knob", 2.0)
    return (lambda x: x * level6()), lambda: _set("knob", 3.0)


@case
def a_function_six_calls_deep():
    _set("knob", 2.0)
    before = level1
    _set("level1", lambda: 2.0)
    made = (lambda x: x * level6()), lambda: _set("level1", lambda: 3.0)
    del before
    return made


@case
def the_code_of_a_function():
    def helper(x):
        return x * 2

    def other(x):
        return x * 3

    return (lambda x: helper(x)), lambda: setattr(helper, "__code__", other.__code__)


@case
def the_defaults_of_a_function():
    def helper(x, n=2.0):
        return x * n

    return (lambda x: helper(x)), lambda: setattr(helper, "__defaults__", (3.0,))


@case
def keyword_defaults_of_a_function():
    def helper(x, *, n=2.0):
        return x * n

    return (lambda x: helper(x)), lambda: helper.__kwdefaults__.update(n=3.0)


@case
def an_attribute_of_a_function():
    def helper(x):
        return x * helper.n

    helper.n = 2.0
    return (lambda x: helper(x)), lambda: setattr(helper, "n", 3.0)


@case
def a_function_chosen_from_a_table():
    table = {"act": paddle.tanh}
    return (lambda x: table["act"](x)), lambda: table.update(act=paddle.exp)


@case
def a_list_of_functions():
    steps = [paddle.tanh, paddle.exp]

    def run(x):
        for step in steps:
            x = step(x)
        return x

    return run, lambda: steps.append(paddle.sin)


@case
def a_decorated_function():
    held = Box(scale=2.0)

    def scaled(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs) * held.scale

        return inner

    @scaled
    def helper(x):
        return x + 1

    return (lambda x: helper(x)), lambda: setattr(held, "scale", 3.0)


# classes and objects ------------------------------------------------------------------------------------------------------


class Base:
    scale = 2.0
    table = {"k": 2.0}
    items = [2.0]
    array = None

    def method(self):
        return 2.0

    @staticmethod
    def static():
        return 2.0

    @classmethod
    def of_class(cls):
        return 2.0

    @property
    def prop(self):
        return self._prop


def fresh():
    """A class of its own for each case."""
    made = types.new_class("Fresh", (), {}, lambda ns: ns.update({k: v for k, v in vars(Base).items() if k not in ("__dict__", "__weakref__")}))
    made.table, made.items, made.array = {"k": 2.0}, [2.0], np.array([2.0, 2.0])
    thing = made()
    thing._prop = 2.0
    return made, thing


def _of_class(read, change):
    def make():
        cls, thing = fresh()
        return (lambda x: x * read(thing)), lambda: change(cls, thing)

    return make


for _name, _read, _change in (
    ("a class attribute", lambda t: t.scale, lambda c, t: setattr(c, "scale", 3.0)),
    ("an attribute set over that of the class", lambda t: t.scale, lambda c, t: setattr(t, "scale", 3.0)),
    ("a dict of a class", lambda t: t.table["k"], lambda c, t: c.table.update(k=3.0)),
    ("a list of a class", lambda t: t.items[0], lambda c, t: c.items.__setitem__(0, 3.0)),
    ("an array of a class", lambda t: float(t.array.sum()), lambda c, t: c.array.fill(3.0)),
    ("a method patched on a class", lambda t: t.method(), lambda c, t: setattr(c, "method", lambda self: 3.0)),
    ("a method patched on an object", lambda t: t.method(), lambda c, t: setattr(t, "method", lambda: 3.0)),
    ("a static method patched", lambda t: t.static(), lambda c, t: setattr(c, "static", staticmethod(lambda: 3.0))),
    ("a class method patched", lambda t: t.of_class(), lambda c, t: setattr(c, "of_class", classmethod(lambda cls: 3.0))),
    ("a property patched", lambda t: t.prop, lambda c, t: setattr(c, "prop", property(lambda self: 3.0))),
    ("what a property reads", lambda t: t.prop, lambda c, t: setattr(t, "_prop", 3.0)),
    ("getattr with a name", lambda t: getattr(t, "sca" + "le"), lambda c, t: setattr(t, "scale", 3.0)),
    ("getattr with a default", lambda t: getattr(t, "new", 2.0), lambda c, t: setattr(t, "new", 3.0)),
    ("hasattr", lambda t: 2.0 if hasattr(t, "new") else 1.0, lambda c, t: setattr(t, "new", 3.0)),
    ("vars", lambda t: vars(t)["_prop"], lambda c, t: vars(t).update(_prop=3.0)),
    ("the dict of an object", lambda t: t.__dict__["_prop"], lambda c, t: t.__dict__.update(_prop=3.0)),
    ("an attrgetter", operator.attrgetter("_prop"), lambda c, t: setattr(t, "_prop", 3.0)),
    ("the class of an object", lambda t: t.method(), lambda c, t: setattr(t, "__class__", type("Sub", (c,), {"method": lambda self: 3.0}))),
    ("a method added to a base class", lambda t: t.items[0] if not hasattr(t, "later") else 3.0, lambda c, t: setattr(c, "later", 1)),
):
    CASES[_name] = _of_class(_read, _change)


@case
def a_slots_dataclass():
    held = Slots()
    return (lambda x: x * held.scale), lambda: setattr(held, "scale", 3.0)


@case
def a_dataclass():
    held = Config()
    return (lambda x: x * held.scale), lambda: setattr(held, "scale", 3.0)


@case
def an_argparse_namespace():
    args = argparse.Namespace(scale=2.0)
    return (lambda x: x * args.scale), lambda: setattr(args, "scale", 3.0)


@case
def a_user_dict():
    held = collections.UserDict(scale=2.0)
    return (lambda x: x * held["scale"]), lambda: held.update(scale=3.0)


@case
def a_chain_map():
    first, second = {}, {"scale": 2.0}
    held = collections.ChainMap(first, second)
    return (lambda x: x * held["scale"]), lambda: first.update(scale=3.0)


@case
def a_bytearray():
    held = bytearray(b"\2\2")
    return (lambda x: x * float(held[0])), lambda: held.__setitem__(0, 3)


@case
def an_array_of_the_array_module():
    held = array.array("d", [2.0])
    return (lambda x: x * held[0]), lambda: held.__setitem__(0, 3.0)


@case
def a_counter():
    held = collections.Counter(a=2)
    return (lambda x: x * held["a"]), lambda: held.update("a")


@case
def a_set():
    held = {1, 2}
    return (lambda x: x * len(held)), lambda: held.add(3)


@case
def membership():
    held = {"a"}
    return (lambda x: x * (2.0 if "b" in held else 3.0)), lambda: held.add("b")


@case
def an_own_class_with_getitem():
    class Table:
        def __init__(self):
            self.held = {"k": 2.0}

        def __getitem__(self, key):
            return self.held[key]

        def __len__(self):
            return len(self.held)

    table = Table()
    return (lambda x: x * table["k"] * len(table)), lambda: table.held.update(k=3.0)


@case
def an_own_class_with_len():
    class Table:
        size = 2

        def __len__(self):
            return self.size

    table = Table()
    return (lambda x: x * len(table)), lambda: setattr(table, "size", 3)


@case
def an_own_class_that_is_true_or_not():
    class Flag:
        on = True

        def __bool__(self):
            return self.on

    flag = Flag()
    return (lambda x: x * 2 if flag else x * 3), lambda: setattr(flag, "on", False)


@case
def an_own_iterable():
    class Items:
        def __init__(self):
            self.held = [1.0, 1.0]

        def __iter__(self):
            return iter(self.held)

    items = Items()
    return (lambda x: x * sum([i for i in items])), lambda: items.held.append(1.0)


@case
def an_own_descriptor():
    class Scale:
        value = 2.0

        def __get__(self, owner, cls):
            return self.value

    scale = Scale()
    thing = type("Owner", (), {"scale": scale})()
    return (lambda x: x * thing.scale), lambda: setattr(scale, "value", 3.0)


@case
def an_own_getattr():
    class Settings:
        def __init__(self):
            self.held = {"scale": 2.0}

        def __getattr__(self, name):
            return self.held[name]

    settings = Settings()
    return (lambda x: x * settings.scale), lambda: settings.held.update(scale=3.0)


@case
def an_own_operator():
    class Number:
        value = 2.0

        def __mul__(self, other):
            return other * self.value

    number = Number()
    return (lambda x: number * x), lambda: setattr(number, "value", 3.0)


@case
def an_own_equality():
    class Kind:
        value = 2

        def __eq__(self, other):
            return self.value == other

        __hash__ = None

    kind = Kind()
    return (lambda x: x * (2.0 if kind == 2 else 3.0)), lambda: setattr(kind, "value", 3)


@case
def a_cached_property_thrown_away():
    class Thing:
        base = 2.0

        @functools.cached_property
        def scale(self):
            return self.base

    thing = Thing()
    assert thing.scale == 2.0

    def change():
        thing.base = 3.0
        del thing.scale

    return (lambda x: x * thing.scale), change


@case
def a_super_method():
    class Upper:
        def scale(self):
            return 2.0

    class Lower(Upper):
        def scale(self):
            return super().scale() + 1

    thing = Lower()
    return (lambda x: x * thing.scale()), lambda: setattr(Upper, "scale", lambda self: 5.0)


@case
def a_private_attribute():
    class Thing:
        def __init__(self):
            self.__scale = 2.0

        def set(self, value):
            self.__scale = value

        def run(self, x):
            return x * self.__scale

    thing = Thing()
    return thing.run, lambda: thing.set(3.0)


@case
def an_object_that_is_called():
    class Thing:
        scale = 2.0

        def __call__(self, x):
            return x * self.scale

    thing = Thing()
    return (lambda x: thing(x)), lambda: setattr(thing, "scale", 3.0)


@case
def an_object_in_an_object_that_is_replaced():
    thing = Box(inner=Box(inner=Box(scale=2.0)))
    return (lambda x: x * thing.inner.inner.scale), lambda: setattr(thing.inner, "inner", Box(scale=3.0))


# the process --------------------------------------------------------------------------------------------------------------


@case
def an_environment_variable():
    os.environ["PADDLE_JAX_TEST_SCALE"] = "2"
    return (lambda x: x * float(os.environ["PADDLE_JAX_TEST_SCALE"])), lambda: os.environ.update(PADDLE_JAX_TEST_SCALE="3")


@case
def an_environment_variable_by_get():
    os.environ.pop("PADDLE_JAX_TEST_SCALE", None)
    return (lambda x: x * float(os.environ.get("PADDLE_JAX_TEST_SCALE", "2"))), lambda: os.environ.update(PADDLE_JAX_TEST_SCALE="3")


@case
def getenv():
    os.environ["PADDLE_JAX_TEST_SCALE"] = "2"
    return (lambda x: x * float(os.getenv("PADDLE_JAX_TEST_SCALE"))), lambda: os.environ.update(PADDLE_JAX_TEST_SCALE="3")


@case
def a_context_variable():
    scale = contextvars.ContextVar("scale")
    scale.set(2.0)
    return (lambda x: x * scale.get()), lambda: scale.set(3.0)


@case
def a_thread_local():
    held = threading.local()
    held.scale = 2.0
    return (lambda x: x * held.scale), lambda: setattr(held, "scale", 3.0)


@case
def an_import_inside():
    module = types.ModuleType("paddle_jax_test_settings")
    module.scale = 2.0
    sys.modules[module.__name__] = module

    def run(x):
        from paddle_jax_test_settings import scale  # pyright: ignore

        return x * scale

    return run, lambda: setattr(module, "scale", 3.0)


@case
def a_module_imported_inside():
    module = types.ModuleType("paddle_jax_test_settings")
    module.scale = 2.0
    sys.modules[module.__name__] = module

    def run(x):
        import paddle_jax_test_settings as settings  # pyright: ignore

        return x * settings.scale

    return run, lambda: setattr(module, "scale", 3.0)


@case
def globals_by_name():
    _set("knob", 2.0)
    return (lambda x: x * globals()["knob"]), lambda: _set("knob", 3.0)


# arrays -------------------------------------------------------------------------------------------------------------------


def _array_of(size, inside):
    def make():
        held = np.full([size], 2.0, "float32")
        owner = Box(held=held)
        read = (lambda: owner.held) if inside else (lambda: held)
        return (lambda x: x * paddle.to_tensor(read()).sum()), lambda: held.fill(3.0)

    return make


for _size in (1, 64, 65, 1000, 100_000):
    for _inside in (False, True):
        CASES[f"an array of {_size} changed in place{' in an object' if _inside else ''}"] = _array_of(_size, _inside)


@case
def one_element_of_an_array():
    held = np.arange(200.0)
    return (lambda x: x * float(held[150])), lambda: held.__setitem__(150, 1.0)


@case
def a_view_of_an_array():
    held = np.full([4], 2.0)
    view = held[1:3]
    return (lambda x: x * float(view[0])), lambda: held.fill(3.0)


# Layers, optimizers, schedulers -------------------------------------------------------------------------------------------


@case
def a_layer_in_a_deep_container():
    held = {"a": [({"b": [nn.Linear(2, 2)]},)]}
    return (lambda x: held["a"][0][0]["b"][0](x)), lambda: held["a"][0][0]["b"].__setitem__(0, nn.Linear(2, 2))


@case
def a_parameter_in_a_deep_container():
    held = {"a": [({"b": [paddle.ones([2])]},)]}
    return (lambda x: x * held["a"][0][0]["b"][0]), lambda: held["a"][0][0]["b"].__setitem__(0, paddle.full([2], 3.0))


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
    return (lambda x: layer(x) * (1 + layer.p)), lambda: setattr(layer, "p", 0.0 if layer.p else 1e-30) or setattr(layer, "p", 0.9999999)


@case
def a_hook_that_reads():
    layer, held = nn.Linear(2, 2), Box(scale=2.0)
    layer.register_forward_post_hook(lambda layer, x, y: y * held.scale)
    return (lambda x: layer(x)), lambda: setattr(held, "scale", 3.0)


@case
def a_flag():
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    return ((lambda x: x * (2.0 if paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"] else 3.0)),
            lambda: paddle.set_flags({"FLAGS_check_nan_inf": True}))


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


# forms of code ------------------------------------------------------------------------------------------------------------


def _form(function_of):
    """A case whose function reads `held.scale` in some form of code."""
    def make():
        held = Box(scale=2.0, items=[1.0, 1.0], table={"a": 1.0, "b": 1.0}, name="a", pairs=[(1.0, 2.0)])

        def change():
            held.scale = 3.0
            held.items.append(1.0)
            held.table["a"] = 2.0
            held.name = "b"
            held.pairs.append((3.0, 1.0))

        return function_of(held), change

    return make


def form(function_of):
    CASES["form: " + function_of.__name__] = _form(function_of)
    return function_of


@form
def in_a_try(held):
    def run(x):
        try:
            return x * held.scale
        finally:
            pass

    return run


@form
def after_an_exception(held):
    def run(x):
        try:
            return x * held.missing
        except AttributeError:
            return x * held.scale

    return run


@form
def in_a_with(held):
    def run(x):
        with paddle.no_grad():
            return x * held.scale

    return run


@form
def in_an_inner_function(held):
    def run(x):
        def inner():
            return held.scale

        return x * inner()

    return run


@form
def in_a_lambda(held):
    return lambda x: (lambda: x * held.scale)()


@form
def in_a_generator(held):
    def items():
        for item in held.items:
            yield item * held.scale

    return lambda x: x * sum(items())


@form
def in_a_comprehension(held):
    return lambda x: x * sum([i * held.scale for i in held.items])


@form
def in_a_dict_comprehension(held):
    return lambda x: x * sum({k: v * 2 for k, v in held.table.items()}.values())


@form
def with_a_key_that_is_computed(held):
    return lambda x: x * held.table["".join(["a"])]


@form
def with_a_name_as_key(held):
    held.table["b"] = 5.0
    return lambda x: x * held.table[held.name]


@form
def in_an_f_string(held):
    return lambda x: x * float(f"{held.scale}")


@form
def by_unpacking(held):
    return lambda x: x * sum(max(*held.items, held.scale) for _ in range(2))


@form
def by_unpacking_names(held):
    def weigh(a, b):
        return a + b

    return lambda x: x * weigh(**held.table)


@form
def by_taking_pairs_apart(held):
    def run(x):
        for a, b in held.pairs:
            x = x * a * b
        return x

    return run


@form
def in_a_while(held):
    def run(x):
        i = 0
        while i < held.scale:
            x, i = x * 1.5, i + 1
        return x

    return run


@form
def in_a_slice(held):
    held.three = [1.0, 2.0, 3.0, 4.0]
    return lambda x: x * sum(held.three[: int(held.scale)])


@form
def in_a_condition(held):
    return lambda x: x * 2 if held.scale > 2.5 else x * 3


@form
def in_and_and_or(held):
    return lambda x: x * (held.scale > 2.5 and 2.0 or 3.0)


@form
def in_a_chained_comparison(held):
    return lambda x: x * (2.0 if 1 < held.scale < 2.5 else 3.0)


@form
def by_len(held):
    return lambda x: x * len(held.items)


@form
def by_sorted_and_zip(held):
    return lambda x: x * sum(a * b for a, b in zip(sorted(held.items), held.table.values(), strict=False))


@form
def by_map(held):
    return lambda x: x * sum(map(lambda i: i * held.scale, held.items))


@form
def by_isinstance(held):
    held.scale = 2
    return lambda x: x * (2.0 if isinstance(held.scale, int) else 3.0)


@form
def by_a_walrus(held):
    return lambda x: x * (s if (s := held.scale) else 1.0)


@form
def by_reduce(held):
    return lambda x: x * functools.reduce(lambda a, b: a + b, held.items)


@form
def by_numpy(held):
    return lambda x: x * float(np.mean([held.scale, *held.items]))


@form
def given_to_paddle(held):
    return lambda x: x * paddle.to_tensor(held.items).sum()


@form
def given_to_a_functional(held):
    return lambda x: x * 7 * len(held.items) + F.leaky_relu(-x, held.scale)


@form
def on_tensors_with_control_flow(held):
    def run(x):
        if x.sum() > 1e9:
            y = x * 0
        else:
            y = x * held.scale
        return y

    return run


@form
def in_both_branches(held):
    def run(x):
        if x.sum() > 1e9:
            y = x * held.items[0]
        else:
            y = x * held.scale + len(held.items)
        return y

    return run


@form
def in_a_loop_over_a_tensor(held):
    def run(x):
        i = paddle.zeros([])
        while i < 2:
            x, i = x * held.scale, i + 1
        return x

    return run


@form
def in_a_match(held):
    def run(x):
        match held.scale:
            case 2.0:
                return x * 2
            case _:
                return x * 5

    return run


@form
def in_a_class_made_inside(held):
    def run(x):
        class Inner:
            scale = held.scale

        return x * Inner.scale

    return run


@form
def in_an_object_made_inside(held):
    class Thing:
        def __init__(self, scale):
            self.scale = scale

        def weigh(self, x):
            return x * self.scale * len(held.items)

    return lambda x: Thing(held.scale).weigh(x)


@form
def by_a_string_method(held):
    return lambda x: x * float(str(held.scale).strip())


@form
def by_dict_get(held):
    return lambda x: x * held.table.get("a", 0.0)


@form
def by_dict_items(held):
    def run(x):
        for _, value in held.table.items():
            x = x * value
        return x

    return run


@form
def by_any_and_all(held):
    return lambda x: x * 2 if all(v == 1.0 for v in held.table.values()) else x * 3


@form
def by_an_augmented_assignment(held):
    def run(x):
        total = 0.0
        for item in held.items:
            total += item
        return x * total

    return run


@form
def by_a_nested_subscript(held):
    held.grid = [[1.0, 2.0], [3.0, 4.0]]
    held.at = 0

    def run(x):
        return x * held.grid[int(held.scale) - 2][1]

    return run
