"""Random programs on lengths that are not known while a model file is made.

Each program is run eagerly, saved once, and loaded here and by the real Paddle at many shapes:
`python -m tests.jit.lengths --programs 2000 --seed 0`. The parts: expressions (`numbers.py`), statements
(`statements.py`), whole programs (`programs.py`), the ways of saving (`ways.py`), the real Paddle in a
process of its own (`oracle.py`), comparing and counting (`compare.py`).
"""
