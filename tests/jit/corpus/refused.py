"""What no one program can do."""

import numpy as np

from tests.jit.corpus.program import NEG, POS, Holder, program


@program([POS], [NEG], refused="y is None and a Tensor of float32[3]")
def none_in_one_branch(P, x):
    y = None
    if x.sum() > 0:
        y = x
    return x if y is None else y


@program([POS], [NEG], op_by_op="float32[3] and a Tensor of float32[6]")
def other_shape(P, x):
    if x.sum() > 0:
        return x
    return P.concat([x, x])


@program([POS], [NEG], refused="a Tensor of float32[3] and a Tensor of int32[3]", gradients=False)
def other_dtype(P, x):
    if x.sum() > 0:
        return x
    return x.astype("int32")


@program([POS], [NEG], refused="a Tensor of int64[] and the number 0.5", gradients=False)
def number_that_does_not_fit(P, x):
    n = x.astype("int64").sum()
    if x.sum() > 0:
        n = 0.5
    return x * n


@program([POS, 3], [NEG, 2], op_by_op="the list 'found' changes its structure in a loop", gradients=False)
def list_that_grows(P, x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    return P.stack(found)


@program([POS], [NEG], op_by_op="the list 'found' is a list of 1 and a list of 2")
def list_changed_in_one_branch(P, x):
    found = [x]
    if x.sum() > 0:
        found.append(x * 2)
    return sum(found)


@program([POS], [NEG], refused="an attribute of 'holder' is changed")
def attribute_set_by_a_called_function(P, x):
    holder = Holder()
    holder.n = 0

    def bump():
        holder.n += 1
        return holder.n

    if x.sum() > 0:
        x = x + bump()
    return x * holder.n


@program([POS], [NEG], refused="returns nothing on one of its ways")
def no_return_on_one_way(P, x):
    def half(t):
        if t.sum() > 0:
            return t / 2
        t = t + 1

    y = half(x)
    return x if y is None else y


@program(
    [POS], [NEG], refused="the result depends on the value of a tensor", refused_in_files="array(Tensor)"
)
def refusal_that_the_code_catches(P, x):
    try:
        scale = float(np.asarray(x).sum())
    except Exception:
        scale = 100.0
    return x * scale


@program([POS], [NEG], refused="an attribute of 'holder' is changed")
def attribute_that_only_one_branch_makes(P, x):
    holder = Holder()

    def keep(y):
        holder.kept = y

    if x.sum() > 0:
        keep(x)
    return holder.kept if hasattr(holder, "kept") else x * 2


@program([POS], [NEG], refused="d['y'] exists after one branch of a condition on a tensor only")
def item_that_only_one_branch_makes(P, x):
    d = {"x": x}
    if x.sum() > 0:
        d["y"] = x * 2
    return sum(d.values())


@program([POS, 2], [NEG, 3], refused="changes a Tensor in place and then gives its name")
def tensor_changed_and_replaced(P, x, n):
    y = x * 1.0
    z = y
    for _ in range(n):
        y.multiply_(x)
        y = y + 1
    return y, z


@program([POS], [NEG], refused="the variable 'h' is changed")
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


@program([POS], [NEG], refused="a recursion ends depending on a tensor")
def recursion_without_a_known_end(P, x):
    def halved(t):
        if t.abs().max() < 0.1:
            return t
        return halved(t / 2)

    return halved(x)


@program([POS], [NEG], refused="register_hook is called inside", refused_in_files="register_hook")
def hook_in_a_branch(P, x):
    y = x * 2
    if x.sum() > 0:
        z = y * 1.0
        z.register_hook(lambda g: g * 10)
        y = z * 3
    return y


@program([POS, 2], [NEG, 3], op_by_op="start with the shape and dtype it ends with", gradients=False)
def shape_that_grows(P, x, n):
    for _ in range(n):
        x = P.concat([x, x])
    return x


@program([POS, 2], [NEG, 3], op_by_op="start with a Tensor of that shape")
def number_that_becomes_a_vector(P, x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s


@program([POS], [NEG], op_by_op="the result depends on the value of a tensor")
def shape_that_hangs_on_a_value(P, x):
    n = int(x.max())
    return P.ones([n]) * x.sum()


@program(
    [POS], [NEG], refused="the result depends on the value of a tensor", refused_in_files="array(Tensor)"
)
def numpy_of_a_tensor(P, x):
    if x.sum() > 0:
        return x * float(np.median(x.numpy()))
    return x
