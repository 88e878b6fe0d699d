"""Functions of lengths that are not fixed when a model is saved: the file does, for shapes that no recording
had, what the function does. The function itself, run eagerly, gives the right values."""

import math

import numpy as np
import pytest

import paddle_jax

SHAPES = ((1, 4, 5), (2, 8, 3), (3, 16, 16), (2, 31, 7), (1, 1, 1), (4, 6, 40))


def upright(P, x):
    if x.shape[1] > x.shape[2]:
        x = x.transpose([0, 2, 1])
    return x


def without_the_odd_row(P, x):
    if x.shape[1] % 2 == 1 and x.shape[1] > 1:
        x = x[:, :-1]
    return x * 2


def padded_and_cropped(P, x):
    h, w = x.shape[1], x.shape[2]
    below, right = (8 - h % 8) % 8, (8 - w % 8) % 8
    y = P.nn.functional.pad(x.unsqueeze(1), [0, right, 0, below])
    return P.nn.functional.avg_pool2d(y, 2).squeeze(1), y[:, 0, :h, :w] + x


def fractions(P, x):
    n = x.shape[2]
    return x / n**0.5 + n / 2 - 1.0 / n + 0.25 * n + (n // 2 * 2) + np.sqrt(n)


def whole_numbers(P, x):
    n, m = x.shape[1], x.shape[2]
    low, high = min(n, m), max(n, 10)
    return x + low - high + abs(n - 12) + round(m / 4) + int(n / 3) + divmod(n, 3)[1] + n**2


def counts(P, x):
    n = x.shape[2]
    eye = x.matmul(P.eye(n))
    hot = P.nn.functional.one_hot(x.argmax(axis=-1), n)
    return eye, hot, x * P.linspace(-1, 1, n), P.arange(1, n + 1) * 2, P.full([n, 2], n / 4)


def halves(P, x):
    n = x.shape[2] // 2
    left, right = P.split(x, [n, x.shape[2] - n], axis=2)
    return P.concat([right, left], axis=2), P.topk(x, max(n, 1))[0]


def first_columns(P, x):
    return x[:, :, :20], x[:, :, 1::2], x[:, -3:], x[:, ::-1]


def loops(P, x):
    total = P.zeros([])
    for i in range(x.shape[1]):
        if i % 3 == 0:
            total = total + x[:, i].sum()
    n = x.shape[2]
    while n > 2:
        n = n // 2
        x = x * 0.5 + n
    return x, total


def conditions(P, x):
    n, m = x.shape[1], x.shape[2]
    factor = 2 if n > 5 and not m == 3 else 3
    width = m - 1 if n < m or m > 12 else m
    return x[:, :, : max(width, 1)] * factor


def early_return(P, x):
    if x.shape[1] > 10:
        return x.sum(axis=1)
    return x.mean(axis=1)


def cut_with_steps(P, x):
    n, k = x.shape[2], x.shape[1] % 3 + 1
    y = x * 1.0
    y[:, :, ::2] = n
    return x[:, :, ::-k], x[:, :, n // 2 :: -1], x[:, ::k], x[:, :, n // 2 :: k], y


def looked_up(P, x):
    n, m = x.shape[2], x.shape[1]
    first = [1, 4, 2][n % 3] + (n, 5)[n % 2 - 1] + (3 if n in (1, 7, m) else 2)
    return x + first + ((m, n) < (8, 5)) + (n & 6) + (n >> 1) + n.bit_length() + math.gcd(n, 12)


def clamped(P, x):
    """What has the same value for all long lengths."""
    few = min(int(np.prod([x.shape[1], 2])), 12)
    first = x[:, :, :5]
    pooled = P.nn.functional.adaptive_avg_pool2d(x.unsqueeze(1), [min(x.shape[1], 3), 2])
    return x + few, first[:, :, first.shape[2] // 2 :], pooled


def numpys_floats(P, x):
    """A Tensor of a NumPy float is of float64, that of a Python float of the default dtype."""
    n, m = x.shape[1], x.shape[2]
    mean, root, half = np.mean([n, m]), np.sqrt(n), n / np.float64(2)
    return [P.to_tensor(number) for number in (mean, root, half, float(root), np.float32(2) * n)], x * root


def loop_over_a_rest(P, x):
    """A slice that is empty for most lengths, and a loop by its length."""
    x = x[:, :, x.shape[0] : x.shape[2] // 3]
    n = 1
    while n < x.shape[2]:
        n *= 2
        x = x - n
    return x


def texts(P, x):
    """Texts of lengths beside numbers of other texts."""
    name = f"{x.shape[1]}, {x.shape}"
    return x * float("1.5") if name else x * int("2")


def among_keys(P, x):
    n = x.shape[1]
    factor = {4: 2.0, 16: 3.0}.get(n, 1.0) + (n in {8, 31}) + [4, n, x.shape[2]].count(4)
    return x * factor * (2 if n in {16: 1} else 1)


def sums_from_zero(P, x):
    total, most = 0, 1
    for row in x:
        total = total + row * 2
        most = most * row.max(axis=0)
    return total, most


def counted_down(P, x):
    """A division that one of the recorded numbers cannot take."""
    k = x.shape[2] % 4 + 1
    while k > 0:
        k = k - 1
        x = x + 1.0 / (k + 1)
    return x


def comprehensions(P, x):
    rows = [x[:, i] * (i + 1) for i in range(x.shape[1])]
    pairs = [row + i for i, row in enumerate(x)]
    return P.stack(rows, axis=1), P.concat(pairs)


def lists_in_dicts(P, x):
    found = {"rows": [], "count": 0, "parts": [x]}
    for i in range(x.shape[1]):
        found["rows"].append(x[:, i].tanh())
        found["count"] += 1
    if x.shape[2] > 6:
        found["parts"].append(x * 2)
    return P.stack(found["rows"]), P.concat(found["parts"]) * found["count"]


def shortened_lists(P, x):
    parts = [x, x * 2, x * 3]
    if x.shape[1] > 7:
        parts.pop()
    return sum(parts), P.concat(parts, axis=2)


def inserted_rows(P, x):
    rows, state = [], P.zeros([x.shape[0], x.shape[2]])
    for i in range(x.shape[1] - 1, -1, -1):
        state = P.tanh(x[:, i] + state)
        rows.insert(0, state)
    return P.stack(rows, axis=1)


def counted_elements(P, x):
    """`masked_select` and `nonzero` of one mask give as many elements."""
    mask = x > 0
    values, positions = P.masked_select(x, mask), P.nonzero(mask)
    return P.scatter_nd(positions, values, x.shape), x * (values.shape[0] + positions.shape[0])


def sizes_of_one_branch(P, x):
    """Sizes that are negative where the branch is not taken."""
    n = x.shape[2]
    if n < 8:
        x = P.concat([x, P.zeros([x.shape[0], x.shape[1], 8 - n])], axis=2)
    if x.shape[1] < 5:
        x = P.concat([x, x[:, :1].expand([-1, 5 - x.shape[1], -1])], axis=1)
    return x


def equal_in_one_branch(P, x):
    """Lengths that are equal where the branch is taken alone."""
    if x.shape[1] == x.shape[2]:
        return x + x.transpose([0, 2, 1])
    return x * 2


def halved_until_one_is_left(P, x):
    n, size = x.shape[2], 1
    while size < n:
        size *= 2
    x = P.concat([x, P.zeros([x.shape[0], x.shape[1], size - n])], axis=2)
    while x.shape[2] > 1:
        half = x.shape[2] // 2
        x = x[:, :, :half] + x[:, :, half:]
    return x


def cut_at_a_counter(P, x):
    ahead = back = P.zeros([x.shape[0], x.shape[2]])
    for i in range(x.shape[1]):
        ahead = ahead * 0.5 + x[:, i : i + 1].squeeze(1)
    for i in range(x.shape[1] - 1, -1, -1):
        back = back * 0.5 + x[:, i : i + 1].squeeze(1)
    pair = P.zeros([x.shape[0], x.shape[1], 2])
    for i in range(x.shape[2] // 2):
        pair = pair * 0.5 + x[:, :, 2 * i : 2 * i + 2]
    turned = P.zeros([x.shape[0], x.shape[2]])
    for i in reversed(range(x.shape[1])):
        turned = turned * 0.5 + x[:, i : i + 1].squeeze(1)
    return ahead, back, pair, turned


def cut_at_two_counters(P, x):
    total = P.zeros([x.shape[0], x.shape[2]])
    n = x.shape[1]
    for i in range(1, n, 3):
        total = total * 0.5 + x[:, i - 1 : i].squeeze(1)
        for j in range(i, min(i + 2, n)):
            total = total * 0.5 + x[:, n - 1 - j : n - j].squeeze(1)
    return total


def cut_at_what_a_while_counts(P, x):
    n = x.shape[1]
    total = P.zeros([x.shape[0], x.shape[2]])
    i, j = 0, n - 1
    while i < j:
        total = total * 0.5 + x[:, i : i + 1].squeeze(1) * 2 + x[:, j : j + 1].squeeze(1)
        i, j = i + 1, j - 1
    while i + 2 <= min(n, 9):
        total = total * 0.5 + x[:, i : i + 2].unbind(1)[1]
        i += 1 if total.sum() > 0 else 2
    i = n
    while True:
        if not i > 0 or total.sum() > 9:
            break
        i -= 1
        total = total * 0.5 + x[:, i : i + 1].squeeze(1)
    return total


def cut_where_it_is_long(P, x):
    if x.shape[1] >= 4 and x.shape[2] > 1:
        return x[:, :4].unbind(1)[3] + x[:, -2:].unbind(1)[0]
    return x.sum(1)


def last_piece(P, x):
    total, y, n = P.zeros([x.shape[0], 1, x.shape[2]]), x[:, :3], x.shape[1]
    for i in range(0, n, 3):
        total = total + y.sum(1, keepdim=True) * y.shape[1]
        y = x[:, i : min(i + 3, n)]
    return total, y * y.shape[1]


def resized_by_factors(P, x):
    h, w = x.shape[1], x.shape[2]
    table = P.arange(16, dtype="float32").reshape([1, 1, 4, 4])
    grown = P.nn.functional.interpolate(
        table, scale_factor=((h // 2 + 1.1) / 4, 6 / w + 0.5), mode="bilinear"
    )
    return grown, P.nn.functional.interpolate(x.unsqueeze(1), scale_factor=[9 / h, 9 / w], mode="nearest")


def taken_where_largest(P, x):
    place = x.reshape([x.shape[0], -1]).topk(1)[1] % x.shape[1]
    return P.take_along_axis(x, place.unsqueeze(-1).expand([x.shape[0], 1, x.shape[2]]), 1)


def counted_up_to(P, x):
    return P.bincount((x.abs() * 3).astype("int64").flatten(), minlength=x.shape[1] * 2)


def chunks_before(P, x):
    n, left = x.shape[1], 2
    mask, total = P.zeros([n, n]), P.zeros([])
    for i in range(n):
        if left < 0:
            start = 0
        else:
            start = max(0, (i // 4 - left) * 4)
        if n > 4:
            if i > 2:
                weight = i
            else:
                weight = 2
            total = total + weight
        mask[i, start : min(i // 4 * 4 + 4, n)] = 1.0
    return mask, total


def reversed_lists(P, x):
    found, state = [], P.zeros_like(x[:, 0])
    for t in reversed(range(x.shape[1])):
        state = state * 0.5 + x[:, t]
        found.append(state)
    found.reverse()
    for row in reversed(found):
        state = state * 0.5 + row
    return P.stack(found, 1), state, P.concat(list(reversed(found)), -1)


def grown_lists_by_number(P, x):
    found, total = [], P.zeros_like(x[:, 0])
    for t in range(x.shape[1]):
        found.append(x[:, t] * t)
    for k, row in enumerate(reversed(found), 2):
        total = total * 0.5 + k * row
    for k, (row, other) in enumerate(zip(found, reversed(found), strict=True)):
        if k > 4:
            break
        total = total + k * row * other
    return total, P.stack([k * row for k, row in enumerate(found)])


def pooled_back(P, x):
    F = P.nn.functional
    y = F.pad(x.unsqueeze(1), [0, 4 - x.shape[2] % 2, 0, 4 - x.shape[1] % 2])
    places = F.max_unpool2d(*F.max_pool2d(y, 2, 2, return_mask=True), 2, 2, output_size=y.shape[2:])
    chosen = P.where(x > 1, P.full_like(x, float("nan")), x)
    return (
        places,
        *P.nanmedian(chosen, 1, mode="min"),
        F.fractional_max_pool2d(y, 3, random_u=0.3),
        *F.fractional_max_pool2d(y, (2, 3), 2, 0.6, return_mask=True),
    )


def rows_that_few_lengths_have(P, x):
    """Most lengths leave one row or two, and enter no branch."""
    some = x[:, -((-x.shape[2]) % 5) :: 3]
    n = some.shape[1]
    if n > 2:
        found = some[:, n - 2 : n].reshape([x.shape[0], 2 * x.shape[2]])
    else:
        found = some.sum(1)
    return found[:, : x.shape[2]]


def filled_with_lengths(P, x):
    n = x.shape[2] / 2
    one = P.zeros([x.shape[0], 1, x.shape[2]], "int64")
    chosen = P.where(x > 0, x, n), P.where(x > 0, -n, x), P.masked_fill(x, x < 0, n)
    return *chosen, P.put_along_axis(x, one, n, 1), P.assign([n, 2.5]), P.assign(x.shape[1])


def written_by_paddles_operations(P, x):
    """Rules that must not decide by the length."""
    longer = P.nn.functional.pad(x.unsqueeze(1), [0, x.shape[2] - 1, 0, 0])
    place = P.zeros([x.shape[0], 1, x.shape[2]], "int64")
    return longer, x.std(1), P.put_along_axis(x, place, P.full([x.shape[0], 1, x.shape[2]], 2.0), 1)


FUNCTIONS = (
    written_by_paddles_operations,
    filled_with_lengths,
    rows_that_few_lengths_have,
    pooled_back,
    grown_lists_by_number,
    chunks_before,
    reversed_lists,
    resized_by_factors,
    taken_where_largest,
    counted_up_to,
    cut_at_what_a_while_counts,
    cut_where_it_is_long,
    last_piece,
    cut_at_a_counter,
    cut_at_two_counters,
    comprehensions,
    lists_in_dicts,
    shortened_lists,
    inserted_rows,
    counted_elements,
    sizes_of_one_branch,
    equal_in_one_branch,
    halved_until_one_is_left,
    counted_down,
    sums_from_zero,
    among_keys,
    loop_over_a_rest,
    texts,
    numpys_floats,
    cut_with_steps,
    looked_up,
    clamped,
    upright,
    without_the_odd_row,
    padded_and_cropped,
    fractions,
    whole_numbers,
    counts,
    halves,
    first_columns,
    loops,
    conditions,
    early_return,
)


def tensors(value):
    if isinstance(value, list | tuple):
        return [array for item in value for array in tensors(item)]
    return [value.numpy()]


def array(shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def saved(function, prefix):
    spec = [paddle_jax.static.InputSpec([None, None, None], "float32", "x")]
    paddle_jax.jit.save(lambda x: function(paddle_jax, x), prefix, input_spec=spec)
    return prefix


def check(P, function, prefix):
    loaded = P.jit.load(prefix)
    for shape in SHAPES:
        want = tensors(function(paddle_jax, paddle_jax.to_tensor(array(shape))))
        got = tensors(loaded(P.to_tensor(array(shape))))
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert one.shape == other.shape, f"{shape}: {one.shape} instead of {other.shape}"
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=str(shape))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_saved_for_any_length(tmp_path, function):
    check(paddle_jax, function, saved(function, str(tmp_path / "m")))


@pytest.mark.own_process
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_paddle_reads_it(oracle, tmp_path, function):
    check(oracle, function, saved(function, str(tmp_path / "m")))


def test_plain_numbers_of_lengths_are_refused(tmp_path):
    """What asks Python for a plain number would hold for one length alone, even where the code catches it."""

    def caught(P, x):
        try:
            rows = [1.0] * x.shape[1]
        except TypeError:
            rows = [1.0]
        return x * len(rows)

    with pytest.raises(ValueError, match="decides by a length"):
        saved(caught, str(tmp_path / "m"))


NUMBERS_OF_LENGTHS = (
    lambda P, x: P.renorm(x, p=1 + x.shape[2] / 8, axis=1, max_norm=x.shape[1] / 8),
    lambda P, x: P.nn.functional.normalize(x, p=1 + x.shape[2] / 8, axis=1),
    lambda P, x: P.nn.functional.pad(x, [1, 1], value=x.shape[2] / 8, data_format="NCL"),
    lambda P, x: P.linalg.norm(x, p=1 + x.shape[2] / 8, axis=1),
    lambda P, x: P.nn.functional.dropout(x, 1 / x.shape[2], training=False, mode="downscale_in_infer"),
)


@pytest.mark.filterwarnings("ignore:.*not operations of Paddle")
@pytest.mark.parametrize("function", NUMBERS_OF_LENGTHS)
def test_attributes_made_of_lengths(tmp_path, function):
    """Paddle has constants for some of these attributes. Their operations are ours in the file."""
    check(paddle_jax, function, saved(function, str(tmp_path / "m")))


DECIDED = (
    lambda shape: len({shape[1], shape[2]}),
    lambda shape: len(set(shape)),
    lambda shape: shape.index(1),
    lambda shape: {(1, 4): 3}.get((shape[0], shape[1]), 1),
    lambda shape: {"a": 2, 4: 3}.get(shape[1], 1),
)


@pytest.mark.parametrize("decide", DECIDED)
def test_containers_that_decide_by_plain_numbers_are_refused(tmp_path, decide):
    with pytest.raises(ValueError, match="decides by a length"):
        saved(lambda P, x: x * decide(x.shape), str(tmp_path / "m"))


COUNTS = (
    lambda n, m: min(max(pow(n % 6, 2), 1), 12),  # 1 for the first length of each usual recording
    lambda n, m: 3 + int(n == 777),
    lambda n, m: 3 + int(n >= 300) * int(m == 1),
    lambda n, m: 3 + int(n == 555) * int(m == 444),
    lambda n, m: 3 + max(int(n % 700 == 0) + int(m == 3) - 1, 0),
)


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_that_rarely_change_are_refused(tmp_path, count):
    """`triu_indices` needs a plain number: a file would hold for some lengths alone."""

    def indices(P, x):
        return P.triu_indices(2, count(x.shape[1], x.shape[2])), x

    with pytest.raises(ValueError, match="for different lengths"):
        saved(indices, str(tmp_path / "m"))


def test_items_of_other_lengths_are_refused(tmp_path):
    """A list that grows is one Tensor in the file, in which the last piece has no place."""

    def pieces(P, x):
        found, i = [], 0
        while i < x.shape[1]:
            found.append(x[:, i : min(i + 3, x.shape[1])])
            i += 3
        return P.concat(found, axis=1)

    with pytest.raises(ValueError, match="length"):
        saved(pieces, str(tmp_path / "m"))


def by_float(P, x):
    return x * 2 if float(f"{x.shape[0]}.5") < 2 else x


def by_int(P, x):
    return x * 2 if int(str(x.shape[0])) < 2 else x


def by_lambda(P, x):
    return x * 2 if (lambda n: float(f"{n}"))(x.shape[0]) < 2 else x


@pytest.mark.parametrize("function", [by_float, by_int, by_lambda], ids=lambda f: f.__name__)
def test_numbers_of_texts_of_lengths_are_refused(tmp_path, function):
    """The text shows the length of one recording, by which code may decide."""
    with pytest.raises(ValueError, match="text"):
        saved(function, str(tmp_path / "m"))


def test_a_call_before_saving_changes_nothing(tmp_path):
    """The number of a length must not be found where the shapes of an earlier call are kept."""
    fours = paddle_jax.full([4], 4.0)

    def common(P, x):
        return P.broadcast_tensors([x, P.ones([4])])[0] * P.ones(P.broadcast_shape(x.shape, [4]))

    for length in (5, 13, 97, 264):
        x = paddle_jax.ones([length, 4])
        assert common(paddle_jax, x).shape == [length, 4]
        assert paddle_jax.broadcast_tensors([x, fours])[1].shape == [length, 4]
    paddle_jax.jit.save(
        lambda x: common(paddle_jax, x), str(tmp_path / "m"), [paddle_jax.static.InputSpec([None, 4])]
    )
    loaded = paddle_jax.jit.load(str(tmp_path / "m"))
    for length in (0, 1, 5, 7):
        assert loaded(paddle_jax.ones([length, 4])).shape == [length, 4]
