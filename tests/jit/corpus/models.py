"""Layers with control flow on the values of Tensors or on lengths that are not fixed, for the files of both
engines."""

from collections.abc import Callable

import numpy as np

from tests.jit.corpus.program import layer

_DRAWN = np.random.RandomState(0)
# rows of three numbers: several lengths, small and large numbers
INPUTS = [_DRAWN.randn(length, 3).astype("f4") * scale for length in (1, 2, 5) for scale in (0.5, -1, 3)]
INPUTS += [np.full((3, 3), number, "f4") for number in (0.5, -0.5)]


def model(counts: bool = False, not_saved_by_paddle: str | None = None, **special) -> Callable:
    """Adds a function that builds a Layer of rows.

    Args:
        counts: whether forward takes a number beside them.
        not_saved_by_paddle: why the real Paddle cannot save it, or saves something else.
    """
    inputs = [[x, np.array(i % 4)] if counts else [x] for i, x in enumerate(INPUTS)]
    more = () if not_saved_by_paddle else ("loaded_from_paddle",)
    return layer(*inputs, shapes=[[None, 3], []], more=more, **special)


def _base(P):
    class Base(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = P.nn.Linear(3, 3), P.nn.Linear(3, 3)

    return Base


@model()
def if_elif_else(P):
    class Net(_base(P)):
        def forward(self, x):
            if x.sum() > 2:
                y = self.a(x)
            elif x.min() < -2:
                y = self.b(x) * 2
            else:
                y = self.a(x) - 1
            return y

    return Net()


@model()
def conditions(P):
    class Net(_base(P)):
        def forward(self, x):
            x = self.a(x)
            y = x * 2 if x.max() > 1 and not x.min() > 0 else x + 1
            if x.sum() > 0 or x.min() < -1:
                y = y + x
            return y

    return Net()


@model()
def early_return_in_forward_and_a_method(P):
    class Net(_base(P)):
        def chosen(self, x):
            if x.max() > 1:
                return self.a(x) * 3
            return x

        def forward(self, x):
            if x.sum() < 0:
                return self.chosen(-x)
            return self.b(x)

    return Net()


@model()
def sublayer_with_a_branch(P):
    class Gate(_base(P)):
        def forward(self, x):
            if x.mean() > 0:
                x = self.a(x)
            return x

    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts = P.nn.Sequential(Gate(), P.nn.ReLU(), Gate())

        def forward(self, x):
            return self.parts(x)

    return Net()


@model()
def while_on_a_value(P):
    class Net(_base(P)):
        def forward(self, x):
            x, i = self.a(x), P.zeros([], "int64")
            while x.abs().sum() < 100:
                x = x * 2
                i = i + 1
            return x, i

    return Net()


@model()
def rows(P):
    class Net(_base(P)):
        def forward(self, x):
            h = P.zeros([3])
            for row in x:
                h = P.tanh(self.a(row + h))
            return h

    return Net()


@model(not_saved_by_paddle="the real Paddle's program does not end: `continue` leaves out the next number")
def range_over_a_length_with_break(P):
    class Net(_base(P)):
        def forward(self, x):
            h, x = P.zeros([3]), self.a(x)
            for i in range(x.shape[0]):
                if x[i].sum() > 4:
                    break
                if x[i].max() < 0:
                    continue
                h = h + x[i] * i
            return h

    return Net()


@model(counts=True)
def range_over_a_tensor(P):
    class Net(_base(P)):
        def forward(self, x, n):
            for _ in range(n):
                x = P.tanh(self.a(x)) + self.b(x)
            return x

    return Net()


@model()
def arange_over_a_tensor(P):
    class Net(_base(P)):
        def forward(self, x):
            y = self.a(x)
            for i in P.arange(x.shape[0]):
                y = y + i.astype("float32")
            return y

    return Net()


@model(not_saved_by_paddle="the real Paddle cannot convert reversed(x)")
def enumerate_zip_reversed(P):
    class Net(_base(P)):
        def forward(self, x):
            s = P.zeros([3])
            for i, (u, v) in enumerate(zip(self.a(x), reversed(x), strict=True)):
                s = s + u * i - v if u.sum() > 0 else s + v
            return s

    return Net()


@model(not_saved_by_paddle="the real Paddle fails at times: `Not found key in IRMapping`")
def nested_loops_over_lengths(P):
    class Net(_base(P)):
        def forward(self, x):
            y, total = self.a(x), P.zeros([])
            for i in range(x.shape[0]):
                for j in range(x.shape[0]):
                    if i > j:
                        total = total + y[i, 0] * y[j, 1]
            return total

    return Net()


@model(not_saved_by_paddle="the real Paddle refuses to return out of a loop")
def return_out_of_a_loop(P):
    class Net(_base(P)):
        def forward(self, x):
            for row in self.a(x):
                if row.sum() > 1:
                    return row * 2
            return x[0]

    return Net()


@model(not_saved_by_paddle="the real Paddle refuses a number that becomes a tensor")
def while_over_a_length(P):
    class Net(_base(P)):
        def forward(self, x):
            i, y = 0, self.a(x)
            while i < x.shape[0]:
                y = y * 0.5 + x
                i += 2
            return y

    return Net()


@model()
def writes_into_a_tensor(P):
    class Net(_base(P)):
        def forward(self, x):
            out, x = P.zeros([8]), self.a(x)
            for i in range(x.shape[0]):
                if x[i].sum() > 0:
                    out[i] = x[i].max()
            return out

    return Net()


@model()
def list_that_grows(P):
    class Net(_base(P)):
        def forward(self, x):
            found = []
            for row in self.a(x):
                found.append(row * 2)
            return P.stack(found)

    return Net()


@model()
def gradient_in_a_branch(P):
    class Net(_base(P)):
        def forward(self, x):
            if x.sum() > 0:
                x.stop_gradient = False
                (slope,) = P.grad(self.a(x).square().sum(), [x])
                return slope
            return x

    return Net()


@model(counts=True, not_saved_by_paddle="the real Paddle cannot find a value that the loop reads")
def gradient_in_a_loop(P):
    class Net(_base(P)):
        def forward(self, x, n):
            for _ in range(n):
                x.stop_gradient = False
                (slope,) = P.grad(P.tanh(self.a(x)).square().sum(), [x])
                x = x - slope * 0.1
            return x

    return Net()


@model()
def penalty_of_a_gradient(P):
    class Net(_base(P)):
        def forward(self, x):
            x.stop_gradient = False
            (slope,) = P.grad(P.tanh(self.a(x)).sum(), [x])
            return (slope.square().sum(axis=1) - 1).square() + self.b(x).sum(axis=1)

    return Net()
