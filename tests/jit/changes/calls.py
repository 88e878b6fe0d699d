"""What functions read that are called, however deep, and the functions themselves."""

import functools

import paddle_jax as paddle
from tests.jit.changes.cases import Box, case

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


@case
def globals_by_name():
    _set("knob", 2.0)
    return (lambda x: x * globals()["knob"]), lambda: _set("knob", 3.0)
