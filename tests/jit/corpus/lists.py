"""Lists and dicts that branches and loops change."""
# ruff: noqa: B007

from tests.jit.corpus.program import F4, NEG, POS, N, program


@program([POS], [NEG])
def list_append_in_python_loop(P, x):
    found = []
    for i in range(4):
        found.append(x * i)
    return P.stack(found)


@program([POS, N(2)], [NEG, N(3)])
def list_pop_in_python_loop(P, x, n):
    a = [x, x + 1, x + 2, x + 3]
    for _i in range(2):
        a.pop()
    a.append(x * n)
    return a[0], a[-1], P.concat(a)


@program([POS, N(3)], [NEG, N(1)])
def list_set_item_in_loop(P, x, n):
    a = [x, x, x]
    for _i in range(n):
        a[0] = a[0] + a[1]
    return a[0]


@program([F4(4, 3)], [F4(4, 3)])
def list_comprehension_rows(P, x):
    return P.concat([row * k for k, row in enumerate(x)])


@program([F4(4, 3)])
def enumerate_list(P, x):
    y = P.zeros([3])
    for i, row in enumerate([x, x * 2]):
        y += row[i]
    return y


@program([POS])
def for_in_dict_items(P, x):
    d = {"a": x, "b": x + 1}
    y = P.zeros([3])
    for _k, v in d.items():
        y += v
    return y


@program([POS])
def for_tuple_of_lists(P, x):
    y = 0
    for a, (b, c) in [(x, (x, x)), (x, (x + 1, x * 2))]:
        y = y + a * b - c
    return y


@program([POS], [NEG])
def return_dict(P, x):
    return {"b": x, "a": [x + 1, {"c": x}]}


@program([POS], [NEG])
def if_new_dict_key(P, x):
    d = {}
    if x.sum() > 0:
        d["r"] = x + 1
    else:
        d["r"] = x - 1
    return d["r"]


@program([POS, N(3)], [NEG, N(2)])
def dict_in_loop(P, x, n):
    d = {"s": x}
    for _i in range(n):
        d["s"] = d["s"] + 1
    return d["s"]


@program([POS])
def dict_pop(P, x):
    d = {"red": x, "green": x + 1}
    a = d.pop("red")
    b = d.pop("yellow", x * 3)
    return a, b, d


@program([POS])
def dict_update(P, x):
    d = dict(a=x)
    d.update({"b": x * 2})
    d.setdefault("c", x + 3)
    return [d[k] for k in sorted(d)]


@program([POS, N(3)], [NEG, N(2)])
def range_list(P, x, n):
    y = x
    for i in [1, 2, 3]:
        if i > n:
            y = y * i
        else:
            y = y + i
    return y


@program([POS], [NEG])
def list_append_in_if(P, x):
    found = []
    if x.sum() > 0:
        found.append(x)
    else:
        found.append(x - 1)
    return found[0]


@program([POS, N(3)], [NEG, N(4)])
def helper_changes_list_in_loop(P, x, n):
    state = [x, x * 0]

    def step(t):
        state[0], state[1] = state[1] + t, state[0]

    for i in range(n + 0):
        step(x * 0.5)
    return state[0], state[1]


@program([POS, N(3)], [NEG, N(4)])
def queue_in_loop(P, x, n):
    window = [x, x + 1, x + 2]
    i = P.zeros([], "int64")
    while i < n:
        window.append(window[0] * 0.5)
        window.pop(0)
        i = i + 1
    return P.stack(window)


@program([POS], [NEG])
def alias_of_list(P, x):
    a = [x]
    b = {"list": a}
    if x.sum() > 0:
        a.append(x)
    else:
        a.append(-x)
    return P.stack(b["list"]), len(a) * x


@program([POS], [NEG])
def nested_list_in_if(P, x):
    a = [[x], [x, x]]
    if x.sum() > 0:
        a[0].append(x)
        a[1].pop()
    else:
        a[0].append(x - 1)
        a[1].pop()
    return P.concat(a[0]), P.concat(a[1])


@program([POS], [NEG])
def list_insert_remove(P, x):
    a = [x, x + 1]
    if x.sum() > 0:
        a.insert(0, x * 5)
    else:
        a.insert(0, x * 7)
        a.reverse()
    return P.concat(a)


@program([POS, N(3)], [NEG, N(4)])
def if_append_in_python_loop(P, x, n):
    out = []
    for i in range(4):
        if x.sum() > i:
            out.append(x)
        else:
            out.append(x * n)
    return P.stack(out)


@program([POS], [NEG])
def numbers_in_list(P, x):
    a = []
    if x.sum() > 0:
        a.append(1)
    else:
        a.append(2)
    return x * a[0]


@program([POS, N(3)], [NEG, N(4)])
def dict_of_lists(P, x, n):
    d = {"a": [x], "b": [x]}
    if n > 3:
        d["a"].append(x * 2)
        d["b"].append(x * 3)
    else:
        for k in d:
            d[k].append(x)
    return P.concat(d["a"] + d["b"])


@program([POS, N(3)], [NEG, N(4)])
def nested_if_append(P, x, n):
    out = []
    if x.sum() > 0:
        if n > 3:
            out.append(x)
        else:
            out.append(x * 2)
    else:
        out.append(-x)
    return out[0]


