"""`paddle_jax.live_tensors()` names what is retained."""

import gc
import tracemalloc

import paddle_jax


def test_a_retained_loss_is_named(paddle):
    net, x, kept = paddle.nn.Linear(50, 40), paddle.ones([30, 50]), []
    for _ in range(7):
        loss = (net(x) ** 2).mean()  # planted: the loss keeps its history
        kept.append(loss)
        loss.numpy()
    gc.collect()
    group = next(g for g in paddle_jax.live_tensors(1000) if g.count == 7 and g.shape == ())
    assert group.op == "mean"
    assert group.where.endswith(f"test_live.py:{test_a_retained_loss_is_named.__code__.co_firstlineno + 3}")
    assert group.kept >= 7 * 30 * 40 * 4  # of each, what the square was computed from
    kept[:] = [loss.detach() for loss in kept]
    del loss
    gc.collect()
    assert all(g.kept == 0 for g in paddle_jax.live_tensors(1000) if g.shape == () and g.count == 7)


def test_what_has_not_run_yet_has_its_line(paddle):
    pending = paddle.ones([319, 7]) + 1  # planted
    group = next(g for g in paddle_jax.live_tensors(1000) if g.shape == (319, 7) and g.op == "add")
    assert group.where.endswith(
        f"test_live.py:{test_what_has_not_run_yet_has_its_line.__code__.co_firstlineno + 1}"
    )
    assert pending.numpy()[0, 0] == 2


def test_parameters_that_a_compiled_step_keeps_in_one_array(paddle):
    net = paddle.nn.Sequential(*[paddle.nn.Linear(7, 7) for _ in range(12)])
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    paddle.explain(reset=True)
    for _ in range(4):
        step(paddle.ones([2, 7]))
    assert paddle.explain().flat_buffers == {"joined": 1}
    assert (
        sum(g.count for g in paddle_jax.live_tensors(1000) if g.shape == (7, 7) and g.op == "a parameter")
        >= 12
    )


def test_large_tensors_come_first_and_go(paddle):
    gc.collect()
    before = paddle_jax.live_tensors()
    big = paddle.ones([1000, 700]).exp()
    big.numpy()
    after = paddle_jax.live_tensors()
    assert 2_800_000 <= after.nbytes - before.nbytes <= 2_900_000
    assert any(g.shape == (1000, 700) and g.nbytes == 2_800_000 for g in after)
    assert f"hold {after.nbytes} bytes" in repr(after)
    assert len(paddle_jax.live_tensors(1)) == 1
    del big
    gc.collect()
    assert paddle_jax.live_tensors().nbytes <= before.nbytes + 100_000


def test_with_tracemalloc_every_tensor_has_its_line(paddle):
    tracemalloc.start(20)
    try:
        made = paddle.full([321], 2.0)  # planted
        made.numpy()
        group = next(g for g in paddle_jax.live_tensors(1000) if g.shape == (321,))
    finally:
        tracemalloc.stop()
    assert group.where.endswith(
        f"test_live.py:{test_with_tracemalloc_every_tensor_has_its_line.__code__.co_firstlineno + 3}"
    )


def test_sparse_tensors_are_listed_by_their_parts(paddle):
    sparse = paddle.sparse.sparse_coo_tensor([[0, 99]], paddle.ones([2, 100_003]), [100, 100_003])
    assert any(group.shape == (2, 100_003) for group in paddle_jax.live_tensors(1000))
    assert sparse.nnz() == 2
