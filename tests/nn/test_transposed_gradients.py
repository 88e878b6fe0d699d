"""Strided transposed convolutions on the CPU take the gradient of the weight from patches: it is that of the
plain form, to second order."""

import jax
import numpy as np
import pytest

from paddle_jax.nn.functional import conv_transpose, convolve_cpu

CASES = {
    "stride 2": ((2, 4, 5, 6), (4, 3, 4, 4), (2, 2), ((1, 1), (1, 1)), (1, 1), 1, (0, 0)),
    "groups, output padding": ((2, 4, 5, 4), (4, 3, 3, 2), (2, 3), ((1, 0), (0, 1)), (1, 1), 2, (1, 2)),
    "dilated": ((1, 2, 4, 4), (2, 2, 3, 3), (3, 2), ((2, 2), (0, 1)), (2, 2), 1, (0, 1)),
    "depthwise": ((2, 3, 4, 4), (3, 1, 3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 3, (1, 1)),
}


@pytest.mark.parametrize("patches", [convolve_cpu._PATCHES, 0])
@pytest.mark.parametrize("case", CASES)
def test_gradients_to_order_two(case, patches, monkeypatch):
    monkeypatch.setattr(convolve_cpu, "_PATCHES", patches)
    image, kernel, strides, pads, dilations, groups, extra = CASES[case]
    rng = np.random.default_rng(0)
    x, weight = (rng.standard_normal(shape) for shape in (image, kernel))
    sizes = tuple(
        (s - 1) * t - a - b + d * (k - 1) + 1 + e
        for s, t, (a, b), d, k, e in zip(image[2:], strides, pads, dilations, kernel[2:], extra, strict=True)
    )
    plan = convolve_cpu.Plan(strides, pads, dilations, image[2:], groups)

    def plain(x, weight):
        return conv_transpose._adjoint(x, weight, strides, pads, dilations, groups, extra, False)

    def chosen(x, weight):
        return convolve_cpu.transposed(x, weight, plan, sizes, plain)

    assert plain(x, weight).shape[2:] == sizes
    for order in (1, 2):
        found = []
        for function in (plain, chosen):

            def value(x, weight, function=function):
                return (function(x, weight) ** 3).sum()

            if order == 2:
                first = jax.grad(value, (0, 1))

                def squared(*at, first=first):
                    return sum((g**2).sum() for g in first(*at))

                gradient = jax.grad(squared, (0, 1))
            else:
                gradient = jax.grad(value, (0, 1))
            # one program takes less time than one for each operation
            found.append(jax.jit(gradient)(x, weight))
        for want, got in zip(*found, strict=True):
            np.testing.assert_allclose(got, want, 1e-8, 1e-8 * np.abs(want).max())