@program([POS, N(3)], [NEG, N(4)])
def if_append_in_loop_fixed(P, x, n):
    hist = [x, x]
    for i in range(n + 0):
        if x.sum() > i:
            hist[0] = hist[0] + 1
        else:
            hist.append(hist.pop(0) * 2)
    return hist[0], hist[1]


@program([POS], [NEG])
def helper_changes_dict(P, x):
    cache = {"a": x, "n": 0}

    def note(t):
        cache["a"] = cache["a"] + t
        cache["n"] = cache["n"] + 1

    if x.sum() > 0:
        note(x)
    else:
        note(x * 2)
        note(x)
    return cache["a"], cache["n"] * 1


@program([POS, N(3)], [NEG, N(1)], [POS, N(5)], op_by_op="changes its structure in a loop")
def grows_in_for(P, x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    return P.stack(found), found[-1], found[0] * len(found), P.concat(found)


@program([F4(4, 3)], [F4(1, 3)], [F4(7, 3)])
def grows_over_rows(P, x):
    found = []
    for row in x:
        found.append(row * 2)
    return P.stack(found, axis=1), P.concat(found[::-1], axis=-1), found[1:][0] if x.shape[0] > 1 else row


@program([F4(4, 3)], [F4(1, 5)], [F4(7, 2)])
def grows_with_open_items(P, x):
    found = []
    for i in range(x.shape[0]):
        found.append(P.tanh(x[i]) + i)
    return P.stack(found), P.concat(found)


@program([F4(4, 3), F4(2, 3)], [F4(1, 3), F4(5, 3)], [F4(7, 3), F4(1, 3)])
def recurrent(P, x, h):
    outputs = []
    for t in range(x.shape[0]):
        h = P.tanh(h + x[t])
        outputs.append(h)
    return P.stack(outputs, axis=1), h


@program([POS, N(3)], [NEG, N(1)], [POS, N(5)], op_by_op="op by op")
def grows_from_some_items(P, x, n):
    found = [x, x + 1]
    i = P.zeros([], "int64")
    while i < n:
        found.append(found[i] * 2)
        i = i + 1
    return P.concat(found), len(found)


@program([POS, N(3)], [NEG, N(4)], op_by_op="op by op")
def grows_in_both_branches(P, x, n):
    found = []
    for i in range(n):
        if x.sum() > i:
            found.append(x)
        else:
            found.append(x * 3)
    return P.stack(found)


@program([POS, N(3)], [NEG, N(4)], op_by_op="changes its structure in a loop")
def grows_by_addition(P, x, n):
    found = []
    others = [x]
    for i in range(n):
        found += [x * i]
        others = others + [x - i]
    return P.stack(found), P.stack(others)


@program([POS, N(3)], [NEG, N(4)], op_by_op="changes its structure in a loop")
def grows_under_two_names(P, x, n):
    found = []
    kept = {"found": found}
    for i in range(n):
        found += [x * i]
    return P.stack(kept["found"]), P.stack(found)


@program([POS, N(3)], [NEG, N(4)], op_by_op="changes its structure in a loop")
def grows_then_read_row_by_row(P, x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    y = x * 0
    for item in found:
        y = y + item
    found.append(y)
    return y, P.concat(found)


@program([POS, N(3)], [NEG, N(4)], op_by_op="changes its structure in a loop")
def grows_in_two_loops(P, x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    for i in range(n):
        found.append(x + i)
    return P.stack(found)


@program([POS, N(3), N(2)], [NEG, N(2), N(4)], op_by_op="changes its structure in a loop")
def grows_in_nested_loops(P, x, n, m):
    found = []
    for i in range(n):
        for j in range(m):
            found.append(x * i + j)
    return P.stack(found)


@program([POS, N(3)], [NEG, N(4)], op_by_op="op by op")
def grows_until_break(P, x, n):
    found = []
    for i in range(n):
        x = x + 1
        found.append(x)
        if x.sum() > 11:
            break
    return P.stack(found)


@program([F4(4, 3), N(1)], [-F4(5, 3), N(2)], [F4(1, 3) + 3, N(0)], op_by_op="op by op")
def rows_that_a_condition_keeps(P, x, n):
    found = []
    largest = []
    for row in x:
        if row.sum() > n:
            found.append(row)
            largest.append(row.max())
    found.append(x[0])
    largest.append(x.max())
    return P.stack(found), P.stack(largest), len(found)


@program([F4(4, 3)], [-F4(5, 3)], [F4(1, 3) + 3], op_by_op="op by op")
def rows_in_one_of_two_lists(P, x):
    above, below = [], []
    for row in x:
        if row.sum() > 0:
            above.append(row)
        else:
            below.append(row)
    return P.stack(above + below), P.stack(below + [x[0]])


@program([F4(4, 3)], [-F4(5, 3)], [F4(1, 3) + 3], op_by_op="op by op")
def rows_after_continue(P, x):
    found = []
    for row in x:
        if row.sum() < 0:
            continue
        found.append(row)
    return P.stack([x[0]] + found)


@program([POS], [NEG], op_by_op="op by op")
def list_that_one_branch_makes_longer(P, x):
    found = [x]
    if x.sum() > 0:
        found.append(x * 2)
    return found[-1], P.concat(found), len(found) * x


@program([F4(4, 3)], [F4(1, 3)])
def lists_that_grew_joined(P, x):
    first = []
    for row in x:
        first.append(row * 2)
    second = [x[0]]
    second += first
    return P.stack(first + [x[0]]), P.stack(second), P.stack(list((x[0],)) + first)
