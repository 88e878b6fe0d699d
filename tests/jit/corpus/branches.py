"""Branches."""

from tests.jit.corpus.program import BIG, NEG, POS, Holder, program


@program([POS], [NEG], [BIG], second=True)
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


@program([POS], [NEG], [BIG])
def returns_from_nested_ifs_with_other_arity_below(P, x):
    if x.sum() > 0:
        if x.max() > 5:
            return x, x + 1
        return x * 2, x
    y = x.abs()
    return y, y


@program([POS], [NEG])
def two_names_of_which_one_stays(P, x):
    a, b = x, x * 2
    if x.sum() > 0:
        b = a + b
    return a, b


@program([POS], [NEG])
def numbers_in_both_branches(P, x):
    if x.sum() > 0:
        scale, shift, flag = 2, 0.5, True
    else:
        scale, shift, flag = 3, 0.25, False
    if flag:
        x = x + 1
    return x * scale + shift


@program([POS], [NEG])
def number_against_tensor(P, x):
    bonus = 0
    if x.sum() > 0:
        bonus = x.mean()
    return x + bonus


@program([POS], [NEG])
def values_by_and_or(P, x):
    positive = x.sum() > 0
    y = (positive and x.max() > 2.5) or x.min() < -2.5
    return x + 1 if y else x - 1


@program([POS], [NEG])
def and_of_tensor_and_python_values(P, x, training=True):
    if x.sum() > 0 and training and not (x.max() > 100 or not training):
        return x * 3
    return x


@program([POS], [NEG], [BIG])
def chained_comparison_in_a_ternary(P, x):
    return x * 2 if -1 < x.sum() <= 2 else (x * 3 if x.sum() > 2 else -x)


@program([POS], [NEG])
def nested_structures(P, x):
    out = {"a": x, "b": [x, (x, 1)]}
    if x.sum() > 0:
        out = {"a": x * 2, "b": [x, (x + 1, 1)]}
    return out["a"] + out["b"][0] * out["b"][1][0] * out["b"][1][1]


@program([POS], [NEG])
def dict_items_and_new_keys(P, x):
    d = {"x": x}
    if x.sum() > 0:
        d["x"] = x * 2
        d["y"] = x + 1
    else:
        d["y"] = x
    return d["x"] + d["y"]


@program([POS], [NEG])
def attributes(P, x):
    holder = Holder()
    holder.value, holder.inner = x, Holder()
    holder.inner.value = x
    if x.sum() > 0:
        holder.value = x * 2
        holder.inner.value = holder.value * x
    return holder.value + holder.inner.value


@program([POS], [NEG])
def in_place_in_both_branches(P, x):
    y = x * 1.0
    if x.sum() > 0:
        y[0] = x[1] * 5
        y.add_(x)
    else:
        y[1:] = x[:-1] * x[:-1]
    return y * y


@program([POS], [NEG])
def in_place_in_one_branch_of_a_called_function(P, x):
    def fill(t):
        if t.sum() > 0:
            t.multiply_(P.to_tensor(3.0))
            t[2] = 0.0

    y = x + 0.5
    fill(y)
    return y


@program([POS], [NEG])
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


@program([POS], [NEG])
def no_grad_inside_a_branch(P, x):
    if x.sum() > 0:
        with P.no_grad():
            scale = x * x
        y = scale * x
    else:
        y = x * x.detach()
    return y


@program([POS], [NEG])
def assertions_that_hold(P, x):
    assert (x * x).sum() > 0, f"squares of {x.shape} are positive"
    assert x.shape[0] == 3
    if x.sum() > 0:
        assert x.max() > 0
        return x
    return -x


@program([POS], [NEG])
def conversions_to_numbers(P, x):
    n, s, t = int(x.max()), float(x.sum()), bool(x.sum() > 0)
    if isinstance(x, P.Tensor) and len(x) == 3 and t:
        s = s + n
    return x * s + int(x.shape[0])


@program([POS], [NEG])
def item_of_a_sum(P, x):
    if x.sum().item() > 0:
        return x * x.max().item()
    return x


@program([POS], [NEG], [POS * 0])
def numbers_are_true_unless_0(P, x):
    n = int(x.sum())
    sign = 1 if n > 0 else -1
    left = 3
    while x.max() < 1 and left > -4:
        left -= 2
        x = x + 1
    passed = 0
    for i in range(n, 3):
        if i and i * 2:
            passed += 1
    count = n
    while count:
        count += 1
        if count > 3:
            break
    flags = [bool(sign), bool(left), not n, bool(n - 2), bool(n and 7), bool(float(x[1]))]
    return x * passed + sum([2.0**k if flag else 0.0 for k, flag in enumerate(flags)]) + count


