"""Runs jaxprs with NumPy and SciPy: what is met for the first time need not wait for a compiler.

`plan(closed_jaxpr)` gives a Plan, a function of NumPy arrays, or raises Refusal with the reason. Each
primitive has a rule (rules.py) that follows what XLA's CPU compiler computes; the modules are the families.
"""

from paddle_jax._core.numpy_backend import (
    complex_numbers,
    contraction,
    control_flow,
    conversion,
    convolution,
    eigen,
    elementwise,
    fft,
    indexing,
    integers,
    layout,
    linalg,
    random_bits,
    reductions,
    sorting,
    special,
    windows,
)
from paddle_jax._core.numpy_backend.plan import Plan, plan
from paddle_jax._core.numpy_backend.plan_templates import PlanTemplate, new_template, plan_of
from paddle_jax._core.numpy_backend.rules import RULES, Refusal
