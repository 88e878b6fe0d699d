"""Recurrent networks: beyond what test_layers compares."""

import numpy as np
import pytest

from tests.nn.scripts import same

SCRIPTS = {
    "cells": [
        "nn.LSTMCell(4, 3).state_shape, nn.GRUCell(4, 3).state_shape, nn.SimpleRNNCell(4, 3).state_shape",
        "nn.LSTMCell(4, 3).state_dtype",
        "nn.RNNCellBase().state_shape",
        "nn.LSTMCell(4, 3, proj_size=5)",
        "nn.LSTMCell(4, 0)",
        "nn.GRUCell(4, -3)",
        "nn.SimpleRNNCell(4, 0)",
        "nn.SimpleRNNCell(4, 3, activation='gelu')",
        "nn.SimpleRNN(4, 3, activation='gelu')",
        "nn.LSTM(4, 3, direction='abc')",
        "nn.LSTM(4, 3, direction='bidirectional').num_directions",
        "c, x = nn.LSTMCell(4, 3), paddle.ones([5, 4])",
        "c.get_initial_states(x)",
        "c.get_initial_states(x, shape=[7])",
        "c.get_initial_states(x, shape=([7], [2, 3]), dtype='float64', init_value=2.0)",
        "nn.GRUCell(4, 3).get_initial_states(x, batch_dim_idx=1).shape",
        "[len(r) for r in (c(x), c(x)[1])]",
        "c(paddle.ones([2, 5]))",
        "nn.LSTMCell(4, 3, bias_ih_attr=False).bias_ih",
        "nn.LSTMCell(4, 3, weight_ih_attr=False).weight_ih",
        "nn.LSTM(4, 3, bias_ih_attr=False).state_dict().keys()",
        "nn.GRU(4, 3, weight_ih_attr=False).state_dict().keys()",
        "nn.LSTM(4, 3, 2, weight_ih_attr=paddle.ParamAttr(name='wih2'))",
        "nn.RNN(5)",
        "nn.BiRNN(nn.LSTMCell(4, 3), nn.LSTMCell(6, 3))",
        "L, X = nn.LSTM(4, 3, 2, direction='bidirect'), paddle.ones([2, 5, 4])",
        "[o.shape for o in L(X)[1]], L(X)[0].shape",
        "[n for n, _ in L.named_parameters()]",
        "[n for n, _ in L.named_sublayers()]",
        "L(X, initial_states=paddle.ones([4, 2, 3]))",
        "L(paddle.ones([2, 5, 6]))",
        "L(paddle.ones([5, 4]))",
        "L(X, (paddle.ones([1, 2, 3]), paddle.ones([1, 2, 3])))",
        "L.flatten_parameters()",
        "len(L), L[0]",
        "nn.GRU(4, 3)(X, [paddle.ones([1, 2, 3])])[1].shape",
        "nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(4, 3))(X)[0].shape",
        "nn.LSTM(4, 3, 2, proj_size=2, direction='bidirect')(X)[0].shape",
        "nn.LSTM(4, 3, num_layers=2, time_major=True, dropout=0.1)",
    ],
    "cells of one's own": [
        (
            "def forward(self, x, states=None, k=1.0):\n    states = self.get_initial_states(x, "
            "self.state_shape) if states is None else states\n"
            "    return x * k + states, x * k + states"
        ),
        "Add = type('Add', (nn.RNNCellBase,), {'forward': forward, 'state_shape': (4,)})",
        "X = paddle.arange(40.0).reshape([2, 5, 4])",
        "nn.RNN(Add())(X)",
        "nn.RNN(Add(), is_reverse=True)(X)",
        "nn.RNN(Add())(X, k=2.0)",
        "nn.RNN(Add())(X, sequence_length=paddle.to_tensor([5, 2]))",
        "nn.RNN(Add(), time_major=True)(X)",
        "nn.RNN(Add())(X, paddle.ones([2, 4]))",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


@pytest.mark.parametrize("name", ["SimpleRNNCell", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_one_op_and_step_by_step_agree(paddle, name, is_reverse):
    cell = getattr(paddle.nn, name)(4, 3)
    x, lengths = paddle.rand([3, 6, 4]), paddle.to_tensor([6, 2, 4])
    rnn = paddle.nn.RNN(cell, is_reverse)
    fused = rnn(x, sequence_length=lengths)
    cell.register_forward_post_hook(lambda layer, args, out: None)  # a hook must see every step
    stepwise = rnn(x, sequence_length=lengths)
    for a, b in zip(leaves(fused), leaves(stepwise), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def leaves(out):
    return [leaf for item in out for leaf in leaves(item)] if isinstance(out, list | tuple) else [out]


def test_layers_without_biases(paddle):
    rnn = paddle.nn.LSTM(4, 3, bias_ih_attr=False, bias_hh_attr=False)
    assert list(rnn.state_dict())[:2] == ["weight_ih_l0", "weight_hh_l0"]
    assert float(abs(rnn(paddle.zeros([2, 5, 4]))[0]).max()) == 0.0
    assert [p.name for p in rnn.parameters() if not p.stop_gradient] == [
        rnn.weight_ih_l0.name,
        rnn.weight_hh_l0.name,
    ]


def test_projection_starts_from_zeros_of_the_right_size(paddle):
    y, (h, c) = paddle.nn.RNN(paddle.nn.LSTMCell(4, 3, proj_size=2))(paddle.rand([2, 5, 4]))
    assert (y.shape, h.shape, c.shape) == ([2, 5, 2], [2, 2], [2, 3])


def test_names_of_parameters_with_projection_and_two_directions(paddle):
    rnn = paddle.nn.LSTM(4, 3, 2, "bidirect", proj_size=2)
    assert rnn.weight_hh_l1_reverse is rnn[1].cell_bw.weight_hh
    assert rnn.weight_ih_l0.shape == [12, 4]


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
def test_second_derivatives(paddle, name):
    paddle.set_default_dtype("float64")
    try:
        rnn = getattr(paddle.nn, name)(2, 3)
        x = paddle.rand([1, 4, 2])
    finally:
        paddle.set_default_dtype("float32")
    direction = np.random.default_rng(0).standard_normal((1, 4, 2))

    def gradient(at):
        at = paddle.to_tensor(at, stop_gradient=False)
        (g,) = paddle.grad(rnn(at)[0].square().sum(), [at], create_graph=True)
        return at, g

    at, g = gradient(x.numpy())
    (second,) = paddle.grad((g * paddle.to_tensor(direction)).sum(), [at])
    step = 1e-6 * direction
    numeric = (gradient(x.numpy() + step)[1].numpy() - gradient(x.numpy() - step)[1].numpy()) / 2e-6
    np.testing.assert_allclose(second.numpy(), numeric, rtol=1e-6, atol=1e-8)


def test_dropout_between_layers_only(paddle):
    rnn = paddle.nn.GRU(2, 3, num_layers=1, dropout=0.9)
    x = paddle.rand([2, 5, 2])
    np.testing.assert_allclose(rnn(x)[0].numpy(), rnn.eval()(x)[0].numpy(), rtol=1e-5)
    deep = paddle.nn.GRU(2, 64, num_layers=2, dropout=0.5)
    assert np.abs(deep(x)[0].numpy() - deep(x)[0].numpy()).max() > 1e-2
    np.testing.assert_allclose(deep.eval()(x)[0].numpy(), deep(x)[0].numpy(), atol=1e-6)
