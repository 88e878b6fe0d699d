"""Tokens on their way to experts and back, against loops in NumPy; the real Paddle has these
functions on GPUs only."""

import numpy as np
import pytest

rng = np.random.default_rng(3)
N, K, EXPERTS, WIDE = 7, 2, 4, 3


def sent(x, weights, experts, capacity, first=0, end=EXPERTS, last=False):
    """{expert: [(token, choice)]} that are kept."""
    found = {}
    for expert in range(first, end):
        rows = [(n, c) for n in range(len(x)) for c in range(experts.shape[1]) if experts[n, c] == expert]
        found[expert] = rows[-capacity:] if last else rows[:capacity]
    return found


@pytest.fixture
def F(paddle):
    return paddle.incubate.nn.functional


@pytest.mark.parametrize("biased", [False, True])
def test_dispatch(paddle, F, biased):
    x, gates = rng.standard_normal((N, WIDE)), rng.random((N, EXPERTS))
    bias = np.array([0, 3.0, 0, 0]) if biased else None
    chosen = np.argsort(-(gates if bias is None else gates + bias), 1)[:, :K]
    t, u = (paddle.to_tensor(v, stop_gradient=False) for v in (x, gates))
    y, weights, places, ends, experts = F.moe_gate_dispatch(
        t, u, None if bias is None else paddle.to_tensor(bias), K, 3, True
    )
    want, kept = np.zeros((EXPERTS * 3, WIDE)), np.zeros((N, K))
    for expert, rows in sent(x, gates, chosen, 3).items():
        for place, (n, c) in enumerate(rows):
            want[expert * 3 + place], kept[n, c] = x[n], 1
            assert int(places[c, n]) == expert * 3 + place
    np.testing.assert_array_equal(y.numpy(), want)
    np.testing.assert_array_equal(experts.numpy(), chosen)
    np.testing.assert_array_equal(weights.numpy(), np.take_along_axis(gates, chosen, 1) * kept)
    np.testing.assert_array_equal(ends.numpy(), np.bincount(chosen.ravel(), minlength=EXPERTS).cumsum())
    (y.sum() + (weights**2).sum()).backward()
    np.testing.assert_allclose(t.grad.numpy(), np.repeat(kept.sum(1)[:, None], WIDE, 1))
    assert np.count_nonzero(u.grad.numpy()) == kept.sum()
    back = F.moe_combine(y, weights, places.transpose([1, 0]))
    np.testing.assert_allclose(
        back.numpy(), x * (np.take_along_axis(gates, chosen, 1) * kept).sum(1, keepdims=True)
    )


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_dispatch_to_some_experts(paddle, F, padded, last):
    x, weights, capacity = rng.standard_normal((N, WIDE)), rng.random((N, K)), 2
    experts = np.stack([rng.permutation(EXPERTS)[:K] for _ in range(N)]).astype("int32")
    y, w, places, tokens, counts, own = F.moe_gate_dispatch_partial_nosoftmaxtopk(
        *map(paddle.to_tensor, (x, weights, experts)), K, capacity, EXPERTS, padded, 1, 3, last
    )
    kept, rows = np.zeros((N, K)), []
    for expert, going in sent(x, weights, experts, capacity, 1, 3, last).items():
        for place, (n, c) in enumerate(going):
            kept[n, c] = 1
            row = (expert - 1) * capacity + place if padded else len(rows)
            rows.append(n)
            assert int(places[c, n]) == row and int(tokens[row]) == n
            np.testing.assert_array_equal(y[row].numpy(), x[n])
        assert int(own[expert]) == len(going)
    assert y.shape == [2 * capacity if padded else len(rows), WIDE] and own[0] == own[3] == 0
    np.testing.assert_array_equal(w.numpy(), weights * kept)
    np.testing.assert_array_equal(counts.numpy(), np.bincount(experts.ravel(), minlength=EXPERTS))


