"""Programs whose lengths depend on values, and copies of containers."""

import copy

from tests.jit.corpus.program import F4, NEG, POS, N, program


@program([POS], [NEG], op_by_op="op by op")
def rows_above_zero(P, x):
    return x[x > 0] * 2, P.masked_select(x, x < 0).sum()


@program([POS], [NEG], op_by_op="op by op")
def places_and_rows(P, x):
    places = P.nonzero(x > 0)
    return places, P.gather(x, places.flatten()) * 3, P.where(x < 0)[0]


# the real Paddle has no gradient of `unique`
@program([POS], [NEG], op_by_op="op by op", gradients=False)
def unique_with_counts(P, x):
    return P.unique(x.abs(), return_counts=True)


@program([POS], [NEG], op_by_op="op by op")
def sizes_from_values(P, x):
    count = (x > 0).sum()
    return P.ones([int(x.max())]), P.arange(x.max().astype("int64")), x[:count], x[count:]


@program([F4(6, 3)], [F4(4, 3)], op_by_op="op by op")
def rows_are_left_out(P, x):
    kept = x[x.sum(1) > 0]
    if kept.sum() > 2:
        return kept * 2
    return kept - 1


@program([F4(6, 3)], [F4(4, 3)], op_by_op="op by op")
def largest_of_some(P, x):
    return P.topk(x.sum(1), (x.sum(1) > 0).sum())[0]


@program([F4(6, 3), N(2)], [F4(4, 3), N(3)], op_by_op="op by op")
def counts_and_repeats(P, x, n):
    is_positive = (x[:, 0] > 0).astype("int64")
    return P.bincount(is_positive * n), P.repeat_interleave(x, is_positive * n, axis=0)


@program([F4(6, 3), N(2)], [F4(4, 3), N(3)], op_by_op="op by op")
def masks_in_a_loop(P, x, n):
    s = x.sum()
    for i in range(n):
        s = s + x[x > i].sum()
    return s


@program([POS, N(3)], [NEG, N(5)], op_by_op="op by op")
def tokens(P, x, n):
    ids = x.argmax().reshape([1, 1])
    while ids.shape[1] < n:
        ids = P.concat([ids, (ids[:, -1:] * 3 + 1) % 7], axis=1)
    return ids


@program([POS], [NEG], op_by_op="op by op")
def other_lengths_in_branches(P, x):
    if x.sum() > 0:
        return x
    return P.concat([x, x])


@program([POS], [NEG])
def deep_copies(P, x):
    made = {"list": [x * 1, 1], "n": 3}
    other = copy.deepcopy({"list": [x, 1], "n": 3})
    other["list"].append(x)
    made["list"].append(x + 2)
    return other["list"][2] + made["list"][0] * len(made["list"]), other["list"][0]
