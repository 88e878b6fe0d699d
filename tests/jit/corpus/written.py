"""Programs as people write them, on the topics of suites of `to_static`: loops that end early, lengths,
numbers, closures. Each takes the engine P and Tensors, and is right compiled and saved."""
# ruff: noqa: B007  (a variable of a loop that is read after it)

import copy
import functools

import numpy as np

from tests.jit.corpus.program import F4, I32, N1, NEG, POS, N, program


def times(k):
    """A decorator with a condition on a Tensor."""

    def decorate(function):
        @functools.wraps(function)
        def inner(*args):
            y = function(*args)
            if y.sum() > 0:
                return y * k
            return y * -k

        return inner

    return decorate


@program([F4(4, 3)], [F4(2, 3)])
def enumerate_rows_start(P, x):
    y = P.zeros([3])
    for i, row in enumerate(x, 2):
        y += row * i
    return y, i


@program([F4(4, 3)], [F4(4, 3) + 3])
def enumerate_rows_break(P, x):
    y = P.zeros([3])
    for i, row in enumerate(x):
        y += row
        if y.sum() > 2:
            break
    return y, i


@program([F4(4, 3)], [F4(4, 3) + 3])
def rows_continue(P, x):
    y = P.zeros([3])
    for row in x:
        if row.sum() < 0:
            continue
        y += row
    return y


@program([F4(4, 3)])
def zip_rows(P, x):
    y = P.zeros([3])
    for a, b in zip(x, x * 2, strict=False):
        y += a * b
    return y


@program([N(5)], [N(1)])
def for_range_only(P, n):
    z = P.zeros([1], "int64")
    for i in range(n):
        z = z + i
    return z, i


@program([N1(5)], [N1(2)])
def for_range_1d(P, n):
    z = P.zeros([1], "int64")
    for i in range(n):
        z += i
    return z


@program([I32(5)], [I32(2)])
def for_range_int32(P, n):
    z = P.zeros([1], "int32")
    for i in range(n):
        z += i
    return z, i


@program([POS, N(6)], [NEG, N(6)])
def early_break_counter(P, x, n):
    i = 0
    for i in range(n):
        x = x + 1
        if x.sum() > 8:
            break
    return x, i


@program([POS], [NEG])
def early_break_python_range(P, x):
    for i in range(10):
        x = x + 1
        if x.sum() > 8:
            break
    return x, i


@program([POS], [NEG])
def while_python_counter_break(P, x):
    i = 0
    while i < 10:
        x = x + 1
        i += 1
        if x.sum() > 8:
            break
    return x, i


@program([POS, I32(6)], [NEG, I32(6)])
def early_break_counter_int32(P, x, n):
    i = 0
    for i in range(n):
        if x.sum() > 8:
            break
        x = x + 1
    return x, i


@program([POS], [NEG])
def while_tensor_break_float(P, x):
    i = P.full([1], 0.0)
    while i < 10:
        i += 1
        if i > 5:
            break
        if x[0] > 0:
            x += 1
    return i, x


@program([POS, N(7)], [NEG, N(7)])
def continue_in_for(P, x, n):
    for i in range(n):
        x += 1
        if i > 5:
            continue
        x += 10086
    x += i
    return x


@program([POS, N(7)], [NEG, N(3)])
def nested_break_continue(P, x, n):
    for i in range(n):
        for j in range(3):
            if j == i:
                continue
            if i > 4:
                break
            x = x + j
        if i > 5:
            break
    return x, i


@program([POS, N(7)], [NEG, N(3)])
def break_or_continue_or(P, x, n):
    a = P.zeros([], "int64")
    for i in range(n):
        if i % 2 == 0 or x.sum() < 0:
            continue
        if i > 4 and x.sum() > 0:
            break
        a = a + i
    return a


@program([POS, N(4)], [NEG, N(4)])
def while_true_return(P, x, n):
    i = P.zeros([], "int64")
    while True:
        i = i + 1
        if i >= n:
            return x * i


@program([F4(4, 3)], [F4(4, 3) - 3])
def for_iter_var_after(P, x):
    for row in x:
        y = row * 2
    return row + y


@program([POS], [NEG])
def return_in_for_if(P, x):
    for _i in range(4):
        x = x + 1
        if x.sum() > 10:
            return x * 2
    return x


@program([POS], [NEG], [POS * 100])
def return_elif(P, x):
    if x.mean() < 0:
        return x
    elif x.mean() < 10:
        return x + 10
    else:
        x = x * 2
        return x


