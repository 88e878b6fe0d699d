"""Functions whose control flow hangs on Tensors. Each takes the engine P (paddle_jax, or the real Paddle) and Tensors.

`@case(inputs, ...)`: a function and the argument lists it is called with; the first kind of loop or branch is not the last. `@layer(inputs, ...)`: a function that
builds a Layer. `why=`: no one program can do it; the text says what the error names.
"""

import functools
from typing import NamedTuple

import numpy as np

POS, NEG, BIG = np.array([1.0, -2.0, 3.0], "f4"), np.array([-1.0, 2.0, -3.0], "f4"), np.array([4.0, 5.0, 6.0], "f4")
CASES = {}


class Case(NamedTuple):
    """why: None, or what the refusal says. grad: whether gradients by floating inputs and parameters are compared. second: second ones too."""

    build: object
    inputs: list
    why: "str | None" = None
    grad: bool = True
    second: bool = False


def case(*inputs, **options):
    def add(function):
        CASES[function.__name__] = Case(lambda P: functools.partial(function, P), list(inputs), **options)
        return function

    return add


def layer(*inputs, **options):
    def add(build):
        CASES[build.__name__] = Case(build, list(inputs), **options)
        return build

    return add


# branches -------------------------------------------------------------------------------------------------------------


@case([POS], [NEG], [BIG], second=True)
def elif_chain_with_nested_if(P, x):
    s = x.sum()
    if s > 10:
        if x.max() > 5:
            y = x.tanh()
        else:
            y = x * 2
    elif s > 0:
        y = x * x
    else:
        y = x.exp()
    return y


@case([POS], [NEG], [BIG])
def returns_from_nested_ifs_with_other_arity_below(P, x):
    if x.sum() > 0:
        if x.max() > 5:
            return x, x + 1
        return x * 2, x
    y = x.abs()
    return y, y


@case([POS], [NEG])
def two_names_of_which_one_stays(P, x):
    a, b = x, x * 2
    if x.sum() > 0:
        b = a + b
    return a, b


@case([POS], [NEG])
def numbers_in_both_branches(P, x):
    if x.sum() > 0:
        scale, shift, flag = 2, 0.5, True
    else:
        scale, shift, flag = 3, 0.25, False
    if flag:
        x = x + 1
    return x * scale + shift


@case([POS], [NEG])
def number_against_tensor(P, x):
    bonus = 0
    if x.sum() > 0:
        bonus = x.mean()
    return x + bonus


@case([POS], [NEG])
def values_by_and_or(P, x):
    positive = x.sum() > 0
    y = (positive and x.max() > 2.5) or x.min() < -2.5
    return x + 1 if y else x - 1


@case([POS], [NEG])
def and_of_tensor_and_python_values(P, x, training=True):
    if x.sum() > 0 and training and not (x.max() > 100 or not training):
        return x * 3
    return x


@case([POS], [NEG], [BIG])
def chained_comparison_in_a_ternary(P, x):
    return x * 2 if -1 < x.sum() <= 2 else (x * 3 if x.sum() > 2 else -x)


@case([POS], [NEG])
def nested_structures(P, x):
    out = {"a": x, "b": [x, (x, 1)]}
    if x.sum() > 0:
        out = {"a": x * 2, "b": [x, (x + 1, 1)]}
    return out["a"] + out["b"][0] * out["b"][1][0] * out["b"][1][1]


@case([POS], [NEG])
def dict_items_and_new_keys(P, x):
    d = {"x": x}
    if x.sum() > 0:
        d["x"] = x * 2
        d["y"] = x + 1
    else:
        d["y"] = x
    return d["x"] + d["y"]


class Holder:
    """An object with attributes."""


@case([POS], [NEG])
def attributes(P, x):
    holder = Holder()
    holder.value, holder.inner = x, Holder()
    holder.inner.value = x
    if x.sum() > 0:
        holder.value = x * 2
        holder.inner.value = holder.value * x
    return holder.value + holder.inner.value


@case([POS], [NEG])
def in_place_in_both_branches(P, x):
    y = x * 1.0
    if x.sum() > 0:
        y[0] = x[1] * 5
        y.add_(x)
    else:
        y[1:] = x[:-1] * x[:-1]
    return y * y


