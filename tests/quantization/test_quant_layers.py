"""paddle.nn.quant.quant_layers against the real Paddle, line by line."""

import pytest

from tests.nn.scripts import same

START = [
    "L = paddle.nn.quant.quant_layers",
    "rng = np.random.RandomState(0)",
    "x = paddle.to_tensor(rng.randn(4, 3).astype('float32')); x.stop_gradient = False",
    "w = paddle.to_tensor((np.arange(12, dtype='float32').reshape(4, 3) - 5) / 7)",
    "image = paddle.to_tensor(rng.randn(2, 2, 5, 5).astype('float32'))",
    "def state(l): return [(k, v.name, v.shape, v.numpy()) for k, v in l.state_dict().items()]",
    """def filled(l):
    for p in l.parameters(): p.set_value(np.random.RandomState(1).randn(*p.shape).astype('float32'))
    return l
""",
]


def used(made, call):
    """Lines that make a layer, print it, call it twice while training and once afterwards,
    and read its state."""
    return [
        f"l = {made}",
        "l",
        "state(l)",
        f"l({call}).numpy()",
        "state(l)",
        f"l({call} * 2).numpy()",
        "state(l)",
        "e = l.eval()",
        f"l({call} * 3).numpy()",
        "state(l)",
        f"l({call}).stop_gradient",
    ]


TYPES = [
    "weight_quantize_type='channel_wise_abs_max'",
    "activation_quantize_type='moving_average_abs_max', moving_rate=0.7, weight_bits=4",
    "weight_quantize_type='moving_average_abs_max', activation_bits=5",
    "weight_pre_layer=nn.ReLU, act_pre_layer=nn.Tanh",
    "weight_quant_layer=nn.ReLU, act_quant_layer=nn.Sigmoid",
]
SCRIPTS = {
    "scales of each input": [
        *START,
        *used("L.FakeQuantAbsMax()", "x"),
        *used("L.FakeQuantAbsMax('n', 4, quant_on_weight=True)", "x"),
        "(L.FakeQuantAbsMax()(x) * w).sum().backward()",
        "x.grad.numpy()",
        "L.FakeQuantAbsMax(reduce_type='max')",
        "L.FakeQuantAbsMax()(paddle.to_tensor([1, 2]))",
    ],
    "scales of channels": [
        *START,
        *[
            line
            for axis, n in ((0, 4), (1, 3))
            for line in used(f"L.FakeQuantChannelWiseAbsMax(None, {n}, 8, {axis}, quant_on_weight=True)", "w")
        ],
        "L.FakeQuantChannelWiseAbsMax(channel_num=3)",
        "L.FakeQuantChannelWiseAbsMax(quant_on_weight=True)",
        (
            "L.FakeQuantChannelWiseAbsMax(channel_num=3, quant_axis=2, "
            "quant_on_weight=True)(paddle.ones([1, 1, "
            "3]))"
        ),
        (
            "(L.FakeQuantChannelWiseAbsMax(channel_num=3, quant_axis=1, quant_on_weight=True)(x) * "
            "w).sum().backward()"
        ),
        "x.grad.numpy()",
    ],
    "averages": [
        *START,
        *used("L.FakeQuantMovingAverageAbsMax()", "x"),
        *used("L.FakeQuantMovingAverageAbsMax('n', 0.5, 4)", "x"),
        *used("L.MovingAverageAbsMaxScale()", "x"),
        *used("L.MovingAverageAbsMaxScale('n', 0.5)", "x"),
        "L.QuantStub is L.MovingAverageAbsMaxScale",
        "paddle.nn.quant.QuantStub is L.QuantStub",
        "L.MovingAverageAbsMaxScale()(paddle.to_tensor([1, 2]))",
    ],
    "outputs": [
        *START,
        *used("L.MAOutputScaleLayer(filled(nn.Linear(3, 2)))", "x"),
        *used("L.FakeQuantMAOutputScaleLayer(filled(nn.Linear(3, 2)))", "x"),
        "L.MAOutputScaleLayer(nn.LSTM(3, 2))(paddle.ones([1, 2, 3]))[0].shape",
    ],
    "linear": [
        *START,
        *used("L.QuantizedLinear(filled(nn.Linear(3, 2)))", "x"),
        *[
            line
            for kind in TYPES
            for line in used(f"L.QuantizedLinear(filled(nn.Linear(3, 2)), {kind})", "x")
        ],
        "L.QuantizedLinear(nn.Linear(3, 2), weight_quantize_type='foo')",
        "L.QuantizedLinear(nn.Linear(3, 2), activation_quantize_type='channel_wise_abs_max')",
        "l = L.QuantizedLinear(filled(nn.Linear(3, 2)))",
        "l(x).square().sum().backward()",
        "l.weight.grad.numpy(), l.bias.grad.numpy()",
    ],
    "convolutions": [
        *START,
        *[
            line
            for kind in ("", *TYPES[:2])
            for line in (
                *used(
                    "L.QuantizedConv2D(filled(nn.Conv2D(2, 4, 3, padding=1, "
                    "padding_mode='reflect', stride=2, "
                    f"groups=2)), {kind})",
                    "image",
                ),
                *used(
                    "L.QuantizedConv2DTranspose(filled(nn.Conv2DTranspose(2, 3, 3, stride=2, "
                    f"output_padding=1)), {kind})",
                    "image",
                ),
            )
        ],
        (
            "L.QuantizedConv2DTranspose(nn.Conv2DTranspose(2, 3, 3, stride=2))(image, "
            "output_size=[12, 12]).shape"
        ),
    ],
    "products": [
        *START,
        "l = L.QuantizedMatmul()",
        "l, state(l)",
        "l(x, x, transpose_y=True).numpy(), l(x, w, transpose_x=True).numpy()",
        ("l = L.QuantizedMatmul(activation_quantize_type='moving_average_abs_max', activation_bits=4)"),
        "l(x, w, False, True).numpy()",
        "state(l)",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)