@program([POS], [NEG])
def return_number_and_tensor(P, x):
    if x.sum() > 0:
        return x, 1
    return x, 2


@program([POS, N(3)], [NEG, N(3)])
def return_in_while(P, x, n):
    i = P.zeros([1], "int64")
    while i < n:
        i += 1
        if i > 1:
            return x + 1
        else:
            return x * 2
    return x


@program([POS], [NEG])
def return_inner_function(P, x):
    def inner(y):
        if y.sum() > 0:
            return y + 1
        return y - 1

    z = inner(x)
    return inner(z) * 2


@program([POS], [NEG])
def if_none_then_value(P, x):
    y = None
    if x.sum() > 0:
        y = x
    else:
        y = x * 2
    return y


@program([POS], [NEG])
def if_number_both(P, x):
    if x.sum() > 0:
        a = 1
    else:
        a = 2
    return x + a, a


@program([POS], [NEG])
def if_bool_both(P, x):
    if x.sum() > 0:
        a = True
    else:
        a = False
    return a


@program([POS], [NEG])
def if_is_none(P, x, y=None):
    if y is None:
        y = x
    if x.sum() > 0 and y is not None:
        y = y + 1
    return y


@program([POS], [NEG])
def logic_with_shape(P, x):
    if x.shape[0] > 1 and x.sum() > 0:
        return x
    return x + 1


@program([POS], [NEG])
def nested_conditional_expression(P, x):
    return x + 1 if x.mean() > 5 else (x - 1 if x.mean() > 0 else x)


@program([F4(2, 6)], [F4(4, 3)])
def shape_function(P, x):
    n = P.shape(x)[0]
    return P.reshape(x, [n, -1, 1]), n


@program([F4(2, 6)], [F4(4, 3)])
def shape_tuple(P, x):
    a, b = x.shape
    return P.reshape(x, (b, a)), a * b