@case([POS], [NEG])
def in_place_in_one_branch_of_a_called_function(P, x):
    def fill(t):
        if t.sum() > 0:
            t.multiply_(P.to_tensor(3.0))
            t[2] = 0.0

    y = x + 0.5
    fill(y)
    return y


@case([POS], [NEG])
def statements_around(P, x):
    try:
        with P.no_grad():
            if x.sum() > 0:
                shift = x.mean()
            else:
                shift = x.max()
        if x.min() < -2.5:
            y = x * shift
        else:
            y = x / 2
    finally:
        y = y + 1
    return y


@case([POS], [NEG])
def no_grad_inside_a_branch(P, x):
    if x.sum() > 0:
        with P.no_grad():
            scale = x * x
        y = scale * x
    else:
        y = x * x.detach()
    return y


@case([POS], [NEG])
def assertions_that_hold(P, x):
    assert (x * x).sum() > 0, f"squares of {x.shape} are positive"
    assert x.shape[0] == 3
    if x.sum() > 0:
        assert x.max() > 0
        return x
    return -x


@case([POS], [NEG])
def conversions_to_numbers(P, x):
    n, s, t = int(x.max()), float(x.sum()), bool(x.sum() > 0)
    if isinstance(x, P.Tensor) and len(x) == 3 and t:
        s = s + n
    return x * s + int(x.shape[0])


@case([POS], [NEG])
def item_of_a_sum(P, x):
    if x.sum().item() > 0:
        return x * x.max().item()
    return x


@case([POS], [NEG])
def maximum_by_hand_then_tensor_minimum(P, x):
    best = x[0]
    for v in x:
        if v > best:
            best = v
    return best * P.minimum(x[0], best)


@case([POS], [NEG], second=True)
def gradient_taken_inside_a_branch(P, x):
    y = (x * x * x).sum()
    if x.sum() > 0:
        (g,) = P.grad(y, [x], create_graph=True)
    else:
        g = x * 2
    return g * x


@case([POS], [NEG])
def name_of_one_branch_and_shapes(P, x):
    if x.shape[0] > 2 and x.ndim == 1:
        x = x.reshape([-1, 1])
    if x.sum() > 0:
        helper = x * 2
        y = helper + 1
    else:
        y = x
    return y


@case([POS], [NEG])
def list_of_fixed_length(P, x):
    parts = []
    for i in range(3):
        parts.append(x * i if x.sum() > 0 else x)
    parts[1] = parts[1] + 1
    return P.stack(parts).sum(0)


@case([POS], [NEG])
def exceptions_that_the_code_catches(P, x):
    try:
        if x.sum() > 0:
            y = x * 2
        else:
            y = x * 3
        y = y + P.ones([2, 5])
    except ValueError:
        y = x - 1
    return y


@case([POS], [NEG])
def deleted_and_global_names(P, x):
    part = x * 2
    if x.sum() > FACTOR:
        y = part
    else:
        y = x
    del part
    return y * FACTOR


FACTOR = 0.5


@case([POS], [NEG])
def own_derivative_in_a_branch(P, x):
    class Rounded(P.autograd.PyLayer):
        @staticmethod
        def forward(ctx, t):
            return t.round()

        @staticmethod
        def backward(ctx, g):
            return g * 10

    if x.sum() > 0:
        y = Rounded.apply(x * 1.3)
    else:
        y = x
    return y * y


@case([POS], [NEG], [BIG])
def builtin_functions(P, x):
    low, high = min(x[0], x[1], 2.0), max(x)
    if any([low > 1.5, high > 5.5]) or all([x[0] < 0, x[1] > 0]):
        return low * high
    return low + high + abs(x[1])


# calls ----------------------------------------------------------------------------------------------------------------


def sign_of(x, scale=2.0, *, shift=0.0):
    """Called with defaults and keywords."""
    if x > 0:
        return x * scale + shift
    return x - scale


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@doubled
def decorated(x):
    if x.sum() > 0:
        return x
    return x * x


def power(x, n):
    """Recursion over a number, with a condition on a tensor in each step."""
    if n == 0:
        return x * 0 + 1
    below = power(x, n - 1)
    if below.sum() > 2:
        return below
    return below * x


