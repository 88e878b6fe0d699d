"""Loops."""

import numpy as np

from tests.jit.corpus.program import BIG, NEG, POS, Holder, layer, program


@program([POS], [NEG], second=True)
def while_with_gradients(P, x):
    y = x * 0.5
    i = P.zeros([])
    while i < x.max():
        y = y * x.tanh() + 0.1 * x
        i = i + 1
    return y


@program([POS, 5], [NEG, 0], [BIG, 70], second=True)
def range_of_a_tensor(P, x, n):
    y = x * 0.1
    for _ in range(n):
        y = y + (y * x).sin() * 0.1
    return y


@program([POS, 7, 1, 2], [POS, 1, 7, 2], [POS, 3, 9, 3])
def range_with_bounds(P, x, stop, start, step):
    y = x * 0
    for i in range(start, stop, step):
        y = y + x * i
    return y


@program([POS, 7], [POS, 2])
def range_backwards(P, x, n):
    y = x * 0
    for i in range(n, 1, -2):
        y = y * 0.5 + x * i
    return y


@program([POS, 4], [NEG, 1])
def range_reversed(P, x, n):
    y = x * 0
    for i in reversed(range(1, n)):
        y = y * 0.5 + x * i
    return y


@program([POS, 9], [BIG, 9])
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


@program([POS, 9], [BIG, 9], [NEG, 3])
def return_out_of_a_loop(P, x, n):
    for i in range(n):
        x = x + 1
        if x.sum() > 10 + i:
            return x * 2
    return x


@program([POS], [NEG], [BIG])
def return_out_of_while_true(P, x):
    i = 0
    while True:
        x = x * 0.5
        i = i + 1
        if x.abs().max() < 0.3:
            return x * i


@program([POS], [BIG])
def while_with_else(P, x):
    i = P.zeros([])
    while i < 4:
        i = i + 1
        if i * x.sum() > 20:
            break
    else:
        i = i + 100
    return i


@program([POS], [NEG])
def for_with_else(P, x):
    for v in x:
        if v > 2.5:
            y = v
            break
    else:
        y = x.sum()
    return y


@program([POS, 3, 2], [NEG, 2, 4])
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


@program([POS, 3], [NEG, 4])
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


@program([POS, 4], [NEG, 1])
def numbers_that_become_tensors(P, x, n):
    s, count, factor = 0, 0, 1.0
    for _ in range(n):
        s = s + x.sum()
        count += 1
        factor *= 0.5
    return s * factor + count


@program([POS, 4], [NEG, 6], precision=(2e-5, 4e-5))
def several_kinds_of_state(P, x, n):
    state = {"h": x, "pair": (x * 0, [x])}
    holder = Holder()
    holder.best = x.max()
    for _ in range(n):
        h = (state["h"] * 0.5 + x).tanh()
        state = {"h": h, "pair": (state["pair"][0] + h, [h])}
        if h.max() > holder.best:
            holder.best = h.max()
    return state["pair"][0] + state["pair"][1][0] * holder.best


@program([POS, 4], [NEG, 2])
def writing_into_a_buffer(P, x, n):
    out = P.zeros([6])
    previous = x.sum()
    for i in range(n):
        previous = previous * 0.5 + x[i % 3]
        out[i] = previous
    return out


@program([POS, 4], [NEG, 2])
def in_place_in_a_loop(P, x, n):
    y = x * 1.0
    z = y
    for _ in range(n):
        y.add_(x * 0.5)
        if y.sum() > 0:
            y[0] = x[1] * x[0]
    return z


@program([POS, 4], [NEG, 2])
def detach_in_a_loop(P, x, n):
    y = x * 1.0
    for _ in range(n):
        y = y.detach() * x + y * 0.1
    return y


@program([POS, 4], [NEG, 2])
def only_some_state_needs_a_gradient(P, x, n):
    with P.no_grad():
        level = x * 2
    s = P.zeros([3])
    for _ in range(n):
        level = level * 0.5
        s = s + level * x
    return s, level


@program([POS], [NEG])
def rows_of_a_tensor(P, x):
    s = x.sum() * 0
    for i, (u, v) in enumerate(zip(x, reversed(x), strict=True)):
        if u > v:
            s = s + u * i
    return s


@program([np.linspace(-1, 1, 100, dtype="f4")], [np.linspace(1, -3, 100, dtype="f4")], second=True)
def many_rows(P, x):
    s = x[0] * 0
    for v in x:
        if v > 0:
            s = s * 0.9 + v * v
        else:
            s = s - v
    return s


@program([np.linspace(-1, 1, 70, dtype="f4")])
def many_rows_into_a_list(P, x):
    found, s = [], x[0] * 0
    for v in x:
        s = s * 0.5 + v
        found.append(s)
    if x[0] > 0:
        s = s * 2
    return P.stack(found) * s


@program([POS], [BIG])
def newton(P, x):
    target = x * x + 1
    y = target / 2
    while ((y * y - target).abs() > 1e-3).any():
        y = 0.5 * (y + target / y)
    return y


@program([BIG], [POS])
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


@program([POS, 4], [NEG, 2], gradients=False)
def integers(P, x, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    while b > 1 and b % 2 == 1:
        b = b // 2
    return a, b


@program([np.array([3, 1, 2], "i4")], [np.array([-3, 1, -2], "i4")], gradients=False)
def bubble_sort(P, x):
    for i in range(3):
        for j in range(2 - i):
            if x[j] > x[j + 1]:
                low, high = x[j + 1].clone(), x[j].clone()
                x[j] = low
                x[j + 1] = high
    return x


@program([POS], [NEG])
def detached_state(P, x):
    """Gradients flow into the state from the first step on."""
    state = P.zeros([3])
    step = P.zeros([], "int32")
    while step < 3:
        state = state.detach() * x + x
        step = step + 1
    return state