@program([F4(2, 6)], [F4(4, 3)])
def shape_for(P, x):
    y = P.zeros([1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y = y + x[i, j] * (i + 2 * j)
    return y


@program([F4(2, 6)], [F4(4, 3)])
def shape_while(P, x):
    i = 0
    y = P.zeros([1])
    while i < x.shape[0]:
        y += x[i].sum()
        i += 1
    return y, i


@program([F4(2, 6)], [F4(4, 3)])
def shape_if(P, x):
    if x.shape[0] > 3:
        return x + 1
    return x - 1


@program([F4(2, 6)], [F4(4, 3)])
def shape_slice_tuple(P, x):
    s = x.shape
    y = P.reshape(x, s[::-1])
    return y, s[0:1][0] + 1


@program([F4(2, 6)], [F4(4, 3)])
def shape_len(P, x):
    return x * len(x.shape), len(x), x * len(x)


@program([F4(4, 6)], [F4(6, 6)], refused_by={"stablehlo": "take_index does not take these lengths"})
def slice_step_of_length(P, x):
    k = x.shape[0] // 2
    return x[::k]


@program([F4(4, 6)], [F4(6, 6)])
def slice_by_lengths(P, x):
    n = x.shape[0]
    return x[n // 2 :, : n - 1], x[-n // 2 :]


@program([F4(4, 6), N(3)], [F4(4, 6), N(4)])
def set_item_in_loop(P, x, n):
    y = P.zeros([4, 6])
    for i in range(n):
        y[i] = x[i] * 2
        y[i, 0] = 7.0
    return y


@program([F4(4, 6), N(3)], [F4(4, 6), N(2)])
def set_item_in_if(P, x, n):
    y = x * 1
    if n > 2:
        y[0] = 0.0
    else:
        y[1, 1] = 5.0
    return y


@program([POS], [NEG])
def cast_bool(P, x):
    return bool(x.sum() > 0), bool(x[0])


@program([POS], [NEG])
def cast_float(P, x):
    y = x.astype("int64")
    return float(y.sum()), float(y[0]) * 0.5


@program([POS], [NEG], gradients=False)
def cast_mixed(P, x):
    y = P.to_tensor(bool(x[0]))
    return float(int(bool(y))), x.cast("int32") + int(x[0])


@program([POS])
def is_instance(P, x):
    y = [x, 1]
    out = x
    if isinstance(x, P.Tensor):
        out = out + 1
    if isinstance(y, (list, tuple)) and isinstance(y[1], int):
        out = out * 2
    if not isinstance(x, np.ndarray):
        out = out - 3
    if isinstance(x.shape[0], int):
        out = out * 5
    if type(x.shape) is list or isinstance(x.shape, (list, tuple)):
        out = out + 0.5
    return out


@program([POS], [NEG])
def lambda_if(P, x):
    functions = {"f": lambda t: t + 1 if t.mean() > 0 else t - 1}
    functions["g"] = lambda t: functions["f"](t) * 2
    return functions["g"](x), (lambda a, b: a * b)(x, x)


@program([POS], [NEG])
def partial_call(P, x):
    def f(a, b=1, *, c=2):
        if a.sum() > 0:
            return a * b + c
        return a - b - c

    h = functools.partial(f, b=3)
    return h(x), functools.partial(h, c=x)(x)


@program([POS], [NEG])
def map_filter(P, x):
    ys = list(map(lambda t: t * 2, [x, x + 1]))
    zs = [t for t in filter(lambda n: n > 1, [1, 2, 3])]
    return P.concat(ys) * len(zs)


@program([POS], [NEG], gradients=False)
def deepcopy_tensor(P, x):
    y = copy.deepcopy(x * 2)
    y[0] = 100.0
    return y, x


@program([POS], [NEG])
def inner_decorator(P, x):
    @times(2)
    def f(t):
        return t + 1

    return f(x)


@program([POS], [NEG])
def closure_factor(P, x):
    k = 2

    def f(t):
        return t * k

    k = 3
    return f(x)


@program([POS], [NEG])
def closure_nonlocal(P, x):
    k = 0

    def bump():
        nonlocal k
        k = k + 1

    bump()
    bump()
    return x * k


@program([POS], [NEG])
def nested_functions(P, x):
    def a(t):
        def b(u):
            if u.sum() > 0:
                return u * 2
            return u * 3

        return b(t) + 1

    return a(x)


@program([POS], [NEG])
def plain_class(P, x):
    class Pair:
        scale = 2

        def __init__(self, a):
            self.a = a

        def __call__(self, b):
            if b.sum() > 0:
                return self.a + b
            return self.a - b * self.scale

        @property
        def double(self):
            return self.a * 2

        @staticmethod
        def half(t):
            return t / 2

    p = Pair(x)
    return p(x), p.double, Pair.half(x)


@program([POS], [NEG])
def unpacking(P, x):
    a, *b, c = [x, x + 1, x + 2, x + 3]
    (d, e), f = (a, c), b
    return d + e, f[0] * f[1]


@program([POS], [NEG])
def augmented(P, x):
    y = x * 1
    y += 1
    y -= x
    y *= 3
    y /= 2
    y **= 2
    y = y % 5
    y = y // 2
    return y


@program([POS], [NEG])
def unpack_tensor(P, x):
    a, b, c = x
    return a + b * c


@program([POS], [NEG])
def star_arguments(P, x):
    def f(*args, **kw):
        return args[0] + kw["k"] * len(args)

    return f(*[x, x], **{"k": 2})


@program([POS], [NEG])
def try_except(P, x):
    try:
        y = x + 1
        if x.sum() > 0:
            y = y * 2
    except ValueError:
        y = x
    finally:
        y = y - 1
    return y


@program([POS, N(3)], [NEG, N(5)])
def while_two_vars(P, x, n):
    i = P.zeros([], "int64")
    j = 1
    while i < n and j < 100:
        j = j * 2
        i = i + 1
    return i, j


@program([POS, N(3)], [NEG, N(5)])
def loop_bool_flag(P, x, n):
    done = False
    i = 0
    while not done:
        i = i + 1
        x = x + 1
        if i >= n:
            done = True
    return x, i


@program([POS, N(3)], [NEG, N(5)])
def del_and_pass(P, x, n):
    a = x + 1
    b = a * 2
    del a
    if n > 3:
        pass
    else:
        b = b + 1
    return b


@program([POS, N(3)], [NEG, N(2)])
def static_cond_and_while(P, x, n):
    y = P.static.nn.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)
    i, z = P.static.nn.while_loop(lambda i, z: i < n, lambda i, z: [i + 1, z * 2], [P.zeros([], "int64"), y])
    w = P.static.nn.case([(n > 2, lambda: z), (n > 1, lambda: z + 1)], default=lambda: z + 2)
    s = P.static.nn.switch_case(n, {2: lambda: x, 3: lambda: x * 2}, default=lambda: x * 3)
    return i, z, w, s