class Scaler:
    """A callable object with methods of all kinds."""

    factor = 3.0

    def __init__(self, bias):
        self.bias = bias

    def __call__(self, x):
        if x.sum() > 0:
            return self.moved(x)
        return self.halved(x) + self.of_class(x)

    def moved(self, x):
        if x.max() > 2:
            return x + self.bias
        return x

    @staticmethod
    def halved(x):
        return x / 2 if x.max() > 1 else x

    @classmethod
    def of_class(cls, x):
        if x.min() < -2:
            return x * cls.factor
        return x


@case([POS], [NEG])
def defaults_and_keywords(P, x):
    return sign_of(x.sum()) + sign_of(x[1], 3.0, shift=x[0]) + sign_of(x[2], shift=1.0)


@case([POS], [NEG])
def decorated_function(P, x):
    return decorated(x)


@case([POS], [NEG])
def function_under_no_grad(P, x):
    @P.no_grad()
    def level(t):
        if t.sum() > 0:
            return t.max()
        return t.min()

    return x * level(x)


@case([POS], [NEG])
def recursion(P, x):
    return power(x, 4)


@case([POS], [NEG])
def callable_object(P, x):
    return Scaler(x.mean())(x) + Scaler(2.0).moved(x)


@case([POS], [NEG])
def partial_map_and_lambda(P, x):
    scaled = functools.partial(sign_of, scale=0.5, shift=1.0)
    pick = lambda t, k=2: t * k if t > 0 else t  # noqa: E731
    return sum(map(scaled, x)) + sum(map(pick, x))


@case([POS], [NEG])
def comprehensions(P, x):
    rows = [v * 2 if v > 0 else v for v in x]
    table = {i: sign_of(v) for i, v in enumerate(x)}
    return P.stack(rows) + P.stack([table[i] for i in range(3)]) + sum(v * v if v > 1 else v for v in rows)


@case([POS], [NEG], why="generators are not supported")
def generator_function(P, x):
    def parts():
        for i in range(3):
            yield x[i] * i

    total = x.sum()
    for part in parts():
        if part > 0:
            total = total + part
    return total


@case([POS], [NEG])
def nonlocal_names(P, x):
    count, last = 0, x

    def step(t):
        nonlocal count, last
        count += 1
        if t.sum() > 0:
            last = t * count
        return last

    return step(x) + step(-x) + last


@case([POS], [NEG])
def closure_over_a_loop_variable(P, x):
    functions = [lambda t, k=k: t * k if t.sum() > 0 else t for k in range(3)]
    for f in functions:
        x = x + f(x)
    return x


@layer([POS], [NEG])
def layer_with_methods(P):
    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.up, self.down = P.nn.Linear(3, 2), P.nn.Linear(3, 2)
            self.limit = 1.5

        def forward(self, x):
            if x.sum() > 0:
                y = self.up(x)
            else:
                y = self.down(x)
            return self.clipped(y)

        def clipped(self, y):
            if y.max() > self.limit:
                return y.tanh()
            return y

    return Net()


