"""One change of plain values, read in every form that code has."""

import functools

import numpy as np

import paddle_jax as paddle
from paddle_jax.nn import functional as F
from tests.jit.changes.cases import CASES, Box


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
