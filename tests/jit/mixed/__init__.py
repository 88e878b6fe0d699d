"""Random steps that mix kinds of state and control flow, run as plain Python and compiled, with
changes between calls.

`python -m tests.jit.mixed 0 500` runs many. `features.py`, `models.py` and `tensors.py` have the kinds,
`programs.py` puts them together, `compare.py` runs both forms.
"""