def test_order_of_devices(paddle, F):
    x, gates = (paddle.to_tensor(rng.random(shape)) for shape in ((N, WIDE), (N, EXPERTS)))
    plain, devices = (
        F.moe_gate_dispatch(x, gates, None, K, 3, True)[0],
        F.moe_gate_dispatch_permute(x, gates, None, K, 3, 2)[0],
    )
    assert devices.shape == [2, 6, WIDE]
    np.testing.assert_array_equal(
        devices.numpy().reshape(2, 2, 3, WIDE), plain.numpy().reshape(2, 2, 3, WIDE).swapaxes(0, 1)
    )


def test_compiled(paddle, F):
    x, gates = (paddle.to_tensor(rng.random(shape)) for shape in ((N, WIDE), (N, EXPERTS)))
    run = paddle.jit.to_static(lambda x, gates: F.moe_gate_dispatch(x, gates, None, K, 3, True))
    for got, want in zip(run(x, gates), F.moe_gate_dispatch(x, gates, None, K, 3, True), strict=True):
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_busy_experts(paddle, F):
    gates, chosen, mask = rng.random((N, EXPERTS)), rng.integers(0, 2, (N, EXPERTS)), rng.integers(0, 2, N)
    t = paddle.to_tensor(gates, stop_gradient=False)
    loss, tokens, shares = F.cal_aux_loss(t, paddle.to_tensor(chosen), None, None, EXPERTS, False, K, 1e-6)
    np.testing.assert_allclose(shares.numpy(), chosen.mean(0))
    np.testing.assert_allclose(loss.item(), EXPERTS * (gates.mean(0) * chosen.mean(0)).sum())
    loss.backward()
    np.testing.assert_allclose(t.grad.numpy(), np.repeat(EXPERTS * chosen.mean(0)[None] / N, N, 0))
    part, count, _ = F.cal_aux_loss(
        t, paddle.to_tensor(chosen.sum(0)), paddle.to_tensor(mask), None, EXPERTS, True, K, 1e-6
    )
    assert count.item() == mask.sum() and tokens.item() == N
    np.testing.assert_allclose(
        part.item(), EXPERTS / K * (gates.sum(0) * chosen.sum(0)).sum() / mask.sum() ** 2
    )


def test_counts_and_numbers(paddle, F):
    t = paddle.to_tensor
    numbers = rng.integers(0, 9, (5, 6))
    for kind in ("int32", "int64"):
        found = F.int_bincount(t(numbers), 2, 7, kind)
        assert (
            str(found.dtype) == f"paddle.{kind}"
            and found.tolist() == np.bincount(numbers.ravel(), minlength=9)[2:7].tolist()
        )
    # numbers 1, 4 and 3, 6; two of each modality on a device
    grouped = F.expand_modality_expert_id(t([[1, 0], [3, 2]]), 2, 4, 0, True)
    assert grouped.tolist() == [[1, 8], [5, 12]]
    assert F.expand_modality_expert_id(t([[1, 0]]), 0, 4, 0, True).tolist() == [[1, 4]]


WRONG = [
    ("int_bincount(paddle.ones([2]), 0, 3)", TypeError, "int_bincount: x"),
    ("int_bincount(paddle.to_tensor([1]), 3, 0)", ValueError, "int_bincount: got low=3"),
    (
        "moe_gate_dispatch(paddle.ones([2, 3]), paddle.ones([3, 4]), None, 1, 2, True)",
        ValueError,
        "gate_logits: got shape",
    ),
    ("moe_gate_dispatch(paddle.ones([2, 3]), paddle.ones([2, 4]), None, 5, 2, True)", ValueError, "k=5"),
    (
        "moe_gate_dispatch(paddle.ones([2, 3]), paddle.ones([2, 4]), None, 1, 0, True)",
        ValueError,
        "capacity=0",
    ),
    (
        "moe_gate_dispatch_permute(paddle.ones([2, 3]), paddle.ones([2, 4]), None, 1, 2, 3)",
        ValueError,
        "world_size: got 3",
    ),
    (
        "cal_aux_loss(paddle.ones([2]), paddle.ones([2]), None, None, 2, False, 1, 1e-6)",
        ValueError,
        "gate_prob: got shape",
    ),
    ("expand_modality_expert_id(paddle.to_tensor([1]), 2, 0, 0, False)", ValueError, "expert_id: got shape"),
    (
        "build_src_rank_and_local_expert_id(paddle.to_tensor([1, 2]), [1], 2)",
        ValueError,
        "got 1 numbers for 2 experts",
    ),
]