@layer([POS], [NEG])
def layer_with_super_and_private_names(P):
    class Base(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = P.nn.Linear(3, 3)

        def forward(self, x):
            if x.sum() > 0:
                return self.linear(x)
            return x

    class Net(Base):
        def __init__(self):
            super().__init__()
            self.__scale = 2.0

        def __scaled(self, y):
            return y * self.__scale

        def forward(self, x: "P.Tensor") -> "P.Tensor":
            y: P.Tensor = super().forward(x)
            for _ in range(2):
                if y.sum() > 0:
                    y = super().forward(y)
                else:
                    y = self.__scaled(y)
            return y

    return Net()


@layer([POS], [NEG])
def layers_in_a_sequential(P):
    class Gate(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = P.nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(x) if x.sum() > 0 else x * 0.5

    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts, self.more = P.nn.Sequential(Gate(), P.nn.Tanh(), Gate()), P.nn.LayerList([Gate(), Gate()])

        def forward(self, x):
            x = self.parts(x)
            for part in self.more:
                x = part(x)
            return x

    return Net()


@layer([POS], [NEG])
def sequential_alone(P):
    class Gate(P.nn.Layer):
        def forward(self, x):
            return x * 2 if x.sum() > 0 else x * 0.5

    return P.nn.Sequential(Gate(), P.nn.Linear(3, 2))


@layer([np.arange(12, dtype="f4").reshape(4, 3)], [-np.arange(12, dtype="f4").reshape(4, 3)])
def batch_norm_in_a_branch(P):
    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm = P.nn.BatchNorm1D(3)

        def forward(self, x):
            if x.sum() > 0:
                x = self.norm(x)
            return x * x

    return Net()


@layer([POS], [NEG])
def state_in_buffers(P):
    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", P.zeros([]))
            self.register_buffer("low", P.zeros([3]))

        def forward(self, x):
            if x.sum() > 0:
                self.seen += 1
            else:
                self.low = P.minimum(self.low, x)
            return x * self.seen + self.low

    return Net()


# loops ----------------------------------------------------------------------------------------------------------------


@case([POS], [NEG], second=True)
def while_with_gradients(P, x):
    y = x * 0.5
    i = P.zeros([])
    while i < x.max():
        y = y * x.tanh() + 0.1 * x
        i = i + 1
    return y


@case([POS, 5], [NEG, 0], [BIG, 70], second=True)
def range_of_a_tensor(P, x, n):
    y = x * 0.1
    for _ in range(n):
        y = y + (y * x).sin() * 0.1
    return y


@case([POS, 7, 1, 2], [POS, 1, 7, 2], [POS, 3, 9, 3])
def range_with_bounds(P, x, stop, start, step):
    y = x * 0
    for i in range(start, stop, step):
        y = y + x * i
    return y


@case([POS, 7], [POS, 2])
def range_backwards(P, x, n):
    y = x * 0
    for i in range(n, 1, -2):
        y = y * 0.5 + x * i
    return y


@case([POS, 4], [NEG, 1])
def range_reversed(P, x, n):
    y = x * 0
    for i in reversed(range(1, n)):
        y = y * 0.5 + x * i
    return y


@case([POS, 9], [BIG, 9])
def break_continue_and_what_is_left(P, x, n):
    total = x.sum() * 0
    i = -1
    for i in range(n):
        if i % 2 == 0:
            continue
        total = total + x.sum() * i
        if total > 20:
            break
    return total, total * i


@case([POS, 9], [BIG, 9], [NEG, 3])
def return_out_of_a_loop(P, x, n):
    for i in range(n):
        x = x + 1
        if x.sum() > 10 + i:
            return x * 2
    return x


@case([POS], [NEG], [BIG])
def return_out_of_while_true(P, x):
    i = 0
    while True:
        x = x * 0.5
        i = i + 1
        if x.abs().max() < 0.3:
            return x * i


@case([POS], [BIG])
def while_with_else(P, x):
    i = P.zeros([])
    while i < 4:
        i = i + 1
        if i * x.sum() > 20:
            break
    else:
        i = i + 100
    return i


@case([POS], [NEG])
def for_with_else(P, x):
    for v in x:
        if v > 2.5:
            y = v
            break
    else:
        y = x.sum()
    return y


@case([POS, 3, 2], [NEG, 2, 4])
def nested_loops(P, x, n, m):
    total = x * 0
    for i in range(n):
        j = 0
        while j < m:
            if (x.sum() > 0 and j == 1) or i == 1:
                total = total + x * i
            else:
                total = total + x * x * j
            j = j + 1
    return total


@case([POS, 3], [NEG, 4])
def loop_in_branch_in_loop(P, x, n):
    for i in range(n):
        if x.sum() > 0:
            k = P.zeros([])
            while k < 2:
                x = x * 0.9
                k = k + 1
        else:
            x = x + i + 1
    return x


@case([POS, 4], [NEG, 1])
def numbers_that_become_tensors(P, x, n):
    s, count, factor = 0, 0, 1.0
    for i in range(n):
        s = s + x.sum()
        count += 1
        factor *= 0.5
    return s * factor + count


@case([POS, 4], [NEG, 6])
def several_kinds_of_state(P, x, n):
    state = {"h": x, "pair": (x * 0, [x])}
    holder = Holder()
    holder.best = x.max()
    for i in range(n):
        h = (state["h"] * 0.5 + x).tanh()
        state = {"h": h, "pair": (state["pair"][0] + h, [h])}
        if h.max() > holder.best:
            holder.best = h.max()
    return state["pair"][0] + state["pair"][1][0] * holder.best


@case([POS, 4], [NEG, 2])
def writing_into_a_buffer(P, x, n):
    out = P.zeros([6])
    previous = x.sum()
    for i in range(n):
        previous = previous * 0.5 + x[i % 3]
        out[i] = previous
    return out


@case([POS, 4], [NEG, 2])
def in_place_in_a_loop(P, x, n):
    y = x * 1.0
    z = y
    for _ in range(n):
        y.add_(x * 0.5)
        if y.sum() > 0:
            y[0] = x[1] * x[0]
    return z


@case([POS, 4], [NEG, 2])
def detach_in_a_loop(P, x, n):
    y = x * 1.0
    for _ in range(n):
        y = y.detach() * x + y * 0.1
    return y


@case([POS, 4], [NEG, 2])
def only_some_state_needs_a_gradient(P, x, n):
    with P.no_grad():
        level = x * 2
    s = P.zeros([3])
    for _ in range(n):
        level = level * 0.5
        s = s + level * x
    return s, level


@case([POS], [NEG])
def rows_of_a_tensor(P, x):
    s = x.sum() * 0
    for i, (u, v) in enumerate(zip(x, reversed(x), strict=True)):
        if u > v:
            s = s + u * i
    return s


@case([np.linspace(-1, 1, 100, dtype="f4")], [np.linspace(1, -3, 100, dtype="f4")], second=True)
def many_rows(P, x):
    s = x[0] * 0
    for v in x:
        if v > 0:
            s = s * 0.9 + v * v
        else:
            s = s - v
    return s


@case([np.linspace(-1, 1, 70, dtype="f4")])
def many_rows_into_a_list(P, x):
    found, s = [], x[0] * 0
    for v in x:
        s = s * 0.5 + v
        found.append(s)
    if x[0] > 0:
        s = s * 2
    return P.stack(found) * s


@case([POS], [BIG])
def newton(P, x):
    target = x * x + 1
    y = target / 2
    while ((y * y - target).abs() > 1e-3).any():
        y = 0.5 * (y + target / y)
    return y


@case([BIG], [POS])
def while_with_or_and_not(P, x):
    i = P.zeros([])
    while (not i > 3) or (i * i < x.max() and i < 100):
        i = i + 1
    return i * x


@layer([POS, 3], [NEG, 2], second=True)
def recurrent_layer(P):
    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = P.nn.Linear(3, 3)
            self.h = None

        def forward(self, x, n):
            self.h = x
            for _ in range(n):
                self.h = (self.linear(self.h) + x).tanh()
                if self.h.sum() > 1:
                    self.h = self.h * 0.5
            out, self.h = self.h, None
            return out

    return Net()


@layer([np.ones((4, 3), "f4"), 3], [np.arange(12, dtype="f4").reshape(4, 3), 2])
def batch_norm_in_a_loop(P):
    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm = P.nn.BatchNorm1D(3)

        def forward(self, x, n):
            for i in range(n):
                x = self.norm(x + i * i * x * x) + x
            return x

    return Net()


@case([POS, 4], [NEG, 2], grad=False)
def integers(P, x, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    while b > 1 and b % 2 == 1:
        b = b // 2
    return a, b


@case([np.array([3, 1, 2], "i4")], [np.array([-3, 1, -2], "i4")], grad=False)
def bubble_sort(P, x):
    for i in range(3):
        for j in range(2 - i):
            if x[j] > x[j + 1]:
                low, high = x[j + 1].clone(), x[j].clone()
                x[j] = low
                x[j + 1] = high
    return x


# what no one program can do -------------------------------------------------------------------------------------------


@case([POS], [NEG], why="y is None and a Tensor of float32[3]")
def none_in_one_branch(P, x):
    y = None
    if x.sum() > 0:
        y = x
    return x if y is None else y


@case([POS], [NEG], why="float32[3] and a Tensor of float32[6]")
def other_shape(P, x):
    if x.sum() > 0:
        return x
    return P.concat([x, x])


@case([POS], [NEG], why="a Tensor of float32[3] and a Tensor of int32[3]", grad=False)
def other_dtype(P, x):
    if x.sum() > 0:
        return x
    return x.astype("int32")


@case([POS], [NEG], why="the number 0.5 and a Tensor of int64[]", grad=False)
def number_that_does_not_fit(P, x):
    n = x.astype("int64").sum()
    if x.sum() > 0:
        n = 0.5
    return x * n


@case([POS, 3], [NEG, 2], why="the list 'found' is changed", grad=False)
def list_that_grows(P, x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    return P.stack(found)


@case([POS], [NEG], why="the list 'found' is changed")
def list_changed_in_one_branch(P, x):
    found = [x]
    if x.sum() > 0:
        found.append(x * 2)
    return sum(found)


@case([POS], [NEG], why="an attribute of 'holder' is changed")
def attribute_set_by_a_called_function(P, x):
    holder = Holder()
    holder.n = 0

    def bump():
        holder.n += 1
        return holder.n

    if x.sum() > 0:
        x = x + bump()
    return x * holder.n


@case([POS], [NEG], why="returns nothing on one of its ways")
def no_return_on_one_way(P, x):
    def half(t):
        if t.sum() > 0:
            return t / 2
        t = t + 1

    y = half(x)
    return x if y is None else y


@case([POS], [NEG], why="the result hangs on the value of a tensor")
def refusal_that_the_code_catches(P, x):
    try:
        scale = float(np.asarray(x).sum())
    except Exception:
        scale = 100.0
    return x * scale


@case([POS], [NEG], why="an attribute of 'holder' is changed")
def attribute_that_only_one_branch_makes(P, x):
    holder = Holder()

    def keep(y):
        holder.kept = y

    if x.sum() > 0:
        keep(x)
    return holder.kept if hasattr(holder, "kept") else x * 2


@case([POS], [NEG], why="d['y'] exists after one branch of a condition on a tensor only")
def item_that_only_one_branch_makes(P, x):
    d = {"x": x}
    if x.sum() > 0:
        d["y"] = x * 2
    return sum(d.values())


@case([POS, 2], [NEG, 3], why="changes a Tensor in place and then gives its name")
def tensor_changed_and_replaced(P, x, n):
    y = x * 1.0
    z = y
    for _ in range(n):
        y.multiply_(x)
        y = y + 1
    return y, z


@case([POS], [NEG], why="two Tensors hold the same values")
def shared_values_with_own_gradients(P, x):
    y = x * 1.0
    z = y.detach()
    z.stop_gradient = False
    if x.sum() > 0:
        w = (y * z * z).sum()
    else:
        w = y.sum() + z.sum()
    (g,) = P.grad(w, [z], retain_graph=True)
    return w, g


@case([POS], [NEG], why="the variable 'h' is changed")
def variable_changed_by_a_condition(P, x):
    h = x

    def step():
        nonlocal h
        h = h * 0.5
        return h.abs().sum()

    k = 0
    while step() > 1 and k < 4:
        k += 1
    return h


@case([POS], [NEG], why="a recursion ends depending on a tensor")
def recursion_without_a_known_end(P, x):
    def halved(t):
        if t.abs().max() < 0.1:
            return t
        return halved(t / 2)

    return halved(x)


@case([POS], [NEG], why="register_hook is called inside")
def hook_in_a_branch(P, x):
    y = x * 2
    if x.sum() > 0:
        z = y * 1.0
        z.register_hook(lambda g: g * 10)
        y = z * 3
    return y


@case([POS, 2], [NEG, 3], why="start with the shape and dtype it ends with", grad=False)
def shape_that_grows(P, x, n):
    for _ in range(n):
        x = P.concat([x, x])
    return x


@case([POS, 2], [NEG, 3], why="start with a Tensor of that shape")
def number_that_becomes_a_vector(P, x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s


@case([POS], [NEG], why="the result hangs on the value of a tensor")
def shape_that_hangs_on_a_value(P, x):
    n = int(x.max())
    return P.ones([n]) * x.sum()


@case([POS], [NEG], why="the result hangs on the value of a tensor")
def numpy_of_a_tensor(P, x):
    if x.sum() > 0:
        return x * float(np.median(x.numpy()))
    return x
