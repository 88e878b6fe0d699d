"""Calls: what is converted on the way."""

import functools

import numpy as np

from tests.jit.corpus.program import NEG, POS, layer, program

BUFFERS = "a file does not keep what buffers have become"
NOT_IN_FILES = dict.fromkeys(("loaded", "loaded_by_paddle", "stablehlo", "onnx"), BUFFERS)


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


@program([POS], [NEG])
def defaults_and_keywords(P, x):
    return sign_of(x.sum()) + sign_of(x[1], 3.0, shift=x[0]) + sign_of(x[2], shift=1.0)


@program([POS], [NEG])
def decorated_function(P, x):
    return decorated(x)


@program([POS], [NEG])
def function_under_no_grad(P, x):
    @P.no_grad()
    def level(t):
        if t.sum() > 0:
            return t.max()
        return t.min()

    return x * level(x)


@program([POS], [NEG])
def functions_given_to_paddle(P, x):
    class Gate(P.nn.Layer):
        def forward(self, t):
            return t.tanh() if t.sum() > 0 else t * t

    def twice(t):
        if t.max() > 2:
            return t * 2
        return t

    recompute = P.distributed.fleet.utils.recompute
    return recompute(twice, x * 1.0) + recompute(Gate(), x * 1.0)


@program([POS], [NEG])
def recursion(P, x):
    return power(x, 4)


@program([POS], [NEG])
def callable_object(P, x):
    return Scaler(x.mean())(x) + Scaler(2.0).moved(x)


@program([POS], [NEG])
def partial_map_and_lambda(P, x):
    scaled = functools.partial(sign_of, scale=0.5, shift=1.0)
    pick = lambda t, k=2: t * k if t > 0 else t  # noqa: E731
    return sum(map(scaled, x)) + sum(map(pick, x))


@program([POS], [NEG])
def comprehensions(P, x):
    rows = [v * 2 if v > 0 else v for v in x]
    table = {i: sign_of(v) for i, v in enumerate(x)}
    return P.stack(rows) + P.stack([table[i] for i in range(3)]) + sum(v * v if v > 1 else v for v in rows)


@program([POS], [NEG], refused="generators are not supported", refused_in_files="bool(Tensor)")
def generator_function(P, x):
    def parts():
        for i in range(3):
            yield x[i] * i

    total = x.sum()
    for part in parts():
        if part > 0:
            total = total + part
    return total


@program([POS], [NEG])
def nonlocal_names(P, x):
    count, last = 0, x

    def step(t):
        nonlocal count, last
        count += 1
        if t.sum() > 0:
            last = t * count
        return last

    return step(x) + step(-x) + last


@program([POS], [NEG])
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
            self.parts, self.more = (
                P.nn.Sequential(Gate(), P.nn.Tanh(), Gate()),
                P.nn.LayerList([Gate(), Gate()]),
            )

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


@layer([POS], [NEG], without=NOT_IN_FILES)
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