@program([POS], [NEG], [POS * 0])
def conditions_that_their_own_branches_change(P, x):
    top = x.max().reshape([1])
    if top:
        top = top * 2 + 1
    found, low = (x.sum() > 1).reshape([1]), x[0]
    if not low:
        low = low + 3
    if found:
        found = found.logical_and(x.min() > 0)
    elif not top:
        top = top - 1
    while not low:
        low = low + 1
    done = x.max() > 99
    while not done:
        x = x + 40
        done = x.max() > 99
    return top, found, found.astype("int64"), low, done, x


@program([POS], [NEG], without={"to_static": "what is an array stays one there: it runs op by op"})
def arrays_of_a_tensor(P, x):
    if x.sum().numpy() > 0 and x.numpy()[0] < x.shape[0]:
        array = x.numpy()
        array[0] = 5.0
        return x * array + x.max().numpy()
    return x - x.mean().numpy().item()


@program([POS], [NEG])
def truths_of_different_kinds(P, x, label=None):
    count = P.shape(x)
    if x.mean() + 1 and x.min() > -9 and label is None or 2 > 1:
        x = x * 2
    if not (x[0] and (x.astype("int32") * 2)[1]):
        x = x + 1
    if count[0] > 1 and x.max() and label:
        x = x - 1
    while x.sum() < 20 and x.mean() * 0 + 1 and (label or count[0]):
        x = x + 5
    return x if x.max().astype("int32") and [x] else -x


@program([POS], [NEG])
def maximum_by_hand_then_tensor_minimum(P, x):
    best = x[0]
    for v in x:
        if v > best:
            best = v
    return best * P.minimum(x[0], best)


@program([POS], [NEG], second=True)
def gradient_taken_inside_a_branch(P, x):
    y = (x * x * x).sum()
    if x.sum() > 0:
        (g,) = P.grad(y, [x], create_graph=True)
    else:
        g = x * 2
    return g * x


@program([POS], [NEG])
def name_of_one_branch_and_shapes(P, x):
    if x.shape[0] > 2 and x.ndim == 1:
        x = x.reshape([-1, 1])
    if x.sum() > 0:
        helper = x * 2
        y = helper + 1
    else:
        y = x
    return y


@program([POS], [NEG])
def items_of_lists_and_dicts(P, x):
    rows, table, (first, *rest) = [x, x * 2], {}, x
    if x.sum() > 0:
        rows[0] = x * 5
        first, rest[0] = rest[0], first
    for key in ("a", "b"):
        if rows[0].sum() > 3:
            table[key] = rows[0] + 1
        else:
            table[key] = x
        rows[1][0] = table[key][1] * 2
    return rows[0] + rows[1] + table["a"] * table["b"] * first + rest[0]


@program([POS], [NEG])
def list_of_fixed_length(P, x):
    parts = []
    for i in range(3):
        parts.append(x * i if x.sum() > 0 else x)
    parts[1] = parts[1] + 1
    return P.stack(parts).sum(0)


@program([POS], [NEG])
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


@program([POS], [NEG])
def deleted_and_global_names(P, x):
    part = x * 2
    if x.sum() > FACTOR:
        y = part
    else:
        y = x
    del part
    return y * FACTOR


FACTOR = 0.5


@program([POS], [NEG], file_gradients=False)
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


@program([POS], [NEG], [BIG])
def builtin_functions(P, x):
    low, high = min(x[0], x[1], 2.0), max(x)
    if any([low > 1.5, high > 5.5]) or all([x[0] < 0, x[1] > 0]):
        return low * high
    return low + high + abs(x[1])


@program([POS], [NEG], [BIG])
def numbers_as_conditions(P, x):
    s = x.sum() - 1
    y = x * 2 if s else x - 1
    if not s:
        y = y + 3
    n = P.zeros([])
    while s:
        s, n = s - 1, n + 1
    if any([s, x.min()]) and not all([s, n]) or bool(s):
        n = n + 10
    return y, n


@program([POS], [NEG])
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


@program([POS], [NEG])
def detached_in_a_branch(P, x):
    y = x * 1.0
    if x.sum() > 0:
        z = y.detach()
        z.stop_gradient = False
        w = (y * z * z).sum()
        (g,) = P.grad(w, [z], retain_graph=True)
    else:
        g = y * 2
    return g + y, y * g


@program([POS], [NEG])
def detached_twice_and_in_place(P, x):
    z = x.detach()
    z.stop_gradient = False
    again = z.detach()
    again.stop_gradient = False
    y = x * 3.0
    w = (y * y).sum()
    y.detach_()
    y.stop_gradient = False
    w = w + (x * z * again * again * y).sum()
    return P.grad(w, [z, again, y], retain_graph=True)


@program([POS], [NEG])
def detached_in_one_branch(P, x):
    y = x * 2.0
    if x.sum() > 0:
        z = y.detach()
    else:
        z = y * 3
    return y * z, z.detach(), y.detach()


@program([POS], [NEG])
def branches_without_gradients(P, x):
    y = x * 2.0
    with P.no_grad():
        if x.sum() > 0:
            z = y * y
        else:
            z = y - 1
        factor = z.exp() + x
    return y * factor, factor
