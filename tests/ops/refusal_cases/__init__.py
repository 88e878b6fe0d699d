"""Calls that the real Paddle refuses, or takes though they look odd, for test_refusals.py.

f, d, i make random float32, float64 and int64 Tensors, g those that want a gradient; P, F, nn are the
package under test.
"""

from tests.ops.refusal_cases import making, networks, operands, tensors

CASES = operands.CASES | making.CASES | tensors.CASES | networks.CASES