@pytest.mark.parametrize("call, kind, said", WRONG, ids=[call for call, *_ in WRONG])
def test_refusals(paddle, F, call, kind, said):
    with pytest.raises(kind, match=said):
        eval("F." + call, {"paddle": paddle, "F": F})


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("align", [1, 4])
def test_rows_filled_up_for_each_expert_and_back(paddle, kind, align):
    P, t = paddle.nn.functional, paddle.to_tensor
    x, prob = rng.standard_normal((N, WIDE)).astype(kind), rng.random((N, 3)).astype("float32")
    route = np.stack([rng.permutation(EXPERTS)[:3] for _ in range(N)]).astype("int32")
    route[rng.random(route.shape) < 0.3] = -1
    counts = [int((route == e).sum()) for e in range(EXPERTS)]
    given, weights = t(x, stop_gradient=False), t(prob, stop_gradient=False)
    scale = t(np.arange(N * 2).reshape(N, 2).astype("float32"))
    rows, places, probs, scales, number = P.moe_permute(
        given, scale, t(route), weights, EXPERTS, counts, align, return_expert_indices=True
    )
    begin = 0
    for e in range(EXPERTS):
        tokens, room = np.flatnonzero((route == e).any(1)), -(-counts[e] // align) * align
        want = np.zeros((room, WIDE))
        want[: len(tokens)] = x[tokens]
        np.testing.assert_array_equal(rows[begin : begin + room].numpy(), want.astype(kind))
        np.testing.assert_array_equal(
            number[begin : begin + room].numpy(), [e] * len(tokens) + [-1] * (room - len(tokens))
        )
        for k, n in enumerate(tokens):
            assert places[n, e] == begin + k and float(probs[begin + k]) == prob[n][route[n] == e][0]
            np.testing.assert_array_equal(scales[begin + k].numpy(), [2 * n, 2 * n + 1])
        begin += room
    assert len(rows) == begin and (places.numpy() < 0).sum() == N * EXPERTS - sum(counts)
    back, again = P.moe_unpermute(rows, places, t(route), probs, N, EXPERTS, using_weighted_combine=True)
    total = np.where(route >= 0, prob, 0).sum(1, keepdims=True)
    np.testing.assert_allclose(back.numpy(), x * total, 1e-6, 1e-6)
    np.testing.assert_array_equal(again.numpy(), np.where(route >= 0, prob, 0))
    np.testing.assert_allclose(
        P.moe_unpermute(rows, places, t(route), probs, N, EXPERTS)[0].numpy(),
        x * (route >= 0).sum(1, keepdims=True),
        1e-6,
    )
    back.sum().backward()
    np.testing.assert_allclose(given.grad.numpy(), np.repeat(total, WIDE, 1), 1e-6)
    np.testing.assert_allclose(
        weights.grad.numpy(), np.where(route >= 0, x.sum(1, keepdims=True), 0), 1e-5, 1e-6
    )
    with pytest.raises(ValueError, match="3 tokens_per_expert for num_experts=4"):
        P.moe_permute(given, None, t(route), weights, EXPERTS, counts[:3], align)
    with pytest.raises(ValueError, match="zipped_expertwise_rowmap: got shape"):
        P.moe_unpermute(rows, places, t(route), probs, N + 1, EXPERTS)
